"""Fits hinge loss and hard margin by an interior-point method, whose directions are weighted ridge fits.

It needs some ten factorizations of all samples, whatever the weights are. Where these are moderate, hinge loss is
fitted faster by the samples at its kink, and many samples of few columns by those near to it; the interior points
remain for what neither proves to be the minimum.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulate.glm.hinge_dual import ROWS_PER_COLUMN, hinge_by_kink
from simulate.glm.hinge_working_set import hinge_by_working_set
from simulate.glm.weighted_ridge import kernel_of, ridge_multipliers
from theory.core import Array, FitError

MAX_STEPS = 100
TOLERANCE = 1e-10  # tolerance of the products relative to the risk, since sum a = |u|^2 + the loss at the minimum
TO_BOUNDARY = 0.99
MIN_DIAGONAL = 1e-14  # keeps the linear system positive definite in spite of rounding


def hinge(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i max(0, 1 - y_i h_i), h = Z u + offsets b.

    Returns u, b, the gap between the primal and the dual problem relative to the risk, and the number of steps. Raises
    FitError where the gap does not close.
    """
    found = hinge_by_kink(Z, y, offsets, weights, TOLERANCE)
    if found is None and len(Z) > ROWS_PER_COLUMN * Z.shape[1]:
        found = hinge_by_working_set(Z, y, offsets, weights, TOLERANCE)
    return _interior_point(Z, y, offsets, weights) if found is None else found


def hard_margin(Z: Array, y: Array, offsets: Array) -> tuple[Array, Array, float, int]:
    """Minimize |u|^2/2 with y_i h_i >= 1 for all i; return what `hinge` returns.

    Raises FitError where no plane separates the labels, or hardly any.
    """
    scale = math.sqrt(float(np.mean(np.sum(Z**2, axis=1)))) or 1.0  # with rows of unit length the multipliers are O(1)
    u, b, gap, steps = _interior_point(Z / scale, y, offsets, np.full(len(y), np.inf))
    return u / scale, b, gap, steps


@dataclass(frozen=True)
class _Point:
    """Holds dual variables a > 0, their room = weights - a > 0, offsets b, and the multipliers of the two bounds.

    above_i is the loss of sample i, below_i what its margin has beyond 1; u = sum a y z, and sum a y offsets = 0
    throughout. Both products, a below and room above, are driven to zero together. Without an upper bound `room` is 1
    and `above` 0. The room is kept as a variable: weights - a would lose it to rounding.
    """

    a: Array
    room: Array
    b: Array
    below: Array
    above: Array
    bounded: bool

    def gap(self) -> float:
        """Return the mean of both products, the gap between primal and dual per sample."""
        return float(np.mean(self.a * self.below + self.room * self.above))

    def moved(self, step: "_Point", size: float) -> "_Point":
        return _Point(
            self.a + size * step.a,
            self.room + size * step.room,
            self.b + size * step.b,
            self.below + size * step.below,
            self.above + size * step.above,
            self.bounded,
        )

    def longest(self, step: "_Point") -> float:
        """Return the longest step of at most 1 that leaves everything positive."""
        pairs = [(self.a, step.a), (self.below, step.below)]
        if self.bounded:
            pairs += [(self.room, step.room), (self.above, step.above)]
        return min(_length(x, dx) for x, dx in pairs)


def _interior_point(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array, float, int]:
    """Run Mehrotra's method: a predictor shows how far the corrector may aim, and the curvature."""
    G, A = y[:, None] * Z, y[:, None] * offsets
    point, kernel = _start(G, y, offsets, weights), kernel_of(G)
    for taken in range(MAX_STEPS):
        u = G.T @ point.a
        lack, gap = 1 - G @ u - A @ point.b, point.gap()
        violated = float(np.max(abs(lack + point.below - point.above)))
        if gap <= TOLERANCE * float(np.mean(point.a)) and violated <= 1e-7:
            return u, point.b, gap / float(np.mean(point.a)), taken
        bounds = 2 if point.bounded else 1
        zero = np.zeros(len(y))
        stiffness = np.maximum(point.below / point.a + point.above / point.room, MIN_DIAGONAL)
        multipliers = ridge_multipliers(G, A, stiffness, kernel)
        probe = _direction(multipliers, lack, point, zero, zero)
        reached = max(point.moved(probe, point.longest(probe)).gap(), 0.0)
        tau = min((reached / gap) ** 3, 1.0) * gap / bounds
        upper = tau + probe.a * probe.above if point.bounded else zero
        step = _direction(multipliers, lack, point, tau - probe.a * probe.below, upper)
        point = point.moved(step, point.longest(step))
        if not np.isfinite(point.a).all() or point.a.max() > 1e12:
            break
    raise FitError(
        f"the fit did not converge in {taken + 1} steps: gap {gap:.2g}, violation {violated:.2g}; a hard margin needs "
        "labels that a plane separates, other fits a larger lam"
    )


def _direction(
    multipliers: Callable[[Array], tuple[Array, Array]], lack: Array, point: _Point, lower: Array, upper: Array
) -> _Point:
    """Compute the Newton step to margins that obey the multipliers, a below = lower and room above = upper."""
    a, room = point.a, point.room
    target = lack + lower / a - upper / room
    da, db = multipliers(target)
    below = lower / a - point.below - point.below / a * da
    above = upper / room - point.above + point.above / room * da
    return _Point(da, -da if point.bounded else 0 * da, db, below, above, point.bounded)


def _start(G: Array, y: Array, offsets: Array, weights: Array) -> _Point:
    """Choose a start halfway between the bounds, with multipliers that obey the margins there.

    It has sum a y = 0 in each column of offsets, which are indicators of disjoint sets that hold both labels.
    """
    bounded = bool(np.isfinite(weights[0]))
    a = 0.5 * weights if bounded else np.ones(len(y))
    for column in offsets.T:
        plus, minus = (column > 0) & (y > 0), (column > 0) & (y < 0)
        least = min(a[plus].sum(), a[minus].sum())
        a[plus] *= least / a[plus].sum()
        a[minus] *= least / a[minus].sum()
    lack = 1 - G @ (G.T @ a)
    least = float(np.mean(abs(lack))) + 1e-3
    below, above = np.maximum(-lack, 0) + least, np.maximum(lack, 0) + least
    room = weights - a if bounded else np.ones(len(y))
    return _Point(a, room, np.zeros(offsets.shape[1]), below, above if bounded else 0 * above, bounded)


def _length(x: Array, dx: Array) -> float:
    """Return the longest step of at most 1 that keeps x positive, with a margin."""
    shrinking = dx < 0
    return min(1.0, TO_BOUNDARY * float(np.min(-x[shrinking] / dx[shrinking], initial=np.inf)))
