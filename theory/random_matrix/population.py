"""What the equations of masked regression ask of a covariance, by its modes or, where it is large, without them."""

from functools import cached_property
from typing import Protocol

import numpy as np

from theory.core.arrays import Array
from theory.core.blocks import in_blocks
from theory.models import Covariance, LargeCovariance, ResolventDiagonals, Spectrum
from theory.random_matrix.moments import RidgeMoments, ridge_moments, shrinkage

MAX_TEMPORARY_NUMBERS = 2_000_000  # 16 MB of a temporary array (points x modes)


class Population(Protocol):
    """A covariance as masked regression sees it: functions of the ridge kappa, all arrays of ridges (points,)."""

    @property
    def scale(self) -> float:
        """A number among the eigenvalues."""

    @property
    def rank(self) -> float:
        """The share of the eigenvalues that are not zero."""

    def moments(self, kappa: Array) -> RidgeMoments:
        """Compute the degrees of freedom at ridges kappa."""

    def errors(self, kappa: Array) -> Array:
        """Compute the errors of `population_errors`, (points, c), one entry for each class of coordinates."""

    def mean_errors(self, kappa: Array) -> Array:
        """Compute their means over the coordinates, (points,)."""


def population_errors(spectrum: Spectrum, kappa: Array) -> Array:
    """Compute the errors (R Sigma R)_kk / R_kk^2 of the population's masked ridge predictor, R = (Sigma + kappa)^-1.

    Row k of I - diag(R)^-1 R regresses coordinate k on the others with the ridge kappa > 0. Derived here, after
    arXiv:2601.23208: by block inversion the coefficients a of this regression leave e_k - a = R_k/R_kk, whose quadratic
    form with Sigma is the error. The shape is (..., c), with one entry for each class of coordinates and every kappa
    (...).
    """
    p, t = shrinkage(spectrum, kappa)
    own = spectrum.diagonal(t)
    # Two divisions, because the square of `own` can underflow.
    return np.asarray(np.asarray(kappa)[..., None] * (spectrum.diagonal(p * t) / own / own))


class SpectralPopulation:
    """A population that is known by its distinct modes."""

    def __init__(self, spectrum: Spectrum) -> None:
        self.spectrum = spectrum

    @property
    def scale(self) -> float:
        """The geometric mean of the eigenvalues that are not zero."""
        return self.spectrum.geometric_mean

    @property
    def rank(self) -> float:
        """The share of the eigenvalues that are not zero."""
        return float(self.spectrum.weights @ (self.spectrum.eigenvalues > 0))

    def moments(self, kappa: Array) -> RidgeMoments:
        """Compute the degrees of freedom at ridges kappa."""
        return ridge_moments(self.spectrum, kappa)

    def errors(self, kappa: Array) -> Array:
        """Compute the errors of `population_errors`, (points, c)."""
        pieces = in_blocks(kappa, len(self.spectrum.weights), MAX_TEMPORARY_NUMBERS)
        return np.concatenate([population_errors(self.spectrum, piece) for piece in pieces])

    def mean_errors(self, kappa: Array) -> Array:
        """Compute their means over the coordinates, (points,)."""
        pieces = in_blocks(kappa, len(self.spectrum.weights), MAX_TEMPORARY_NUMBERS)
        means = [self.spectrum.coordinate_mean(population_errors(self.spectrum, piece)) for piece in pieces]
        return np.concatenate(means)


class LargePopulation:
    """A population that computes its diagonals anew at each ridge; the last ones and all means are kept."""

    rank = 1.0

    def __init__(self, covariance: LargeCovariance) -> None:
        self.covariance = covariance
        self._last: tuple[float, ResolventDiagonals] | None = None
        self._means: dict[float, tuple[float, ...]] = {}

    @cached_property
    def scale(self) -> float:
        """The geometric mean of the eigenvalues."""
        return self.covariance.geometric_mean

    def _at(self, kappa: float) -> ResolventDiagonals:
        if self._last is None or self._last[0] != kappa:
            self._last = None  # the diagonals of one ridge are held at a time
            self._last = kappa, self.covariance.resolvent_diagonals(kappa)
        return self._last[1]

    def _errors_at(self, kappa: float) -> Array:
        if kappa == 0:  # the limit of the ratio below
            return self.covariance.conditional_variances
        at = self._at(kappa)
        return np.asarray(kappa * (at.pt / at.t / at.t))

    def _means_at(self, kappa: Array) -> Array:
        """Compute the means of the diagonals of p, p^2, t and p t and of the errors, (5, points)."""
        for one in map(float, kappa):
            if one not in self._means:
                at = self._at(one)
                values = (at.p, at.pp, at.t, at.pt, self._errors_at(one))
                self._means[one] = tuple(float(np.mean(value)) for value in values)
        return np.array([self._means[float(one)] for one in kappa]).T.reshape(5, -1)

    def moments(self, kappa: Array) -> RidgeMoments:
        """Compute the degrees of freedom at ridges kappa."""
        return RidgeMoments(*self._means_at(np.atleast_1d(kappa))[:4])

    def errors(self, kappa: Array) -> Array:
        """Compute the errors of `population_errors`, (points, d)."""
        return np.stack([self._errors_at(one) for one in map(float, kappa)])

    def mean_errors(self, kappa: Array) -> Array:
        """Compute their means over the coordinates, (points,)."""
        return np.asarray(self._means_at(kappa)[4])


def population(covariance: Covariance) -> Population:
    """Choose how traces and errors of a covariance are computed: from its modes, or by the methods of a large one.

    Derived here: both compute the traces of `ridge_moments` and the errors of `population_errors`, which are functions
    of the diagonals of p, p^2, t and p t alone.
    """
    if isinstance(covariance, LargeCovariance):
        return LargePopulation(covariance)
    return SpectralPopulation(covariance.spectrum)
