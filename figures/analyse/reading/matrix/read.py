"""Reads a matrix from any kind of file that can hold one."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.arrays import read_array
from figures.analyse.reading.matrix.cell_by_cell import Reading
from figures.analyse.reading.matrix.codes import code_notes
from figures.analyse.reading.matrix.delimited import read_delimited
from figures.analyse.reading.matrix.from_disk import entries_where, extremes, finite_rows, without_gaps
from figures.analyse.reading.matrix.parquet import read_parquet
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.steady import steady_notes
from figures.analyse.reading.opening import extension
from figures.analyse.reading.tables.layout import Header
from figures.analyse.wording import counted
from simulate.masked import RowBlocks
from theory.core.arrays import Array

BINARY = (".npy", ".npz", ".parquet")  # tables of numbers that are no text
LARGEST = 1e50  # below it products of two variances, and their sums, stay far from overflow
SMALLEST = 1e-50  # the size of a column: below it such products vanish


def read_matrix(
    path: Path | str,
    *,
    header: Header = "auto",
    columns: str | None = None,
    skip_columns: str | None = None,
    array: str | None = None,
    drop_rows: bool = False,
    missing: str | None = None,
    decimal: Literal[".", ","] = ".",
) -> Matrix:
    """Return the matrix of a .npy, .npz or .parquet file, of any other name the table of text; gzipped or not.

    `columns` and `skip_columns` choose columns as in "1-5,8,height", `array` one of a .npz file. `drop_rows` leaves out
    the rows that have missing cells: empty ones, NaN, NA, ?, and such as the list `missing` names ("-999,x"). `decimal`
    is the sign that marks decimals. What is wrong with the file is a DataError of one line that names file, row and
    column (from 1) and the remedy.
    """
    file = Path(path)
    require_fitting(file, array=array, missing=missing, decimal=decimal)
    if extension(file) in BINARY:
        if extension(file) == ".parquet":
            matrix = read_parquet(file, columns=columns, skip_columns=skip_columns)
        else:
            matrix = read_array(file, array=array, columns=columns, skip_columns=skip_columns)
        return _checked(_without_gaps(matrix) if drop_rows else matrix)
    markers = tuple(mark.strip() for mark in (missing or "").split(",") if mark.strip())
    how = Reading(drop_rows=drop_rows, missing=markers, decimal=decimal)
    return _checked(read_delimited(file, header=header, columns=columns, skip_columns=skip_columns, how=how))


def require_fitting(file: Path, *, array: str | None, missing: str | None, decimal: str) -> None:
    """Raise a DataError for an option that is for other files."""
    if extension(file) in BINARY and (missing is not None or decimal != "."):
        raise DataError(file, "holds numbers, no text; --missing and --decimal are for tables of text")
    if extension(file) not in (".npy", ".npz") and array is not None:
        what = "Parquet file" if extension(file) == ".parquet" else "table of text"
        raise DataError(file, f"is a {what}; --array chooses from .npz files")


def _without_gaps(matrix: Matrix) -> Matrix:
    """Return an array's matrix without the rows that hold a number that is not finite."""
    values = matrix.values
    whole = finite_rows(values) if isinstance(values, RowBlocks) else np.array(np.isfinite(values).all(axis=1))
    if whole.all():
        return matrix
    rows = tuple((np.flatnonzero(whole) + matrix.first_row).tolist())
    note = f"{int((~whole).sum())} of {counted(len(whole), 'row')} left out: they have numbers that are not finite"
    kept = without_gaps(values, whole) if isinstance(values, RowBlocks) else values[whole]
    return replace(matrix, values=kept, notes=(*matrix.notes, note), rows=rows)


def _checked(matrix: Matrix) -> Matrix:
    """Return the matrix. DataError where it is too small, not finite, or so large that its squares overflow."""
    values = matrix.values
    rows, columns = (values.n, values.d) if isinstance(values, RowBlocks) else values.shape
    if columns < 2:
        raise DataError(
            matrix.path, "has one column; masked regression predicts each column from the others, so it needs two"
        )
    if rows < 3:
        raise DataError(matrix.path, f"has {counted(rows, 'row')} of numbers; at least 3 samples are needed")
    # Both are NaN if an entry is, and no second matrix is held in memory.
    lowest, highest = extremes(values) if isinstance(values, RowBlocks) else (values.min(), values.max())
    if not max(-lowest, highest) <= LARGEST:
        _raise_unusable(matrix)
    if not isinstance(values, RowBlocks):  # of blocks each column is checked as it is first read
        _require_sizes(matrix, values)
    return replace(matrix, notes=(*matrix.notes, *steady_notes(matrix), *code_notes(matrix)))


def _require_sizes(matrix: Matrix, values: Array) -> None:
    sizes = np.maximum(-values.min(axis=0), values.max(axis=0))  # without a copy of the table
    tiny = (sizes > 0) & (sizes < SMALLEST)
    if tiny.any():
        column = int(tiny.argmax())
        row = int(abs(values[:, column]).argmax())
        raise DataError(
            matrix.path,
            f"{matrix.place(row, column)}: {sizes[column]:.6g} is the largest number of its column, so small that "
            f"products of squares vanish ({counted(int(tiny.sum()), 'such column')} in all); rescale the column",
        )


def _raise_unusable(matrix: Matrix) -> None:
    given = matrix.values
    values = given if isinstance(given, RowBlocks) else RowBlocks(given.shape[1], lambda: iter([given]))
    lowest, highest = extremes(values)
    finite = bool(np.isfinite([lowest, highest]).all())
    row, column, value, number = entries_where(values, _is_too_large if finite else _is_not_finite)
    place, count = matrix.place(row, column), counted(number, "such cell")
    if finite:
        raise DataError(
            matrix.path,
            f"{place}: {value:.6g} is so large that products of squares overflow ({count} in all); rescale the column",
        )
    raise DataError(
        matrix.path,
        f"{place}: {value} where a finite number is needed ({count} in all); "
        "fill the gaps, or leave out rows with --drop-rows or columns with --skip-columns",
    )


def _is_too_large(block: Array) -> NDArray[np.bool_]:
    return np.asarray(abs(block) > LARGEST)


def _is_not_finite(block: Array) -> NDArray[np.bool_]:
    return ~np.isfinite(block)
