"""Fits any convex loss of a user, smooth or with kinks, from its values and, if it tells it, its derivative.

The proximal operator with which the theory works is not asked: a fit that used it would repeat an error in it. Each
sample has an argument t, its margin y h or its residual y - h, and gets a copy x of it with a multiplier g (the method
of multipliers). For given g the copies are eliminated one by one, by halving an interval, which is exact at kinks too;
what is left is a smooth function of the weights that Newton steps minimize. The multipliers that result are slopes of
the loss at x, and so make a lower bound of the minimum (the dual problem), with which the fit is verified.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from simulate.glm.weighted_ridge import kernel_of, weighted_ridge
from theory.core import Array, FitError, checks

MAX_MULTIPLIERS, MAX_STEPS = 40, 60  # updates of the multipliers, and Newton steps for each of them
STIFFEST = 1e5  # of the springs between t and its copy: beyond it rounding of t moves the multipliers
AIM, GOOD, ACCEPTED = 1e-14, 1e-10, 1e-6  # gap between primal and dual problem, relative to the risk
SETTLED = 1e-13  # gradient relative to its terms, after which no Newton step is taken
ROUNDING = 1e-13  # of the risk, which the last steps lower by less
DERIVATIVE_STEP, CURVATURE_STEP = 1e-7, 1e-5  # relative to 1 + |t|: of differences of values, and of derivatives
ACCEPTED_ERROR = 1e-2  # of the weights, by a bound that is far above their error
SMALLEST = 1e-7  # weights, relative to the largest that the risk allows, of which no digit is asked
SHORTEST = 1e-8  # mean square of the inputs over lam, below which they count as that short
GOLDEN = (5**0.5 - 1) / 2
COARSE = (np.float16, np.float32)  # dtypes
NOISE = 1e-7  # relative, of slopes that are differences of values
LEAST_CURVATURE = 1e-9  # relative to a spring: keeps the linearized label finite where the loss is flat
EVERYWHERE = np.linspace(-8.0, 8.0, 4001)  # where every loss must be convex, whatever the samples are


class ConvexLoss(Protocol):
    """What a fit asks of a user's loss: its name and its values; a method `derivative` is used if there is one."""

    @property
    def name(self) -> str:
        """The name by which messages call it."""

    def value(self, t: Array, /) -> Array:
        """Return the loss l(t) at arguments t, (samples,)."""


@dataclass(frozen=True)
class _Loss:
    """A user's loss, its derivative, and the half width `step` of the differences that stand for derivatives."""

    loss: ConvexLoss
    given: Callable[[Array], Array] | None

    @property
    def name(self) -> str:
        return str(getattr(self.loss, "name", type(self.loss).__name__))

    def value(self, t: Array) -> Array:
        return self._called("value", self.loss.value, t)

    def derivative(self, t: Array) -> Array:
        """Return l'(t); without a derivative the difference of values, which is the slope of the loss averaged."""
        if self.given is not None:
            return self._called("derivative", self.given, t)
        step = DERIVATIVE_STEP * (1 + abs(t))
        return np.asarray((self.value(t + step) - self.value(t - step)) / (2 * step))

    def curvature(self, t: Array, stiffness: float) -> Array:
        """Return the second derivative of the loss in series with that of a spring; at a kink this is the spring's."""
        step = CURVATURE_STEP * (1 + abs(t))
        bend = np.maximum(self.derivative(t + step) - self.derivative(t - step), 0.0) / (2 * step)
        return np.maximum(bend * (stiffness / (bend + stiffness)), LEAST_CURVATURE * stiffness)

    def copies(self, v: Array, stiffness: float) -> Array:
        """Return argmin_x l(x) + stiffness (v - x)^2/2, by halving: the slope of this function rises through zero."""
        ends = np.stack((v, v - self.derivative(v) / stiffness))
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(110):
            x = (low + high) / 2
            rises = self.derivative(x) + stiffness * (x - v) > 0
            low, high = np.where(rises, low, x), np.where(rises, x, high)
            if np.all(high - low <= 4e-16 * (abs(low) + abs(high) + 1e-3)):
                break
        return np.asarray((low + high) / 2)

    def conjugate(self, g: Array, near: Array) -> Array:
        """Return max_c g c - l(c), which is near the given places, by golden sections; infinite where it is not."""
        step = CURVATURE_STEP * (1 + abs(near))
        a, b = near - step, near + step
        inside = (self.derivative(a) <= g + NOISE * (1 + abs(g))) & (self.derivative(b) >= g - NOISE * (1 + abs(g)))
        most = g * near - self.value(near)
        for _ in range(60):
            c, e = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
            at_c, at_e = g * c - self.value(c), g * e - self.value(e)
            most = np.maximum(most, np.maximum(at_c, at_e))
            a, b = np.where(at_c < at_e, c, a), np.where(at_c < at_e, b, e)
        return np.where(inside, most, np.inf)

    def require_convex(self, t: Array) -> None:
        """Refuse a loss whose slopes fall, or are not those of its values, between the given arguments."""
        t = np.unique(t)
        value, slope = self.value(t), self.derivative(t)
        slack = 1e-9 * (1 + abs(slope)) + (1e-15 / DERIVATIVE_STEP * abs(value) if self.given is None else 0.0)
        falls = np.diff(slope) < -np.maximum(slack[1:], slack[:-1])
        if falls.any():
            k = int(np.argmax(falls))
            raise ValueError(
                f"loss {self.name!r} must be convex to be fitted: its slope falls from {slope[k]:g} at {t[k]:g} "
                f"to {slope[k + 1]:g} at {t[k + 1]:g}; of a loss that is not convex no minimum can be verified, and "
                "only theory.glm.solve takes one"
            )
        if self.given is None:
            return
        rise, run = np.diff(value), np.diff(t)
        allowed = np.maximum(slack[1:], slack[:-1]) * run + 1e-14 * (abs(value[1:]) + abs(value[:-1]))
        wrong = (rise < slope[:-1] * run - allowed) | (rise > slope[1:] * run + allowed)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ValueError(
                f"loss {self.name!r} must have the derivative of its values: they differ by {rise[k]:g} between "
                f"{t[k]:g} and {t[k + 1]:g}, where its derivative lies from {slope[k]:g} to {slope[k + 1]:g}"
            )

    def _called(self, what: str, function: Callable[[Array], Array], t: Array) -> Array:
        if not np.isfinite(t).all():
            raise np.linalg.LinAlgError("the arguments of the loss overflow")
        try:
            given = np.asarray(function(t.copy()))  # a function may work in place
        except Exception as failed:  # it is the user's function, and may raise anything
            raise ValueError(f"loss {self.name!r} must have a {what} of arrays, it raised {failed!r}") from failed
        if given.dtype in COARSE:  # differences of such values say nothing of slopes
            raise ValueError(f"loss {self.name!r} must have a {what} in double precision, got dtype {given.dtype}")
        values = checks.real_array(f"{what} of loss {self.name!r}", given)
        if values.shape != t.shape:
            what = f"a {what} for every argument"
            raise ValueError(f"loss {self.name!r} must have {what}, got shape {values.shape} for {t.shape} arguments")
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"loss {self.name!r} must have a finite {what}, got {values[k]} at the argument {t[k]:g}")
        return values


