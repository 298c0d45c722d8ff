"""Centering without losing count: n rows about their mean are n - 1 rows about zero."""

from dataclasses import replace
from typing import overload

import numpy as np

from simulate.masked import RowBlocks
from simulate.masked.moments import Gram, Moments
from theory.core.arrays import Array


@overload
def contrasts(X: Array) -> Array: ...
@overload
def contrasts(X: RowBlocks, found: Moments | None = None) -> RowBlocks: ...
def contrasts(X: Array | RowBlocks, found: Moments | None = None) -> Array | RowBlocks:
    """Reflect the rows of X (n, d) so that their mean is one row, and return the others, (n - 1, d).

    The Householder reflection that sends (1, ..., 1)/sqrt(n) to the first axis. For independent rows of covariance
    Sigma these are n - 1 independent rows of mean 0 and covariance Sigma, so that all formulas for data of known mean
    hold for them; and their Gram matrix X'X is that of the centered rows, which blocks of rows know from their moments
    (`found`, if these are known already).
    """
    if not isinstance(X, RowBlocks):
        return _reflected(X)
    if X.in_memory is not None:
        return RowBlocks.of_array("X", _reflected(X.in_memory))
    moments = found or X.moments
    n = moments.n
    first = next(iter(X))[0]
    shift = moments.mean + (first - moments.mean) / (1 + np.sqrt(n))
    known = Gram(n - 1, moments.scatter, None) if n > X.d else None
    rows = X.mapped(lambda start, block: (block if start else block[1:]) - shift, known)
    return replace(rows, size=n - 1)


def _reflected(X: Array) -> Array:
    rows: Array = X[1:] - X.mean(axis=0)
    rows -= (X[0] - X.mean(axis=0)) / (1 + np.sqrt(len(X)))
    return rows


def ridge_of_contrasts(lam: Array | float, n: int) -> Array:
    """Convert a ridge of n centered rows to that of their n - 1 contrasts, with the same predictor.

    The loss is a mean over rows, so that the penalty relative to the sum, n lam, is what is kept.
    """
    return np.asarray(lam, dtype=float) * (n / (n - 1))
