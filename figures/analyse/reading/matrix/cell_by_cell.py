"""Reads a table of numbers cell by cell, where numpy's parser cannot: with missing cells, or in other notations.

It is slower, and says of all cells and rows that cannot be used, up to ten of them by name, where they stand, what is
wrong, and the remedy.
"""

import csv
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf, isfinite, isinf, nan
from typing import TextIO

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.faults import Faults
from figures.analyse.reading.tables.cells import DECIMAL_COMMA, is_fortran, is_marker, is_number, kind_of, value_of
from figures.analyse.reading.tables.columns import place_of_column
from figures.analyse.reading.tables.layout import COMMENTS, Cells, Layout, parting, split
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import counted, listed, shown
from theory.core.arrays import Array

MATRICES_ONLY = "; a table is a matrix if every cell is a number, else say --kind sequences or --kind text"
N_LISTED_COLUMNS = 20  # columns that a message names
LONGEST_MARKER = 20  # letters of what people write where a value is missing
MIN_ROWS = 3  # rows of a matrix


@dataclass
class _Found:
    """What was met on the way through the table."""

    rows: int = 0
    gaps: list[tuple[int, int, str]] = field(default_factory=list)  # row, column and text of the first missing cells
    per_column: Counter[int] = field(default_factory=Counter)  # missing cells
    holed: int = 0  # rows with missing cells
    remarks: int = 0
    blank: int = 0  # rows of empty cells at the end
    fortran: int = 0
    faults: Faults = field(default_factory=lambda: Faults(MATRICES_ONLY))


def read_cell_by_cell(
    file: TextFile, layout: Layout, chosen: Sequence[int], how: Reading
) -> tuple[Array, list[int], list[str]]:
    """Return the numbers of the chosen columns, the line of the file of each row, and notes on what was left out.

    DataError, one for all of them, for rows of another width and cells that are no numbers, and for missing cells
    unless their rows are to be dropped or they are to be kept, as NaN. Those that are kept are no infinite numbers, and
    every column has a number.
    """
    values, lines, found = array("d"), list[int](), _Found()
    with file.open() as text:
        for number, cells in _of_table(_rows(text, layout), layout, found):
            found.rows += 1
            wrong = _wrong_width(layout, number, cells)
            if wrong is not None:
                found.faults.add(wrong)
                continue
            row = _numbers(layout, number, cells, chosen, how, found)
            if row is not None:
                values.extend(row)
                lines.append(number)
    if found.faults.count:
        if _empty(found, chosen):
            found.faults.add(_columns_with_gaps(layout, found, chosen))
        raise DataError(file.path, found.faults.message())
    if found.holed and how.keeps_holes:
        if _empty(found, chosen):
            raise DataError(file.path, _columns_with_gaps(layout, found, chosen))
        return np.frombuffer(values, float).reshape(-1, len(chosen)), lines, _notes(found, how)
    if found.holed and not how.drop_rows:
        raise DataError(file.path, _missing(layout, found, chosen))
    if found.holed and len(lines) < MIN_ROWS:
        raise DataError(
            file.path,
            f"{found.holed} of its {counted(found.rows, 'row')} have missing cells, and {counted(len(lines), 'row')} "
            f"without any are too few; {_columns_with_gaps(layout, found, chosen)}",
        )
    return np.frombuffer(values, float).reshape(-1, len(chosen)), lines, _notes(found, how)


def _rows(text: TextIO, layout: Layout) -> Iterator[tuple[int, Cells]]:
    """Yield the rows of the table with the last line of each; lines without any cell are passed by."""
    lines = islice(text, layout.first_row - 1, None)
    if layout.delimiter is None:
        rows = ((layout.first_row + i, split(line, None)) for i, line in enumerate(lines))
    else:
        reader = csv.reader(lines, delimiter=layout.delimiter)
        rows = ((layout.first_row - 1 + reader.line_num, cells) for cells in reader)
    return ((number, cells) for number, cells in rows if len(cells) > 1 or any(cell.strip() for cell in cells))


def table_rows(text: TextIO, layout: Layout) -> Iterator[tuple[int, Cells]]:
    """Yield the rows that are read, with the last line of each, without remarks and empty rows at the end."""
    return _of_table(_rows(text, layout), layout, _Found())


