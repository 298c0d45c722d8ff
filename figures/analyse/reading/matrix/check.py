"""What a matrix must be before it is worth analyzing."""

import numpy as np

from figures.analyse.errors import DataError, counted
from figures.analyse.reading.matrix.record import Matrix

LARGEST = 1e50  # products of two variances, and their sums, stay far from overflow


def checked(matrix: Matrix) -> Matrix:
    """The matrix itself. DataError where it is too small, not finite, or so large that its squares overflow."""
    rows, columns = matrix.values.shape
    if columns < 2:
        raise DataError(
            matrix.path, "has one column; masked regression predicts each column from the others, so it needs two"
        )
    if rows < 3:
        raise DataError(matrix.path, f"has {counted(rows, 'row')} of numbers; at least 3 samples are needed")
    lowest, highest = matrix.values.min(), matrix.values.max()  # carry NaN; no temporary of the size of the matrix
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
