"""The laws by name: sample covariance, sample correlation, joint predictor."""

from typing import Any

from theory.models import Covariance, MaskedRidge
from theory.models.arrays import Array
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import masked_predictor, sample_correlation, sample_covariance
from theory.random_matrix.spectral.law import SpectralLaw
from theory.random_matrix.spectral.variable import Predictor


def covariance_law(covariance: Covariance, alpha: float) -> SpectralLaw:
    """Eigenvalues of X'X/n for n = alpha d rows of the given covariance: the generalized Marchenko-Pastur law.

    For alpha < rank(Sigma)/d the share 1 - alpha of them is zero. ValueError for alpha <= 0, and at d = infinity for an
    unbounded spectrum and an alpha so large that the nodes of its quadrature would show. ConvergenceError.
    """
    return law_of(sample_covariance(covariance, alpha), limit=not covariance.is_finite)


def correlation_law(covariance: Covariance, alpha: float) -> SpectralLaw:
    """Eigenvalues of the sample correlation matrix; otherwise as `covariance_law`."""
    return law_of(sample_correlation(covariance, alpha), limit=not covariance.is_finite)


def predictor_law(model: MaskedRidge) -> SpectralLaw:
    """Eigenvalues a of the joint predictor of all coordinates, real and below 1, with mean 0 (arXiv:2601.23208).

    a = 1 - 1/nu, nu those of diag(Qbar)^1/2 (X'X/n + lam) diag(Qbar)^1/2. Homogeneous and diagonal covariances cost
    sums over eigenvalues, d = infinity included, others an eigendecomposition a node (seconds at d = 200). For n < d
    and equal variances an atom holds the share 1 - alpha; otherwise a bulk of its own does. ConvergenceError.
    """
    return law_of(masked_predictor(model), Predictor(), limit=not model.covariance.is_finite)


def predictor_density(model: MaskedRidge, grid: Any) -> Array:
    """Density of the joint predictor's eigenvalues on the grid; the atom of `predictor_law` is not part of it."""
    return predictor_law(model).density(grid)


def predictor_edges(model: MaskedRidge) -> Array:
    """Bulk edges of the joint predictor's eigenvalues, (bulks, 2), ascending."""
    return predictor_law(model).edges