def own_loss(loss: ConvexLoss) -> _Loss:
    """Return a loss with its derivative, if it tells one; ValueError where it shows not to be convex."""
    given = getattr(loss, "derivative", None)
    found = _Loss(loss, given if callable(given) else None)
    found.require_convex(EVERYWHERE)
    return found


class _Point(NamedTuple):
    """Weights and offsets x = (u, b), the copies of the arguments, and the multipliers: slopes of the loss there."""

    x: Array
    copies: Array
    g: Array


def convex(
    Z: Array, origin: Array, sign: Array, offsets: Array, weights: Array, loss: ConvexLoss
) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i l(t_i), t = origin + sign h, h = Z u + offsets b, sign = +-1.

    Returns u, b, the gap between the primal and the dual problem relative to the risk, and the number of Newton steps.
    Raises ValueError for a loss that is not convex, FitError where the gap stays above 1e-6, or leaves open more than
    1e-2 of the weights.
    """
    own = own_loss(loss)
    problem = _Problem(Z, origin, sign, offsets, weights, own, kernel_of(Z))
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
    return best.x[: Z.shape[1]], best.x[Z.shape[1] :], gap, steps


@dataclass(frozen=True, eq=False)
class _Problem:
    """One fit, in the coordinates x = (u, b)."""

    Z: Array
    origin: Array
    sign: Array
    offsets: Array
    weights: Array
    loss: _Loss
    kernel: Array | None

    def fields(self, x: Array) -> Array:
        p = self.Z.shape[1]
        return np.asarray(self.Z @ x[:p] + self.offsets @ x[p:])

    def arguments(self, x: Array) -> Array:
        return np.asarray(self.origin + self.sign * self.fields(x))

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
        g, u = point.g, point.x[: self.Z.shape[1]]
        conjugate = self.loss.conjugate(g, point.copies)
        force = self.weights * g * self.sign
        back = force @ self.Z
        bound = float(self.weights @ (g * self.origin - conjugate)) - 0.5 * float(back @ back)
        risk = 0.5 * float(u @ u) + float(self.weights @ self.loss.value(self.arguments(point.x)))
        free = abs(force @ self.offsets) / (abs(force).sum() + 1e-300)
        excess, size = abs(risk - bound), abs(risk) + 0.5 * float(back @ back) + 1e-300
        error = np.sqrt(2 * excess) / (np.linalg.norm(u) + SMALLEST * np.sqrt(2 * size))
        return max(excess / size, float(free.max(initial=0.0))), float(error)
