"""Solves all masked regressions by the d x d inverse of X'X/n + lam, from its Cholesky factor."""

from functools import partial

import numpy as np
from scipy.linalg import lapack

from simulate.masked import spectral
from simulate.masked.regressions import DIGITS, Pairs, Regressions, gcv_errors, predictor_from_triangle
from simulate.masked.row_blocks import RowBlocks
from theory.core.arrays import Array


def primal(X: RowBlocks, lam: float) -> Regressions | None:
    """Return the regressions by the d x d inverse, at n d^2 + d^3 flops, or None where rounding would show.

    Rounding is multiplied by (C_kk + lam) Q_kk, the variance inflation of coordinate k, and by 1/fit_share.
    """
    matrix, n, d = X.second_moments(), X.n, X.d
    variances = np.diagonal(matrix).copy()
    silent = variances == 0
    inverse = ridged_inverse(matrix, lam)
    if inverse is None:
        return None
    inverse_diagonal = np.diagonal(inverse).copy()
    inflation = (variances + lam) * inverse_diagonal
    if not inflation.max() < DIGITS:
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


def ridged_inverse(matrix: Array, lam: float) -> Array | None:
    """Return the lower triangle of (matrix + lam)^-1, or None where the factorization fails.

    Of the symmetric `matrix` (d, d) the lower triangle is given, in Fortran order, and overwritten.
    """
    np.einsum("ii->i", matrix)[:] += lam
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return None if failed else np.asarray(inverse)


def _leave_one_out(X: RowBlocks, lam: float, predictor: Array, inverse_diagonal: Array) -> Pairs:
    """Yield the residuals of blocks of rows, and those with each row left out, which are the residuals over 1 - hat.

    The hat matrix of the coordinates other than k is XQX'/n - (XQ)_k (XQ)_k'/(n Q_kk).
    """
    n = X.n
    for start, block in X.numbered():
        residuals = block - block @ predictor.T
        free = 1 - (residuals * block) @ inverse_diagonal / n
        if free.min() < 1 / DIGITS:  # the leverages are so close to one that 1 - hat has lost its digits
            yield from spectral.leave_one_out(X, lam, start)
            return
        left_out = residuals**2
        left_out *= inverse_diagonal / n
        left_out += free[:, None]
        yield residuals, np.divide(residuals, left_out, out=left_out)
