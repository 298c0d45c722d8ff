"""Reads a matrix from any kind of file that can hold one."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.arrays import read_array
from figures.analyse.reading.matrix.cell_by_cell import Reading
from figures.analyse.reading.matrix.delimited import read_delimited
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.opening import extension
from figures.analyse.reading.tables.layout import Header
from figures.analyse.wording import counted

LARGEST = 1e50  # below it products of two variances, and their sums, stay far from overflow


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
    """Return the matrix of a .npy or .npz file, of any other name the table of text; gzipped or not.

    `columns` and `skip_columns` choose columns as in "1-5,8,height", `array` one of a .npz file. `drop_rows` leaves out
    the rows that have missing cells: empty ones, NaN, NA, ?, and such as the list `missing` names ("-999,x"). `decimal`
    is the sign that marks decimals. What is wrong with the file is a DataError of one line that names file, row and
    column (from 1) and the remedy.
    """
    file = Path(path)
    if extension(file) in (".npy", ".npz"):
        if missing is not None or decimal != ".":
            raise DataError(file, "holds numbers, no text; --missing and --decimal are for tables of text")
        matrix = read_array(file, array=array, columns=columns, skip_columns=skip_columns)
        return _checked(_without_gaps(matrix) if drop_rows else matrix)
    if array is not None:
        raise DataError(file, "is a table of text; --array chooses from .npz files")
    markers = tuple(mark.strip() for mark in (missing or "").split(",") if mark.strip())
    how = Reading(drop_rows=drop_rows, missing=markers, decimal=decimal)
    return _checked(read_delimited(file, header=header, columns=columns, skip_columns=skip_columns, how=how))


def _without_gaps(matrix: Matrix) -> Matrix:
    """Return an array's matrix without the rows that hold a number that is not finite."""
    whole = np.array(np.isfinite(matrix.values).all(axis=1))
    if whole.all():
        return matrix
    rows = tuple((np.flatnonzero(whole) + matrix.first_row).tolist())
    note = f"{int((~whole).sum())} of {counted(len(whole), 'row')} left out: they have numbers that are not finite"
    return replace(matrix, values=matrix.values[whole], notes=(*matrix.notes, note), rows=rows)


def _checked(matrix: Matrix) -> Matrix:
    """Return the matrix. DataError where it is too small, not finite, or so large that its squares overflow."""
    rows, columns = matrix.values.shape
    if columns < 2:
        raise DataError(
            matrix.path, "has one column; masked regression predicts each column from the others, so it needs two"
        )
    if rows < 3:
        raise DataError(matrix.path, f"has {counted(rows, 'row')} of numbers; at least 3 samples are needed")
    # Both are NaN if an entry is, and no second matrix is held in memory.
    lowest, highest = matrix.values.min(), matrix.values.max()
    if not max(-lowest, highest) <= LARGEST:
        _raise_unusable(matrix)
    return matrix


def _raise_unusable(matrix: Matrix) -> None:
    bad = ~np.isfinite(matrix.values)
    finite = not bad.any()
    if finite:
        bad = abs(matrix.values) > LARGEST
    row, column = (int(index) for index in np.argwhere(bad)[0])
    place = matrix.place(row, column)
    count = counted(int(bad.sum()), "such cell")
    if finite:
        value = f"{matrix.values[row, column]:.6g}"
        raise DataError(
            matrix.path,
            f"{place}: {value} is so large that products of squares overflow ({count} in all); rescale the column",
        )
    raise DataError(
        matrix.path,
        f"{place}: {matrix.values[row, column]} where a finite number is needed ({count} in all); "
        "fill the gaps, or leave out rows with --drop-rows or columns with --skip-columns",
    )
