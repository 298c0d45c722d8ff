"""Says how many rows and columns a table has, from as little of its file as will do."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from figures.analyse.errors import DataError
from figures.analyse.memory import MOST_CELLS
from figures.analyse.reading.matrix.arrays import array_shape, is_mapped
from figures.analyse.reading.matrix.parquet import parquet_columns
from figures.analyse.reading.matrix.read import require_fitting
from figures.analyse.reading.opening import extension, uncompressed_size
from figures.analyse.reading.tables.columns import numbered, selected
from figures.analyse.reading.tables.layout import Header, find_layout
from figures.analyse.reading.text_file import text_file
from figures.analyse.wording import counted

NUMBER = 8  # bytes
EMPTY = ' \t,;|"'  # a line of these alone holds no number
GROWTH = 1.25  # of an array whose rows come one by one, which the parser enlarges by a quarter at a time


@dataclass(frozen=True)
class TableShape:
    """How many rows, and how many of the chosen columns, a file holds.

    `reading` is the memory (bytes) that reading it takes, and `held` what the numbers take once they are read: nothing
    where they stay in the file. `known` says in words where this is from, and `text` is the number of bytes to parse.
    """

    rows: int
    columns: int
    reading: float
    held: float
    known: str
    text: float = 0.0


def table_shape(
    path: Path,
    *,
    header: Header = "auto",
    columns: str | None = None,
    skip_columns: str | None = None,
    array: str | None = None,
    missing: str | None = None,
    decimal: Literal[".", ","] = ".",
) -> TableShape:
    """Return the shape of the table at `path`, of which no more than the beginning or the end is read.

    The options and the DataErrors are those of `read_matrix`, as far as they concern the shape.
    """
    require_fitting(path, array=array, missing=missing, decimal=decimal)
    if extension(path) == ".parquet":
        _, rows, chosen = parquet_columns(path, columns, skip_columns)
        return _of_numbers(rows, len(chosen), len(chosen), NUMBER, True, "the end of the file says")
    if extension(path) in (".npy", ".npz"):
        rows, width, bytes_of_one = array_shape(path, array)
        chosen = selected(path, numbered(width), columns, skip_columns)
        return _of_numbers(rows, width, len(chosen), bytes_of_one, is_mapped(path), "the header of the array says")
    file = text_file(path)
    try:
        layout = find_layout(file, header, numeric=True, decimal=decimal)
    except csv.Error as error:
        raise DataError(path, f"cannot be read as a table ({error})") from None
    chosen = selected(path, layout.names, columns, skip_columns)
    lines = file.head.split("\n")[layout.first_row - 1 :]
    filled = [line for line in lines if line.strip(EMPTY)]
    seen = len("\n".join(lines).encode(file.encoding, "replace"))
    above = len(file.head.encode(file.encoding, "replace")) - seen
    whole = uncompressed_size(path)
    all_there = above + seen >= whole
    rows = len(filled) if all_there else round((whole - above) * len(filled) / max(1, seen))
    held = float(NUMBER * rows * len(chosen))
    known = "counted" if all_there else "by the size of the file and the length of its first lines"
    return TableShape(rows, len(chosen), GROWTH * held, held, f"{_size(rows, chosen)}, {known}", float(whole))


def _of_numbers(rows: int, width: int, columns: int, bytes_of_one: int, can_stay: bool, known: str) -> TableShape:
    """Describe a file of numbers that are no text: `width` columns, of which `columns` are chosen."""
    said = f"{_size(rows, range(columns))}, as {known}"
    if can_stay and rows * width > MOST_CELLS:
        return TableShape(rows, columns, 0.0, 0.0, f"{said}; they stay in the file, of which blocks of rows are read")
    held = float(NUMBER * rows * columns)
    copies = rows * width * bytes_of_one if bytes_of_one != NUMBER or columns < width else 0
    return TableShape(rows, columns, held + copies, held, said)


def _size(rows: int, chosen: Sequence[int]) -> str:
    return f"{counted(rows, 'row')} of {counted(len(chosen), 'column')}"
