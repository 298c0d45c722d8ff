"""Whether a text is a table of measured numbers, where the name of its file does not say so."""

import csv

from figures.analyse.errors import DataError
from figures.analyse.reading.tables.cells import Kind, kind_of
from figures.analyse.reading.tables.layout import COMMENTS, find_layout, split
from figures.analyse.reading.text_file import TextFile

LINES = 40  # that are looked at
ROWS = 3  # that a table has at least
SHARE = 0.5  # of the cells, so many at least are numbers; names of rows, labels and dates may be others
NUMERIC: tuple[Kind, ...] = ("number", "decimal comma", "infinite", "missing")


def holds_measurements(file: TextFile) -> bool:
    """Say whether the first lines are rows of equally many cells, most of them numbers, and some with decimals.

    Whole numbers alone may be tokens or counted words as well, so that they do not tell.
    """
    try:
        layout = find_layout(file, "no", numeric=True)
        lines = [line for line in file.head.split("\n")[:LINES] if line.strip() and line[0] not in COMMENTS]
        rows = [split(line, layout.delimiter) for line in lines[1:]]  # the first one may be a header
    except (DataError, csv.Error):
        return False
    if len(rows) < ROWS or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    cells = [cell for row in rows for cell in row]
    numbers = [cell for cell in cells if kind_of(cell) in NUMERIC]
    return len(numbers) >= SHARE * len(cells) and any(set(cell) & set(".,") and len(cell) > 1 for cell in numbers)
