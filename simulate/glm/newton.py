"""Minimizes a smooth convex loss of fields plus a ridge by Newton's method: each step is a weighted ridge fit."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from simulate.glm.weighted_ridge import kernel_of, weighted_ridge
from theory.core import Array, FitError

MAX_STEPS = 200
HALVINGS = 40  # of a step that does not lower the risk
ROUNDING = 1e-13  # of the risk, which the last steps lower by less
TOLERANCE = 1e-12  # of the gradient, relative to the sum of its absolute terms, whose rounding is 1e-15


class Expansion(NamedTuple):
    """Hold what a loss is near some fields: minus its slope, the absolute terms of the slope, and its curvature."""

    force: Array
    size: Array
    curvature: Array


def newton(
    Z: Array,
    offsets: Array,
    weights: Array,
    loss: Callable[[Array], Array],
    expand: Callable[[Array], Expansion],
    *,
    name: str,
    largest_move: float = np.inf,
    start: Array | None = None,
) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i loss(h_i), h = Z u + offsets b, by steps no field of which is larger.

    It begins at zero, or at a start (u, b), from which it takes one step at least. Returns u, b, the gradient relative
    to the sum of its absolute terms, and the number of steps. Raises FitError if the relative gradient does not fall
    below 1e-9.
    """

    def risk(u: Array, h: Array) -> float:
        return float(0.5 * u @ u + weights @ loss(h))

    def gradient(u: Array, at: Expansion) -> float:
        """Return the largest component of the gradient, relative to the sum of its absolute terms."""
        pull, size = weights * at.force, weights * at.size
        free = abs(pull @ offsets) / (size.sum() + 1e-300)
        tied = np.linalg.norm(u - pull @ Z) / (np.linalg.norm(u) + np.linalg.norm(size @ abs(Z)) + 1e-300)
        return float(max(tied, free.max(initial=0.0)))

    p, k, kernel = Z.shape[1], offsets.shape[1], kernel_of(Z)
    x = np.zeros(p + k) if start is None else start
    h = Z @ x[:p] + offsets @ x[p:]
    value = risk(x[:p], h)
    for taken in range(MAX_STEPS):
        at = expand(h)
        left = gradient(x[:p], at)
        if left <= TOLERANCE and (taken or start is None):
            return x[:p], x[p:], left, taken
        u, b = weighted_ridge(Z, h + at.force / at.curvature, offsets, weights * at.curvature, kernel)
        step = np.concatenate((u, b)) - x
        along = Z @ step[:p] + offsets @ step[p:]
        size = min(1.0, largest_move / max(float(abs(along).max()), 1e-300))
        for _ in range(HALVINGS):
            tried = x + size * step
            new = risk(tried[:p], h + size * along)
            if new <= value + ROUNDING * abs(value):
                break
            size /= 2
        else:
            break  # only rounding is left, so that no smaller value can be found
        x, h, value = tried, h + size * along, new
    left = gradient(x[:p], expand(h))
    if not left <= 1e3 * TOLERANCE:
        raise FitError(
            f"the {name} fit did not converge: relative gradient {left:.2g} after {taken + 1} steps; take a larger lam"
        )
    return x[:p], x[p:], left, taken + 1
