"""How a table of text is laid out: delimiter, header, columns; from its first lines."""

import csv
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from figures.analyse.errors import DataError
from figures.analyse.reading.tables.cells import is_number, kind_of
from figures.analyse.reading.tables.columns import numbered
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import shown

Header = Literal["auto", "yes", "no"]
Cells = list[str]
SAMPLE = 50  # so many lines decide the layout
DELIMITERS = {"\t": "tab", ";": "semicolon", ",": "comma", None: "space"}


@dataclass(frozen=True)
class Layout:
    """How the lines of a table are to be read; rows count from 1, as a spreadsheet shows them."""

    delimiter: str | None  # None: runs of blanks
    first_row: int  # the first line that holds data
    names: tuple[str, ...]  # of the columns that are data
    width: int  # cells in a line, one more than names where each line ends with a delimiter
    header_row: int | None
    bytes_per_row: float

    @property
    def description(self) -> str:
        """The delimiter and the header in words."""
        header = f"header in row {self.header_row}" if self.header_row else "no header"
        return f"{DELIMITERS[self.delimiter]} separated, {header}"


def find_layout(file: TextFile, header: Header = "auto") -> Layout:
    """Recognize delimiter, header and columns of a table by its first lines.

    DataError where there is no row of data, and where the first row may be a header or not.
    """
    lines = file.head.split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
    if start is None:
        raise DataError(file.path, "holds comments only, no row of numbers")
    numbers = [i for i in range(start, len(lines)) if lines[i].strip()][:SAMPLE]
    sample = [lines[i] for i in numbers]
    delimiter = _delimiter(sample)
    rows = [split(line, delimiter) for line in sample]
    named = header == "yes" or (header == "auto" and _has_header(file, rows, start + 1))
    if len(rows) == named:
        raise DataError(file.path, f"has a header in row {start + 1} and no row of numbers below it")
    body = rows[named:]
    width = Counter(map(len, body)).most_common(1)[0][0]
    open_end = width > 2 and all(len(row) == width and not row[-1] for row in body)  # each line ends with a delimiter
    names = _names(rows[0], width - open_end) if named else _commented(lines[:start], delimiter, width - open_end)
    return Layout(
        delimiter=delimiter,
        first_row=numbers[named] + 1,
        names=names,
        width=len(names) + open_end,
        header_row=start + 1 if named else None,
        bytes_per_row=len("\n".join(sample).encode(file.encoding, "replace")) / len(sample),
    )


def split(line: str, delimiter: str | None) -> Cells:
    """Return the cells of one line. csv.Error where it has a cell that is too long."""
    return line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter))


def _delimiter(sample: Cells) -> str | None:
    """Return the first delimiter that gives all lines the same number > 1 of cells.

    Where there is none it is the one that gives most lines several cells.
    """
    several: dict[str, int] = {}
    for delimiter in DELIMITERS:
        widths = [len(split(line, delimiter)) for line in sample]
        if min(widths) > 1 and len(set(widths)) == 1:
            return delimiter
        if delimiter is not None:
            several[delimiter] = sum(width > 1 for width in widths)
    return max(several, key=lambda delimiter: several[delimiter])


def _has_header(file: TextFile, rows: list[Cells], number: int) -> bool:
    """Say whether the first row is a header: no cell of it is a number, or its numbers just count the columns.

    DataError where it holds both numbers and words, and the rows below do not explain it.
    """
    cells = rows[0]
    if (len(cells) > 4 and _counts(cells)) or (not cells[0].strip() and _counts(cells[1:])):
        return len(rows) > 1 and rows[1] != cells
    text = next((k for k, cell in enumerate(cells) if kind_of(cell) == "text"), None)
    if text is None:
        return False
    digits = next((cell for cell in cells if is_number(cell)), None)
    if digits is None:
        return True
    if any(len(row) > text and kind_of(row[text]) == "text" for row in rows[1:]):
        return False  # a column of text, of which the reader will say more
    raise DataError(
        file.path,
        f"row {number}, column {text + 1}: {shown(cells[text])} is not a number, but {shown(digits)} in the same row "
        "is; if this row holds the names of the columns say --header yes, else correct it",
    )


def _counts(cells: Cells) -> bool:
    """Say whether cells are 0, 1, 2, ... or 1, 2, 3, ..."""
    return cells in ([str(k + start) for k in range(len(cells))] for start in (0, 1))


def _names(cells: Cells, width: int) -> tuple[str, ...]:
    """Return the names of a header; a column without one is called by its number."""
    if len(cells) == width - 1:
        cells = ["", *cells]  # R writes no name above the row names
    elif len(cells) == width + 1 and not cells[-1]:
        cells = cells[:-1]
    return tuple(cell.strip() or name for cell, name in zip(cells, numbered(len(cells)), strict=True))


def _commented(lines: Cells, delimiter: str | None, width: int) -> tuple[str, ...]:
    """Return the names from a line like `# a,b,c` above the numbers, else numbers."""
    for line in reversed(lines):
        cells = split(line.lstrip("# "), delimiter) if line.strip() else []
        if len(cells) == width and not any(map(is_number, cells)):
            return _names(cells, width)
    return numbered(width)
