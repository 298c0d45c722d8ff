"""The limit lam -> 0 on both sides of interpolation, and the law of the peak between them."""

from dataclasses import dataclass, field
from typing import overload

import numpy as np

from theory.core import Array, Positive, Result, checked
from theory.masked.errors import conditional_variances, mean_over_coordinates
from theory.masked.ridge_point import ridge_point
from theory.masked.signs import require_non_negative
from theory.masked.solution import MaskedRidgeSolution, masked_regression, solution_of
from theory.models import Covariance, LargeCovariance, MaskedRegression
from theory.numerics.extremes import within_range


@overload
def ridgeless(covariance: MaskedRegression) -> MaskedRidgeSolution: ...
@overload
def ridgeless(covariance: Covariance, alpha: float) -> MaskedRidgeSolution: ...
@checked
def ridgeless(covariance: Covariance | MaskedRegression, alpha: float | None = None) -> MaskedRidgeSolution:
    """Compute the errors of masked regression in the limit lam -> 0.

    The problem is given as a record, `ridgeless(MaskedRegression(covariance, alpha))`, or as its two parts. For alpha
    below rank(Sigma)/d the fit interpolates with the minimum norm: there is no train error, and the effective ridge is
    kappa_0 > 0 with df1(kappa_0) = alpha. Above, the fit is least squares: kappa = 0, and the error of coordinate k is
    E_k = sigma_k^2/(1 - rank/(d alpha)) with its conditional variance sigma_k^2, so that the data's own conditional
    variance drives the interpolation peak (after arXiv:2601.23208, arXiv:2304.07235). ValueError at alpha = rank/d,
    where the error diverges; see `peak_height`.

    Rows of different scale tau (`row_scales` of the record) do not matter below: an exact fit of a row does not depend
    on its scale, and only the share of rows with tau > 0 counts, as if the others were not there. Above, E_k =
    sigma_k^2/(1 - c2 rank/(d alpha)) with c2 = E[tau^2/(g + tau y)^2], y = rank/(d alpha), where g solves
    E[tau/(g + tau y)] = 1; this is never below the value of rows that are alike. Rows that depend on each other
    (`row_dependence`) do the same, with the eigenvalues t of their covariance T as scales: below the peak any
    invertible mixing of the rows leaves the interpolating predictor as it is, even that of a single sample, so that
    only the rank of T counts and the peak stays where it is.

    >>> from theory.models import AR1
    >>> f"{ridgeless(AR1(np.inf, correlation=0.7), alpha=2.0).mean_test_error:.6f}"
    '0.684564'
    """
    problem = masked_regression(covariance, alpha)
    point = ridge_point(problem.covariance, problem.alpha, 0.0, problem.row_law, exact_size=False)
    return solution_of(problem, 0.0, point)


@dataclass(frozen=True, eq=False, repr=False)
class PeakHeight(Result):
    """The leading order of the interpolation peak at alpha = 1 as lam -> 0.

    `test_error` has shape (d,), or one entry for each class of coordinates in the limit d -> infinity.
    """

    lam: float
    effective_ridge: float
    test_error: Array = field(repr=False)
    mean_test_error: float

    def __post_init__(self) -> None:
        require_non_negative(self, "effective_ridge", "test_error", "mean_test_error")


@checked
@within_range
def peak_height(covariance: Covariance, lam: Positive) -> PeakHeight:
    """Compute the height of the interpolation peak at alpha = 1 to leading order in a small ridge lam.

    Derived here: kappa ~ sqrt(lam/tau) and E_k ~ sigma_k^2/(2 sqrt(lam tau)), tau = tr Sigma^-1/d, sigma_k^2 =
    1/(Sigma^-1)_kk, from kappa (1 - df1) = lam with 1 - df1 = kappa tau + O(kappa^2). The law holds for lam tau << 1:
    the errors of `solve` are larger by the factor 1 + rho sqrt(lam tau) + O(lam tau), rho = d tr Sigma^-2/(tr
    Sigma^-1)^2 >= 1. For 1 % it needs lam < 1e-4/(tau rho^2), which is tiny where rho is large. Raises ValueError for a
    singular Sigma, whose peak is elsewhere and sharper.
    """
    tau = _mean_precision(covariance)
    errors = conditional_variances(covariance) / (2 * np.sqrt(lam * tau))
    mean = float(mean_over_coordinates(covariance, errors))
    return PeakHeight(lam=lam, effective_ridge=float(np.sqrt(lam / tau)), test_error=errors, mean_test_error=mean)


def _mean_precision(covariance: Covariance) -> float:
    """Return tr Sigma^-1/d of a covariance that is not singular."""
    if isinstance(covariance, LargeCovariance):
        return float(np.mean(1 / covariance.conditional_variances))
    spectrum = covariance.spectrum
    if spectrum.eigenvalues.min() <= 0:
        raise ValueError("covariance must be non-singular for the peak at alpha = 1")
    return float(spectrum.mean(1 / spectrum.eigenvalues))