def _of_table(rows: Iterator[tuple[int, Cells]], layout: Layout, found: _Found) -> Iterator[tuple[int, Cells]]:
    """Pass on the rows without remarks, and without rows of empty cells below the last one that has any."""
    blank: list[tuple[int, Cells]] = []
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            blank.append((number, cells))
        elif _is_remark(cells, layout.width):
            found.remarks += 1
        else:
            yield from blank
            blank.clear()
            yield number, cells
    found.blank = len(blank)


def _is_remark(cells: Cells, width: int) -> bool:
    """Say whether a line is a remark: it begins like one, and does not fit the table or holds no number."""
    begins = cells[0].lstrip().startswith(tuple(COMMENTS)) and kind_of(cells[0]) == "text"
    return begins and (len(cells) != width or not any(map(is_number, cells)))


def _wrong_width(layout: Layout, number: int, cells: Cells) -> str | None:
    """Return what is wrong with the number of cells of a row, None where nothing is."""
    if len(cells) != layout.width:
        return parting(layout, number, cells)
    if layout.width > len(layout.names) and cells[-1].strip():
        return (
            f"row {number} has {shown(cells[-1].strip())} in column {layout.width}, where the first rows hold nothing "
            "and the header has no name; name that column in the header, or empty the cell"
        )
    return None


def _numbers(
    layout: Layout, number: int, cells: Cells, chosen: Sequence[int], how: Reading, found: _Found
) -> list[float] | None:
    """Return the numbers of a row; faults are noted.

    Missing cells are counted; where there are any it returns None, or numbers with NaN if they are to be kept.
    """
    simple = _simple_numbers(cells, chosen, how)
    if simple is not None:
        return simple
    row, whole = [], True
    for column in chosen:
        cell = cells[column]
        value = value_of_cell(cell, how)
        if value is None:
            fault = _not_a_number(layout, number, column, cells, how)
            found.faults.add(fault, column)
            if fault.startswith(f"row {number} "):  # it is one of the whole row
                return None
            continue
        if isfinite(value):
            row.append(value)
            found.fortran += is_fortran(cell)
            continue
        if isinf(value) and kind_of(cell) == "number":  # it is written in digits
            found.faults.add(
                f"{_place(layout, number, column)}: {shown(cell.strip())} is larger than any number that can be "
                "computed with (1.8e308); correct it, or rescale the column",
                column,
            )
            continue
        if isinf(value) and how.keeps_holes:
            found.faults.add(
                f"{_place(layout, number, column)}: {shown(cell.strip())} where a finite number or a missing cell is "
                f"needed; correct it, or if it marks missing cells say --missing {cell.strip()}",
                column,
            )
            continue
        row.append(nan)
        whole = False
        found.per_column[column] += 1
        if len(found.gaps) < N_LISTED_COLUMNS:
            found.gaps.append((number, column, cell))
    found.holed += not whole
    return row if whole or how.keeps_holes else None


def _simple_numbers(cells: Cells, chosen: Sequence[int], how: Reading) -> list[float] | None:
    """Return the numbers of a row where no cell needs a closer look, which is much faster; None elsewhere."""
    own = [cells[column] for column in chosen]
    text = "".join(own)
    if "_" in text or (how.decimal == "," and "." in text):  # Python takes 1_000 for a number
        return None
    try:
        row = [float(cell.replace(",", ".")) for cell in own] if how.decimal == "," else list(map(float, own))
    except ValueError:
        return None
    marked = bool(how.marks) and not how.marked_numbers.isdisjoint(row)
    return row if text.isascii() and not marked and all(map(isfinite, row)) else None


def value_of_cell(cell: str, how: Reading) -> float | None:
    """Return the number in a cell, NaN where it is missing, infinity where it is infinite, None where it is text."""
    if how.marks and is_marker(cell, how.marks):
        return nan
    if how.decimal == ",":
        text = cell.strip()
        if DECIMAL_COMMA.fullmatch(text):
            cell = text.replace(",", ".")
        elif "." in text and kind_of(cell) == "number":
            return None  # whether its point marks thousands is not known
    kind = kind_of(cell)
    if kind == "number":
        return value_of(cell)
    return {"missing": nan, "infinite": inf}.get(kind)


