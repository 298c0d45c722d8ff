"""Solves all masked regressions by the d x d inverse of X'X/n + lam, from its Cholesky factor."""

from functools import partial

import numpy as np
from scipy.linalg import blas, lapack

from simulate.masked import spectral
from simulate.masked.regressions import DIGITS, Regressions, gcv_errors, predictor_from_triangle
from theory.models.arrays import Array


def primal(X: Array, lam: float) -> Regressions | None:
    """Returns the regressions by the d x d inverse, at n d^2 + d^3 flops, or None where rounding would show.

    Rounding is multiplied by (C_kk + lam) Q_kk, the variance inflation of coordinate k, and by 1/fit_share.
    """
    n, d = X.shape
    matrix = blas.dsyrk(1 / n, X.T, lower=1)
    diagonal = np.einsum("ii->i", matrix)
    silent = diagonal == 0
    diagonal += lam
    ridged = diagonal.copy()
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    inverse_diagonal = np.diagonal(inverse).copy()
    inflation = ridged * inverse_diagonal
    if failed or not inflation.max() < DIGITS:
        return None
    predictor, norms = predictor_from_triangle(inverse.T, -1 / inverse_diagonal)
    shrinkage = lam * inverse_diagonal
    fit_share = np.where(silent, 0.0, 1 - shrinkage * (1 + norms))
    if not (fit_share * DIGITS > inflation)[~silent].all():
        return None
    train_error = fit_share / inverse_diagonal
    left = n - d + float(shrinkage.sum())
    return Regressions(
        predictor=predictor,
        train_error=train_error,
        gcv_error=gcv_errors(n, train_error, fit_share, left),
        shrinkage=shrinkage,
        effective_ridge=n * lam / left if left else n / float(inverse_diagonal.sum()),
        method="primal",
        leave_one_out=partial(_leave_one_out, X, lam, predictor, inverse_diagonal),
    )


def _leave_one_out(X: Array, lam: float, predictor: Array, inverse_diagonal: Array) -> Array:
    """Returns the leave-one-out residuals (n, d), which are the residuals over 1 - hat.

    The hat matrix of the coordinates other than k is XQX'/n - (XQ)_k (XQ)_k'/(n Q_kk).
    """
    residuals = X - X @ predictor.T
    free = 1 - (residuals * X) @ inverse_diagonal / len(X)
    if free.min() < 1 / DIGITS:  # the leverages are so close to one that 1 - hat has lost its digits
        return spectral.leave_one_out(X, lam)
    return np.asarray(residuals / (free[:, None] + residuals**2 * (inverse_diagonal / len(X))))
