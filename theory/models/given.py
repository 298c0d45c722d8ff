"""Covariances of which only the eigenvalues are given: as a list, or as a density, on a random basis."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from theory.core import Array, checks
from theory.models.covariance import Covariance, set_checked
from theory.models.eigenmodes import haar_basis
from theory.models.spectrum import Spectrum, homogeneous
from theory.numerics.quadrature import divided, graded_edges, panelled_legendre

EXACT = 1e-6  # by which a sum of weights, or the mass of a density, may differ from 1
STEADY = 1e-9  # relative change of mass, mean and mean square when the panels of a density are halved
MOST_HALVINGS = 9  # of the panels of a density: about 40,000 nodes
NEAREST_ZERO = 1e-5  # angle of the first panel of a density that begins at 0: eigenvalues down to 1e-11 of the range
# Times as many panels have polynomials of the density as its integrals: these are exact to twice the degree.
FINER_PANELS = 4
MAX_STEPS = 60  # of a quantile, which takes four or five


class _RandomBasis(Covariance):
    """The base of covariances that are eigenvalues on a Haar-random basis, drawn with the seed of the record."""

    seed: int

    @abstractmethod
    def _at_shares(self, shares: Array) -> Array:
        """Compute the eigenvalues below which these shares (n,) of all lie, ascending."""

    @cached_property
    def _quantiles(self) -> Array:
        return self._at_shares((np.arange(self.size) + 0.5) / self.size)

    def _eigh(self) -> tuple[Array, Array]:
        return self._quantiles, haar_basis(self.size, self.seed)

    def _matrix(self) -> Array:
        product = (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T
        return np.asarray((product + product.T) / 2)

    def _rough_eigenvalues(self) -> Array:
        return self._quantiles


@dataclass(frozen=True, eq=False, repr=False)
class GivenSpectrum(_RandomBasis):
    """The covariance with eigenvalues `values` (r,) of shares `weights` (r,), which are equal where left out.

    It is a limit d -> infinity by default. Only the eigenvalues are known, so the eigenvectors are taken as random: all
    coordinates are alike, and in the limit every diagonal entry of a function of Sigma is the mean over all of them.
    `resized(d)` gives d eigenvalues, the quantiles (j + 1/2)/d of the given law, on a basis drawn from the Haar measure
    with `seed`. The values must not be negative, nor all zero; the weights must be positive and sum to 1.

    >>> from theory import masked
    >>> from theory.models import MaskedRidge
    >>> spectrum = GivenSpectrum([0.5, 4.0], weights=[0.75, 0.25])
    >>> round(masked.solve(MaskedRidge(spectrum, alpha=2.0, lam=0.1)).mean_test_error, 6)
    0.952254
    >>> spectrum.resized(4).eigenvalues
    array([0.5, 0.5, 0.5, 4. ])
    """

    values: ArrayLike
    weights: ArrayLike | None = None
    d: int | float = math.inf
    seed: int = 0

    def __post_init__(self) -> None:
        values = checks.finite_array("values", self.values, 1)
        if values.min() < 0 or not values.any():
            raise ValueError(f"values must be eigenvalues, not negative nor all zero, got {checks.shown(values)}")
        weights = np.full(len(values), 1 / len(values)) if self.weights is None else _shares(self.weights, len(values))
        order = np.argsort(values, kind="stable")
        d, seed = checks.dimension(self.d, infinite=True), int(checks.dimension(self.seed, least=0, name="seed"))
        set_checked(self, values=values[order], weights=weights[order], d=d, seed=seed)

    def __repr__(self) -> str:
        values = np.asarray(self.values)
        shown = values.tolist() if len(values) <= 4 else f"<{len(values)} from {values[0]:.6g} to {values[-1]:.6g}>"
        weights = f", {np.asarray(self.weights).tolist()}" if len(values) <= 4 else ""
        return f"GivenSpectrum({shown}{weights}, d={self.d})"

    def _limit(self) -> Spectrum:
        return homogeneous(np.asarray(self.values), np.asarray(self.weights))

    def _finer_limit(self, times: int) -> Spectrum:  # noqa: ARG002  # the eigenvalues are no nodes
        return self._limit()

    def _at_shares(self, shares: Array) -> Array:
        below = np.cumsum(np.asarray(self.weights))
        return np.asarray(self.values)[np.minimum(np.searchsorted(below, shares), len(below) - 1)]


@dataclass(frozen=True)
class SpectralDensity(_RandomBasis):
    """The covariance whose eigenvalues have a given `density` between `low` >= 0 and `high`.

    `density` maps an array of eigenvalues to numbers that are not negative and have the integral 1. At both ends it may
    jump, vanish like a root or diverge like an inverse root; inside it must be smooth but at the places `breaks`, where
    bands end or begin. A peak narrower than about 0.001 of the range may be missed. Size, basis and `seed` are as in
    `GivenSpectrum`.

    >>> def semicircle(s):
    ...     return 2 / np.pi * np.sqrt((s - 1) * (3 - s))
    >>> law = SpectralDensity(semicircle, 1.0, 3.0).spectrum
    >>> print(f"{law.mean(law.eigenvalues):.6f} {law.mean(law.eigenvalues**2):.6f}")  # 2 and 4 + 1/4
    2.000000 4.250000
    """

    density: Callable[[Array], Array]
    low: float
    high: float
    breaks: tuple[float, ...] = ()
    d: int | float = math.inf
    seed: int = 0

    def __post_init__(self) -> None:
        if not callable(self.density):
            raise ValueError(f"density must be a function of arrays of eigenvalues, got {checks.shown(self.density)}")
        low, high = checks.non_negative("low", self.low), checks.real("high", self.high)
        if not high > low:
            raise ValueError(f"high must be finite and exceed low = {low:g}, got {high!r}")
        breaks = np.array([]) if np.size(self.breaks) == 0 else checks.finite_array("breaks", self.breaks, 1)
        if ((breaks <= low) | (breaks >= high)).any():
            raise ValueError(f"breaks must lie between low = {low:g} and high = {high:g}, got {checks.shown(breaks)}")
        set_checked(
            self,
            low=low,
            high=high,
            breaks=tuple(np.unique(breaks).tolist()),
            d=checks.dimension(self.d, infinite=True),
            seed=int(checks.dimension(self.seed, least=0, name="seed")),
        )
        self._require_density()

    def _require_density(self) -> None:
        """Raise ValueError where the density is none, or cannot be integrated."""
        mass = float(self._nodes(2**self._halvings)[1].sum())
        if abs(mass - 1) > EXACT:
            between = f"between low = {self.low:g} and high = {self.high:g}"
            raise ValueError(f"density must have the integral 1 {between}, got {mass:.9g}")

    @cached_property
    def _halvings(self) -> int:
        """How often the panels are to be halved until nothing moves."""
        previous = np.zeros(3)
        for halvings in range(MOST_HALVINGS + 1):
            s, mass = self._nodes(2**halvings)
            current = np.array([mass.sum(), mass @ s, mass @ s**2])
            if (abs(current - previous) <= STEADY * current).all():
                return max(halvings - 1, 0)
            previous = current
        raise ValueError(
            f"density must be smooth between low = {self.low:g} and high = {self.high:g} but at the given breaks, got "
            f"one whose integral is not found to {STEADY:g} on {len(s)} nodes"
        )

    def _nodes(self, times: int) -> tuple[Array, Array]:
        """Compute eigenvalues and their masses, with panels cut into `times` panels each."""
        ends = [self.low, *self.breaks, self.high]
        pieces = [_band(low, high, times) for low, high in pairwise(ends)]
        s, lengths = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return s, _values(self.density, s) * lengths

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        s, mass = self._nodes(2**self._halvings * times)
        return homogeneous(s[mass > 0], mass[mass > 0])

    def _at_shares(self, shares: Array) -> Array:
        ends = [self.low, *self.breaks, self.high]
        pieces = [_Cumulative.of(self.density, *band, FINER_PANELS * 2**self._halvings) for band in pairwise(ends)]
        tops = np.cumsum([piece.masses[-1] for piece in pieces])
        wanted = shares * tops[-1]
        which = np.minimum(np.searchsorted(tops, wanted), len(pieces) - 1)
        found = [piece.quantiles(wanted[which == k] - (tops[k] - piece.masses[-1])) for k, piece in enumerate(pieces)]
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class _Cumulative:
    """The mass of a density below each eigenvalue of one band, by polynomials in the angle on its panels."""

    low: float
    length: float
    edges: Array  # (p + 1,), angles
    masses: Array  # (p + 1,), below each of them, from 0
    series: Array  # (p, 17), Legendre coefficients of the mass from the left end of each panel on

    @classmethod
    def of(cls, density: Callable[[Array], Array], low: float, high: float, times: int) -> "_Cumulative":
        edges = _edges(low, high, times)
        s, lengths = _band(low, high, times)
        values = (_values(density, s) * lengths).reshape(len(edges) - 1, -1)  # with the weights of their nodes
        order = values.shape[1]
        x, _ = legendre.leggauss(order)
        # Nodes and weights of Gauss and Legendre project on polynomials of degree 15.
        coefficients = (values @ legendre.legvander(x, order - 1)) * (np.arange(order) + 0.5)
        series = np.asarray(legendre.legint(coefficients, lbnd=-1, axis=1), float)
        return cls(low, high - low, edges, np.concatenate([[0.0], np.cumsum(values.sum(axis=1))]), series)

    def quantiles(self, wanted: Array) -> Array:
        """Find the eigenvalues below which the band has these masses, by Newton's method in a shrinking bracket."""
        panel = np.clip(np.searchsorted(self.masses, wanted, side="right") - 1, 0, len(self.edges) - 2)
        series, goal = self.series[panel], wanted - self.masses[panel]
        slope = legendre.legder(series, axis=1)
        low, high, x = np.full(len(goal), -1.0), np.ones(len(goal)), np.zeros(len(goal))
        for _ in range(MAX_STEPS):
            excess = np.sum(legendre.legvander(x, series.shape[1] - 1) * series, axis=1) - goal
            low, high = np.where(excess > 0, low, x), np.where(excess > 0, x, high)
            steepness = np.sum(legendre.legvander(x, slope.shape[1] - 1) * slope, axis=1)
            new = x - excess / np.where(steepness > 0, steepness, np.inf)
            new = np.where((new > low) & (new < high) & (steepness > 0), new, (low + high) / 2)
            moved, x = abs(new - x), new
            if np.all(moved <= 1e-15):
                break
        angle = (self.edges[panel] + self.edges[panel + 1] + (self.edges[panel + 1] - self.edges[panel]) * x) / 2
        return np.asarray(self.low + self.length * np.sin(angle / 2) ** 2)


