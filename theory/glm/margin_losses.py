"""The built-in losses of a margin t = y h, with their proximal operators."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, wrightomega

from theory.models.arrays import Array


@dataclass(frozen=True)
class Square:
    """(1 - t)^2/2 on margins, which is (y - h)^2/2."""

    name: str = "square"

    def value(self, t: Array) -> Array:
        return 0.5 * (1 - t) ** 2

    def prox(self, t: Array, V: float) -> Array:
        return (t + V) / (1 + V)

    def force(self, t: Array, prox: Array, V: float) -> Array:
        return (1 - t) / (1 + V)

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        return np.full_like(t, -1 / (1 + V))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        return []


@dataclass(frozen=True)
class SquareResidual:
    """e^2/2 on residuals."""

    name: str = "square"

    def value(self, t: Array) -> Array:
        return 0.5 * t**2

    def prox(self, t: Array, V: float) -> Array:
        return t / (1 + V)

    def force(self, t: Array, prox: Array, V: float) -> Array:
        return -t / (1 + V)

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

    def force(self, t: Array, prox: Array, V: float) -> Array:
        return np.clip((1 - t) / V, 0, 1)

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

    def force(self, t: Array, prox: Array, V: float) -> Array:
        return np.maximum(1 - t, 0.0) / V

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
        """Root of x = t + V sigma(-x).

        x -> -x maps t to -(t + V), so x >= 0 may be assumed; there sigma(-x) lies between exp(-x)/2 and exp(-x), which
        Lambert's function inverts: a start within log 2 of the root, from which Newton with Halley's correction takes
        three steps to rounding at any V.
        """
        upper = t >= -V / 2
        folded = np.where(upper, t, -(t + V))
        x = folded + wrightomega(np.log(0.7 * V) - folded)
        for _ in range(3):
            s = expit(-x)
            rate = V * s * (1 - s)
            newton = (x - folded - V * s) / (1 + rate)
            x = x - newton / (1 + 0.5 * newton * rate * (1 - 2 * s) / (1 + rate))
        return np.asarray(np.where(upper, x, -x))

    def force(self, t: Array, prox: Array, V: float) -> Array:
        return np.asarray(expit(-prox))

    def slope(self, t: Array, prox: Array, V: float) -> Array:
        s = expit(prox) * expit(-prox)
        return np.asarray(-s / (1 + V * s))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """The prox is analytic in t up to branch points a distance pi off the real axis, where 1 + V s (1 - s) = 0."""
        x = 2 * np.arcsinh(np.sqrt(V) / 2)
        t = float(x + V / np.expm1(x))
        return [(t, np.pi), (-V - t, np.pi)]
