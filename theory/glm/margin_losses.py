"""The built-in losses l(t) of a margin t = y h, with their proximal operators argmin_x (x - t)^2/(2V) + l(x)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, wrightomega

from theory.core.arrays import Array


@dataclass(frozen=True)
class SquareResidual:
    """The square loss e^2/2 of a residual e = y - h; the argument t of its methods is this residual."""

    name: str = "square"

    def value(self, t: Array) -> Array:
        """Return t^2/2."""
        return 0.5 * t**2

    def prox(self, t: Array, V: float) -> Array:
        """Return the root x of x = t - V l'(x)."""
        return t / (1 + V)

    def force(self, t: Array, _prox: Array, V: float) -> Array:
        """Return (prox - t)/V, (samples,)."""
        return -t / (1 + V)

    def slope(self, t: Array, _prox: Array, V: float) -> Array:
        """Return the derivative of the force by t."""
        return np.full_like(t, -1 / (1 + V))

    def breakpoints(self, _V: float) -> list[tuple[float, float]]:
        """Return no points: the force is linear in t."""
        return []


@dataclass(frozen=True)
class Square(SquareResidual):
    """The square loss (1 - t)^2/2 of a margin t = y h, which is (y - h)^2/2 for labels y = +-1."""

    def value(self, t: Array) -> Array:
        """Return (1 - t)^2/2."""
        return 0.5 * (1 - t) ** 2

    def prox(self, t: Array, V: float) -> Array:
        """Return the root x of x = t - V l'(x)."""
        return (t + V) / (1 + V)

    def force(self, t: Array, _prox: Array, V: float) -> Array:
        """Return (prox - t)/V, (samples,)."""
        return (1 - t) / (1 + V)


@dataclass(frozen=True)
class Hinge:
    """The hinge loss max(0, 1 - t) of a margin t, that of support vector machines."""

    name: str = "hinge"

    def value(self, t: Array) -> Array:
        """Return max(0, 1 - t)."""
        return np.maximum(1 - t, 0)

    def prox(self, t: Array, V: float) -> Array:
        """Return t right of the kink, t + V left of it, and the kink 1 itself in between."""
        return np.where(t >= 1, t, np.minimum(t + V, 1))

    def force(self, t: Array, _prox: Array, V: float) -> Array:
        """Return (prox - t)/V, (samples,)."""
        return np.clip((1 - t) / V, 0, 1)

    def slope(self, t: Array, _prox: Array, V: float) -> Array:
        """Return the derivative of the force by t."""
        return np.where((t < 1) & (t > 1 - V), -1 / V, 0.0)

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """Return the two kinks of the force: it is 1 below 1 - V, 0 above 1, and linear in between."""
        return [(1.0, 0.0), (1.0 - V, 0.0)]


@dataclass(frozen=True)
class HardMargin:
    """The loss that is 0 where t >= 1 and infinite elsewhere: the limit lam -> 0 of margin losses on separable data."""

    name: str = "hard_margin"

    def value(self, t: Array) -> Array:
        """Return 0, the loss at a prox: there t >= 1."""
        return np.zeros_like(t)

    def prox(self, t: Array, _V: float) -> Array:
        """Return t, or the margin 1 where t is below it."""
        return np.maximum(t, 1.0)

    def force(self, t: Array, _prox: Array, V: float) -> Array:
        """Return (prox - t)/V, (samples,)."""
        return np.maximum(1 - t, 0.0) / V

    def slope(self, t: Array, _prox: Array, V: float) -> Array:
        """Return the derivative of the force by t."""
        return np.where(t < 1, -1 / V, 0.0)

    def breakpoints(self, _V: float) -> list[tuple[float, float]]:
        """Return the kink of the force at the margin 1."""
        return [(1.0, 0.0)]


@dataclass(frozen=True)
class Logistic:
    """The logistic loss log(1 + exp(-t)) of a margin t."""

    name: str = "logistic"

    def value(self, t: Array) -> Array:
        """Return log(1 + exp(-t)), without overflow."""
        return np.logaddexp(0, -t)

    def prox(self, t: Array, V: float) -> Array:
        """Return the root x of x = t + V sigma(-x), sigma the logistic function.

        The mirror image x -> -x maps t to -(t + V), so x >= 0 may be assumed. There sigma(-x) lies between exp(-x)/2
        and exp(-x), and Lambert's function inverts x = t + c V exp(-x): with c = 0.7 the start is within log 2 of the
        root, from which Newton's method with Halley's correction takes three steps to rounding at any V.
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

    def force(self, _t: Array, prox: Array, _V: float) -> Array:
        """Return -l'(prox) = sigma(-prox), which has no cancellation."""
        return np.asarray(expit(-prox))

    def slope(self, _t: Array, prox: Array, V: float) -> Array:
        """Return the derivative of the force by t."""
        s = expit(prox) * expit(-prox)
        return np.asarray(-s / (1 + V * s))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """Return where the prox bends: at branch points a distance pi off the real axis, where 1 + V s (1 - s) = 0."""
        x = 2 * np.arcsinh(np.sqrt(V) / 2)
        t = float(x + V / np.expm1(x))
        return [(t, np.pi), (-V - t, np.pi)]
