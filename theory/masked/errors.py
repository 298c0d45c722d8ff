"""Errors of the masked predictor as functions of the effective ridge."""

import numpy as np

from theory.models import Covariance, Spectrum, checks
from theory.models.arrays import Array
from theory.random_matrix import CoordinateDiagonal, RidgeMoments, shrinkage


def population_errors(spectrum: Spectrum, kappa: Array) -> Array:
    """(R Sigma R)_kk / R_kk^2, R = (Sigma + kappa)^-1: errors of the population masked ridge predictor, (..., c).

    Row k of I - diag(R)^-1 R regresses coordinate k on the others with ridge kappa; needs kappa > 0.
    """
    p, t = shrinkage(spectrum, kappa)
    own = spectrum.diagonal(t)
    return np.asarray(np.asarray(kappa)[..., None] * (spectrum.diagonal(p * t) / own / own))  # own^2 can underflow


def own_population_errors(spectrum: Spectrum, kappa: Array) -> Array:
    """The same for each coordinate at its own effective ridge, (c,) -> (c,)."""
    p, t = shrinkage(spectrum, kappa)
    of = CoordinateDiagonal(spectrum)
    return np.asarray(kappa * (of(p * t) / of(t) / of(t)))


def variance_factor(at: RidgeMoments, alpha: Array) -> Array:
    """1/(1 - df2/alpha): by how much a finite sample raises the errors of the population predictor."""
    return np.asarray(alpha / at.above_df2(alpha))


def conditional_variances(covariance: Covariance) -> Array:
    """1/(Sigma^-1)_kk, the part of each coordinate that no linear function of the others explains; zero if none.

    Shape (d,), or one entry a class of coordinates in the limit d -> infinity.
    """
    spectrum = checks.record("covariance", covariance, Covariance).spectrum
    resolved = spectrum.eigenvalues > 0
    precisions = np.divide(1.0, spectrum.eigenvalues, out=np.zeros_like(spectrum.eigenvalues), where=resolved)
    inverse = spectrum.diagonal(precisions)
    hidden = spectrum.diagonal(np.where(resolved, 0.0, 1.0)) > 1e-12  # reaches into the null space: known exactly
    variances = np.where(hidden, 0.0, 1 / np.where(inverse > 0, inverse, 1.0))
    return np.broadcast_to(variances, (covariance.size,)) if covariance.is_finite else variances
