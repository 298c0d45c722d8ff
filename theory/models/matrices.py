"""Whether a given matrix is a covariance: symmetric and positive semi-definite, in any units of its columns."""

from typing import Any

import numpy as np

from theory.core import Array, checks
from theory.models.eigenmodes import correlations

# Ratio of two standard deviations of a given matrix; the square of a smaller one underflows.
MIN_DEVIATION_RATIO = 1e-150


def semidefinite_matrix(name: str, value: Any) -> Array:
    """Return `value` as a symmetric matrix (d, d), or raise ValueError where it is no covariance beyond rounding."""
    matrix = checks.finite_array(name, value, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got shape {matrix.shape}")
    # What an entry is compared with is in the units of its row and its column, rounding in those of the largest.
    scales = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    allowed = 1e-10 * np.outer(scales, scales) + len(matrix) * np.finfo(float).eps * abs(matrix).max()
    excess = abs(matrix - matrix.T) - allowed
    if excess.max() > 0:
        i, j = np.unravel_index(int(excess.argmax()), excess.shape)
        raise ValueError(f"{name} must be symmetric, got {matrix[i, j]} and {matrix[j, i]} at ({i}, {j})")
    matrix = (matrix + matrix.T) / 2
    _refuse_spread(name, scales)
    _refuse_indefinite(name, matrix)
    return np.asarray(matrix)


def _refuse_spread(name: str, scales: Array) -> None:
    """Raise ValueError for columns in units so far apart that the squares of the ratios leave double precision."""
    present = scales[scales > 0]
    if present.size and present.min() < MIN_DEVIATION_RATIO * present.max():
        raise ValueError(
            f"{name} must have variances within a factor of {MIN_DEVIATION_RATIO**-2:.0e}, "
            f"got {present.min() ** 2:.3g} and {present.max() ** 2:.3g}: take other units for the columns"
        )


def _refuse_indefinite(name: str, matrix: Array) -> None:
    """Raise ValueError for an eigenvalue below zero, beyond rounding, of the matrix or of its correlations."""
    tolerance, largest = 1e-10 * len(matrix), abs(matrix).max()
    if largest == 0:
        return
    if not _is_positive(matrix, tolerance * largest):
        raise ValueError(
            f"{name} must be positive semi-definite, got an eigenvalue {np.linalg.eigvalsh(matrix)[0]:.12g}"
        )
    present = np.diagonal(matrix) > 0
    if not present.any():
        return
    block = matrix[np.ix_(present, present)]
    correlation = correlations(block)
    if _is_positive(correlation, tolerance):
        return
    eigenvalues, eigenvectors = np.linalg.eigh(correlation)
    # The same direction in the units of the matrix: a violation within rounding of the largest entry is none.
    scales = np.sqrt(np.diagonal(block))
    direction = eigenvectors[:, 0] / (scales / scales.min())
    norm = np.linalg.norm(direction)
    if direction / norm @ block @ (direction / norm) < -len(matrix) * np.finfo(float).eps * largest:
        raise ValueError(
            f"{name} must be positive semi-definite, got an eigenvalue {eigenvalues[0]:.6g} of its correlations"
        )


def _is_positive(matrix: Array, tolerance: float) -> bool:
    try:
        np.linalg.cholesky(matrix + tolerance * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True
