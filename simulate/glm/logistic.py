"""Fits the logistic loss by Newton's method: each step is a weighted ridge fit of the linearized labels."""

import numpy as np
from scipy.special import expit

from simulate.glm.weighted_ridge import kernel_of, weighted_ridge
from theory.core import Array, FitError

MAX_STEPS = 200
ROUNDING = 1e-13  # rounding of the risk, which the last steps lower by less
TOLERANCE = 1e-12  # relative to the sum of absolute terms, whose rounding is 1e-15
LEAST_CURVATURE = 1e-12  # keeps the linearized label finite for samples far on either side


def logistic(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i log(1 + exp(-y_i h_i)), h = Z u + offsets b.

    Returns u, b, the gradient relative to the sum of its absolute terms, and the number of steps. Raises FitError if
    the relative gradient does not fall below 1e-9.
    """
    p, k, kernel = Z.shape[1], offsets.shape[1], kernel_of(Z)
    x, h = np.zeros(p + k), np.zeros(len(y))
    value = _risk(x[:p], h, y, weights)
    for taken in range(MAX_STEPS):
        against = expit(-y * h)  # minus the slope of the loss in y h
        left = _gradient(Z, y, offsets, weights * against, x[:p])
        if left <= TOLERANCE:
            return x[:p], x[p:], left, taken
        curvature = np.maximum(against * (1 - against), LEAST_CURVATURE)
        u, b = weighted_ridge(Z, h + y * against / curvature, offsets, weights * curvature, kernel)
        step = np.concatenate((u, b)) - x
        along = Z @ step[:p] + offsets @ step[p:]
        x, h, value, moved = _search(x, h, step, along, value, y, weights, p)
        if not moved:  # only rounding is left, so that no smaller value can be found
            break
    left = _gradient(Z, y, offsets, weights * expit(-y * h), x[:p])
    if not left <= 1e3 * TOLERANCE:
        raise FitError(
            f"the logistic fit did not converge: relative gradient {left:.2g} after {taken + 1} steps; "
            "take a larger lam"
        )
    return x[:p], x[p:], left, taken + 1


def _search(
    x: Array, h: Array, step: Array, along: Array, value: float, y: Array, weights: Array, p: int
) -> tuple[Array, Array, float, bool]:
    """Find the longest of the steps 1, 1/2, 1/4 ... that lowers the risk, and says whether there is one."""
    for halving in range(40):
        size = 0.5**halving
        trial = x + size * step
        new = _risk(trial[:p], h + size * along, y, weights)
        if new <= value + ROUNDING * abs(value):
            return trial, h + size * along, new, True
    return x, h, value, False


def _risk(u: Array, h: Array, y: Array, weights: Array) -> float:
    return float(0.5 * u @ u + weights @ np.logaddexp(0, -y * h))


def _gradient(Z: Array, y: Array, offsets: Array, pull: Array, u: Array) -> float:
    """Return the largest component of the gradient, relative to the sum of its absolute terms."""
    free = abs((y * pull) @ offsets) / (pull.sum() + 1e-300)
    tied = np.linalg.norm(u - (y * pull) @ Z) / (np.linalg.norm(u) + np.linalg.norm(pull @ abs(Z)) + 1e-300)
    return float(max(tied, free.max(initial=0.0)))
