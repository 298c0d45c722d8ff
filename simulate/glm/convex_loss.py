"""Reads a convex loss of a user: its values, slopes and curvatures, its copies on springs and its conjugate."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from theory.core import Array, checks

DERIVATIVE_STEP, CURVATURE_STEP = 1e-7, 1e-5  # relative to 1 + |t|: of differences of values, and of derivatives
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
class OwnLoss:
    """A user's loss, its derivative, and the half width `step` of the differences that stand for derivatives."""

    loss: ConvexLoss
    given: Callable[[Array], Array] | None

    @property
    def name(self) -> str:
        """The name by which messages call the loss."""
        return str(getattr(self.loss, "name", type(self.loss).__name__))

    def value(self, t: Array) -> Array:
        """Return l(t), with the loss checked to give finite numbers of that shape."""
        return self._called("value", self.loss.value, t)

    def derivative(self, t: Array) -> Array:
        """Return l'(t); without a derivative the difference of values, which is the slope of the loss averaged."""
        if self.given is not None:
            return self._called("derivative", self.given, t)
        step = DERIVATIVE_STEP * (1 + abs(t))
        return np.asarray((self.value(t + step) - self.value(t - step)) / (2 * step))

    def slope_and_bend(self, t: Array) -> tuple[Array, Array]:
        """Return l'(t), and l''(t) as its difference to one side: all in one call of the user's function."""
        n, step = len(t), abs(t)
        step += 1
        step *= CURVATURE_STEP
        slopes = self.derivative(np.concatenate((t, t + step)))
        bend = slopes[n:] - slopes[:n]
        np.maximum(bend, 0.0, out=bend)
        bend /= step
        return slopes[:n], bend

    def bend(self, t: Array) -> Array:
        """Return l''(t) as a difference of derivatives."""
        step = CURVATURE_STEP * (1 + abs(t))
        return np.asarray(np.maximum(self.derivative(t + step) - self.derivative(t - step), 0.0) / (2 * step))

    def curvature(self, t: Array, stiffness: float) -> Array:
        """Return the second derivative of the loss in series with that of a spring; at a kink this is the spring's."""
        bend = self.bend(t)
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
        t = np.sort(t)
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
        if not surely_finite(t) and not np.isfinite(t).all():
            raise np.linalg.LinAlgError("the arguments of the loss overflow")
        try:
            given = np.asarray(function(t.copy()))  # a function may work in place
        except Exception as failed:  # it is the user's function, and may raise anything
            raise ValueError(f"loss {self.name!r} must have a {what} of arrays, it raised {failed!r}") from failed
        if given.dtype == float and given.shape == t.shape and surely_finite(given):
            return given
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


def surely_finite(t: Array) -> bool:
    """Say whether the sum of squares is finite, which takes less time than to look at each number."""
    with np.errstate(over="ignore"):
        return math.isfinite(np.vdot(t, t))


def own_loss(loss: ConvexLoss) -> OwnLoss:
    """Return a loss with its derivative, if it tells one."""
    given = getattr(loss, "derivative", None)
    return OwnLoss(loss, given if callable(given) else None)
