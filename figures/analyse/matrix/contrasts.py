"""Centering without losing count: n rows about their mean are n - 1 rows about zero."""

import numpy as np

from theory.models.arrays import Array


def contrasts(X: Array) -> Array:
    """Reflect the rows of X (n, d) so that their mean is one row, and return the others, (n - 1, d).

    The Householder reflection that sends (1, ..., 1)/sqrt(n) to the first axis. For independent rows of covariance
    Sigma these are n - 1 independent rows of mean 0 and covariance Sigma, so that all formulas for data of known mean
    hold for them; and their Gram matrix X'X is that of the centered rows.
    """
    rows: Array = X[1:] - X.mean(axis=0)
    rows -= (X[0] - X.mean(axis=0)) / (1 + np.sqrt(len(X)))
    return rows


def ridge_of_contrasts(lam: Array | float, n: int) -> Array:
    """Convert a ridge of n centered rows to that of their n - 1 contrasts, with the same predictor.

    The loss is a mean over rows, so that the penalty relative to the sum, n lam, is what is kept.
    """
    return np.asarray(lam, dtype=float) * (n / (n - 1))
