"""One bulk of a law as a cosine series, in which its edges are smooth: integrals and quantiles are exact.

nu = middle + half cos(phi), in nu itself or, where a bulk spans decades, in log(nu - anchor). The density times
dnu/dphi is an even analytic function of phi for square-root edges and for a hard one (nu^(-1/2)) alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.fft import dct

from theory.models.arrays import Array
from theory.random_matrix.spectral.ensemble import ComplexArray

WIDE = 30.0  # ratio of the ends beyond which the logarithm is the better coordinate


@dataclass(frozen=True)
class Interval:
    """An interval from `low` to `high` in which positions have an angle phi, running from pi to 0."""

    low: float
    high: float
    anchor: float
    hard: bool = False  # the density is infinite at `low`

    @property
    def logarithmic(self) -> bool:
        """Whether the coordinate is log(nu - anchor)."""
        return bool(self.high - self.anchor > WIDE * (self.low - self.anchor) > 0)

    def position(self, phi: Array) -> Array:
        """Return nu at the angle phi; distances from the nearer end keep their digits."""
        if self.logarithmic:
            rise = np.log((self.high - self.anchor) / (self.low - self.anchor)) * np.cos(phi / 2) ** 2
            return np.asarray(np.minimum(self.anchor + (self.low - self.anchor) * np.exp(rise), self.high))
        width = self.high - self.low
        from_low, from_high = width * np.cos(phi / 2) ** 2, width * np.sin(phi / 2) ** 2
        return np.where(phi > np.pi / 2, self.low + from_low, self.high - from_high)

    def angle(self, nu: Array) -> Array:
        """Return the angle phi at nu."""
        up, down = nu - self.low, self.high - nu
        if self.logarithmic:
            up, down = np.log1p(up / (self.low - self.anchor)), -np.log1p(-down / (self.high - self.anchor))
        return np.asarray(2 * np.arctan2(np.sqrt(np.maximum(down, 0)), np.sqrt(np.maximum(up, 0))))

    def stretch(self, phi: Array) -> Array:
        """Return -dnu/dphi at the angle phi."""
        if self.logarithmic:
            half = np.log((self.high - self.anchor) / (self.low - self.anchor)) / 2
            return np.asarray(half * np.sin(phi) * (self.position(phi) - self.anchor))
        return np.asarray((self.high - self.low) / 2 * np.sin(phi))


@dataclass(frozen=True, eq=False)
class Bulk:
    """The density of one bulk, sampled at phi = (k + 1/2) pi/N."""

    interval: Interval
    phi: Array = field(repr=False)  # (N,), ascending
    h: ComplexArray = field(repr=False)  # (N,)
    values: Array = field(repr=False)  # (N,), density times -dnu/dphi
    narrow: bool = False  # a semicircle, for which h was not computed

    @cached_property
    def coefficients(self) -> Array:
        """The coefficients a of `values` = sum a_k cos(k phi), (N,)."""
        a = dct(self.values, type=2) / len(self.values)
        a[0] /= 2
        return np.asarray(a)

    @property
    def mass(self) -> float:
        """The share of eigenvalues in the bulk."""
        return float(np.pi * self.values.mean())

    @property
    def truncation(self) -> float:
        """The largest of the last third of the coefficients, relative to the largest of all."""
        a = abs(self.coefficients)
        return float(a[-(len(a) // 3) :].max() / a.max())

    def integral(self, function: Callable[[Array], Array]) -> float:
        """Integrate function(nu) times the density, on more and more nodes of the series until it stands still."""
        phi, values, before = self.phi, self.values, np.inf
        for _ in range(5):
            total = float(np.pi * np.mean(values * function(self.interval.position(phi))))
            if abs(total - before) <= 1e-14 * abs(total):
                break
            before, count = total, 3 * len(phi)
            phi, values = (np.arange(count) + 0.5) * np.pi / count, _resampled(self.coefficients, count)
        return total

    def guess(self, phi: Array) -> ComplexArray:
        """Guess h at the angles phi by linear interpolation between the nodes."""
        return np.asarray(np.interp(phi, self.phi, self.h.real) + 1j * np.interp(phi, self.phi, self.h.imag))

    def density(self, phi: Array) -> Array:
        """Compute the density of nu at the angles phi from the series."""
        return np.maximum(cosines(self.coefficients, phi), 0) / self.interval.stretch(phi)

    def below(self, phi: Array) -> Array:
        """Compute the mass at angles above phi, that is at smaller nu."""
        a = self.coefficients
        return np.asarray(a[0] * (np.pi - phi) - sines(a[1:] / np.arange(1, len(a)), phi))

    def quantile(self, mass: Array) -> Array:
        """Find the nu below which the bulk has the given mass, by Newton's method in phi in a shrinking bracket."""
        a = self.coefficients
        sine = a[1:] / np.arange(1, len(a))
        low, high = np.zeros(len(mass)), np.full(len(mass), np.pi)
        order = np.concatenate([[np.pi], self.phi[::-1], [0.0]])
        phi = np.interp(mass, np.maximum.accumulate(self.below(order)), order)
        active = np.arange(len(mass))
        for _ in range(60):
            here = phi[active]
            excess = a[0] * (np.pi - here) - sines(sine, here) - mass[active]
            low[active] = np.where(excess > 0, here, low[active])
            high[active] = np.where(excess > 0, high[active], here)
            slope = cosines(a, here)
            new = here + excess / np.where(slope > 0, slope, np.inf)
            inside = (new >= low[active]) & (new <= high[active]) & (slope > 0)
            phi[active] = new = np.where(inside, new, (low[active] + high[active]) / 2)
            active = active[abs(phi[active] - here) > 1e-13]
            if not active.size:
                break
        return self.interval.position(phi)


def semicircle(interval: Interval, mass: float) -> Bulk:
    """Make the limit of a bulk that is narrow beside its distance from the offset: a semicircle of this mass."""
    phi = (np.arange(16) + 0.5) * np.pi / 16
    values = np.sin(phi) ** 2 / (interval.position(phi) - interval.anchor)
    return Bulk(interval, phi, np.zeros(16, complex), values * mass / (np.pi * values.mean()), narrow=True)


def _resampled(coefficients: Array, count: int) -> Array:
    padded = np.zeros(count)
    padded[: len(coefficients)] = coefficients
    padded[1:] /= 2
    return np.asarray(dct(padded, type=3))


def cosines(a: Array, phi: Array) -> Array:
    """Return sum_k a_k cos(k phi) with k from 0."""
    return np.asarray(np.polynomial.chebyshev.chebval(np.cos(phi), a))


def sines(b: Array, phi: Array) -> Array:
    """Return sum_k b_k sin(k phi) with k from 1, by Clenshaw's recurrence."""
    twice, now, before = 2 * np.cos(phi), np.zeros_like(phi), np.zeros_like(phi)
    for coefficient in b[::-1]:
        now, before = coefficient + twice * now - before, now
    return np.asarray(now * np.sin(phi))
