"""Fits the Poisson loss exp(h) - y h of counts by Newton's method: each step is a weighted ridge fit."""

import numpy as np

from simulate.glm.weighted_ridge import kernel_of, weighted_ridge
from theory.core import Array, FitError

MAX_STEPS = 200
ROUNDING = 1e-13  # of the risk, which the last steps lower by less
TOLERANCE = 1e-12  # of the gradient, relative to the sum of its absolute terms
LARGEST_STEP = 2.0  # of any field: exp(h) grows by a factor of 7
LEAST_RATE = 1e-12  # keeps the linearized count finite


def poisson(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i (exp(h_i) - y_i h_i), h = Z u + offsets b.

    Returns u, b, the gradient relative to the sum of its absolute terms, and the number of steps. Raises FitError if
    the relative gradient does not fall below 1e-9.
    """
    p, k, kernel = Z.shape[1], offsets.shape[1], kernel_of(Z)
    x, h = np.zeros(p + k), np.zeros(len(y))
    value = _risk(x[:p], h, y, weights)
    for taken in range(MAX_STEPS):
        left = _gradient(Z, y, offsets, weights, x[:p], h)
        if left <= TOLERANCE:
            return x[:p], x[p:], left, taken
        rate = np.maximum(np.exp(h), LEAST_RATE)
        u, b = weighted_ridge(Z, h + (y - rate) / rate, offsets, weights * rate, kernel)
        step = np.concatenate((u, b)) - x
        along = Z @ step[:p] + offsets @ step[p:]
        size = min(1.0, LARGEST_STEP / max(float(abs(along).max()), 1e-300))
        for _ in range(40):
            new = _risk(x[:p] + size * step[:p], h + size * along, y, weights)
            if new <= value + ROUNDING * abs(value):
                break
            size /= 2
        else:
            break  # only rounding is left
        x, h, value = x + size * step, h + size * along, new
    left = _gradient(Z, y, offsets, weights, x[:p], h)
    if not left <= 1e3 * TOLERANCE:
        raise FitError(
            f"the Poisson fit did not converge: relative gradient {left:.2g} after {taken + 1} steps; take a larger lam"
        )
    return x[:p], x[p:], left, taken + 1


def _risk(u: Array, h: Array, y: Array, weights: Array) -> float:
    return float(0.5 * u @ u + weights @ (np.exp(h) - y * h))


def _gradient(Z: Array, y: Array, offsets: Array, weights: Array, u: Array, h: Array) -> float:
    """Return the largest component of the gradient, relative to the sum of its absolute terms."""
    rate = np.exp(h)
    pull, size = weights * (y - rate), weights * (y + rate)
    free = abs(pull @ offsets) / (size.sum() + 1e-300)
    tied = np.linalg.norm(u - pull @ Z) / (np.linalg.norm(u) + np.linalg.norm(size @ abs(Z)) + 1e-300)
    return float(max(tied, free.max(initial=0.0)))
