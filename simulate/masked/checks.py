"""Users' arrays and numbers are checked once, here."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# squares of the entries must neither overflow nor vanish in double precision
SMALLEST_POWER, LARGEST_POWER = 1e-280, 1e280


def data_matrix(name: str, data: Any, columns: int | None = None) -> Array:
    """`data` as a finite C-ordered float64 copy (n, d), with `columns` columns if given; else ValueError."""
    matrix = _real_numbers(name, data)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} must have shape (samples, coordinates) with at least one of each, got {matrix.shape}")
    if columns is not None and matrix.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, one for each coordinate, got {matrix.shape[1]}")
    power = float(np.vdot(matrix, matrix))  # one pass without a temporary: NaN and inf carry through
    if not SMALLEST_POWER < power < LARGEST_POWER and matrix.any():
        _raise_not_finite(name, matrix)
        size = float(abs(matrix).max())
        raise ValueError(f"{name} must have entries whose squares are representable, got size {size:g}: rescale it")
    return matrix


def ridge(lam: Any, name: str = "lam") -> float:
    """A ridge strength: finite, zero allowed."""
    if isinstance(lam, complex | np.complexfloating):
        raise ValueError(f"{name} must be a real number, got {lam!r}")
    try:
        number = float(lam)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {lam!r}") from None
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be finite and >= 0, got {lam!r}")
    return number


def _real_numbers(name: str, data: Any) -> Array:
    try:
        given = np.asarray(data)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array, got rows of different lengths") from None
    if given.dtype.kind not in "buif":
        raise ValueError(f"{name} must contain real numbers, got dtype {given.dtype}")
    return np.array(given, dtype=np.float64, order="C")


def _raise_not_finite(name: str, matrix: Array) -> None:
    bad = ~np.isfinite(matrix)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        raise ValueError(f"{name} must be finite, got {matrix[row, column]} at row {row}, column {column}")