def _place(layout: Layout, row: int, column: int) -> str:
    return f"row {row}, {place_of_column(column, layout.names[column])}"


def _not_a_number(layout: Layout, number: int, column: int, cells: Cells, how: Reading) -> str:
    cell = cells[column].strip()
    place, quoted = _place(layout, number, column), shown(cell)
    if how.decimal == "," and kind_of(cell) == "number":
        return f"{place}: {quoted} has a decimal point, but --decimal , says that commas mark decimals; write one sign"
    if kind_of(cell) == "decimal comma":
        return f"{place}: {quoted} has a decimal comma; say --decimal , or write decimal points"
    pieces = cell.split()
    if layout.delimiter == "," and len(pieces) > 1 and all(kind_of(piece) == "number" for piece in pieces):
        return f"{place}: {quoted} is two numbers; if commas mark the decimals here say --decimal ,"
    first = layout.header_row and number == layout.first_row
    if first and len(cells) > 1 and not any(kind_of(other) in ("number", "decimal comma") for other in cells):
        return (
            f"row {number} holds no number either, below the header in row {layout.header_row} ({place}: {quoted}); "
            f"if it is a second header, of units perhaps, or if the first is a title, delete one of them{MATRICES_ONLY}"
        )
    remedy = f"correct it, or leave the column out with --skip-columns {column + 1}"
    if number == layout.first_row:
        remedy += f", or if it names groups of rows say --groups {column + 1}"
    could_mark = len(cell) <= LONGEST_MARKER and "," not in cell and not any(map(str.isspace, cell))
    if number != layout.first_row and could_mark:
        remedy += f", or if it marks missing cells say --missing {cell}"
    return f"{place}: {quoted} is not a number; {remedy}{MATRICES_ONLY}"


def _missing(layout: Layout, found: _Found, chosen: Sequence[int]) -> str:
    number, column, cell = found.gaps[0]
    value = shown(cell.strip()) if cell.strip() else "an empty cell"
    message = (
        f"{_place(layout, number, column)}: {value} where a finite number is needed "
        f"({counted(sum(found.per_column.values()), 'such cell')} in all)"
    )
    by_column = _columns_with_gaps(layout, found, chosen)
    if _empty(found, chosen):
        return f"{message}; {by_column}"
    if found.rows - found.holed < MIN_ROWS:
        return f"{message}; fill the gaps, or {by_column}"
    these = "the row that has them" if found.holed == 1 else f"the {found.holed} of {found.rows} rows that have them"
    return f"{message}; fill the gaps, leave out {these} with --drop-rows, or {by_column}"


def _columns_with_gaps(layout: Layout, found: _Found, chosen: Sequence[int]) -> str:
    """Say which columns to leave out: those without any number where there are such, else those with gaps."""
    empty = _empty(found, chosen)
    if empty:
        names = listed([place_of_column(k, layout.names[k]) for k in empty], 5)
        verb = "holds" if len(empty) == 1 else "hold"
        return f"{names} {verb} no number in any row: leave out what is empty with --skip-columns {_list(empty)}"
    holed = sorted(found.per_column)
    what = "the column that has them" if len(holed) == 1 else f"the {len(holed)} of {len(chosen)} columns that have any"
    return f"leave out {what} with --skip-columns {_list(holed)}"


def _empty(found: _Found, chosen: Sequence[int]) -> list[int]:
    return [column for column in chosen if found.per_column[column] == found.rows]


def _list(columns: Sequence[int]) -> str:
    return ",".join(str(k + 1) for k in columns[:N_LISTED_COLUMNS]) + (
        ",..." if len(columns) > N_LISTED_COLUMNS else ""
    )


def _notes(found: _Found, how: Reading) -> list[str]:
    notes = []
    if found.holed and not how.keeps_holes:
        cells = counted(sum(found.per_column.values()), "missing cell")
        notes.append(f"{found.holed} of {counted(found.rows, 'row')} left out: they have {cells}")
    if found.remarks:
        notes.append(f"{counted(found.remarks, 'line')} passed by as remarks: they begin with #, % or !")
    if found.blank:
        notes.append(f"{counted(found.blank, 'row')} of empty cells at the end passed by")
    if found.fortran:
        notes.append(f"{counted(found.fortran, 'number')} in Fortran's notation, such as 1.0D+03")
    return notes
