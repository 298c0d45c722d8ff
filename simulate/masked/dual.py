"""Solves all masked regressions by the n x n inverse, from the Cholesky factor of XX'/n + lam, for n < d."""

from functools import partial

import numpy as np
from scipy.linalg import blas, lapack

from simulate.masked.regressions import DIGITS, Pairs, Regressions, gcv_errors, predictor_from_triangle
from theory.core.arrays import Array


def dual(X: Array, lam: float) -> Regressions | None:
    """Solve the regressions by the n x n inverse, at 2 n^2 d + n^3/3 + n d^2 flops; None where rounding would show.

    lam = 0 gives the solutions of minimum norm. With G = (XX'/n + lam)^-1 and H = X'GX/n, lam Q = I - H (the null-space
    projector of X at lam = 0), so A_kj = H_kj/(1 - H_kk).
    """
    n = len(X)
    factor = _trusted_factor(X, lam)
    if factor is None:
        return None
    whitened = blas.dtrsm(1.0, factor, X.T, side=1, lower=1, trans_a=1)  # (L^-1 X)', (d, n)
    hat = blas.dsyrk(1 / n, whitened, lower=1)
    explained = np.diagonal(hat).copy()
    shrinkage = 1 - explained
    if not shrinkage.min() * DIGITS > 1:
        return None
    predictor, norms = predictor_from_triangle(hat.T, 1 / shrinkage)
    fit_share = explained - shrinkage * norms
    left = n - float(explained.sum())
    if left * DIGITS > n and (fit_share * DIGITS >= explained).all():
        train_error = fit_share * lam / shrinkage
        gcv_error, effective_ridge = gcv_errors(n, train_error, fit_share, left), n * lam / left
    else:  # nearly interpolating: those differences lose all digits, sums of squares do not
        energy = _energies(factor, whitened)
        trace = float(_inverse_diagonal(factor).sum())
        train_error = energy * (lam / shrinkage) ** 2
        gcv_error, effective_ridge = energy * (n / (shrinkage * trace + energy)) ** 2, n / trace
    return Regressions(
        predictor=predictor,
        train_error=train_error,
        gcv_error=gcv_error,
        shrinkage=shrinkage,
        effective_ridge=effective_ridge,
        method="dual",
        leave_one_out=partial(_leave_one_out, X, factor, shrinkage, lam),
    )


def _trusted_factor(X: Array, lam: float) -> Array | None:
    """Factors XX'/n + lam by Cholesky; the ratio of a diagonal entry to its pivot is the accuracy lost there."""
    gram = blas.dsyrk(1 / len(X), X.T, lower=1, trans=1)
    diagonal = np.einsum("ii->i", gram)
    diagonal += lam
    ridged = diagonal.copy()
    factor, failed = lapack.dpotrf(gram, lower=1, clean=0, overwrite_a=1)
    trusted = not failed and bool((ridged < DIGITS * np.diagonal(factor) ** 2).all())
    return np.asarray(factor) if trusted else None


def _energies(factor: Array, whitened: Array) -> Array:
    """Return the squared lengths |G X_k|^2/n of every coordinate k; overwrite `whitened`."""
    solved = blas.dtrsm(1.0, factor, whitened, side=1, lower=1, overwrite_b=1).T
    return np.asarray(np.einsum("ij,ij->j", solved, solved)) / len(factor)


def _inverse_diagonal(factor: Array) -> Array:
    inverse, _ = lapack.dpotri(factor, lower=1)
    return np.diagonal(inverse).copy()


def _leave_one_out(X: Array, factor: Array, shrinkage: Array, lam: float) -> Pairs:
    """Yield the residuals (n, d), lam GX over 1 - H_kk, and those with each row left out, in which lam cancels."""
    solved, _ = lapack.dpotrs(factor, X, lower=1)
    free = np.outer(_inverse_diagonal(factor), shrinkage)
    yield solved * (lam / shrinkage), solved / (free + solved**2 / len(X))
