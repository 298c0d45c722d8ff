"""The Gaussian theory with the empirical covariance in the place of the true one."""

import numpy as np

from figures.analyse.matrix.contrasts import contrasts, ridge_of_contrasts
from theory import masked
from theory.models import Empirical
from theory.models.arrays import Array
from theory.numerics import ConvergenceError


def empirical_covariance(X: Array) -> Empirical:
    """Unbiased, of the rows of X (n, d) about their mean."""
    rows = contrasts(X)
    return Empirical(rows.T @ rows / len(rows))


def empirical_errors(covariance: Empirical, n: int, lams: Array) -> Array:
    """Mean test errors (n_lams,) of n rows about their mean; NaN where the solver did not converge.

    An estimate from N rows makes the small eigenvalues too small: the errors come out too low by a relative O(d/N).
    """
    try:
        curve = masked.learning_curve(covariance, [(n - 1) / covariance.d], ridge_of_contrasts(lams, n))
    except ConvergenceError:
        return np.full(len(lams), np.nan)
    return np.asarray(curve.mean_test_error[:, 0] * (1 + 1 / n))
