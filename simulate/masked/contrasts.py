"""Turns data with an unknown mean into one row less, without a mean."""

from typing import Any

import numpy as np

from simulate.masked import checks
from theory.core import Array, checked


@checked
def contrasts(X: Any) -> Array:
    """Take n - 1 orthonormal contrasts (n-1, d) of the n rows of X: each row minus the mean of the rows before it.

    These are Helmert's contrasts, each scaled to unit length. Their second moments are those of X minus its column
    means. Independent Gaussian rows with any mean become independent rows with mean 0. Centered rows would instead sum
    to zero, so that one of them is always determined by the others: near interpolation their GCV error tends to 0 with
    the training error. Raises ValueError as `fit` does, and for a single row.

    >>> X = np.random.default_rng(0).standard_normal((10, 3)) + 100
    >>> rows = contrasts(X)
    >>> rows.shape, bool(np.allclose(rows.T @ rows, (X - X.mean(axis=0)).T @ X))
    ((9, 3), True)
    """
    data = checks.data_matrix("X", X)
    if len(data) < 2:
        raise ValueError("X must have at least 2 rows to have contrasts, got 1")
    data -= data[0]  # a large common mean would cost digits, and contrasts do not depend on it
    before = np.arange(1.0, len(data))[:, None]
    return np.asarray((data[1:] - np.cumsum(data[:-1], axis=0) / before) * np.sqrt(before / (before + 1)))
