"""How a table of text is laid out: delimiter, header, columns; from its first lines."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

from figures.analyse.errors import DataError
from figures.analyse.reading.tables.cells import is_number
from figures.analyse.reading.tables.columns import numbered, place_of_column
from figures.analyse.reading.tables.header import Cells, Header, has_header, named, names_of_header
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import counted, shown

__all__ = ["COMMENTS", "Cells", "Header", "Layout", "find_layout", "parting", "split"]

SAMPLE = 50  # so many lines decide the layout
LONGEST_ROW = 20  # lines that a row takes at most, with line breaks in quoted cells
DELIMITERS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "pipe", None: "space"}
QUOTED = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')  # a cell among blanks, which R quotes where it is text
COMMENTS = "#%!"  # a line that begins with one of these is a remark
DECLARED = "sep="  # what Excel takes a delimiter from


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


class _Line(NamedTuple):
    """A row as text, and the line of the file, from 1, where it begins."""

    number: int
    text: str


def find_layout(file: TextFile, header: Header = "auto", *, numeric: bool = False, decimal: str = ".") -> Layout:
    """Recognize delimiter, header and columns of a table by its first lines; `numeric` where it must hold numbers.

    Lines above the table that begin with # are remarks, and in a numeric one those with % or ! too. DataError where
    there is no row of data, where the first row may be a header or not, and where header and rows do not fit.
    """
    comments = COMMENTS if numeric else "#"
    lines = file.head.split("\n")
    declared = _declared(lines[0])
    begin = 0 if declared is None else 1
    start = next((i for i in range(begin, len(lines)) if lines[i].strip() and lines[i][0] not in comments), None)
    if start is None:
        raise DataError(file.path, "holds comments only, no row of numbers")
    sample = _sample(lines, start)
    delimiter = declared or _delimiter([line.text for line in sample], decimal, numeric)
    rows = [split(line.text, delimiter) for line in sample]
    is_named = header == "yes" or (header == "auto" and has_header(file, rows, start + 1))
    if len(rows) == is_named:
        raise DataError(file.path, f"has a header in row {start + 1} and no row of numbers below it")
    body = [row for row in rows[is_named:] if any(cell.strip() for cell in row)] or rows[is_named:]
    width = Counter(map(len, body)).most_common(1)[0][0]
    open_end = width > 2 and all(len(row) == width and not row[-1] for row in body)  # each line ends with a delimiter
    if is_named and len(rows[0]) == width and rows[0][-1].strip():
        open_end = False  # a column that has a name is there, even if it is empty
    inner = width - open_end
    if is_named:
        names = names_of_header(file, rows[0], [row[:inner] for row in body], inner, start + 1)
    else:
        names = _commented(lines[begin:start], delimiter, inner, comments)
    return Layout(
        delimiter=delimiter,
        first_row=sample[is_named].number,
        names=names,
        width=len(names) + open_end,
        header_row=start + 1 if is_named else None,
        bytes_per_row=len("\n".join(line.text for line in sample).encode(file.encoding, "replace")) / len(sample),
    )


def split(line: str, delimiter: str | None) -> Cells:
    """Return the cells of one line. csv.Error where it has a cell that is too long."""
    if delimiter is not None:
        return next(csv.reader(StringIO(line, newline=""), delimiter=delimiter))
    if '"' not in line:
        return line.split()
    return [
        plain if quoted is None else quoted.replace('""', '"') for quoted, plain in map(_groups, QUOTED.finditer(line))
    ]


def _groups(found: re.Match[str]) -> tuple[str | None, str]:
    return found[1], found[2]


def parting(layout: Layout, number: int, cells: Sequence[str]) -> str:
    """Say in words where a row, on line `number`, that has more or fewer cells than the others parts from them."""
    found, other = counted(len(cells), "cell"), "the first rows have"
    if layout.header_row:
        other = f"the header in row {layout.header_row} has"
    if len(cells) < layout.width:
        end = len(cells)
        where = f"nothing stands in {place_of_column(end, (*layout.names, f'column {end + 1}')[end])}"
    else:
        where = f"{shown(cells[layout.width].strip())} stands beyond the last column"
    return f"row {number} has {found}, but {other} {layout.width}: {where}; make all rows equally long"


def _declared(line: str) -> str | None:
    """Return the delimiter that a first line like `sep=;` of Excel declares; None where there is no such line."""
    text = line.strip(' "')
    given = text[len(DECLARED) :]
    return given if text.lower().startswith(DECLARED) and given in list(";,|\t") else None


def _sample(lines: Cells, start: int) -> list[_Line]:
    """Return the first rows from line `start` (from 0) on; a quoted cell may hold line breaks."""
    found: list[_Line] = []
    i = start
    while i < len(lines) and len(found) < SAMPLE:
        if not lines[i].strip():
            i += 1
            continue
        end = i + 1
        if lines[i].count('"') % 2 and _opens(lines[i]):
            closing = range(i + 1, min(i + LONGEST_ROW, len(lines)))
            end = next((k + 1 for k in closing if lines[k].count('"') % 2), end)
        found.append(_Line(i + 1, "\n".join(lines[i:end])))
        i = end
    return found


def _opens(line: str) -> bool:
    """Say whether the last quote of a line begins a cell."""
    before = line[: line.rindex('"')]
    return not before or before[-1] in "\t;,|"


def _delimiter(sample: Cells, decimal: str, numeric: bool) -> str | None:
    """Return the first delimiter that gives all lines the same number > 1 of cells.

    Where there is none it is the one that gives most lines several cells, and blanks, which are in most texts, only in
    tables of numbers. A comma that marks decimals delimits only what nothing else does.
    """
    several: dict[str, int] = {}
    blanks = 0
    for delimiter in DELIMITERS if decimal == "." else ["\t", ";", "|", None, ","]:
        widths = [_width(line, delimiter) for line in sample]
        if min(widths) > 1 and len(set(widths)) == 1:
            return delimiter
        if delimiter is None:
            blanks = sum(width > 1 for width in widths)
        else:
            several[delimiter] = sum(width > 1 for width in widths)
    best = max(several, key=lambda delimiter: several[delimiter])
    return None if numeric and not several[best] and 2 * blanks > len(sample) else best


def _width(line: str, delimiter: str | None) -> int:
    """Return how many cells a line has; one where a cell is longer than cells may be, as delimiters part nothing so."""
    if delimiter is not None and delimiter not in line:
        return 1
    try:
        return len(split(line, delimiter))
    except csv.Error:
        return 1


def _commented(lines: Cells, delimiter: str | None, width: int, comments: str) -> tuple[str, ...]:
    """Return the names from a line like `# a,b,c` above the numbers, else numbers."""
    for line in reversed(lines):
        plain = line.lstrip(f"{comments} ")
        cells = split(plain, delimiter) if line.strip() and _width(plain, delimiter) == width else []
        if cells and not any(map(is_number, cells)):
            return named(cells)
    return numbered(width)
