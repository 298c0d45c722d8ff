"""Test and train error of masked ridge regression at one point, and its mean predictor."""

import numpy as np

from theory.core import Array, checked
from theory.masked.ridge_point import ridge_point
from theory.masked.solution import MaskedRidgeSolution, solution_of
from theory.models import MaskedRidge
from theory.random_matrix import solve_effective_ridge


def solve_masked_ridge(model: MaskedRidge, exact_size: bool) -> MaskedRidgeSolution:
    """Compute the errors of `MaskedRidge` by the equations of `theory.masked.solve`."""
    point = ridge_point(model.covariance, model.alpha, model.lam, model.row_law, exact_size)
    return solution_of(model, model.lam, point, exact_size=exact_size)


@checked
def predictor(model: MaskedRidge) -> Array:
    """Compute the deterministic equivalent of the joint predictor, (d, d), whose row k predicts coordinate k.

    It is I - diag(R)^-1 R with R = (Sigma + kappa)^-1, the population masked ridge predictor at the effective ridge
    kappa (after arXiv:2601.23208), with a zero diagonal. ValueError in the limit d -> infinity, which has no matrix.
    Raises ConvergenceError where the equation for kappa is not solved.

    >>> from theory.models import AR1
    >>> predictor(MaskedRidge(AR1(d=3, correlation=0.5), alpha=100.0, lam=1e-9)).round(3) + 0.0  # no negative zeros
    array([[0. , 0.5, 0. ],
           [0.4, 0. , 0.4],
           [0. , 0.5, 0. ]])
    """
    covariance = model.covariance
    alpha, lam = np.array(model.alpha), np.array(model.lam)
    kappa = float(solve_effective_ridge(covariance.spectrum, alpha, lam, row_scales=model.row_law).value)
    resolvent = (covariance.eigenvectors / (covariance.eigenvalues + kappa)) @ covariance.eigenvectors.T
    rows = -resolvent / np.diagonal(resolvent)[:, None]
    np.fill_diagonal(rows, 0.0)
    return np.asarray(rows)
