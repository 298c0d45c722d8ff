"""Solves all masked regressions by the eigenmodes of X'X/n, for any number of ridges, conditioning and rank.

A coordinate is *free* if it lies partly outside the row space of X: then Q_kk ~ P_kk/lam as lam -> 0, P the projector
on the null space, and lam Q stays finite; otherwise Q does. Carrying the finite one of the two makes lam = 0 (minimum
norm) an ordinary point, and all errors sums of positive terms.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd
from scipy.linalg.blas import dsyrk

from simulate.masked.regressions import Pairs, Regressions
from simulate.masked.row_blocks import RowBlocks
from theory.core.arrays import Array

EPS = float(np.finfo(float).eps)
GRAM_RESOLUTION = 1e-7  # below this share of the largest eigenvalue the Gram matrix no longer resolves eigenvalue + lam


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes of X'X/n: non-zero eigenvalues (r,), vectors (d, r) in columns, and the diagonal (d,) of the projector."""

    n: int
    eigenvalues: Array
    vectors: Array
    null: Array

    @property
    def free(self) -> NDArray[np.bool_]:
        """Whether each coordinate lies partly outside the row space of X, (d,)."""
        return np.asarray(self.null > 0)


@dataclass(frozen=True, eq=False)
class Diagonals:
    """What follows from diagonals at several ridge strengths: errors and shrinkage (n_lams, d), effective ridges."""

    diagonal: Array  # Q_kk, infinite for a free coordinate at lam = 0
    shrinkage: Array  # lam Q_kk
    train_error: Array
    gcv_error: Array
    effective_ridge: Array


def diagonals(modes: Modes, lams: Array) -> Diagonals:
    """Compute the errors of all coordinates by two products of squared vectors with functions of the eigenvalues."""
    n, eigenvalues, rank = modes.n, modes.eigenvalues[:, None], len(modes.eigenvalues)
    loadings, inverse = modes.vectors**2, 1 / (eigenvalues + lams)
    inside = (loadings @ inverse).T
    energy = (loadings @ (eigenvalues * inverse**2)).T  # [Q C Q]_kk
    column = lams[:, None]
    shrinkage = modes.null + column * inside
    scale = np.where(modes.free, shrinkage, inside)
    with np.errstate(divide="ignore"):
        trace = inverse.sum(axis=0) + ((n - rank) / lams if n > rank else 0.0)  # tr G
        diagonal = scale / np.where(modes.free, column, 1.0)
    left = n - rank + lams * inverse.sum(axis=0)  # lam tr G
    spread = scale * np.where(modes.free, trace[:, None], left[:, None])
    return Diagonals(
        diagonal=diagonal,
        shrinkage=shrinkage,
        train_error=energy * (np.where(modes.free, column, 1.0) / scale) ** 2,
        gcv_error=energy * (n / (spread + energy)) ** 2,
        effective_ridge=n / trace,
    )


def predictor(modes: Modes, lam: float) -> Array:
    """Compute the joint predictor (d, d) by one product: row k is H_kj/(lam Q_kk), H = I - lam Q, or -Q_kj/Q_kk.

    The first loses digits where lam Q_kk is small, the second where it is near 1 or, at lam = 0, Q_kk infinite.
    """
    inverse = 1 / (modes.eigenvalues + lam)
    inside = modes.vectors**2 @ inverse
    shrinkage = modes.null + lam * inside
    by_hat = modes.free | (shrinkage > 0.5)
    weights = np.where(by_hat[:, None], modes.eigenvalues * inverse, -inverse)
    result = (modes.vectors * weights) @ modes.vectors.T
    result /= np.where(by_hat, shrinkage, inside)[:, None]
    np.fill_diagonal(result, 0.0)
    return np.asarray(result)


def spectral(X: RowBlocks, lam: float) -> Regressions:
    """Return the regressions for any conditioning, at several times the cost of a Cholesky route."""
    modes = decompose(X, lam)
    found = diagonals(modes, np.array([lam]))
    return Regressions(
        predictor=predictor(modes, lam),
        train_error=found.train_error[0],
        gcv_error=found.gcv_error[0],
        shrinkage=found.shrinkage[0],
        effective_ridge=float(found.effective_ridge[0]),
        method="spectral",
        leave_one_out=partial(leave_one_out, X, lam),
    )


