"""Holds the d masked regressions that one inverse contains, and the identities that read off their errors.

With C = X'X/n, Q = (C + lam)^-1 and G = (XX'/n + lam)^-1, block inversion gives for each masked coordinate k
the coefficients a_k = -Q_k,-k / Q_kk and the minimum C_kk + lam - a_k.C_k = 1/Q_kk of objective + lam. What is left
after the penalty is the training error, `fit_share / Q_kk` with fit_share = 1 - lam Q_kk (1 + |a_k|^2).
The regression of k on the others has n - lam tr G - fit_share degrees of freedom.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array

Pairs = Iterator[tuple[Array, Array]]  # residuals and leave-one-out residuals (rows, d) of blocks of rows, in order

DIGITS = 1e5  # a fast route may lose so much relative accuracy before a safer one takes over


@dataclass(frozen=True, eq=False)
class Regressions:
    """All d masked regressions at one ridge strength."""

    predictor: Array  # (d, d), row k predicts coordinate k
    train_error: Array  # (d,)
    gcv_error: Array  # (d,)
    shrinkage: Array  # (d,), lam Q_kk
    effective_ridge: float  # n / tr G
    method: str
    leave_one_out: Callable[[], Pairs]  # computed when called


def gcv_errors(n: int, train_error: Array, fit_share: Array, left: float) -> Array:
    """Return the GCV errors train/(1 - df/n)^2, (d,), where n - df = left + fit_share and left = lam tr G."""
    return np.asarray(train_error * (n / (left + fit_share)) ** 2)


def predictor_from_triangle(symmetric: Array, scale: Array) -> tuple[Array, Array]:
    """Multiply the rows of a symmetric matrix without its diagonal by `scale`, in place; return also |row|^2 (d,).

    Only the upper triangle of `symmetric` (C order) is read. One pass in blocks of rows, the last block first: the
    rows above it are still unscaled when it copies its lower part from them.
    """
    d = len(symmetric)
    norms = np.empty(d)
    for start in reversed(range(0, d, 128)):
        stop = min(start + 128, d)
        rows = symmetric[start:stop]
        block = rows[:, start:stop]
        block[:] = np.triu(block, 1)
        block += block.T.copy()
        rows[:, :start] = symmetric[:start, start:stop].T
        rows *= scale[start:stop, None]
        np.einsum("ij,ij->i", rows, rows, out=norms[start:stop])
    return symmetric, norms
