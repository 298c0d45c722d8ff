"""Reads a matrix from any kind of file that can hold one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.memory import MOST_CELLS
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.codes import code_notes
from figures.analyse.reading.matrix.counting_columns import steady_notes
from figures.analyse.reading.matrix.formats import format_of
from figures.analyse.reading.matrix.raw_rows import entries_where, extremes, finite_rows, without_gaps
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.shape import TableShape
from figures.analyse.wording import counted, listed
from theory.core.arrays import Array

MAX_ENTRY = 1e50  # below it products of two variances, and their sums, stay far from overflow
MIN_ENTRY = 1e-50  # the size of a column: below it such products vanish


def read_matrix(path: Path | str, how: Reading | None = None, **chosen: Any) -> Matrix:
    """Return the matrix of a file that `FORMATS` lists, of any other name the table of text; gzipped or not.

    `how` it is read, in which `chosen` fields are replaced. What is wrong with the file is a DataError of one line that
    names file, row and column (from 1) and the remedy.
    """
    file, how = Path(path), replace(how or Reading(), **chosen)
    form = format_of(file, how)
    matrix = form.read(file, how)
    return _checked(_without_gaps(matrix) if how.drop_rows and not form.is_text else matrix, how)


def table_shape(path: Path, how: Reading | None = None, **chosen: Any) -> TableShape:
    """Return the shape of the table at `path`, of which no more than the beginning or the end is read.

    The options and the DataErrors are those of `read_matrix`, as far as they concern the shape.
    """
    how = replace(how or Reading(), **chosen)
    return format_of(path, how).shape(path, how)


def _without_gaps(matrix: Matrix) -> Matrix:
    """Return an array's matrix without the rows that hold a number that is not finite."""
    whole = finite_rows(matrix.data)
    if whole.all():
        return matrix
    lines = tuple((np.flatnonzero(whole) + matrix.first_row).tolist())
    note = f"{int((~whole).sum())} of {counted(len(whole), 'row')} left out: they have numbers that are not finite"
    return replace(matrix, data=without_gaps(matrix.data, whole), notes=(*matrix.notes, note), lines=lines)


def _checked(matrix: Matrix, how: Reading) -> Matrix:
    """Return the matrix. DataError where it is too small, not finite, or so large that its squares overflow.

    Where holes are to be kept, NaN is one.
    """
    data = matrix.data
    if data.d < 2:
        raise DataError(
            matrix.path, "has one column; masked regression predicts each column from the others, so it needs two"
        )
    if data.n < 3:
        raise DataError(matrix.path, f"has {counted(data.n, 'row')} of numbers; at least 3 samples are needed")
    lowest, highest = extremes(data)  # both are NaN if an entry is
    if how.keeps_holes and np.isnan(lowest):
        return _with_holes(matrix)
    if not max(-lowest, highest) <= MAX_ENTRY:
        _raise_unusable(matrix, bool(np.isfinite([lowest, highest]).all()))
    if data.in_memory is None:  # each column is checked as it is first read, and none is looked at for notes
        return matrix
    _require_sizes(matrix, data.in_memory)
    notes = (*matrix.notes, *steady_notes(matrix, data.in_memory), *code_notes(data.in_memory))
    large = data.n * data.d > MOST_CELLS
    return replace(matrix, data=replace(data, in_memory=None, size=data.n) if large else data, notes=notes)


def _with_holes(matrix: Matrix) -> Matrix:
    """Return a matrix with NaN in its holes. DataError where the entries that are seen cannot be used."""
    values = matrix.data.in_memory
    if values is None or values.size > MOST_CELLS:
        raise DataError(
            matrix.path,
            f"has missing cells, and a table with such is analyzed up to {MOST_CELLS:.0g} cells, all of them in "
            "memory; take fewer rows, fewer columns with --columns, or the complete rows alone with --drop-rows",
        )
    if np.isinf(values).any():
        _raise_where(matrix, np.isinf)
    if (abs(values) > MAX_ENTRY).any():
        _raise_unusable(matrix, True)
    empty = np.flatnonzero(np.isnan(values).all(axis=0))
    if len(empty):
        names = listed([matrix.place_of_column(int(k)) for k in empty], 5)
        which = listed([matrix.position(int(k)) + 1 for k in empty], 20).replace(", ", ",")
        raise DataError(
            matrix.path,
            f"{names} {'holds' if len(empty) == 1 else 'hold'} no number in any row: leave out what is empty with "
            f"--skip-columns {which}",
        )
    _require_sizes(matrix, np.where(np.isnan(values), 0.0, values))
    notes = (*matrix.notes, *steady_notes(matrix, values), *code_notes(values))
    return replace(matrix, notes=notes, has_holes=True)


def _require_sizes(matrix: Matrix, values: Array) -> None:
    sizes = np.maximum(-values.min(axis=0), values.max(axis=0))  # without a copy of the table
    tiny = (sizes > 0) & (sizes < MIN_ENTRY)
    if tiny.any():
        column = int(tiny.argmax())
        row = int(abs(values[:, column]).argmax())
        raise DataError(
            matrix.path,
            f"{matrix.place(row, column)}: {sizes[column]:.6g} is the largest number of its column, so small that "
            f"products of squares vanish ({counted(int(tiny.sum()), 'such column')} in all); rescale the column",
        )


def _raise_unusable(matrix: Matrix, finite: bool) -> None:
    if not finite:
        _raise_where(matrix, _is_not_finite)
    row, column, value, number = entries_where(matrix.data, _is_too_large)
    place, count = matrix.place(row, column), counted(number, "such cell")
    raise DataError(
        matrix.path,
        f"{place}: {value:.6g} is so large that products of squares overflow ({count} in all); rescale the column",
    )


def _raise_where(matrix: Matrix, bad: Callable[[Array], NDArray[np.bool_]]) -> NoReturn:
    """Refuse the entries that are `bad`, which are not finite, at the first of them."""
    row, column, value, number = entries_where(matrix.data, bad)
    place, count = matrix.place(row, column), counted(number, "such cell")
    raise DataError(
        matrix.path,
        f"{place}: {value} where a finite number is needed ({count} in all); "
        "fill the gaps, or leave out rows with --drop-rows or columns with --skip-columns",
    )


def _is_too_large(block: Array) -> NDArray[np.bool_]:
    return np.asarray(abs(block) > MAX_ENTRY)


def _is_not_finite(block: Array) -> NDArray[np.bool_]:
    return ~np.isfinite(block)
