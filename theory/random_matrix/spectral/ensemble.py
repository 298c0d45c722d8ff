"""Sample-covariance-like matrices S = D^1/2 (X'X/n + Lam) D^1/2, reduced to what their spectra depend on."""

from dataclasses import dataclass, field

import numpy as np

from theory.models import Covariance, Isotropic, MaskedRidge, checks
from theory.models.spectrum import Array
from theory.random_matrix.effective_ridge import solve_effective_ridge


@dataclass(frozen=True, eq=False)
class CommutingEnsemble:
    """n = alpha d rows X ~ N(0, Sigma), D and Lam fixed, where D^1/2 Sigma D^1/2 and Lam D commute: atoms say it all."""

    alpha: float
    sigma: Array = field(repr=False)  # (r,), eigenvalues of Sigma_D = D^1/2 Sigma D^1/2
    offset: Array = field(repr=False)  # (r,), those of Lam D on the same eigenvectors
    weights: Array = field(repr=False)  # (r,), shares of the d dimensions, summing to 1


@dataclass(frozen=True, eq=False)
class DenseEnsemble:
    """The same where nothing commutes."""

    alpha: float
    covariance: Array = field(repr=False)  # (d, d), Sigma_D = D^1/2 Sigma D^1/2
    offset: Array = field(repr=False)  # (d,), diagonal of Lam D


Ensemble = CommutingEnsemble | DenseEnsemble


def sample_covariance(covariance: Covariance, alpha: float) -> CommutingEnsemble:
    """X'X/n: D = 1, Lam = 0, the generalized Marchenko-Pastur law."""
    spectrum = covariance.spectrum
    alpha = checks.positive("alpha", alpha)
    return CommutingEnsemble(alpha, spectrum.eigenvalues, np.zeros_like(spectrum.eigenvalues), spectrum.weights)


def sample_correlation(covariance: Covariance, alpha: float) -> CommutingEnsemble:
    """The sample correlation matrix: the law of a sample covariance whose population is the correlation matrix."""
    spectrum = covariance.spectrum
    if spectrum.axes:
        return sample_covariance(Isotropic(covariance.d), alpha)
    if spectrum.homogeneous:
        ensemble = sample_covariance(covariance, alpha)
        return CommutingEnsemble(
            alpha, ensemble.sigma / spectrum.mean(ensemble.sigma), ensemble.offset, ensemble.weights
        )
    scale = 1 / np.sqrt(covariance.variances)
    eigenvalues = np.maximum(np.linalg.eigvalsh(scale[:, None] * covariance.matrix * scale), 0.0)
    d = len(eigenvalues)
    return CommutingEnsemble(checks.positive("alpha", alpha), eigenvalues, np.zeros(d), np.full(d, 1 / d))


def masked_predictor(model: MaskedRidge) -> Ensemble:
    """S whose eigenvalues nu give those of the joint predictor, 1 - 1/nu: D = diag(Qbar), Lam = lam.

    If S w = nu w, the predictor has the right eigenvector D^-1/2 w and the left one D^1/2 w. Dense unless Sigma is
    homogeneous or diagonal.
    """
    spectrum = model.covariance.spectrum
    scale = predictor_scale(model)
    if spectrum.axes or spectrum.homogeneous:
        offset = np.broadcast_to(model.lam * scale, spectrum.eigenvalues.shape)
        return CommutingEnsemble(model.alpha, spectrum.eigenvalues * scale, offset, spectrum.weights)
    root = np.sqrt(scale)
    return DenseEnsemble(model.alpha, root[:, None] * model.covariance.matrix * root, model.lam * scale)


def predictor_scale(model: MaskedRidge) -> Array:
    """diag(Qbar) = (kappa/lam) diag (Sigma + kappa)^-1, the equivalent of diag (X'X/n + lam)^-1: (d,), or (1,) if equal."""
    spectrum = model.covariance.spectrum
    kappa = float(solve_effective_ridge(spectrum, np.array(model.alpha), np.array(model.lam)).value)
    return np.asarray(kappa / model.lam * spectrum.diagonal(1 / (spectrum.eigenvalues + kappa)))
