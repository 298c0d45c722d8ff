"""Kernels of the four named activations: closed forms of the covariance of f(u) and f(v) for correlated normal u, v.

With mu_l = E f(z) He_l(z), kappa(q) = sum_{l >= 1} mu_l^2 q^l/l! at unit variances and correlation q. What the theory
of narrow networks needs is the part beyond l = 1, tail(q) = kappa(q) - mu_1^2 q: its derivatives, and gap = tail(1) -
tail(q), which must keep its digits where q is near 1. Therefore functions take q and p = 1 - q, arrays of one shape.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np

from theory.core.arrays import Array

SERIES_BELOW = 1e-3  # p below which the gap of ReLU is summed as a series, since its closed form loses digits


class Pair(NamedTuple):
    """The tail for variances A, B and covariance rho: its value, and derivatives by B, by rho, and twice by rho."""

    value: float
    by_second: float
    by_rho: float
    by_rho_twice: float
    error: float = 0.0  # a bound for what a series leaves out, relative


class Kernel(Protocol):
    """What the equations need of an activation."""

    power: float  # T = kappa(1)
    linear_power: float  # mu_1^2
    quadratic_power: float  # mu_2^2
    contact: float  # gap ~ p^contact where p is small

    def slope(self, q: Array, p: Array) -> Array:
        """Return the first derivative of the tail."""

    def curvature(self, q: Array, p: Array) -> Array:
        """Return the second derivative of the tail."""

    def gap(self, q: Array, p: Array) -> Array:
        """tail(1) - tail(q)."""

    def error(self, q: Array, p: Array) -> Array:
        """Return a bound for the absolute errors of gap and of p times the slope."""

    def pair(self, A: float, B: float, rho: float) -> Pair:
        """Return the tail of arguments with variances A and B and covariance rho."""

    def own(self, A: float) -> tuple[float, float]:
        """Return the tail of one argument of variance A with itself, and its derivative by A."""

    def slope_at(self, A: float) -> tuple[float, float]:
        """Return E f'(h) for h of variance A, which multiplies the linear part of the kernel, and its derivative."""

    def mixed(self, A: float, B: float, rho: float) -> float:
        """Return the derivative of the tail by rho and by B."""

    def own_slope(self, A: float) -> tuple[float, float]:
        """Return E f'(h)^2 - (E f'(h))^2, the derivative of the tail by rho at rho = A = B, and its derivative by A."""


class _Closed:
    contact = 1.0

    def error(self, q: Array, _p: Array) -> Array:
        """Return a bound for the absolute errors of gap and of p times the slope."""
        return np.zeros_like(q)


class ErfKernel(_Closed):
    """f = erf(h/sqrt(2)): kappa = (2/pi) asin(q/2)."""

    power, linear_power, quadratic_power = 1 / 3, 1 / math.pi, 0.0

    def slope(self, q: Array, _p: Array) -> Array:
        """Return the first derivative of the tail."""
        x = q * q / 4
        root = np.sqrt(1 - x)
        return np.asarray(x / (math.pi * root * (1 + root)))

    def curvature(self, q: Array, _p: Array) -> Array:
        """Return the second derivative of the tail."""
        return np.asarray(q / (4 * math.pi) * (1 - q * q / 4) ** -1.5)

    def gap(self, q: Array, p: Array) -> Array:
        """tail(1) - tail(q), with all digits where p is small."""
        # asin(1/2) - asin(q/2) as the arc sine of one difference, in which 1 - q^2 = p (1 + q) stands as a factor.
        sine = p * (1 + q) / (2 * (np.sqrt(1 - q * q / 4) + q * math.sqrt(0.75)))
        return np.asarray((2 / math.pi) * np.arcsin(sine) - p / math.pi)

    def pair(self, A: float, B: float, rho: float) -> Pair:
        """Return the tail of arguments with variances A and B and covariance rho, with derivatives."""
        scale = math.sqrt((1 + A) * (1 + B))
        t = rho / scale
        root = math.sqrt(1 - t * t)
        first = (2 / math.pi) * t * t / (root * (1 + root))
        second = (2 / math.pi) * t / root**3
        value = (2 / math.pi) * (math.asin(t) - t)
        return Pair(value, -first * t / (2 * (1 + B)), first / scale, second / scale**2)

    def own(self, A: float) -> tuple[float, float]:
        """Return the tail of one argument of variance A with itself, and its derivative by A."""
        one = self.pair(A, A, A)
        return one.value, one.by_rho + 2 * one.by_second

    def slope_at(self, A: float) -> tuple[float, float]:
        """Return E f'(h) for h of variance A, and its derivative by A."""
        mean = math.sqrt(2 / (math.pi * (1 + A)))
        return mean, -mean / (2 * (1 + A))

    def mixed(self, A: float, B: float, rho: float) -> float:
        """Return the derivative of the tail by rho and by B."""
        full = -(1 + A) / math.pi / math.sqrt((1 + A) * (1 + B) - rho * rho) ** 3
        return full - self.slope_at(A)[0] * self.slope_at(B)[1]

    def own_slope(self, A: float) -> tuple[float, float]:
        """Return E f'(h)^2 - (E f'(h))^2 and its derivative by A."""
        mean, growth = self.slope_at(A)
        square = (2 / math.pi) * (1 + 2 * A) ** -0.5
        return square - mean * mean, -square / (1 + 2 * A) - 2 * mean * growth


