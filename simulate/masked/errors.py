"""Errors of a joint predictor on a population or on new rows."""

from typing import Any

import numpy as np

from simulate.masked import checks
from theory.core.arrays import Array
from theory.models import Covariance


def error_on(predictor: Array, target: Covariance | Any) -> Array:
    """Compute the squared error (d,) of each masked coordinate on `target`; row k of `predictor` (d, d) predicts k.

    For a `Covariance` record it is the exact population error, diag((I-A) Sigma (I-A)'). Anything else is taken as an
    array of test rows (m, d), even if it is square, so wrap a covariance matrix as `Empirical(matrix)`. ValueError if
    its size is not d, and as in `fit` for the rows.
    """
    d = len(predictor)
    if not isinstance(target, Covariance):
        rows = checks.data_matrix("target", target, columns=d)
        residuals = rows - rows @ predictor.T
        return np.asarray(np.einsum("ij,ij->j", residuals, residuals)) / len(rows)
    if target.d != d:
        raise ValueError(f"target must have d = {d} as the data that were fitted, got d = {target.d}")
    residual_covariance = target.matrix - predictor @ target.matrix
    return np.asarray(np.diagonal(residual_covariance) - np.einsum("ij,ij->i", residual_covariance, predictor))
