"""Convex losses by their Moreau envelopes.

A margin loss l(t) depends on t = y h, labels y = +-1; a residual loss l(e) on e = y - h, real labels. With the response
V the prox of t is argmin_x (x - t)^2/(2V) + l(x), and the force f(t) = (prox - t)/V = -l'(prox) is what a sample exerts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import expit

from theory.models.glm.modes import Array


class Loss(Protocol):
    """What the channel needs of a loss."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def value(self, t: Array) -> Array:
        """l(t)."""

    def prox(self, t: Array, V: float) -> Array:
        """argmin_x (x - t)^2/(2V) + l(x)."""

    def slope(self, t: Array, prox: Array, V: float) -> Array | None:
        """f'(t) = (prox'(t) - 1)/V, or None where it is not known."""

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """(t, width): where f bends, and on what scale; width 0 is a kink."""


@dataclass(frozen=True)
class Square:
    """(1 - t)^2/2 on margins, which is (y - h)^2/2."""

    name: str = "square"

    def value(self, t: Array) -> Array:
        return 0.5 * (1 - t) ** 2

    def prox(self, t: Array, V: float) -> Array:
        return (t + V) / (1 + V)

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        return np.full_like(t, -1 / (1 + V))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        return []


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - t)."""

    name: str = "hinge"

    def value(self, t: Array) -> Array:
        return np.maximum(1 - t, 0)

    def prox(self, t: Array, V: float) -> Array:
        return np.where(t >= 1, t, np.minimum(t + V, 1))

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        return np.where((t < 1) & (t > 1 - V), -1 / V, 0.0)

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        return [(1.0, 0.0), (1.0 - V, 0.0)]


@dataclass(frozen=True)
class HardMargin:
    """0 where t >= 1, infinite elsewhere: the limit lam -> 0 of margin losses on separable data."""

    name: str = "hard_margin"

    def value(self, t: Array) -> Array:
        return np.zeros_like(t)  # at a prox, where t >= 1

    def prox(self, t: Array, V: float) -> Array:
        return np.maximum(t, 1.0)

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        return np.where(t < 1, -1 / V, 0.0)

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        return [(1.0, 0.0)]


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-t))."""

    name: str = "logistic"

    def value(self, t: Array) -> Array:
        return np.logaddexp(0, -t)

    def prox(self, t: Array, V: float) -> Array:
        """Root of x - t - V sigma(-x), increasing in x: Newton kept inside a shrinking bracket."""
        low, high = t, t + V
        x = np.clip(np.where(t > 0, t, 0.0), low, high)
        for _ in range(200):
            s = expit(-x)
            gap = x - t - V * s
            low, high = np.where(gap < 0, x, low), np.where(gap > 0, x, high)
            new = x - gap / (1 + V * s * (1 - s))
            new = np.where((new < low) | (new > high), (low + high) / 2, new)
            moved = abs(new - x) > 4e-16 * (1 + abs(x))
            x = new
            if not moved.any():
                break
        return np.asarray(x)

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        s = expit(prox) * expit(-prox)
        return np.asarray(-s / (1 + V * s))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        return [(0.0, 1.0), (-V, 1.0)]


@dataclass(frozen=True)
class ConvexMargin:
    """A user's own convex loss of the margin t = y h.

    `function` l(t) and either `derivative` l'(t), for which the prox is solved by bracketing, or `proximal`
    (t, V) -> x, all elementwise on arrays. `kinks`: where l' jumps. Convexity is checked wherever the prox is evaluated:
    it must rise with t; ValueError otherwise.
    """

    function: Callable[[Array], Array]
    derivative: Callable[[Array], Array] | None = None
    proximal: Callable[[Array, float], Array] | None = None
    kinks: tuple[float, ...] = ()
    name: str = field(default="custom")

    def __post_init__(self) -> None:
        if (self.derivative is None) == (self.proximal is None):
            raise ValueError("give exactly one of derivative and proximal")

    def value(self, t: Array) -> Array:
        return np.asarray(self.function(t), float)

    def prox(self, t: Array, V: float) -> Array:
        x = np.asarray(self.proximal(t, V), float) if self.proximal else self._solved(t, V)
        if not np.isfinite(x).all():
            raise ValueError(f"loss {self.name!r} has a proximal operator that is not finite at V = {V:g}")
        order = np.argsort(t)
        if np.any(np.diff(x[order]) < -1e-9 * (1 + abs(x).max())):
            where = float(t[order][int(np.argmin(np.diff(x[order])))])
            raise ValueError(
                f"loss {self.name!r} must be convex: its proximal operator falls near t = {where:g}, V = {V:g}"
            )
        return x

    def slope(self, t: Array, prox: Array, V: float) -> Array | None:
        return None

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """A kink of l' at k flattens the prox between the two images k + V l'(k -+ 0)."""
        derivative = self.derivative
        if derivative is None:
            return [(k, 0.0) for k in self.kinks]
        sides = [(k, k + side * 1e-9 * (1 + abs(k))) for k in self.kinks for side in (-1, 1)]
        return [(float(k + V * np.asarray(derivative(np.array([near])))[0]), 0.0) for k, near in sides]

    def _solved(self, t: Array, V: float) -> Array:
        from scipy.optimize import elementwise

        assert self.derivative is not None
        slope = self.derivative

        def gap(x: Array, t: Array) -> Array:
            return np.asarray(x - t + V * slope(x))

        bracket = elementwise.bracket_root(gap, t - V, t + V, args=(t,))
        found = elementwise.find_root(gap, bracket.bracket, args=(t,), tolerances={"xatol": 1e-15, "xrtol": 1e-15})
        if not found.success.all():
            raise ValueError(
                f"loss {self.name!r} must be convex with a finite derivative: its proximal operator was not found"
            )
        return np.asarray(found.x)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Square(), Logistic(), Hinge(), HardMargin())}


def loss_of(loss: str | Loss) -> Loss:
    """The loss of a name, or the object itself; ValueError lists the names."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)} or a ConvexMargin, got {loss!r}")
        return LOSSES[loss]
    if not hasattr(loss, "prox"):
        raise ValueError(f"loss must be a name or an object with a prox, got {loss!r}")
    return loss


@dataclass(frozen=True)
class SquareResidual:
    """e^2/2 on residuals."""

    name: str = "square"

    def value(self, t: Array) -> Array:
        return 0.5 * t**2

    def prox(self, t: Array, V: float) -> Array:
        return t / (1 + V)

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        return np.full_like(t, -1 / (1 + V))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        return []


def residual_form(loss: Loss) -> Loss:
    """The loss as a function of the residual y - h; ValueError for one that needs labels +-1."""
    if isinstance(loss, Square):
        return SquareResidual()
    if isinstance(loss, Logistic | Hinge | HardMargin):
        raise ValueError(
            f"loss={loss.name!r} needs labels +-1, got linear labels; use 'square' or a ConvexMargin of y - h"
        )
    return loss