def _band(low: float, high: float, times: int) -> tuple[Array, Array]:
    """Return nodes between two ends and their weights, at which roots and inverse roots at the ends are smooth.

    In the angle of s = low + (high - low) sin^2(angle/2) such a density is analytic. Functions s/(s + kappa) have a
    pole at an angle of about 2 sqrt(low/(high - low)) or more off the real axis, and panels shrink towards it.
    """
    length = high - low
    angles, weights = panelled_legendre(_edges(low, high, times))
    return low + length * np.sin(angles / 2) ** 2, weights * length * np.sin(angles) / 2


def _edges(low: float, high: float, times: int) -> Array:
    """Return the angles of the panels of a band."""
    near = min(max(2 * math.sqrt(low / (high - low)), NEAREST_ZERO), 0.5)
    return divided(graded_edges(0.0, math.pi, near), times)


def _shares(weights: ArrayLike, count: int) -> Array:
    found = checks.finite_array("weights", weights, 1)
    if found.shape != (count,):
        raise ValueError(f"weights must have one entry for each of {count} values, got {found.shape}")
    if found.min() <= 0:
        raise ValueError(f"weights must be positive, got {found.min():.12g} at index {int(found.argmin())}")
    total = float(found.sum()) if found.max() < 2 else math.inf
    if abs(total - 1) > EXACT:
        raise ValueError(f"weights must sum to 1, got a sum of {total:.12g}")
    return np.asarray(found / total)


def _values(density: Callable[[Array], Array], s: Array) -> Array:
    try:
        found = checks.real_array("density", density(s.copy()))  # a function may work in place
    except Exception as failed:  # it is the user's function, and may raise anything
        raise ValueError(f"density must map an array of eigenvalues to numbers, it raised {failed!r}") from failed
    if found.shape != s.shape:
        raise ValueError(f"density must map an array of eigenvalues to as many numbers, got shape {found.shape}")
    if not np.isfinite(found).all() or found.min() < 0:
        k = int(np.argmax(~np.isfinite(found) | (found < 0)))
        raise ValueError(f"density must be finite and not negative, got {found[k]} at the eigenvalue {s[k]:g}")
    return found
