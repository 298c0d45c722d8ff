"""Fits hinge loss to many samples of few columns: only samples near the kink take part, in Newton steps on springs.

A part of the samples tells roughly where the minimum is. Samples far from the kink keep their multiplier at its bound,
and what they pull is one vector; the others are the working set. Samples outside of it that turn out to be on the wrong
side of the kink join it, until none is. Within the set the multipliers are held by springs (the method of multipliers):
a piecewise quadratic function of as many unknowns as columns is left, whose Newton steps need the samples in between
their bounds alone. The gap between the primal and the dual problem of all samples proves the result.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk

from simulate.glm.hinge_dual import Kinked, settled
from theory.core import Array

LARGEST_PULL = 1e5  # largest weight times the mean square length of a row, up to which springs come to rest soon
PART, FEWEST = 8, 30  # the part that is fitted first is this share of the samples, or so many per column if more
NEAR = 3.0  # share of the samples in the first working set over the squared width of kinks
LEAST = 10  # its size per column
WIDER, MANY = 4, 0.5  # sizes that are tried, and the share of a working set that may join it, else it was too small
ROUNDS, MULTIPLIERS, MAX_STEPS, LINE_STEPS = 12, 30, 40, 12
NARROWEST = 1e-12  # width of a working set, where more samples than it holds are at one point
STIFFER, STIFFEST = 3.0, 1e12  # growth of the springs, and their limit relative to weight over squared length of a row
NOISE, IN_VAIN = 1e-9, 3  # gradient relative to its parts, below which so many steps in vain are the last
ROUNDING = 1e-15  # of the sum of the absolute terms of the gradient
TOO_LONG = 3  # descents of the most steps, after which a working set counts as too small
SETTLED = 1e-12  # gradient relative to its parts, after which a working set may count as solved
ROUNDED = 1e-12  # gap in the same units, below which rounding may keep it from falling
EXACT = 1e-14  # gap of the working set relative to the sum of all multipliers, at which it counts as solved
FIRST = 1e-2  # gradient relative to its parts, to which the first springs are released
STEEPEST = 0.3  # slope at the end of a step relative to that at its start
SOFT = 1e-3  # samples that an offset has beside those in between their bounds, so that its step is finite


class _State(NamedTuple):
    """Coordinates x = (u, b), the multipliers a, what margins lack to 1, and the steps so far."""

    x: Array
    a: Array
    lack: Array
    steps: int


def hinge_by_working_set(Z: Array, y: Array, offsets: Array, weights: Array, tolerance: float) -> Kinked | None:
    """Minimize (1/2) |u|^2 + sum_i weights_i max(0, 1 - y_i h_i), h = Z u + offsets b, or return None.

    None stands for a gap above the tolerance, relative to the risk, and for an offset that no sample at the kink fixes;
    for large weights it is returned at once.
    """
    (n, p), q = Z.shape, Z.shape[1] + offsets.shape[1]
    if not float(weights.max()) * float(np.vdot(Z, Z)) / n <= LARGEST_PULL:
        return None
    middle: Array = np.zeros((0, p))
    if q > p:  # the means of the columns move into the offsets, which would follow them slowly
        middle = np.asarray(np.linalg.lstsq(offsets.T @ offsets, offsets.T @ Z, rcond=None)[0])
        G = y[:, None] * np.hstack((Z - offsets @ middle, offsets))
    else:
        G = y[:, None] * Z
    tied, weight = np.append(np.ones(p), np.zeros(q - p)), float(weights.mean())
    x, lack, width, steps = _near(G, weights, tied, weight)
    size = min(n, max(int(NEAR * width**2 * n), LEAST * q))
    for _ in range(WIDER):
        found = _solved(G, weights, tied, weight, x, lack, size)
        steps += found.steps
        if len(found.a):
            u, b = found.x[:p], found.x[p:]
            proved = settled(Z, y, offsets, weights, found.a, b - middle @ u, tolerance)
            if isinstance(proved, Kinked):
                return proved._replace(steps=proved.steps + steps)
            gap = _gap(G, offsets, weights, found)
            return Kinked(u, b - middle @ u, gap, steps) if gap <= tolerance else None
        size = min(n, 4 * size)
    return None


def _gap(G: Array, offsets: Array, weights: Array, found: _State) -> float:
    """Return the gap relative to the risk of what springs have found; infinite where no sample fixes an offset.

    Multipliers of samples at one point are not unique, so that steps of an active set do not find them.
    """
    x, a, p = found.x, found.a, G.shape[1] - offsets.shape[1]
    back, lack = a @ G, 1 - G @ x
    if not offsets[(a > 0) & (a < weights)].any(axis=0).all():
        return float(np.inf)
    risk = 0.5 * float(x[:p] @ x[:p]) + float(weights @ np.maximum(lack, 0))
    bound = float(a.sum()) - 0.5 * float(back[:p] @ back[:p])
    return (risk - bound + float(abs(x[p:]) @ abs(back[p:]))) / risk


def _near(G: Array, weights: Array, tied: Array, weight: float) -> tuple[Array, Array, float, int]:
    """Find about where the minimum is: x, what margins lack there, the width over which kinks are rounded, the steps.

    A kink that is rounded evenly, by half of the multiplier at rest, moves the minimum by the square of the width.
    """
    n, q = G.shape
    stride = max(1, min(PART, n // (FEWEST * q)))
    part, most, x, steps = G[::stride], stride * weights[::stride], np.zeros(q), 0
    error = float(np.sqrt(q * stride / n))
    for width in (1.0, np.sqrt(error), error):
        springs = _Springs(part, most, np.zeros(q), tied, most / 2, weight * stride / width)
        found = springs.released(x, 0.1 * width)
        x, steps = found.x, steps + found.steps
    if stride > 1:
        found = _Springs(G, weights, np.zeros(q), tied, weights / 2, weight / error).released(x, 0.1 * error)
    return found.x, found.lack, error, steps + found.steps


def _solved(G: Array, weights: Array, tied: Array, weight: float, x: Array, lack: Array, size: int) -> _State:
    """Solve with a working set of this size around the kink, which others join; no multipliers if too many do."""
    width = float(np.partition(abs(lack), size - 1)[size - 1])
    outside = abs(lack) > width
    near = np.flatnonzero(~outside)
    a = np.where(outside & (lack > 0), weights, 0.0)
    base, stiffness, steps = a @ G, 4 * weight / max(width, NARROWEST), 0
    for _ in range(ROUNDS):
        own = G[near]
        found, stiffness = _multiplied(own, weights[near], base, tied, x, a[near], stiffness, float(a.sum()) + weight)
        x, steps = found.x, steps + found.steps
        if not len(found.a):
            break
        a[near] = found.a
        if not outside.any():
            return _State(x, a, lack, steps)
        lack = 1 - G @ x
        wrong = np.flatnonzero(outside & np.where(a > 0, lack < 0, lack > 0))
        if not len(wrong):
            return _State(x, a, lack, steps)
        if len(wrong) > MANY * len(near):
            break
        base = base - a[wrong] @ G[wrong]
        near, outside[wrong] = np.concatenate((near, wrong)), False
    return _State(x, np.zeros(0), lack, steps)


def _multiplied(
    G: Array, weights: Array, base: Array, tied: Array, x: Array, a: Array, stiffness: float, total: float
) -> tuple[_State, float]:
    """Solve the problem of a working set by updates of its multipliers; return the state and the springs at the end."""
    stiffest = STIFFEST / (float(np.vdot(G, G)) / len(G) + 1e-300)
    steps, long, enough, before = 0, 0, FIRST, np.inf
    for _ in range(MULTIPLIERS):
        found = _Springs(G, weights, base, tied, a, stiffness).released(x, enough)
        x, a, steps = found.x, found.a, steps + found.steps
        long += found.steps == MAX_STEPS
        gap = float(np.sum(np.where(found.lack > 0, (weights - a) * found.lack, -a * found.lack)))
        total = max(total, float(a.sum()))
        resting = gap <= EXACT * total or 0.5 * before < gap <= ROUNDED * total
        if long == TOO_LONG or (enough <= SETTLED and resting):
            break
        before = gap
        enough = min(max(1e-2 * gap / total, 0.1 * SETTLED), 0.1 * enough)
        stiffness = min(STIFFER * stiffness, stiffest)
    return found._replace(steps=steps, a=np.zeros(0) if long == TOO_LONG else a), stiffness


class _Springs(NamedTuple):
    """The problem where multipliers a are held by springs: rows G = y (Z, offsets), `base` the pull of the rest."""

    G: Array
    weights: Array
    base: Array
    tied: Array
    a: Array
    stiffness: float

    def released(self, x: Array, enough: float) -> _State:
        """Minimize by Newton steps, to a gradient of `enough` relative to its parts or to rounding."""
        lack, taken = 1 - self.G @ x, 0
        floor = ROUNDING * float(np.sqrt(np.vdot(self.G, self.G) / len(self.G))) * float(self.weights.sum())
        least, vain = np.inf, 0
        while True:
            pulled = self.a + self.stiffness * lack
            held = self._held(pulled)
            own, back = self.tied * x, self.base + held @ self.G
            gradient = own - back
            left = math.sqrt(gradient @ gradient)
            parts = math.sqrt(own @ own) + math.sqrt(back @ back)
            vain = vain + 1 if NOISE * parts > left > 0.5 * least else 0  # only rounding is left
            least = min(least, left)
            if taken == MAX_STEPS or left <= enough * parts + floor or vain == IN_VAIN:
                return _State(x, held, lack, taken)
            step = self._newton(gradient, (pulled > 0) & (pulled < self.weights))
            if step is None:
                return _State(x, held, lack, taken)
            along = self.G @ step
            size = self._length(pulled, along, step, float((own - self.base) @ step), float(gradient @ step))
            x, lack, taken = x + size * step, lack - size * along, taken + 1

    def _held(self, pulled: Array) -> Array:
        held = np.maximum(pulled, 0.0)
        return np.minimum(held, self.weights, out=held)

    def _newton(self, gradient: Array, free: NDArray[np.bool_]) -> Array | None:
        few = self.G[free]
        matrix = dsyrk(self.stiffness, few.T, lower=1) if len(few) else np.zeros((len(gradient),) * 2, order="F")
        diagonal = np.einsum("ii->i", matrix)
        diagonal += np.where(self.tied > 0, 1.0, SOFT * self.stiffness)
        factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        return None if failed else -lapack.dpotrs(factor, gradient, lower=1)[0]

    def _length(self, pulled: Array, along: Array, step: Array, start: float, steepest: float) -> float:
        """Return a share of the step at whose end the slope is small beside that at its start, or negative."""
        bend = float((self.tied * step) @ step)
        low, high, at_low, at_high = 0.0, 1.0, steepest, np.inf
        size, moved = 1.0, self.stiffness * along
        for _ in range(LINE_STEPS):
            slope = start + size * bend - float(self._held(pulled - size * moved) @ along)
            if slope <= -STEEPEST * steepest and (slope >= STEEPEST * steepest or size == 1.0):
                break
            if slope > 0:
                high, at_high = size, slope
            else:
                low, at_low = size, slope
            size = low + (high - low) * min(max(at_low / (at_low - at_high), 0.1), 0.9)
        return size
