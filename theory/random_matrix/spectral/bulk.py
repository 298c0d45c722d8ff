"""One bulk of a law as piecewise polynomials: integrals, quantiles, and starts for the roots inside it.

nu = middle + half cos(phi), in nu itself or, where a bulk spans decades, in log(nu - anchor). The density times
dnu/dphi is an analytic function of phi at square-root edges and at a hard one (nu^(-1/2)) alike. Its range is
cut into panels, each with a polynomial of degree 15 through Gauss-Legendre nodes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.spectral.ensemble import Indices

LOG_SCALE_RATIO = 30.0  # ratio of the ends beyond which the logarithm is the better coordinate
PANEL_NODES = 16  # Gauss-Legendre nodes of a panel, whose polynomial has degree 15
MAX_HALVINGS = 12  # halvings of a panel for the function that is integrated
POINTS, WEIGHTS = legendre.leggauss(PANEL_NODES)
# From values at the nodes to coefficients of Legendre polynomials, by their orthogonality.
TO_SERIES = (legendre.legvander(POINTS, PANEL_NODES - 1) * WEIGHTS[:, None]) * (np.arange(PANEL_NODES) + 0.5)


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
        return bool(self.high - self.anchor > LOG_SCALE_RATIO * (self.low - self.anchor) > 0)

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
    """The density of one bulk on panels of phi, ascending."""

    interval: Interval
    breaks: Array = field(repr=False)  # (p + 1,), ends of the panels, from 0 to pi
    under: Array = field(repr=False)  # (p + 1,), the bulk's mass at smaller nu than each of them, falling to 0
    values: Array = field(repr=False)  # (p, PANEL_NODES), density times -dnu/dphi at the nodes of every panel
    roots: ComplexArray = field(repr=False)  # (p, PANEL_NODES), h there
    narrow: bool = False  # a semicircle, for which h was not computed

    @property
    def mass(self) -> float:
        """The share of eigenvalues in the bulk."""
        return float(self.under[0])

    @property
    def phi(self) -> Array:
        """The angles of all nodes, (p PANEL_NODES,), ascending."""
        return angles(self.breaks[:-1], self.breaks[1:]).ravel()

    @property
    def h(self) -> ComplexArray:
        """The root h at all nodes, (p PANEL_NODES,)."""
        return self.roots.ravel()

    @cached_property
    def _series(self) -> tuple[Array, Array]:
        """Legendre coefficients of the values of each panel, and of the share of its mass left of a place."""
        series = self.values @ TO_SERIES
        rising = legendre.legint(series, lbnd=-1, axis=1)
        return series, rising / np.maximum(rising @ np.ones(PANEL_NODES + 1), np.finfo(float).tiny)[:, None]

    def integral(self, function: Callable[[Array], Array]) -> float:
        """Integrate function(nu) times the density, on finer and finer pieces of a panel until its sum stands still."""
        series, width = self._series[0], np.diff(self.breaks)
        # The closed form of a panel's mass replaces the sum of its nodes, which differs by rounding where it can.
        scale = -np.diff(self.under) / np.maximum(2 * series[:, 0], np.finfo(float).tiny)
        total, active = np.full(len(width), np.inf), np.arange(len(width))
        for pieces in 2 ** np.arange(MAX_HALVINGS):
            x = (np.linspace(-1, 1, pieces + 1)[:-1, None] + (1 + POINTS) / pieces).ravel()
            phi = self.breaks[active, None] + width[active, None] * (1 + x) / 2
            density = series[active] @ legendre.legvander(x, PANEL_NODES - 1).T
            terms = density * function(self.interval.position(phi)) * np.tile(WEIGHTS / pieces, pieces)
            new = scale[active] * terms.sum(axis=1)
            moved, total[active] = abs(new - total[active]), new
            active = active[moved > 1e-15 * abs(total).sum()]
            if not len(active):
                break
        return float(total.sum())

    def guess(self, phi: Array) -> ComplexArray:
        """Guess h at the angles phi by linear interpolation between the nodes."""
        nodes, h = self.phi, self.h
        return np.asarray(np.interp(phi, nodes, h.real) + 1j * np.interp(phi, nodes, h.imag))

    def _panel(self, phi: Array) -> tuple[Indices, Array]:
        """Return the panel that every angle lies in, and its place there from -1 to 1."""
        panel = np.clip(np.searchsorted(self.breaks, phi, side="right") - 1, 0, len(self.breaks) - 2)
        left, right = self.breaks[panel], self.breaks[panel + 1]
        return panel, np.clip((2 * phi - left - right) / (right - left), -1, 1)

    def density(self, phi: Array) -> Array:
        """Compute the density of nu at the angles phi from the polynomials."""
        panel, x = self._panel(phi)
        found = (legendre.legvander(x, PANEL_NODES - 1) * self._series[0][panel]).sum(axis=1)
        return np.asarray(np.maximum(found, 0) / self.interval.stretch(phi))

    def below(self, phi: Array) -> Array:
        """Compute the bulk's mass at angles above phi, that is at smaller nu."""
        panel, x = self._panel(phi)
        share = (legendre.legvander(x, PANEL_NODES) * self._series[1][panel]).sum(axis=1)
        return np.asarray(self.under[panel] + (self.under[panel + 1] - self.under[panel]) * share)

    def quantile(self, mass: Array) -> Array:
        """Find the angle below whose nu the bulk has the given mass, by Newton's method in a shrinking bracket."""
        panel = np.clip(np.searchsorted(-self.under, -mass, side="right") - 1, 0, len(self.breaks) - 2)
        step = self.under[panel] - self.under[panel + 1]
        wanted = (self.under[panel] - mass) / np.where(step > 0, step, 1.0)
        rising = self._series[1][panel]
        slope = legendre.legder(rising, axis=1)
        low, high = np.full(len(mass), -1.0), np.ones(len(mass))
        x = 2 * wanted - 1
        for _ in range(60):
            excess = (legendre.legvander(x, PANEL_NODES) * rising).sum(axis=1) - wanted
            low, high = np.where(excess > 0, low, x), np.where(excess > 0, x, high)
            steepness = (legendre.legvander(x, PANEL_NODES - 1) * slope).sum(axis=1)
            new = x - excess / np.where(steepness > 0, steepness, np.inf)
            new = np.where((new >= low) & (new <= high) & (steepness > 0), new, (low + high) / 2)
            moved, x = abs(new - x), new
            if np.all(moved <= 1e-14):
                break
        left, right = self.breaks[panel], self.breaks[panel + 1]
        return np.asarray((left + right + (right - left) * x) / 2)


def angles(left: Array, right: Array) -> Array:
    """Return the nodes of panels from `left` to `right` (p,), (p, PANEL_NODES)."""
    return np.asarray((left + right)[:, None] / 2 + (right - left)[:, None] / 2 * POINTS)


def semicircle(interval: Interval, mass: float) -> Bulk:
    """Make the limit of a bulk that is narrow beside its distance from the offset: a semicircle of this mass."""
    breaks = np.array([0.0, np.pi / 2, np.pi])
    phi = angles(breaks[:-1], breaks[1:])
    values = 2 * mass / np.pi * np.sin(phi) ** 2
    return Bulk(interval, breaks, np.array([mass, mass / 2, 0.0]), values, np.zeros(phi.shape, complex), narrow=True)
