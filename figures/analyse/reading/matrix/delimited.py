"""Tables of text: read by numpy's parser, and read again cell by cell only to say what is wrong."""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NoReturn, TextIO

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import require_matrix_memory
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.opening import announce, uncompressed_size
from figures.analyse.reading.tables.cells import kind_of
from figures.analyse.reading.tables.columns import place_of_column, selected
from figures.analyse.reading.tables.layout import Cells, Header, Layout, find_layout
from figures.analyse.reading.text_file import TextFile, text_file
from figures.analyse.wording import counted, shown
from theory.models.arrays import Array

MATRICES_ONLY = "; a table is a matrix if every cell is a number, else say --kind sequences or --kind text"


def read_delimited(
    path: Path, *, header: Header = "auto", columns: str | None = None, skip_columns: str | None = None
) -> Matrix:
    """Read a table of numbers separated by commas, semicolons, tabs or blanks.

    DataError names the row and the column of what is wrong, and the remedy.
    """
    file = text_file(path)
    announce(path)
    try:
        return _read(file, header, columns, skip_columns)
    except csv.Error as error:
        raise DataError(path, f"cannot be read as a table ({error})") from None
    except DataError:
        if file.encoding != "utf-8" or not _breaks_utf_8(file):
            raise
        return _read(file.as_latin_1(), header, columns, skip_columns)


def _read(file: TextFile, header: Header, columns: str | None, skip: str | None) -> Matrix:
    layout = find_layout(file, header)
    chosen = selected(file.path, layout.names, columns, skip)
    require_matrix_memory(file.path, int(uncompressed_size(file.path) / layout.bytes_per_row), len(chosen))
    with file.open() as text:
        try:
            values = _numbers(text, layout, chosen)
        except UnicodeError:
            raise
        except ValueError as error:
            reason = str(error)
        else:
            reason = "" if np.isfinite(values).all() else "a value is not finite"
    if reason:
        _explain(file, layout, chosen, reason)
    names = tuple(layout.names[k] for k in chosen)
    guess = " (a guess: it is not valid UTF-8)" if file.is_guess else ""
    notes = (f"{layout.description}, {file.encoding}{guess}", *_index_note(values, names, layout))
    return Matrix(file.path, values, names, notes, layout.first_row, tuple(chosen))


def _numbers(text: TextIO, layout: Layout, chosen: list[int]) -> Array:
    """Parse the chosen columns. ValueError at the first line that does not fit."""
    lines: Iterator[str] = islice(text, layout.first_row - 1, None)
    everything = len(chosen) == layout.width
    if not everything and layout.delimiter is not None:
        lines = _of_width(lines, layout.delimiter, layout.width)
    return np.loadtxt(
        lines,
        delimiter=layout.delimiter,
        usecols=None if everything else chosen,
        comments=None,
        quotechar='"',
        ndmin=2,
    )


def _of_width(lines: Iterator[str], delimiter: str, width: int) -> Iterator[str]:
    """Pass on the lines, and count the cells of each: the parser looks no further than the last column asked for."""
    for line in lines:
        if line.count(delimiter) != width - 1 and line.strip() and '"' not in line:
            raise ValueError("ragged")
        yield line


def _explain(file: TextFile, layout: Layout, chosen: list[int], reason: str) -> NoReturn:
    """Raise the DataError of the first cell or row that cannot be used, after a scan that counts the gaps."""
    gaps: list[tuple[int, int, str]] = []
    with file.open() as text:
        for number, cells in _rows(text, layout):
            if len(cells) != layout.width:
                raise DataError(file.path, _ragged(number, len(cells), layout))
            for column in chosen:
                kind = kind_of(cells[column])
                if kind in ("text", "decimal comma"):
                    raise DataError(file.path, _not_a_number(layout, number, column, cells[column]))
                if kind != "number":
                    gaps.append((number, column, cells[column]))
    if not gaps:
        raise DataError(file.path, f"cannot be read as a table of numbers ({reason})")
    number, column, cell = gaps[0]
    value = shown(cell.strip()) if cell.strip() else "an empty cell"
    raise DataError(
        file.path,
        f"{_place(layout, number, column)}: {value} where a finite number is needed"
        f" ({counted(len(gaps), 'such cell')} in all); fill the gaps, or leave out {_holes(gaps)}",
    )


def _rows(text: TextIO, layout: Layout) -> Iterator[tuple[int, Cells]]:
    lines = islice(text, layout.first_row - 1, None)
    if layout.delimiter is None:
        rows = ((layout.first_row + i, line.split()) for i, line in enumerate(lines))
    else:
        reader = csv.reader(lines, delimiter=layout.delimiter)
        rows = ((layout.first_row - 1 + reader.line_num, cells) for cells in reader)
    return ((number, cells) for number, cells in rows if any(cell.strip() for cell in cells))


def _place(layout: Layout, row: int, column: int) -> str:
    return f"row {row}, {place_of_column(column, layout.names[column])}"


def _ragged(number: int, found: int, layout: Layout) -> str:
    other = f"the header in row {layout.header_row} has" if layout.header_row else "the first rows have"
    return f"row {number} has {counted(found, 'cell')}, but {other} {layout.width}; make all rows equally long"


def _not_a_number(layout: Layout, number: int, column: int, cell: str) -> str:
    place = _place(layout, number, column)
    if kind_of(cell) == "decimal comma":
        return f"{place}: {shown(cell)} has a decimal comma; write decimal points"
    remedy = f"correct it, or leave the column out with --skip-columns {column + 1}"
    return f"{place}: {shown(cell)} is not a number; {remedy}{MATRICES_ONLY}"


def _holes(gaps: list[tuple[int, int, str]]) -> str:
    """Say which rows or columns hold the gaps, whichever are fewer."""
    rows, columns = {row for row, _, _ in gaps}, {column for _, column, _ in gaps}
    if len(columns) > len(rows):
        return _with_them(len(rows), "row")
    listed = ",".join(str(k + 1) for k in sorted(columns)[:20])
    more = ",..." if len(columns) > 20 else ""
    return f"{_with_them(len(columns), 'column')} with --skip-columns {listed}{more}"


def _with_them(number: int, noun: str) -> str:
    return f"the {noun} that has them" if number == 1 else f"the {number} {noun}s that have them"


def _index_note(values: Array, names: tuple[str, ...], layout: Layout) -> tuple[str, ...]:
    """Note a first column that only numbers the rows: it is probably no measurement."""
    steps = np.arange(len(values))
    if len(values) > 2 and any(np.array_equal(values[:, 0], steps + start) for start in (0, 1)):
        remedy = f"if it is an index leave it out with --skip-columns {layout.names.index(names[0]) + 1}"
        return (f"{shown(names[0])} only counts the rows: {remedy}",)
    return ()


def _breaks_utf_8(file: TextFile) -> bool:
    """Say whether a file whose beginning is UTF-8 goes on as something else."""
    try:
        with file.open() as text:
            for _ in text:
                pass
    except DataError:
        return True
    return False
