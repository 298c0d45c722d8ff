"""Exact leave-one-out errors where the means are refitted too."""

import numpy as np

from simulate.masked import fit
from theory.models.arrays import Array


def loo_squares(X: Array, lam: float) -> Array:
    """(n, d): squared error of each entry, predicted by the regression and the mean of the other n - 1 rows.

    The mean is one more direction of the hat matrix, 1/n on its diagonal; n lam is kept.
    """
    centered = X - X.mean(axis=0)
    fitted = fit(centered, lam)
    residuals = centered - centered @ fitted.predictor.T
    known_mean = fitted.loo_residuals
    share = np.divide(known_mean, len(X) * residuals, out=np.zeros_like(residuals), where=residuals != 0)
    return np.asarray((known_mean / (1 - share)) ** 2)
