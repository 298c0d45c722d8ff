"""Builds eigenmodes at a finite dimension: covariances and signal vectors whose Gram matrix in each mode is exact."""

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.models.glm import DenseModes, Modes

Counts = NDArray[np.intp]

ROUNDING = 1e-12


def embed(modes: Modes | DenseModes, p: int) -> tuple[Array, Array]:
    """Return covariances (C, p) as diagonals, or (C, p, p) if dense, and signals (A, p).

    Mode i takes weights_i p of the p dimensions, rounded; a diagonal says all, since Gaussian inputs do not know their
    basis. ValueError where p is too small for the modes or for the signals in one of them.
    """
    if isinstance(modes, DenseModes):
        if modes.covariances.shape[1] != p:
            raise ValueError(
                f"d must be {modes.covariances.shape[1]}, the size of the model's own matrices, got p = {p}"
            )
        return modes.covariances, modes.signals
    counts = apportion(modes.weights, p)
    signals = np.zeros((modes.n_signals, p))
    for start, count, gram in zip(np.cumsum(counts) - counts, counts, np.moveaxis(modes.gram, 2, 0), strict=True):
        root = _root(p * gram)
        if root.shape[1] > count:
            raise ValueError(
                f"d is too small: a mode with {root.shape[1]} independent signals has {count} of p = d = {p} dimensions"
            )
        signals[:, start : start + root.shape[1]] = root
    return np.repeat(modes.covariances, counts, axis=1), signals


def apportion(shares: Array, total: int) -> Counts:
    """Return integers that sum to `total`, in proportion to `shares`: the largest remainders are rounded up."""
    exact = np.asarray(shares, float) * total
    counts = np.floor(exact + ROUNDING * total).astype(np.intp)
    counts[np.argsort(counts - exact, kind="stable")[: total - counts.sum()]] += 1
    return counts


def _root(gram: Array) -> Array:
    """Return a root R (A, rank) with R R^T = gram, by Cholesky's method without columns for dependent rows.

    It is the same on every machine, unlike the signs of eigenvectors and the choice of those of equal eigenvalues.
    """
    left, columns = np.array(gram, float), []
    for k, whole in enumerate(np.diagonal(gram)):
        if left[k, k] > ROUNDING * max(float(whole), np.finfo(float).tiny):
            column = np.where(np.arange(len(left)) < k, 0.0, left[k] / np.sqrt(left[k, k]))
            columns.append(column)
            left -= np.outer(column, column)
    return np.array(columns).T.reshape(len(gram), len(columns))
