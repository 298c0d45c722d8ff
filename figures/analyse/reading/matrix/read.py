"""Reads a matrix from any kind of file that can hold one."""

from pathlib import Path

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.arrays import read_array
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
) -> Matrix:
    """Return the matrix of a .npy or .npz file, of any other name the table of text; gzipped or not.

    `columns` and `skip_columns` choose columns as in "1-5,8,height", `array` one of a .npz file. What is wrong with the
    file is a DataError of one line that names file, row and column (from 1) and the remedy.
    """
    file = Path(path)
    if extension(file) in (".npy", ".npz"):
        return _checked(read_array(file, array=array, columns=columns, skip_columns=skip_columns))
    if array is not None:
        raise DataError(file, "is a table of text; --array chooses from .npz files")
    return _checked(read_delimited(file, header=header, columns=columns, skip_columns=skip_columns))


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
        "fill the gaps, or leave out rows or columns (--skip-columns)",
    )
