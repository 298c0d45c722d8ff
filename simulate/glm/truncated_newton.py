"""Minimizes a smooth convex loss of fields plus a ridge by truncated Newton steps, which only multiply by the inputs.

A step solves Newton's equations by conjugate gradients: each of them multiplies the inputs once from either side. The
matrix of these equations, whose set-up takes as long as some p/10 such products, is set up only where so many were not
enough, and then serves as preconditioner of what follows. The products are taken in single precision, which halves
what is read from memory: a step is then inexact, but the gradient behind it tells how much is left. The first steps see
the gradient in single precision too. Those that decide the result do not. Of many samples a part is fitted first, and
its matrix leads so near to the minimum that nothing but gradients follows.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lapack

from simulate.glm.changes import Changes
from simulate.glm.samples import Descent, Expand, Numbers, Place, Pulls, Samples, placed, single
from simulate.glm.secants import Goal, by_secants, relative_length
from theory.core import Array

TOLERANCE = 1e-10  # default: gradient relative to its two parts, whose double bounds the relative error of the weights
COARSE = 1e-6  # gradient relative to its two parts or to that at zero, below which it needs double precision
ROUGH = 1e-2  # gradient relative to that at zero, to which a part of the samples is fitted
CLOSE = 1e-2  # relative gradient from which on whole steps are taken: the next gradient tells whether they were good
COARSEST, FINEST = 0.3, 1e-5  # share of the gradient that conjugate gradients leave
MAX_STEPS, LINE_STEPS = 60, 20
STEEPEST = 0.5  # slope at the end of a step relative to that at its beginning, if the step has gone too far
PRODUCTS_PER_COLUMN = 0.1  # that take as long as to set up and factor the matrix, from as many rows as a product reads
CACHED, FASTER = 1_500_000, 2.0  # so many inputs stay in the cache, and products with them are that much faster
KEPT = 1e-2  # gradient relative to that at zero, from which on the matrix changes little
ROWS_PER_COLUMN = 50  # of the samples that set up the matrix, of which more tell the same
MORE_ROWS, MORE = 400, 2_000_000  # the same, and inputs in them at least, where no conjugate gradients correct it
CHEAP = 2.0  # products that the matrix may cost to be set up at every step
TALL, LARGE = 4, 500_000  # times as many samples as set up the matrix, in so many inputs: then these are fitted first
NO_FACTOR = np.zeros((0, 0), np.float32)
WHOLE = 8.0  # products that the matrix of all samples may cost, to be set up once for the last digits


def truncated_newton(
    X: Array,
    offsets: Array,
    ridge: float,
    expand: Expand,
    n_outputs: int | None = None,
    *,
    largest_move: float = np.inf,
    max_products: float = np.inf,
    tolerance: float = TOLERANCE,
    settled: float = 0.0,
    slopes: Callable[[Numbers, slice], Numbers] | None = None,
) -> Descent:
    """Minimize (ridge/2) |v|^2 + sum of losses of h = X v + offsets b, by steps no field of which is larger.

    X is (n, p); v is (p,) and h (n,), or (p, K) and (n, K) for K = `n_outputs` of a loss that depends on differences of
    the fields only. `expand` tells the losses of a part of the samples near given fields, in the precision of these;
    `slopes` tells the pulls alone, where that costs less. The residual is the gradient by v relative to the lengths of
    its two parts, |ridge v| + |X' pull|, or that by b relative to all pulls, if that is larger. Since the ridge is a
    lower bound of the curvature, a residual r proves |v - v*| <= 2 r |v| where there are no offsets.
    The caller has to look at it: the descent ends at the tolerance, where steps do not lower the gradient any more,
    after 60 steps, or with `max_products` products. It ends too where the next step, relative to the coordinates, is at
    most `settled`: that estimates their error, but does not bound it.
    """
    p, outputs = X.shape[1], () if n_outputs is None else (n_outputs,)
    x = np.zeros((p + offsets.shape[1], *outputs))
    limits = n_outputs or 1, largest_move, max_products
    descent, place = _Descent(Samples(X, offsets), p, ridge, expand, slice(None), *limits), None
    descent.slopes, goal = slopes, Goal(tolerance, settled)
    if descent.stride >= TALL and (descent.stride >= 2 * TALL or X.size > LARGE):
        rows = slice(None, None, descent.stride)
        part = _Descent(descent.part, p, ridge / descent.stride, expand, rows, *limits)
        start = part.coarse(x, ROUGH)
        x, descent.at_zero = start.x, descent.stride * part.at_zero
        if n_outputs is None and (place := descent.secants(part, start, goal)) is not None:
            x = place.x
    if place is None or not goal.is_met(place.residual, descent.settled):
        place = descent.fine(descent.coarse(x, COARSE).x, goal)
    rest = place.residual, descent.steps, descent.products, place.by_weights, place.by_offsets, descent.settled
    return Descent(place.x[:p], place.x[p:], place.h, *rest)


class _Descent:
    """One minimization: it counts steps and products, and keeps the matrix."""

    def __init__(
        self,
        samples: Samples,
        p: int,
        ridge: float,
        expand: Expand,
        rows: slice,
        outputs: int,
        largest_move: float,
        max_products: float,
    ) -> None:
        self.samples, self.p, self.expand, self.rows = samples, p, expand, rows
        self.largest_move, self.max_products = largest_move, max_products
        n, q = len(samples.inputs), samples.inputs.shape[1] + samples.offsets.shape[1]
        self.diagonal = np.concatenate((np.full(p, ridge), np.zeros(q - p)))
        self.stride = max(1, n // (ROWS_PER_COLUMN * q))
        faster = FASTER if n * q <= CACHED else 1.0
        self.per_column, self.cheap = PRODUCTS_PER_COLUMN * faster, CHEAP * faster
        self.cost = self.per_column * q * outputs / self.stride if n >= q else np.inf
        self.at_zero = self.set_up_at = np.inf  # lengths of gradients
        self.settled = np.inf
        self.factors: list[Any] = []  # one for each output
        self.slopes: Callable[[Numbers, slice], Numbers] | None = None
        self.steps = self.products = self.since = 0

    @cached_property
    def small(self) -> Samples:
        """The samples in single precision."""
        return self.samples if self.samples.inputs.dtype == np.float32 else single(self.samples)

    @cached_property
    def part(self) -> Samples:
        """Those that set up the matrix, in single precision."""
        return self.small if self.stride == 1 else single(self.samples.every(self.stride))

    def secants(self, part: "_Descent", start: Place, goal: Goal) -> Place | None:
        """Descend by gradients alone from the minimum for a part of the samples; None where that is no help.

        The first step is by the matrix of the part, and those that follow by one of more samples, at the place to which
        it has led; moves and gradients improve this one.
        """
        if not part.factors:
            part.set_up(start.at.curvature)
        slopes = self.slopes or (lambda h, rows: self.expand(h, rows).pull)
        changes = Changes(self.samples, self.small, self.diagonal, slopes)
        first = changes.near(start.x)
        place = changes.near(first.x - part.solved(first.gradient) / self.stride)
        if not place.length < min(first.length, self.at_zero):
            return None
        n, q = self.small.inputs.shape
        self.set_up(self.expand(place.h, self.rows).curvature, max(1, n // max(MORE_ROWS * q, MORE // q)))
        if not self.factors:
            return None
        place, taken, self.settled = by_secants(changes, place, self.solved, self.at_zero, goal, MAX_STEPS)
        self.steps, self.products = self.steps + taken + 1, self.products + taken + 2
        return place

    def coarse(self, x: Array, tolerance: float) -> Place:
        """Descend with gradients in single precision, until the gradient is small or needs a better one."""
        place = self.place(self.small, x) if x.any() else None
        if place is None or not place.length < self.at_zero:  # which a part of the samples tells
            x = np.zeros_like(x)
            place = self.place(self.small, x, np.zeros((len(self.small.inputs), *x.shape[1:]), np.float32))
            self.at_zero = place.length
        enough = COARSEST
        while not (self.ended(place) or place.residual <= tolerance or place.length <= tolerance * self.at_zero):
            goal = 0.5 * tolerance * max(self.at_zero / place.length, 1 / place.residual)
            new = self.moved(self.small, place, self.direction(place, max(enough, goal)))
            if not new.length < 0.5 * place.length and self.steps > 10:
                break
            enough, place = min(0.9 * (new.length / place.length) ** 2, COARSEST), new
        return place

    def fine(self, x: Array, goal: Goal) -> Place:
        """Descend with gradients in double precision, to the goal or until only rounding is left."""
        place, tolerance, self.settled = self.place(self.samples, x), goal.residual, np.inf
        # One matrix of all samples is so near to that of the minimum that it needs no conjugate gradients.
        exact = self.stride > 1 and self.per_column * len(x) <= WHOLE and x.ndim == 1
        if exact := exact and tolerance < place.residual < CLOSE:
            self.set_up(place.at.curvature, 1)
            exact = bool(self.factors)
        while not (self.ended(place) or place.residual <= tolerance):
            if exact:
                step, self.steps = -self.solved(place.gradient), self.steps + 1
            else:
                step = self.direction(place, max(0.3 * tolerance / place.residual, FINEST))
            if goal.is_met(place.residual, relative := relative_length(step, place.x)):
                self.settled = relative
                return place
            whole = place.residual < CLOSE or place.length < KEPT * CLOSE * self.at_zero
            new = self.near(place, step) if whole else self.moved(self.samples, place, step)
            if not new.length < 0.5 * place.length:
                return new if new.length < place.length else place
            place = new
        return place

    def near(self, place: Place, step: Array) -> Place:
        """Go to the end of a small step; curvatures that cost as much as slopes are kept where it was a good one."""
        if self.slopes is None:
            return self.place(self.samples, place.x + step)
        h = self.samples.fields(place.x + step)
        new = self.place(self.samples, place.x + step, h, place.at._replace(pull=self.slopes(h, self.rows)))
        return new if new.length < KEPT * place.length else self.place(self.samples, place.x + step, h)

    def ended(self, place: Place) -> bool:
        return self.steps == MAX_STEPS or self.products >= self.max_products or not np.isfinite(place.length)

    def place(self, samples: Samples, x: Array, h: Numbers | None = None, at: Pulls | None = None) -> Place:
        h = samples.fields(x) if h is None else h
        at = self.expand(h, self.rows) if at is None else at
        return placed(x, h, at, self.by_columns(x), samples.back(at.pull), self.p)

    def by_columns(self, x: Array) -> Array:
        """Return the part of the gradient at x that comes from the ridge."""
        return np.asarray((self.diagonal * x.T).T)

    def direction(self, place: Place, enough: float) -> Array:
        """Solve Newton's equations by conjugate gradients, until what is left of the gradient is this share of it."""
        self.steps += 1
        if self.cost <= self.cheap and not (self.factors and self.set_up_at <= KEPT * self.at_zero):
            self.set_up(place.at.curvature)
            self.set_up_at = place.length
        r = _apart(place.gradient / -place.length)
        step = np.zeros_like(r)
        if r.ndim == 1:
            self.conjugate(place, r, step, enough)
            return step * place.length
        q = z = self.solved(r)
        rz = float(np.vdot(r, z))
        for _ in range(10 * len(r)):
            if self.since >= self.cost > self.cheap:
                self.set_up(place.at.curvature)
                q = z = self.solved(r)
                rz = float(np.vdot(r, z))
            image = _apart(self.by_columns(q) + self.small.back(place.at.bent(self.small.fields(q))))
            self.products, self.since = self.products + 1, self.since + 1
            bend = float(np.vdot(q, image))
            if not (bend > 0 and rz > 0):  # the ridge may be so large that products vanish
                break
            step += rz / bend * q
            r = r - rz / bend * image
            if not np.linalg.norm(r) > enough or self.products >= self.max_products:
                break
            z = self.solved(r)
            before, rz = rz, float(np.vdot(r, z))
            q = z + rz / before * q
        return step * place.length

    def conjugate(self, place: Place, r: Array, step: Array, enough: float) -> None:
        """Do the same for one output, compiled: the solution is added to the step."""
        from simulate.glm.conjugate_gradients_kernel import conjugate_gradients  # numba takes a while to load

        curvature, left, ended = place.at.curvature.astype(np.float32, copy=False), 10 * len(r), False
        while not ended and left and self.products < self.max_products:
            if self.since >= self.cost > self.cheap:
                self.set_up(place.at.curvature)
            until_set_up = self.cost - self.since if self.cost > self.cheap else left
            most = min(left, self.max_products - self.products, until_set_up)
            factor = self.factors[0].T if self.factors else NO_FACTOR
            taken, ended = conjugate_gradients(
                self.small.inputs, curvature, self.diagonal, factor, r, step, enough, math.ceil(most)
            )
            self.products, self.since, left = self.products + taken, self.since + taken, left - taken

    def set_up(self, curvature: Numbers, stride: int | None = None) -> None:
        """Factor Newton's matrix of one in so many samples."""
        stride = self.stride if stride is None else stride
        samples = self.part if stride == self.stride else self.small.every(stride)
        roots = np.sqrt(curvature[::stride]).astype(np.float32).reshape(len(samples.inputs), -1)
        self.factors, self.since = [], 0
        for root in roots.T:
            matrix = samples.weighted_square(root)
            matrix *= stride
            matrix[np.arange(len(matrix)), np.arange(len(matrix))] += self.diagonal
            factor, failed = lapack.spotrf(matrix.T, lower=1, overwrite_a=1)
            if failed:  # too close to singular for single precision
                self.factors, self.cost = [], np.inf
                return
            self.factors.append(factor)

    def solved(self, r: Array) -> Array:
        if not self.factors:
            return r
        columns = r.astype(np.float32).reshape(len(r), -1)
        each = zip(self.factors, columns.T, strict=True)
        z = np.array([lapack.spotrs(factor, column, lower=1)[0] for factor, column in each], float).T
        return z[:, 0] if r.ndim == 1 else _apart(z)

    def moved(self, samples: Samples, place: Place, step: Array) -> Place:
        """Go to the end of the step, or to where the slope along it is less than half of that at the start."""
        along = self.small.fields(step)
        tied, bend = float(np.vdot(self.by_columns(place.x), step)), float(np.vdot(self.by_columns(step), step))
        start = min(tied - float(np.vdot(place.at.pull, along)), -1e-300)
        size = min(1.0, self.largest_move / max(float(abs(along).max()), 1e-300))
        for _ in range(LINE_STEPS):
            h = place.h + place.h.dtype.type(size) * along
            end = self.expand(h, self.rows)
            slope = tied + size * bend - float(np.vdot(end.pull, along))
            if not slope > STEEPEST * abs(start):
                break
            size *= max(start / (start - slope), 0.1)
        if samples is self.small:
            return self.place(samples, place.x + size * step, h, end)
        return self.place(samples, place.x + size * step)


def _apart(x: Array) -> Array:
    """Take from several outputs what they have in common: it changes no loss, so that only rounding leads there."""
    return x if x.ndim == 1 else np.asarray(x - x.mean(axis=1, keepdims=True))