class _Homogeneous(_Closed):
    """f(c h) = c^degree f(h) for c > 0, so that variances only multiply the kernel at the correlation rho/sqrt(A B)."""

    degree: float
    linear_power: float

    def tail(self, q: float) -> float:
        """Return the tail at unit variances."""
        raise NotImplementedError

    def slope(self, q: Array, p: Array) -> Array:
        """Return the first derivative of the tail."""
        raise NotImplementedError

    def curvature(self, q: Array, p: Array) -> Array:
        """Return the second derivative of the tail."""
        raise NotImplementedError

    def pair(self, A: float, B: float, rho: float) -> Pair:
        """Return the tail of arguments with variances A and B and covariance rho, with derivatives."""
        root = math.sqrt(A * B)
        c = rho / root
        q, p = np.array(c), np.array(1 - c)
        size, value, first = root**self.degree, self.tail(c), float(self.slope(q, p))
        by_second = size * (self.degree * value - c * first) / (2 * B)
        return Pair(size * value, by_second, size * first / root, size * float(self.curvature(q, p)) / root**2)

    def own(self, A: float) -> tuple[float, float]:
        """Return the tail of one argument of variance A with itself, and its derivative by A."""
        value = A**self.degree * self.tail(1.0)
        return value, self.degree * value / A

    def slope_at(self, A: float) -> tuple[float, float]:
        """Return E f'(h) for h of variance A, and its derivative by A."""
        power = (self.degree - 1) / 2
        mean = math.sqrt(self.linear_power) * A**power
        return mean, power * mean / A

    def mixed(self, A: float, B: float, rho: float) -> float:
        """Return the derivative of the tail by rho and by B."""
        root = math.sqrt(A * B)
        q, p = np.array(rho / root), np.array(1 - rho / root)
        change = (self.degree - 1) * float(self.slope(q, p)) - rho / root * float(self.curvature(q, p))
        return float(root ** (self.degree - 1) * change / (2 * B))

    def own_slope(self, A: float) -> tuple[float, float]:
        """Return E f'(h)^2 - (E f'(h))^2 and its derivative by A."""
        with np.errstate(divide="ignore"):  # infinite for a jump
            value = A ** (self.degree - 1) * float(self.slope(np.array(1.0), np.array(0.0)))
        return value, (self.degree - 1) * value / A


class SignKernel(_Homogeneous):
    """f = sign(h): kappa = (2/pi) asin q."""

    power, linear_power, quadratic_power = 1.0, 2 / math.pi, 0.0
    degree, contact = 0.0, 0.5

    def tail(self, q: float) -> float:
        """Return the tail at unit variances."""
        return (2 / math.pi) * (math.asin(q) - q)

    def slope(self, q: Array, p: Array) -> Array:
        """Return the first derivative of the tail."""
        root = np.sqrt(p * (1 + q))
        return np.asarray((2 / math.pi) * q * q / (root * (1 + root)))

    def curvature(self, q: Array, p: Array) -> Array:
        """Return the second derivative of the tail."""
        return np.asarray((2 / math.pi) * q * (p * (1 + q)) ** -1.5)

    def gap(self, _q: Array, p: Array) -> Array:
        """tail(1) - tail(q), with all digits where p is small."""
        return np.asarray((2 / math.pi) * (2 * np.arcsin(np.sqrt(p / 2)) - p))


class ReluKernel(_Homogeneous):
    """f = max(h, 0): kappa = (sqrt(1 - q^2) + q (pi - acos q) - 1)/(2 pi)."""

    power, linear_power, quadratic_power = (math.pi - 1) / (2 * math.pi), 0.25, 1 / (2 * math.pi)
    degree = 1.0

    def tail(self, q: float) -> float:
        """Return the tail at unit variances."""
        return (q * math.asin(q) - q * q / (1 + math.sqrt(1 - q * q))) / (2 * math.pi)

    def slope(self, q: Array, _p: Array) -> Array:
        """Return the first derivative of the tail."""
        return np.asarray(np.arcsin(q) / (2 * math.pi))

    def curvature(self, q: Array, p: Array) -> Array:
        """Return the second derivative of the tail."""
        return np.asarray(1 / (2 * math.pi * np.sqrt(p * (1 + q))))

    def gap(self, q: Array, p: Array) -> Array:
        """tail(1) - tail(q), with all digits where p is small."""
        # The integral of asin from q to 1; near 1 that of pi/2 minus the series of acos(1 - u) in roots of u.
        root = np.sqrt(p)
        series = p * (math.pi / 2 - math.sqrt(2) * root * (2 / 3 + p / 30 + 3 * p * p / 560))
        closed = p * math.pi / 2 + q * 2 * np.arcsin(root / math.sqrt(2)) - np.sqrt(p * (1 + q))
        return np.asarray(np.where(p < SERIES_BELOW, series, closed) / (2 * math.pi))


class QuadraticKernel(_Homogeneous):
    """f = (h^2 - 1)/sqrt(2): kappa = q^2."""

    power, linear_power, quadratic_power = 1.0, 0.0, 2.0
    degree = 2.0

    def tail(self, q: float) -> float:
        """Return the tail at unit variances."""
        return q * q

    def slope(self, q: Array, _p: Array) -> Array:
        """Return the first derivative of the tail."""
        return np.asarray(2 * q)

    def curvature(self, q: Array, _p: Array) -> Array:
        """Return the second derivative of the tail."""
        return np.full_like(q, 2.0)

    def gap(self, q: Array, p: Array) -> Array:
        """tail(1) - tail(q), with all digits where p is small."""
        return np.asarray(p * (1 + q))


CLOSED: dict[str, Kernel] = {
    "erf": ErfKernel(),
    "sign": SignKernel(),
    "relu": ReluKernel(),
    "quadratic": QuadraticKernel(),
}
