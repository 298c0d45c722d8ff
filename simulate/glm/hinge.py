"""Hinge loss and hard margin by an interior-point method on the dual: each step is a weighted ridge fit."""

import numpy as np

from simulate.glm.weighted_ridge import Array, weighted_ridge

MAX_STEPS = 100
TOLERANCE = 1e-9
CENTERING = 0.1
TO_BOUNDARY = 0.99


def hinge(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array]:
    """Minimizes (1/2) |u|^2 + sum_i weights_i max(0, 1 - y_i h_i), h = Z u + offsets b; returns u and b."""
    return _interior_point(Z, y, offsets, weights)


def hard_margin(Z: Array, y: Array, offsets: Array) -> tuple[Array, Array]:
    """Minimizes |u|^2/2 with y_i h_i >= 1 for all i; RuntimeError where no (or hardly any) plane separates them."""
    return _interior_point(Z, y, offsets, np.full(len(y), np.inf))


def _interior_point(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array]:
    """Dual variables 0 < a < weights with u = sum a y z and sum a y offsets = 0 throughout.

    `below` and `above` are the multipliers of the two bounds: above_i is the loss of sample i, below_i what its margin
    has beyond 1. Both products a below and (weights - a) above are driven to zero together.
    """
    G, A = y[:, None] * Z, y[:, None] * offsets
    bounded = bool(np.isfinite(weights).all())
    a = _balanced(y, offsets, weights)
    u, b = G.T @ a, np.zeros(offsets.shape[1])
    below, above = np.ones(len(y)), np.ones(len(y)) if bounded else np.zeros(len(y))
    for _ in range(MAX_STEPS):
        room = weights - a
        gap = float(np.mean(a * below) + (np.mean(room * above) if bounded else 0))
        margin = G @ u + A @ b
        violated = float(np.max(abs(margin - 1 - below + above)))
        if gap <= TOLERANCE * (1 + abs(float(np.mean(a)))) and violated <= 1e-7:
            return u, b
        tau = CENTERING * gap / (2 if bounded else 1)
        push = tau / a - (tau / room if bounded else 0)
        stiffness = below / a + (above / room if bounded else 0)
        du, db = weighted_ridge(G, 1 - margin + push, A, 1 / stiffness)
        da = (1 - margin + push - G @ du - A @ db) / stiffness
        d_below = tau / a - below - below / a * da
        d_above = tau / room - above + above / room * da if bounded else np.zeros(len(y))
        tied = min(_length(a, da), _length(room, -da) if bounded else 1.0)
        free = min(_length(below, d_below), _length(above, d_above) if bounded else 1.0)
        size = min(tied, free)
        a, below, above = a + size * da, below + size * d_below, above + size * d_above
        u, b = G.T @ a, b + size * db
        if not np.isfinite(a).all() or a.max() > 1e12:
            break
    raise RuntimeError(f"the fit did not converge in {MAX_STEPS} steps: gap {gap:.2g}, violation {violated:.2g}")


def _balanced(y: Array, offsets: Array, weights: Array) -> Array:
    """An interior start with sum a y = 0 in each column of offsets, whose columns are indicators of disjoint sets."""
    a = np.where(np.isfinite(weights), 0.5 * weights, 1.0)
    for column in offsets.T:
        plus, minus = (column > 0) & (y > 0), (column > 0) & (y < 0)
        if not (plus.any() and minus.any()):
            raise ValueError("a bias needs samples of both labels in its group")
        least = min(a[plus].sum(), a[minus].sum())
        a[plus] *= least / a[plus].sum()
        a[minus] *= least / a[minus].sum()
    return a


def _length(x: Array, dx: Array) -> float:
    """The longest step below 1 that keeps x positive."""
    shrinking = dx < 0
    return min(1.0, TO_BOUNDARY * float(np.min(-x[shrinking] / dx[shrinking], initial=np.inf)))
