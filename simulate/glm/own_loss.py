"""Fits any convex loss of a user, smooth or with kinks, from its values and, if it tells it, its derivative.

The proximal operator with which the theory works is not asked: a fit that used it would repeat an error in it. Each
sample has an argument t, its margin y h or its residual y - h, and gets a copy x of it with a multiplier g (the method
of multipliers). For given g the copies are eliminated one by one, by halving an interval, which is exact at kinks too;
what is left is a smooth function of the weights that Newton steps minimize. The multipliers that result are slopes of
the loss at x, and so make a lower bound of the minimum (the dual problem), with which the fit is verified. A loss that
is smooth and has a derivative needs no copies: truncated Newton steps come first, and their slopes make the bound.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from simulate.glm.convex_loss import EVERYWHERE, ConvexLoss, OwnLoss, own_loss
from simulate.glm.samples import Descent, Numbers, Pulls
from simulate.glm.smooth import Minimum
from simulate.glm.truncated_newton import truncated_newton
from simulate.glm.weighted_ridge import kernel_of, weighted_ridge
from theory.core import Array, FitError

MAX_MULTIPLIERS, MAX_STEPS = 40, 60  # updates of the multipliers, and Newton steps for each of them
STIFFEST = 1e5  # of the springs between t and its copy: beyond it rounding of t moves the multipliers
AIM, GOOD, ACCEPTED = 1e-14, 1e-10, 1e-6  # gap between primal and dual problem, relative to the risk
SETTLED = 1e-13  # gradient relative to its terms, after which no Newton step is taken
ROUNDING = 1e-13  # of the risk, which the last steps lower by less
ACCEPTED_ERROR = 1e-2  # of the weights, by a bound that is far above their error
SMALLEST = 1e-7  # weights, relative to the largest that the risk allows, of which no digit is asked
SHORTEST = 1e-8  # mean square of the inputs over lam, below which they count as that short
SMOOTH, MAX_PRODUCTS = 1e-11, 200  # relative gradient of a smooth loss, and the products that may be spent on it


class _Point(NamedTuple):
    """Weights and offsets x = (u, b), the copies of the arguments, and the multipliers: slopes of the loss there."""

    x: Array
    copies: Array
    g: Array


def convex(
    X: Array, origin: Array, sign: Array, offsets: Array, weights: Array, loss: ConvexLoss, ridge: float = 1.0
) -> Minimum:
    """Minimize (ridge/2) |v|^2 + sum_i weights_i l(t_i), t = origin + sign h, h = X v + offsets b, sign = +-1.

    The residual is the gap between the primal and the dual problem relative to the risk. Raises ValueError for a loss
    that is not convex, FitError where the gap stays above 1e-6, or leaves open more than 1e-2 of the weights.
    """
    own = own_loss(loss)
    problem, p = _Problem(X, origin, sign, offsets, weights, own), X.shape[1]
    if (found := problem.smoothly_descended(ridge)) is not None:
        t = problem.moved(found.fields)
        value = own.value(t)
        gap, off = problem.smooth_gap(found, value, ridge)
        enough = GOOD if min(found.residual, found.settled) <= SMOOTH else AIM
        if gap <= enough and off <= ACCEPTED_ERROR:
            own.require_convex(np.concatenate((EVERYWHERE, t)))
            return Minimum(found.v, found.b, gap, found.steps, found.fields, value)
    own.require_convex(EVERYWHERE)
    Z = X / np.sqrt(ridge)
    problem = replace(problem, Z=Z, kernel=kernel_of(Z))
    start = np.array(origin)
    point = _Point(np.zeros(Z.shape[1] + offsets.shape[1]), start, own.derivative(start))
    best, gap, off, steps = point, np.inf, np.inf, 0
    # |Z_i|^2 is how far a unit force moves sample i; springs that are soft beside it move the multipliers slowly.
    stiffness, stiffest = 1.0, STIFFEST / min(max(float(np.mean(np.sum(Z**2, axis=1))), SHORTEST), 1.0)
    for _ in range(MAX_MULTIPLIERS):
        point, taken = problem.descended(point, stiffness, max(SETTLED, 1e-2 * min(gap, 1.0)))
        steps, before, (left, error) = steps + taken, gap, problem.gap(point)
        if left < gap:
            best, gap, off = point, left, error
        if gap <= AIM or (not left < 0.5 * before and (gap <= GOOD or stiffness == stiffest)):
            break
        stiffness = min(4 * stiffness, stiffest)
    own.require_convex(np.concatenate((EVERYWHERE, problem.arguments(best.x))))
    if not (gap <= ACCEPTED and off <= ACCEPTED_ERROR):
        raise FitError(
            f"the fit of loss {own.name!r} did not converge in {steps} steps: gap {gap:.2g} between the primal and the "
            f"dual problem, by which the weights may be off by {off:.2g} of their size; take a less extreme lam, or no "
            "bias if nothing bounds it"
        )
    return Minimum(best.x[:p] / np.sqrt(ridge), best.x[p:], gap, steps)


@dataclass(frozen=True, eq=False)
class _Problem:
    """One fit, in the coordinates x = (u, b)."""

    Z: Array
    origin: Array
    sign: Array
    offsets: Array
    weights: Array
    loss: OwnLoss
    kernel: Array | None = None

    def fields(self, x: Array) -> Array:
        p = self.Z.shape[1]
        return np.asarray(self.Z @ x[:p] + self.offsets @ x[p:])

    def arguments(self, x: Array) -> Array:
        return self.moved(self.fields(x))

    def moved(self, h: Array) -> Array:
        return np.asarray(self.origin + self.sign * h)

    def smoothly_descended(self, ridge: float) -> Descent | None:
        """Minimize by truncated Newton steps, or return None where they find no minimum.

        The inputs Z are those of the coordinates (v, b) here, with any ridge. Curvatures are differences of the
        derivative. At a kink these are wrong, and so are steps for a loss that is not finite everywhere.
        """
        if self.loss.given is None:  # differences of values do not tell the last digits of a gradient
            return None

        down = -self.weights * self.sign

        def arguments(h: Numbers, rows: slice) -> Array:
            t = np.multiply(self.sign[rows], h)
            t += self.origin[rows]
            return t

        def pulls(h: Numbers, rows: slice) -> Pulls:
            slope, bend = self.loss.slope_and_bend(arguments(h, rows))
            pull = np.multiply(down[rows], slope).astype(h.dtype, copy=False)
            bend *= self.weights[rows]
            curvature = bend.astype(h.dtype, copy=False)
            return Pulls(pull, curvature, lambda moved: np.multiply(curvature, moved, out=moved))

        def slopes(h: Numbers, rows: slice) -> Numbers:
            return np.multiply(down[rows], self.loss.derivative(arguments(h, rows)))

        options: Any = {"max_products": MAX_PRODUCTS, "tolerance": SMOOTH, "settled": SMOOTH, "slopes": slopes}
        try:
            return truncated_newton(self.Z, self.offsets, ridge, pulls, **options)
        except (ValueError, np.linalg.LinAlgError):  # of a function that fails far from the minimum
            return None

    def descended(self, point: _Point, stiffness: float, enough: float) -> tuple[_Point, int]:
        """Minimize what is left as a function of x for the given multipliers, by Newton steps that never ascend.

        It ends where the gradient, relative to its terms, is at most `enough`. Where the risk changes by less than its
        rounding, a step must make the gradient smaller.
        """
        x, old = point.x, point.g
        t = self.arguments(x)
        risk, copies = self._risk(x, t, old, stiffness)
        left = self._gradient(x, stiffness * (t - copies) + old)
        taken = 0
        while left > enough and taken < MAX_STEPS:
            taken += 1
            pull, curvature = stiffness * (t - copies) + old, self.loss.curvature(copies, stiffness)
            target = self.sign * (t - self.origin - pull / curvature)
            u, b = weighted_ridge(self.Z, target, self.offsets, self.weights * curvature, self.kernel)
            step = np.concatenate((u, b)) - x
            along = self.sign * self.fields(step)
            for size in 0.5 ** np.arange(30):
                trial, at = x + size * step, t + size * along
                new, copied = self._risk(trial, at, old, stiffness)
                slope = self._gradient(trial, stiffness * (at - copied) + old)
                even = abs(new - risk) <= ROUNDING * abs(risk)
                if new < risk or even:
                    break
            if not (slope < 0.9 * left if even else new < risk):
                break  # only rounding is left
            x, t, copies, risk, left = trial, at, copied, new, slope
        return _Point(x, copies, stiffness * (t - copies) + old), taken

    def _gradient(self, x: Array, pull: Array) -> float:
        """Return the gradient of the risk where samples pull like this, relative to its terms."""
        force, p = self.weights * self.sign * pull, self.Z.shape[1]
        free = abs(force @ self.offsets) / (abs(force).sum() + 1e-300)
        tied = np.linalg.norm(x[:p] + force @ self.Z) / (np.linalg.norm(x[:p]) + np.linalg.norm(abs(force)) + 1e-300)
        return float(max(tied, free.max(initial=0.0)))

    def _risk(self, x: Array, t: Array, g: Array, stiffness: float) -> tuple[float, Array]:
        """Return the least risk of all copies of the arguments t that springs and multipliers hold near them."""
        copies = self.loss.copies(t + g / stiffness, stiffness)
        away = t - copies
        u = x[: self.Z.shape[1]]
        held = self.loss.value(copies) + away * (g + 0.5 * stiffness * away)
        return float(0.5 * u @ u + self.weights @ held), copies

    def gap(self, point: _Point) -> tuple[float, float]:
        """Return the gap between the risk at x and the lower bound by the multipliers, relative to the risk.

        For every convex loss l(t) >= g t - max_c (g c - l(c)), and the maximum is found where l has the slope g: in a
        small interval around the copy. That it lies there is verified by the slopes at the ends, and the maximum is
        searched with values of the loss alone. A bias has no penalty, so that the forces on it must balance; what is
        left of them, relative to all forces, counts as a gap too. The second number bounds the error of u, relative to
        its size: the risk at u exceeds the least one by |u - u*|^2/2 or more.
        """
        conjugate, value = self.loss.conjugate(point.g, point.copies), self.loss.value(self.arguments(point.x))
        g, u = point.g, point.x[: self.Z.shape[1]]
        force = self.weights * g * self.sign
        back = force @ self.Z
        bound = float(self.weights @ (g * self.origin - conjugate)) - 0.5 * float(back @ back)
        risk = 0.5 * float(u @ u) + float(self.weights @ value)
        free = abs(force @ self.offsets) / (abs(force).sum() + 1e-300)
        excess, size = abs(risk - bound), abs(risk) + 0.5 * float(back @ back) + 1e-300
        error = np.sqrt(2 * excess) / (np.linalg.norm(u) + SMALLEST * np.sqrt(2 * size))
        return max(excess / size, float(free.max(initial=0.0))), float(error)

    def smooth_gap(self, found: Descent, value: Array, ridge: float) -> tuple[float, float]:
        """Return what `gap` returns where the multipliers are the slopes of a convex loss, whose values are given.

        For a slope g at t the maximum of g c - l(c) is at t, and the gap is |gradient|^2/(2 ridge).
        """
        u = float(np.sqrt(ridge) * np.linalg.norm(found.v))
        excess = found.by_weights**2 / (2 * ridge)
        size = u**2 + abs(float(self.weights @ value)) + 1e-300
        error = np.sqrt(2 * excess) / (u + SMALLEST * np.sqrt(2 * size))
        return float(max(excess / size, found.by_offsets)), float(error)
