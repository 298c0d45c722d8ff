"""Fits hinge loss by the samples at the kink: a search in the multipliers finds them, one linear system does the rest.

Samples beyond a margin of 1 have no multiplier, those below it have their whole weight. Those at it have one in between
and are hardly more than the columns; given which they are, they obey one linear system. Coordinate descent in single
precision finds nearly all of them, and in few sweeps where weights are small: then most samples have all their weight.
Steps of an active set find the others, and the gap between the primal and the dual problem proves the result.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk

from theory.core import Array

LARGEST_PULL = 3e3  # largest weight times the mean square length of a row, up to which few sweeps are enough
ROWS_PER_COLUMN = 10  # of which more are so near to the kink that single precision does not tell them apart
SOFT_PULL = 30.0  # the same pull times samples per column, up to which it still tells them, since few are at the kink
TOLERANCES, SWEEPS = (1e-1, 1e-2, 1e-3), 300  # of slopes, from which the active set is tried; sweeps to each
SET_STEPS = 8  # in which the sets have to come to rest
EXACT = 1e-12  # gap relative to the risk, at which no further step is tried


class Kinked(NamedTuple):
    """The minimum: u, the offsets b, the gap between primal and dual problem relative to the risk, and the steps."""

    u: Array
    b: Array
    gap: float
    steps: int


def hinge_by_kink(Z: Array, y: Array, offsets: Array, weights: Array, tolerance: float) -> Kinked | None:
    """Minimize (1/2) |u|^2 + sum_i weights_i max(0, 1 - y_i h_i), h = Z u + offsets b, or return None.

    None stands for a gap above the tolerance, relative to the risk, and is returned at once where the descent is not
    known to be short: for large weights, and for many samples of few columns. Samples at the kink whose multipliers are
    not unique lead to it too.
    """
    n, p = Z.shape
    mean_square = float(np.vdot(Z, Z)) / n
    pull = float(weights.max()) * mean_square
    if not pull <= (LARGEST_PULL if n <= ROWS_PER_COLUMN * p else SOFT_PULL * p / n):
        return None
    from simulate.glm.hinge_kernel import descend  # numba takes a third of a second to load

    single, labels, columns, most = (np.ascontiguousarray(x, np.float32) for x in (Z, y, offsets, weights))
    a, u, b = (np.zeros(size, np.float32) for size in (n, p, offsets.shape[1]))
    steps = 0
    for slopes in TOLERANCES:
        sweeps = descend(single, labels, columns, most, mean_square, a, u, b, slopes, SWEEPS)
        start = np.where(a >= most, weights, a.astype(float))
        found = settled(Z, y, offsets, weights, start, b.astype(float), tolerance)
        if isinstance(found, Kinked):
            return found._replace(steps=found.steps + steps)
        if sweeps == SWEEPS:
            break
        steps += found
    return None


def settled(Z: Array, y: Array, offsets: Array, weights: Array, a: Array, b: Array, tolerance: float) -> Kinked | int:
    """Move multipliers a and offsets b to the minimum by steps of an active set; return it, or the steps in vain.

    A step puts all samples between the bounds to a margin of 1. A sample that leaves the bounds by this stays at the
    one it has met, and one at a bound joins if its margin is on the wrong side. Without a sample in between an offset
    is not unique, and no minimum is returned.
    """
    free, before = (a > 0) & (a < weights), np.inf
    for step in range(SET_STEPS + 1):
        leaves = free & ((a < 0) | (a > weights))
        a = np.clip(a, 0, weights)
        free &= ~leaves
        u, tied = Z.T @ (y * a), offsets.T @ (y * a)
        lack = 1 - y * (Z @ u + offsets @ b)
        gap = float(np.sum(np.where(lack > 0, (weights - a) * lack, -a * lack)) + abs(b) @ abs(tied))
        ended = gap <= EXACT * float(a.sum()) or before / 2 <= gap <= tolerance * float(a.sum())
        if ended and offsets[free].any(axis=0).all():
            return Kinked(u, b, gap / float(a.sum()), step)
        before = gap
        free |= ~leaves & np.where(a > 0, (a >= weights) & (lack < 0), lack > 0)
        moved = _moved(Z, y, offsets, free, lack, tied) if step < SET_STEPS else None
        if moved is None:
            return step
        a[free] += moved[0]
        b = b + moved[1]
    return SET_STEPS


def _moved(
    Z: Array, y: Array, offsets: Array, free: NDArray[np.bool_], lack: Array, tied: Array
) -> tuple[Array, Array] | None:
    """Return by how much the free multipliers and b move to margins of 1 and sums of zero; None where it is unknown."""
    if not 0 < free.sum() <= Z.shape[1] + offsets.shape[1]:
        return None
    rows, E, own = Z[free], offsets[free], y[free]
    # The sums by which offsets move are known, so that their squares may be added: samples may outnumber the columns.
    root = np.sqrt(np.vdot(rows, rows) / len(rows))
    columns = np.hstack((rows, root * E)) if E.shape[1] else rows
    factor, failed = lapack.dpotrf(dsyrk(1.0, columns.T, trans=1, lower=1), lower=1, overwrite_a=1, clean=0)
    if failed:
        return None
    target = own * lack[free] - root**2 * (E @ tied)
    solved = lapack.dpotrs(factor, np.column_stack((target, E)), lower=1)[0]
    move, of_offsets = solved[:, 0], solved[:, 1:]
    try:
        db = np.linalg.solve(E.T @ of_offsets, E.T @ move + tied) if E.shape[1] else np.zeros(0)
    except np.linalg.LinAlgError:
        return None
    return own * (move - of_offsets @ db), db
