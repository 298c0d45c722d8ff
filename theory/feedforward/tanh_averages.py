"""Gaussian averages of tanh and its derivative, of one field and of two correlated ones, without loss of digits.

Everything is a sum over equidistant points, which converges geometrically for functions that are analytic in a strip:
tanh has its nearest poles at +-i pi/2, so that steps of a quarter leave errors below 1e-15. Narrow Gaussians are summed
in units of their own width, wide ones in units of the field, where only the range in which tanh has not saturated
counts.
"""

import math

import numpy as np
from scipy.special import ndtr

from theory.core.arrays import Array

FIELD_STEP = 0.25  # in units of the field, or of the width of a narrow Gaussian
MAX_DEVIATIONS, SATURATING_FIELD = 9.0, 20.0  # exp(-9^2/2) and 1 - tanh(20) are below 1e-17
NORMAL_DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)


class OneField:
    """Averages over a field h ~ N(0, q)."""

    def __init__(self, variance: float) -> None:
        self.variance = variance
        self._wide = variance > 1
        self._x, self._weights = _gaussian(math.sqrt(variance), 1.0, SATURATING_FIELD)
        self._t = np.tanh(self._x)

    def _mean(self, values: Array) -> float:
        return float(self._weights @ values)

    @property
    def square(self) -> float:
        """E tanh^2 h."""
        return 1 - self._mean(1 - self._t**2) if self._wide else self._mean(self._t**2)

    @property
    def missing(self) -> float:
        """1 - E tanh^2 h."""
        return self._mean(1 - self._t**2)

    @property
    def square_slope(self) -> float:
        """The derivative of E tanh^2 h by q."""
        if not self._wide:
            return 1 - self.shrinkage_slope
        # Partial integration: E (z^2 - 1) tanh^2(sqrt(q) z)/(2 q), without the terms that cancel where q is large.
        return self._mean((1 - self._x**2 / self.variance) * (1 - self._t**2)) / (2 * self.variance)

    @property
    def slope_gap(self) -> float:
        """E sech^2 h - E sech^4 h."""
        return self._mean(self._t**2 * (1 - self._t**2))

    @property
    def shrinkage(self) -> float:
        """Q - E tanh^2 h, which is about 2 q^2 for small q."""
        if self._wide:
            return self.variance - self.square
        return self._mean((self._x + self._t) * _rest(self._x))

    @property
    def shrinkage_slope(self) -> float:
        """The derivative of `shrinkage` by q, 1 - E (1 - t^2)(1 - 3 t^2) with t = tanh h."""
        t2 = self._t**2
        return 1 - self._mean((1 - t2) * (1 - 3 * t2)) if self._wide else self._mean(t2 * (4 - 3 * t2))

    @property
    def gradient_loss(self) -> float:
        """1 - E sech^4 h."""
        t2 = self._t**2
        return 1 - self._mean((1 - t2) ** 2) if self._wide else self._mean(t2 * (2 - t2))


class TwoFields:
    """Averages over two fields of variance q > 0 whose correlation is 1 - e, with e in [0, 1].

    They are written as a + b u and a + b v with independent a ~ N(0, q (1 - e)), b^2 = q e and standard Gaussian u and
    v, so that averages of products are those of squares of an average over u.
    """

    def __init__(self, variance: float, decorrelation: float) -> None:
        self.variance, self.decorrelation = variance, decorrelation
        self._width = math.sqrt(variance * decorrelation)
        common = math.sqrt(variance * (1 - decorrelation))
        scale = max(1.0, self._width)  # on which the averages over u vary
        self._wide = common > scale
        self._a, self._weights = _gaussian(common, scale, SATURATING_FIELD + MAX_DEVIATIONS * self._width)
        if self._width > 1:
            x = np.arange(-SATURATING_FIELD, SATURATING_FIELD + FIELD_STEP / 2, FIELD_STEP)
            gap = (self._a[:, None] - x) / self._width
            sech2 = 1 - np.tanh(x) ** 2
            self._mean_tanh = FIELD_STEP * ndtr(gap) @ sech2 - 1
            self._mean_sech2 = FIELD_STEP * NORMAL_DENSITY_AT_ZERO / self._width * np.exp(-(gap**2) / 2) @ sech2
            return
        u, self._u_weights = _gaussian(self._width, 1.0, math.inf)
        self._h = self._a[:, None] + u
        self._t = np.tanh(self._h)
        self._mean_tanh = self._t @ self._u_weights
        self._mean_sech2 = 1 - self._t**2 @ self._u_weights

    def _mean(self, values: Array) -> float:
        return float(self._weights @ values)

    @property
    def product(self) -> float:
        """E tanh h_a tanh h_b."""
        m2 = self._mean_tanh**2
        return 1 - self._mean(1 - m2) if self._wide else self._mean(m2)

    @property
    def slope_loss(self) -> float:
        """1 - E sech^2 h_a sech^2 h_b."""
        if self._wide or self._width > 1:
            return 1 - self._mean(self._mean_sech2**2)
        t2 = self._t**2 @ self._u_weights
        return self._mean(t2 * (2 - t2))

    def shrinkage(self, square: float) -> float:
        """Q e - (E tanh^2 h - E tanh h_a tanh h_b), given the first average, `square`; never negative."""
        if self._wide or self._width > 1:
            return self.variance * self.decorrelation - (square - self.product)
        # With r = h - tanh h, the variance of h over u exceeds that of tanh h by Var r + 2 Cov(r, tanh h).
        r = _rest(self._h)
        r = r - (r @ self._u_weights)[:, None]
        t = self._t - self._mean_tanh[:, None]
        return self._mean((r * (r + 2 * t)) @ self._u_weights)


def _gaussian(width: float, scale: float, far: float) -> tuple[Array, Array]:
    """Return points and weights of N(0, width^2) for functions that vary on `scale` and are wanted up to `far`."""
    if width == 0:
        return np.zeros(1), np.ones(1)
    step = FIELD_STEP * min(1.0, scale / width)  # in units of the width
    last = math.ceil(min(MAX_DEVIATIONS, far / width) / step) if width > scale else math.ceil(MAX_DEVIATIONS / step)
    z = step * np.arange(-last, last + 1)
    return np.asarray(width * z), np.asarray(step * NORMAL_DENSITY_AT_ZERO * np.exp(-(z**2) / 2))


def _rest(x: Array) -> Array:
    """Return x - tanh x; near zero by its series, where the difference would lose all digits."""
    x2 = x * x
    series = x * x2 * (1 / 3 + x2 * (-2 / 15 + x2 * (17 / 315 + x2 * (-62 / 2835 + x2 * (1382 / 155925)))))
    return np.where(x2 < 4e-3, series, x - np.tanh(x))
