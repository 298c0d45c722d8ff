"""Masked regressions trained step by step: descent and momentum on all coordinates at once, and one pass over rows."""

from typing import Any

import numpy as np

from simulate.core.kernels import cached_njit
from simulate.masked import checks
from theory.core import Array, Positive, checked
from theory.models import Descent, HeavyBall, Nesterov


def descend(C: Array, training: Descent, lam: float) -> Array:
    """Return the joint predictor (d, d) after the steps of descent, with momentum or without, on C = X'X/n.

    Row k moves by the step times C_-k,k - (C_-k + lam) a, by one matrix product for all rows. Raises ValueError where
    the steps diverge, which a step above 2/(c + lam) does for the largest eigenvalue c of C.
    """
    return follow(C, C, training, lam, own_left_out=True)


def follow(H: Array, cross: Array, training: Descent, lam: float, own_left_out: bool = False) -> Array:
    """Return coefficients (b, m), each row after the steps along cross - a (H + lam), with H (m, m) and cross (b, m).

    With `own_left_out` row k has no coefficient k. Raises ValueError as `descend` does.
    """
    top = float(np.linalg.eigvalsh(H)[-1])
    momentum = training.momentum if isinstance(training, HeavyBall) else 0.0
    factor = 4 / 3 if isinstance(training, Nesterov) else 2 * (1 + momentum)
    if not training.step * (top + lam) < factor:
        raise ValueError(
            f"training must have a step below {factor / (top + lam):.6g}, where {type(training).__name__} becomes "
            f"unstable: the largest eigenvalue of these data is {top:.6g}; got step = {training.step:g}"
        )
    before = now = np.zeros_like(cross)
    for k in range(1, training.steps + 1):
        ahead = now + ((k - 1) / (k + 2) if isinstance(training, Nesterov) else 0.0) * (now - before)
        moved = ahead + training.step * (cross - ahead @ H - lam * ahead) + momentum * (now - before)
        if own_left_out:
            np.fill_diagonal(moved, 0.0)
        before, now = now, moved
    return now


@checked
def one_pass(X: Any, step: Positive) -> Array:
    """Train the joint predictor (d, d) by one pass over the rows of X (n, d), in their order, from zero.

    Each row x moves every coordinate's coefficients once, a += (step/d) (x_k - a.x_-k) x_-k. Raises ValueError where
    the steps diverge, and as in `fit` for X.

    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> one_pass(X, 0.5).shape
    (3, 3)
    """
    data = checks.data_matrix("X", X)
    found = np.zeros((data.shape[1], data.shape[1]))
    _pass_over(data, step / data.shape[1], found)
    if not np.isfinite(found).all():
        raise ValueError(f"step must be smaller, below 2 over the mean variance at least: it diverged, got {step:g}")
    return found


@cached_njit()
def _pass_over(X: Array, rate: float, found: Array) -> None:
    d = X.shape[1]
    for x in X:
        for k in range(d):
            row = found[k]
            left = x[k]
            for j in range(d):
                left -= row[j] * x[j]  # the coefficient on the coordinate itself is zero
            for j in range(d):
                row[j] += rate * left * x[j]
            row[k] = 0.0
