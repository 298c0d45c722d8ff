"""All bulk edges of a law with one common offset, from as many convex problems as there are gaps between eigenvalues.

With s = (nu - offset)/h the equation is explicit: nu = offset + s - s <sigma/(sigma - s)>/alpha, and nu(s) is physical
where f(s) = <sigma^2/(sigma - s)^2>/alpha < 1 (Silverstein and Choi 1995). Between two eigenvalues f^(-1/2) is concave
and vanishes at both: Newton's method from either pole rises monotonically to the edge on its side, or meets a maximum
below 1, and then the gap has none.
"""

from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Indices


@dataclass(frozen=True, eq=False)
class ExactEdges:
    """Holds both ends and the mass of every bulk, in ascending order."""

    bulks: Array  # (k, 2)
    masses: Array  # (k,), shares of eigenvalues: those of the sigma_j between two gaps, less an atom at the offset
    hard: bool  # alpha = rank/d: the first bulk begins at the offset, with a density like (nu - offset)^(-1/2)
    first: Indices  # (k,), of the least sigma_j of every bulk, among the distinct ones that are not zero


def exact_edges(ensemble: CommutingEnsemble) -> ExactEdges:
    """Find all edges from the distinct eigenvalues of Sigma_D; at alpha = rank/d to rounding the first is hard."""
    atoms = ensemble.distinct
    seen = atoms.sigma > 0
    sigma, weights, alpha = atoms.sigma[seen], atoms.weights[seen], ensemble.alpha
    offset = float(ensemble.offset[0])
    if not len(sigma):
        return ExactEdges(np.empty((0, 2)), np.empty(0), False, np.empty(0, np.intp))
    hard = abs(weights.sum() - alpha) <= 1e-14 * alpha
    gaps = np.diff(sigma, prepend=-np.inf, append=np.inf)
    left, right = (_march(sigma, weights / alpha, sign, gaps) for sign in (-1, 1))  # distances from the poles
    left = np.where(hard & (np.arange(len(sigma)) == 0), sigma, left)
    open_gap = np.concatenate([[True], right[:-1] + left[1:] < gaps[1:-1], [True]])  # nan: no edge
    first = np.flatnonzero(open_gap[:-1])
    lows = _position(sigma, weights / alpha, -left, first)
    highs = _position(sigma, weights / alpha, right, np.flatnonzero(open_gap[1:]))
    if hard:
        lows[0] = 0.0
    masses = np.add.reduceat(weights, first)
    masses[0] -= max(0.0, weights.sum() - alpha)
    return ExactEdges(offset + np.stack([lows, highs], axis=1), masses, bool(hard), first)


def _march(sigma: Array, shares: Array, sign: int, gaps: Array) -> Array:
    """Find the distance y > 0 of the edge at sigma_j + sign y from every pole j; nan where its gap has none."""
    y = np.sqrt(shares) * sigma
    room = gaps[1:] if sign > 0 else gaps[:-1]
    behind = np.roll(y, -sign)
    limit = np.where(np.isinf(room), np.inf, room - behind)
    y = np.where(y < limit, y, np.nan)
    active = np.flatnonzero(np.isfinite(y))
    for _ in range(200):
        if not active.size:
            break
        distance = (sigma - sigma[active, None]) - sign * y[active, None]
        ratio = sigma / distance
        f = (ratio * ratio) @ shares
        slope = 2 * sign * ((ratio * ratio / distance) @ shares)  # along y
        step = 2 * f * (np.sqrt(f) - 1) / -slope  # (1 - f^-1/2) over the slope of f^-1/2
        new = y[active] + step
        lost = (slope >= 0) | ~(new < limit[active])
        y[active] = np.where(lost, np.nan, new)
        active = active[~lost & (step > 1e-16 * y[active])]
    return y


def _position(sigma: Array, shares: Array, shift: Array, poles: Indices) -> Array:
    """Compute nu - offset at s = sigma_j + shift_j for the poles j."""
    s = sigma[poles] + shift[poles]
    return np.asarray(s * (1 - (sigma / (sigma - sigma[poles, None] - shift[poles, None])) @ shares))