def decompose(X: RowBlocks, smallest_lam: float) -> Modes:
    """Find the modes by the smaller Gram matrix, or by the singular values of X where it does not resolve them."""
    n, d = X.n, X.d
    gram = X.second_moments() if n >= d else dsyrk(1 / n, X.all_rows().T, lower=1, trans=1)
    eigenvalues, vectors = eigh(gram, lower=True, driver="evd", overwrite_a=True, check_finite=False)
    top = float(eigenvalues[-1])
    if eigenvalues[0] + smallest_lam < GRAM_RESOLUTION * top:
        return _singular_modes(X)
    keep = eigenvalues > max(n, d) * EPS * top
    eigenvalues, kept = eigenvalues[keep], vectors[:, keep]
    if n >= d:
        return Modes(n, eigenvalues, kept, np.sum(vectors[:, ~keep] ** 2, axis=1))
    vectors = X.all_rows().T @ (kept / np.sqrt(n * eigenvalues))
    null = np.maximum(1 - np.sum(vectors**2, axis=1), 0.0)
    shrinkage = null + vectors**2 @ (smallest_lam / (eigenvalues + smallest_lam))
    return Modes(n, eigenvalues, vectors, null) if shrinkage.min() > 1e2 * GRAM_RESOLUTION else _singular_modes(X)


def leave_one_out(X: RowBlocks, lam: float, start: int = 0) -> Pairs:
    """Yield the residuals and the exact leave-one-out residuals of blocks of rows, at one ridge.

    `start` is the row with which the first block to be yielded begins.
    """
    if X.in_memory is not None or X.n < X.d:
        residuals, left_out = LeaveOneOut(X.n, *_singular_values(X.all_rows())).pair(lam)
        yield residuals[start:], left_out[start:]
        return
    modes = _singular_modes(X)
    for _, block in X.numbered(start):
        yield LeaveOneOut.of_modes(block, modes).pair(lam)


class LeaveOneOut:
    """Leave-one-out residuals (XQ)_ik / (lam Q_kk G_ii + (XQ)_ik^2/n) at any ridge, from the modes of X/sqrt(n).

    A sample can be free as a coordinate can. Where both are free at lam = 0 the product is infinite: that entry is
    predicted exactly even without its sample, and its residual is zero.
    """

    def __init__(self, n: int, left: Array, singular: Array, vectors: Array, null: Array) -> None:
        self.n = n
        self.left, self.singular, self.vectors, self.null = left, singular, vectors, null
        self.rows, self.columns = left**2, vectors**2
        outside = 1 - self.rows.sum(axis=1) if n > len(singular) else np.zeros(len(left))
        self.outside = np.where(outside < 10 * n * EPS, 0.0, outside)

    @classmethod
    def of_modes(cls, X: Array, modes: Modes) -> "LeaveOneOut":
        """Take the left vectors from the modes of all rows and X, which may hold only some of these rows."""
        singular = np.sqrt(modes.eigenvalues)
        left = X @ (modes.vectors / (np.sqrt(modes.n) * singular))
        return cls(modes.n, left, singular, modes.vectors, modes.null)

    def residuals(self, lam: float) -> Array:
        """Compute the leave-one-out residuals (rows, d) by one product."""
        return self.pair(lam)[1]

    def pair(self, lam: float) -> tuple[Array, Array]:
        """Compute the residuals of the fit, (XQ)_ik/Q_kk, and the leave-one-out residuals, (rows, d) both."""
        n = self.n
        inverse = 1 / (self.singular**2 + lam)
        solved = (self.left * (np.sqrt(n) * self.singular * inverse)) @ self.vectors.T
        free_row, free_column = self.outside[:, None] > 0, self.null > 0
        row, column = self.rows @ inverse, self.columns @ inverse
        row = np.where(free_row[:, 0], self.outside + lam * row, row)
        column = np.where(free_column, self.null + lam * column, column)
        with np.errstate(divide="ignore"):
            factor = np.where(free_row & free_column, np.divide(1.0, lam), np.where(free_row | free_column, 1.0, lam))
        denominator = row[:, None] * column * factor + solved**2 / n
        left_out = np.divide(solved, denominator, out=np.zeros_like(solved), where=denominator > 0)
        fitted = np.where(free_column, lam, 1.0) / np.where(column > 0, column, 1.0)
        return solved * fitted, np.asarray(left_out)


def _singular_modes(X: RowBlocks) -> Modes:
    if X.in_memory is not None or X.n < X.d:
        _, singular, vectors, null = _singular_values(X.all_rows())
    else:  # the triangular factor has the same singular values and right vectors
        _, singular, vectors, null = _singular_values(X.triangle(), X.n)
    return Modes(X.n, singular**2, vectors, null)


def _singular_values(X: Array, rows: int | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the singular values (r,) of X/sqrt(n), left vectors (n, r), right vectors (d, r), and diag P (d,).

    X may be a triangular factor of a matrix that has more `rows`.
    """
    n, d = rows or len(X), X.shape[1]
    left, singular, right = svd(X / np.sqrt(n), full_matrices=n < d, check_finite=False)
    rank = int(np.sum(singular > max(n, d) * EPS * singular[0]))
    null = np.sum(right[rank:] ** 2, axis=0)
    if rank:  # rounding tilts the row space by this angle, so that a smaller component outside it counts as none
        null[null < min((max(n, d) * EPS * singular[0] / singular[rank - 1]) ** 2, 1e-10)] = 0.0
    return left[:, :rank], singular[:rank], right[:rank].T, null
