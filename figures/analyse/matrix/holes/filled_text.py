"""Writes numbers into the missing cells of a table of text; every other byte stays what it is."""

import codecs
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.cell_by_cell import value_of_cell
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.opening import open_binary
from figures.analyse.reading.tables.layout import QUOTED, Layout
from figures.analyse.reading.text_file import TextFile

LINE_END = re.compile(r"\r\n|\r|\n")
# Encodings whose mark of the order of bytes stands before the text: the mark, and the encoding of what follows.
MARKED = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # comes before UTF-16, whose mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

Holes = Mapping[int, Mapping[int, str]]  # line of the file where a row ends -> position of the column -> number


class _Cell(NamedTuple):
    """A cell of the text, from `start` to `end`, and what it says."""

    start: int
    end: int
    text: str


def filled_text(file: TextFile, layout: Layout, how: Reading, holes: Holes) -> bytes:
    """Return the bytes of a table in which numbers, written as text, stand in these missing cells.

    Decimals are marked as in the table, and a number is quoted where the cell was, or where it holds the delimiter.
    DataError where a cell is not missing: the file has changed since it was read.
    """
    with open_binary(file.path) as content:
        raw = content.read()
    mark, encoding = next(((mark, name) for mark, name in MARKED if raw.startswith(mark)), (b"", file.encoding))
    text = raw[len(mark) :].decode(encoding)
    pieces, done, filled = list[str](), 0, 0
    for line, cells in _rows(text, layout):
        for position, number in sorted(holes.get(line, {}).items()):
            if position >= len(cells) or not _is_hole(cells[position].text, how):
                raise DataError(file.path, f"line {line} has changed since the table was read; analyze it again")
            cell = cells[position]
            pieces += [text[done : cell.start], _written(text[cell.start : cell.end], number, layout, how)]
            done = cell.end
            filled += 1
    if filled != sum(map(len, holes.values())):
        raise DataError(file.path, "has changed since the table was read; analyze it again")
    return mark + "".join([*pieces, text[done:]]).encode(encoding)


def _is_hole(cell: str, how: Reading) -> bool:
    value = value_of_cell(cell, how)
    return value is not None and bool(np.isnan(value))


def _written(hole: str, number: str, layout: Layout, how: Reading) -> str:
    """Return the number with the blanks around the hole, and with its quotes."""
    number = number.replace(".", how.decimal)
    inner = hole.strip()
    if inner.startswith('"') or (layout.delimiter is not None and layout.delimiter in number):
        number = f'"{number}"'
    before, _, after = hole.partition(inner) if inner else (hole, "", "")
    return f"{before}{number}{after}"


def _rows(text: str, layout: Layout) -> Iterator[tuple[int, list[_Cell]]]:
    """Yield the rows of the table as its reader sees them, each with the line of the file, from 1, where it ends."""
    begin = 0
    for _ in range(layout.first_row - 1):
        found = LINE_END.search(text, begin)
        if found is None:
            return
        begin = found.end()
    line = layout.first_row
    while begin < len(text):
        cells, end = _blank_separated(text, begin) if layout.delimiter is None else _separated(text, begin, layout)
        within = len(LINE_END.findall(text, begin, end))
        open_end = within and end == len(text) and text[-1] in "\r\n"  # a quote that is never closed
        line += within - bool(open_end)
        yield line, cells
        found = LINE_END.match(text, end)
        begin, line = (len(text) if found is None else found.end()), line + 1


def _blank_separated(text: str, begin: int) -> tuple[list[_Cell], int]:
    """Return the cells of the line that begins there, and where it ends."""
    found = LINE_END.search(text, begin)
    end = len(text) if found is None else found.start()
    line = text[begin:end]
    pattern = QUOTED if '"' in line else re.compile(r"\S+")
    cells = [
        _Cell(begin + one.start(), begin + one.end(), next(filter(None, one.groups()), "") if one.groups() else one[0])
        for one in pattern.finditer(line)
    ]
    return cells, end


def _separated(text: str, begin: int, layout: Layout) -> tuple[list[_Cell], int]:
    """Return the cells of the row that begins there, and where it ends: a quoted cell may hold delimiters and lines.

    A quote that does not begin a cell is a letter like any other, as it is for Python's reader.
    """
    assert layout.delimiter is not None
    letters = rf"[^{re.escape(layout.delimiter)}\r\n]*"
    cell = re.compile(rf'"((?:[^"]|"")*+)"?({letters})|({letters})')
    cells = []
    while True:
        found = cell.match(text, begin)
        assert found is not None  # it matches nothing at least
        said = found[3] if found[1] is None else found[1].replace('""', '"') + found[2]
        cells.append(_Cell(found.start(), found.end(), said))
        if text[found.end() : found.end() + 1] != layout.delimiter:
            return cells, found.end()
        begin = found.end() + 1
