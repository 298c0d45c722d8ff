"""Rows that depend on each other, T^(1/2) times independent ones, and rows of data that are made independent again."""

from collections.abc import Callable
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from simulate.masked import checks
from theory.core import Array, checked
from theory.models import AR1Rows, Autocovariance, IndependentRows, LongMemoryRows, RowDependence, SubjectRows

Draw = Callable[[int], Array]  # draws so many independent rows
Stationary = AR1Rows | LongMemoryRows | Autocovariance  # the dependences in time
SINGULAR = 1e-10  # share of its variance that a row must keep, given the rows before, for T to be inverted
ROUNDING = 1e-12  # of the largest eigenvalue of a circulant matrix, by which others may lie below zero


def at_rows(dependence: RowDependence, n: int) -> RowDependence:
    """Return the dependence for n rows; ValueError for one that is known for another number of rows only."""
    try:
        return dependence.resized(n)
    except ValueError as refused:
        raise ValueError(f"row_dependence must be one of n = {n} rows: {refused}") from None


@singledispatch
def dependent_rows(dependence: Any, n: int, draw: Draw) -> Array:
    """Draw n Gaussian rows of any dependence from independent ones, by the Cholesky factor of T or by its modes."""
    factor = _cholesky(dependence.matrix)
    if factor is not None:
        return np.asarray(factor @ draw(n))
    return symmetric_root(dependence, draw(n))  # T is singular


def symmetric_root(dependence: RowDependence, rows: Array) -> Array:
    """Multiply rows by the symmetric root of T, which is the map for rows that are not Gaussian."""
    if isinstance(dependence, IndependentRows):
        return rows
    values, vectors = dependence.modes
    return np.asarray(vectors @ (np.sqrt(values)[:, None] * (vectors.T @ rows)))


@dependent_rows.register
def _independent(_dependence: IndependentRows, n: int, draw: Draw) -> Array:
    return draw(n)


@dependent_rows.register
def _autoregression(dependence: AR1Rows, n: int, draw: Draw) -> Array:
    """Mix rows by the recursion x_0 = z_0, x_i = phi x_(i-1) + sqrt(1 - phi^2) z_i, in place."""
    rows, phi = draw(n), dependence.correlation
    rows[1:] *= np.sqrt((1 - phi) * (1 + phi))
    for previous, current in pairwise(rows):
        current += phi * previous
    return rows


@dependent_rows.register(LongMemoryRows)
@dependent_rows.register(Autocovariance)
def _stationary(dependence: LongMemoryRows | Autocovariance, n: int, draw: Draw) -> Array:
    """Take the first n of 2n - 2 rows on a circle, whose covariances at distances up to n - 1 are those of T.

    The covariance of rows on a circle is circulant, so that its root is a product of Fourier transforms. It need not
    be positive semi-definite though T is; then T is factorized.
    """
    if n < 3:
        return np.asarray(dependent_rows.dispatch(object)(dependence, n, draw))
    covariances = dependence.autocovariances(n)
    powers = np.fft.rfft(np.concatenate([covariances, covariances[-2:0:-1]])).real
    if powers.min() < -ROUNDING * powers.max():
        return np.asarray(dependent_rows.dispatch(object)(dependence, n, draw))
    modes = np.fft.rfft(draw(2 * n - 2), axis=0)
    modes *= np.sqrt(np.maximum(powers, 0.0))[:, None]
    return np.fft.irfft(modes, n=2 * n - 2, axis=0)[:n].copy()


@dependent_rows.register
def _subjects(dependence: SubjectRows, n: int, draw: Draw) -> Array:
    """Mix rows by the symmetric root of each subject's block: one factor for its mean, one for deviations from it."""
    rows, sizes, correlation = draw(n), np.array(dependence.sizes), dependence.correlation
    starts = np.cumsum(sizes) - sizes
    means = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
    root = np.sqrt(max(1 - correlation, 0.0))
    weights = np.sqrt(np.maximum(1 + (sizes - 1) * correlation, 0.0)) - root
    rows *= root
    rows += np.repeat(weights[:, None] * means, sizes, axis=0)
    return rows


@checked
def whitened(X: Any, row_dependence: RowDependence) -> Array:
    """Return L^-1 X (n, d), whose rows are independent if those of X (n, d) have the dependence T = L L'.

    L is the Cholesky factor, so that row i becomes what the rows before it do not predict, in units of its standard
    deviation; for autoregressions these are the filtered rows. Fits of whitened rows have the errors, the
    cross-validation and the best ridge of n independent rows, and smaller errors than those of X, unless they
    interpolate. X has to have the mean zero: a mean that is not zero becomes a trend. The factor costs n^3/3 flops,
    for `AR1Rows` nothing.

    ValueError as in `fit` for X, for a dependence that has no law of n rows, and for a T that is singular: a row that
    the others determine has nothing left that could be fitted.

    >>> from simulate.core import stream
    >>> from simulate.masked import sample
    >>> from theory.models import AR1
    >>> law = AR1Rows(200, 0.6)
    >>> X = sample(AR1(d=3, correlation=0.5), 200, stream(0, "docstring"), row_dependence=law)
    >>> rows = whitened(X, law)
    >>> bool(np.allclose(rows[1:], (X[1:] - 0.6 * X[:-1]) / 0.8))
    True
    """
    data = checks.data_matrix("X", X)
    dependence = at_rows(row_dependence, len(data))
    if isinstance(dependence, IndependentRows):
        return data
    if isinstance(dependence, AR1Rows):
        left = (1 - dependence.correlation) * (1 + dependence.correlation)
        if left >= SINGULAR:
            data[1:] -= dependence.correlation * data[:-1]
            data[1:] /= np.sqrt(left)
            return data
    factor = _cholesky(dependence.matrix)
    diagonal = np.diagonal(dependence.matrix)
    if factor is None or not (np.diagonal(factor) ** 2 >= SINGULAR * diagonal).all():
        raise ValueError(
            f"row_dependence must have an invertible matrix, got {dependence!r}: some rows are determined by others"
        )
    return np.asarray(solve_triangular(factor, data, lower=True, check_finite=False))


def _cholesky(matrix: Array) -> Array | None:
    """Return the lower Cholesky factor, or None where the matrix is singular."""
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=1)
    return None if failed else np.asarray(factor)
