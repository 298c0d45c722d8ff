"""Errors of the masked predictor as functions of the effective ridge."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, checked
from theory.models import Covariance, Empirical, LargeCovariance, RowScales, Scaled, Spectrum, Spiked
from theory.numerics.extremes import within_range
from theory.random_matrix import CoordinateDiagonal, RidgeMoments, shrinkage
from theory.random_matrix.row_response import row_response


def per_coordinate(covariance: Covariance, values: Array) -> Array:
    """Spread values (..., c) over the d coordinates of a finite covariance; in the limit each class keeps one value."""
    if not covariance.is_finite:
        return values
    return np.broadcast_to(values, (*values.shape[:-1], covariance.size))


def mean_over_coordinates(covariance: Covariance, errors: Array) -> Array:
    """Average errors (..., d) of the coordinates, or (..., c) of their classes for d -> infinity, to (...)."""
    return np.asarray(errors.mean(axis=-1) if covariance.is_finite else covariance.spectrum.coordinate_mean(errors))


def own_population_errors(spectrum: Spectrum, kappa: Array) -> Array:
    """Compute `theory.random_matrix.population_errors` with an effective ridge for each coordinate, (c,) to (c,)."""
    p, t = shrinkage(spectrum, kappa)
    of = CoordinateDiagonal(spectrum)
    return np.asarray(kappa * (of(p * t) / of(t) / of(t)))


def variance_factor(at: RidgeMoments, alpha: Array) -> Array:
    """Compute 1/(1 - df2/alpha), by which a finite sample raises the errors of the population predictor."""
    return np.asarray(alpha / at.above_df2(alpha))


@dataclass(frozen=True, eq=False)
class SampleFactors:
    """Factors that turn the errors of the population predictor into those of a finite sample, all arrays (points,).

    The test error is `test` = 1/(1 - c2 df2/alpha) times the error of the population predictor. The train error is
    `train` times the test error, and generalized cross-validation tends to `gcv` times the test error. Here c2 =
    E[tau^2/(g + tau y)^2], where tau is the scale of a row, g = lam/kappa and y = df1/alpha; `train` = E[tau/(1 + tau
    delta)^2] with delta = y/g, and `gcv` = train/(1 - y)^2. Rows that are alike have c2 = 1, train = (lam/kappa)^2 and
    gcv = 1.
    """

    test: Array
    train: Array
    gcv: Array

    @classmethod
    def of(cls, rows: RowScales, at: RidgeMoments, alpha: Array, lam: Array, kappa: Array) -> Self:
        """Evaluate the factors at effective ridges kappa > 0 that solve the equation of these rows."""
        if rows.alike:
            train = (lam / kappa) ** 2
            return cls(variance_factor(at, alpha), train, np.ones_like(train))
        response = row_response(rows, lam / kappa, at.df1 / alpha)
        train = response.train_ratio()
        unused = response.resting + (1 - rows.present)  # 1 - y, as a sum in which nothing cancels
        # A ratio before it is squared, because squares of small weights underflow; its limit where the weight does.
        ratio = response.weight / np.where(response.weight > 0, unused, 1.0)
        gcv = np.where(response.weight > 0, ratio**2 * response.first, 1 / rows.mean_inverse)
        return cls(response.variance_factor(at, alpha), train, gcv)


@checked
@within_range
def conditional_variances(covariance: Covariance) -> Array:
    """Compute 1/(Sigma^-1)_kk, the part of each variance that no linear function of the other coordinates explains.

    Returns shape (d,), or one entry for each class of coordinates in the limit d -> infinity, in the squared units of
    the coordinates. Derived here by block inversion: (Sigma^-1)_kk is one over the Schur complement Sigma_kk - Sigma_kB
    (Sigma_BB)^-1 Sigma_Bk, B being all other coordinates (a known result). The value is zero for a coordinate that is a
    linear combination of others. Which coordinates these are is judged on the matrix of correlations, so that a change
    of units changes the values by the units alone. Raises ValueError where rounding of the entries of a given matrix
    leaves no digit of a value.

    >>> from theory.models import AR1
    >>> conditional_variances(AR1(3, 0.5)).round(4)  # 1 - r^2 at the ends, (1 - r^2)/(1 + r^2) between two neighbors
    array([0.75, 0.6 , 0.75])
    """
    if isinstance(covariance, Scaled):
        return covariance.scales**2 * conditional_variances(covariance.base)
    if isinstance(covariance, LargeCovariance):
        return covariance.conditional_variances
    spectrum = covariance.spectrum
    resolved = spectrum.eigenvalues > 0
    precisions = np.divide(1.0, spectrum.eigenvalues, out=np.zeros_like(spectrum.eigenvalues), where=resolved)
    inverse = spectrum.diagonal(precisions)
    hidden = _reach(covariance, ~resolved) > 1e-12  # such a coordinate is known exactly from the others
    variances = np.where(hidden, 0.0, 1 / np.where(inverse > 0, inverse, 1.0))
    if isinstance(covariance, Empirical | Spiked):
        _refuse_rounding(variances, covariance.variances)
    return np.broadcast_to(variances, (covariance.size,)) if covariance.is_finite else variances


def _reach(covariance: Covariance, absent: NDArray[np.bool_]) -> Array:
    """Return the squared length, from 0 to 1, of the projection of every coordinate on the null space, (c,)."""
    spectrum = covariance.spectrum
    if spectrum.loadings is None or not absent.any():
        return spectrum.diagonal(np.where(absent, 1.0, 0.0))
    # Null vectors of diag(s) C diag(s) are those of the correlations C divided by s; `eigenmodes` keeps them apart.
    null = covariance.eigenvectors[:, absent]
    scales = np.sqrt(covariance.variances)
    null = scales[:, None] / (scales.max() or 1.0) * null
    lengths = np.linalg.norm(null, axis=0)
    reach = ((null / np.where(lengths > 0, lengths, 1.0)) ** 2).sum(axis=1)
    return np.where(scales > 0, reach, 1.0)


def _refuse_rounding(variances: Array, total: Array) -> None:
    share = np.divide(variances, total, out=np.zeros_like(total), where=total > 0)
    lost = (share > 0) & (share < 10 * len(share) * np.finfo(float).eps)
    if lost.any():
        k = int(lost.argmax())
        raise ValueError(
            f"covariance must tell the conditional variance of coordinate {k} from rounding: the others explain all "
            f"but {share[k]:.2g} of its variance; leave out coordinates that others determine, or use lam > 0"
        )
