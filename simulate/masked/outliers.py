"""Measures the top eigenvalue of spiked data by four methods, and the overlap of its eigenvectors with the spike."""

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigs

from simulate.masked.draw import at_size, sample_size, second_moment_rows
from simulate.masked.fit import fit
from simulate.masked.sampler import Inputs, has_own_map, sample, times_root
from simulate.masked.training.fit import fit_training
from theory.core import Array, checked
from theory.models import (
    Covariance,
    Diagonal,
    EqualScales,
    IndependentRows,
    Isotropic,
    OnePass,
    ReadOut,
    Spiked,
    SpikedData,
    SpikeMethod,
    TwoLevel,
)

MOST_KINDS = 0.1  # kinds of coordinates over their number, beyond which a best weight for each would know the spike
KRYLOV_VECTORS = 40
FIRST_RESTARTS, COORDINATES_PER_RESTART = 10, 20  # more restarts than these cost more than all eigenvalues do


@checked
def top_outlier(
    data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian", read_out: ReadOut = "data_units"
) -> Array:
    """Measure the top eigenvalue of the method's matrix and (u . v)^2 of its right and left eigenvectors, (3,).

    The right one is read off as `read_out` says: in data units, as the method reports it, divided by the standard
    deviations of the columns (as PCA of correlations reports it), or with the weights that are best for this draw,
    one for each kind of coordinate: those of one variance and one conditional variance. A fit along its training
    (`data.training`) is of any kind that `fit_training` takes. ValueError where there is a kind for less than ten
    coordinates, since best weights of few coordinates each would know the spike.
    """
    u, X = draw_spiked(data, d, rng, inputs)
    if data.training is None:
        eigenvalue, right, left = top_eigenvectors(X, data.method, data.lam)
    else:
        eigenvalue, right, left = _top_of_predictor(fit_training(X, data.training, data.lam or 0.0).predictor)
    return np.array([eigenvalue, read_overlap(u, right, X, data, read_out), (u @ left) ** 2])


@checked
def top_eigenvalue(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure the largest eigenvalue of the method's matrix, of one draw of round(alpha d) rows."""
    return float(top_outlier(data, d, rng, inputs)[0])


@checked
def top_overlap(
    data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian", read_out: ReadOut = "data_units"
) -> float:
    """Measure the squared overlap (u . v)^2 of the unit right top eigenvector v with the direction u of the spike.

    `read_out` says how v is read off, as for `top_outlier`.
    """
    return float(top_outlier(data, d, rng, inputs, read_out)[1])


@checked
def symmetric_outlier(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure the top eigenvalue of the symmetric part (A + A^T)/2 of the predictor A, and (u . v)^2, (2,)."""
    if data.training is not None:
        raise ValueError(f"training must be None for the symmetric part, got {data.training}")
    u, X = draw_spiked(data, d, rng, inputs)
    predictor = fit(X, _ridge(data.lam)).predictor
    eigenvalue, vector = _top((predictor + predictor.T) / 2)
    return np.array([eigenvalue, (u @ vector) ** 2])


@checked
def top_eigenvectors(X: Array, method: SpikeMethod, lam: float | None = None) -> tuple[float, Array, Array]:
    """Compute the largest eigenvalue with its unit right and left eigenvectors, for the rows X (n, d).

    All four matrices are, up to a shift, D^-1 times a symmetric one for a positive diagonal D. They are therefore
    similar to a symmetric matrix, whose eigenvectors are computed and scaled back.
    """
    symmetric, scale = _symmetric(X, method, lam)
    eigenvalue, w = _top(symmetric)
    right, left = w / scale, w * scale
    return eigenvalue, right / np.linalg.norm(right), left / np.linalg.norm(left)


def _symmetric(X: Array, method: SpikeMethod, lam: float | None) -> tuple[Array, Array]:
    """Return diag(scale) M diag(scale)^-1, which is symmetric, and the scale.

    The scale is the root of diag Q for masked regression and of 1/diag C for the correlation matrix.
    """
    if method == "ssr":
        fitted = fit(X, _ridge(lam))
        scale = np.sqrt(fitted.shrinkage / fitted.lam)
        return scale[:, None] * fitted.predictor / scale, scale
    covariance = X.T @ X / len(X)
    scale = np.ones(X.shape[1])
    if method == "correlation_pca":
        scale = 1 / np.sqrt(np.diagonal(covariance))
        covariance *= scale[:, None] * scale
    elif method == "diagonal_deleted_pca":
        np.fill_diagonal(covariance, 0.0)
    return covariance, scale


def _top_of_predictor(predictor: Array) -> tuple[float, Array, Array]:
    """Return the rightmost eigenvalue with its unit right and left eigenvectors, of a matrix that is not symmetric."""
    (value, right), (_, left) = (rightmost(matrix) for matrix in (predictor, predictor.T))
    return value, right, left


def rightmost(matrix: Array) -> tuple[float, Array]:
    """Compute the eigenvalue of the largest real part with its unit right eigenvector, of any real matrix."""
    d = len(matrix)
    if d > 2 * KRYLOV_VECTORS:
        try:
            restarts = FIRST_RESTARTS + d // COORDINATES_PER_RESTART
            values, vectors = eigs(matrix, k=1, which="LR", ncv=KRYLOV_VECTORS, v0=np.ones(d), maxiter=restarts)
            if abs(values[0].imag) == 0:
                return float(values[0].real), vectors[:, 0].real
        except ArpackError:
            pass
    # Near the edge, where eigenvalues lie close together, all of them are computed.
    values, vectors = np.linalg.eig(matrix)
    top = int(np.argmax(values.real))
    vector = vectors[:, top].real
    return float(values[top].real), vector / np.linalg.norm(vector)


def read_overlap(u: Array, right: Array, X: Array, data: SpikedData, read_out: ReadOut) -> float:
    """Measure (u . v)^2 of a right eigenvector that is read off as `read_out` says."""
    if read_out == "best_diagonal":
        kinds = _kinds(at_size(data.noise, len(u)))
        products, squares = np.bincount(kinds, u * right), np.bincount(kinds, right**2)
        return float((products**2 / squares).sum())
    divided = read_out == "standard_units" or (read_out == "reported" and data.method == "correlation_pca")
    read = right / np.sqrt((X**2).mean(0)) if divided else right
    return float((u @ read) ** 2 / (read @ read))


def _kinds(noise: Covariance) -> Array:
    """Give a number to each coordinate (d,), one number to those of equal variance and equal conditional variance."""
    if isinstance(noise, Isotropic):
        return np.zeros(noise.size, dtype=int)
    described = noise.variances[:, None]
    if not isinstance(noise, Diagonal | TwoLevel):
        described = np.column_stack([described, 1 / np.diagonal(np.linalg.inv(noise.matrix))])
    _, kinds = np.unique(np.round(described, 10), axis=0, return_inverse=True)
    count = int(kinds.max()) + 1
    if count > MOST_KINDS * noise.size:
        raise ValueError(
            f"read_out 'best_diagonal' needs at least ten coordinates of a kind, got {count} kinds among {noise.size}"
        )
    return np.asarray(kinds.ravel())


def _ridge(lam: float | None) -> float:
    if lam is None or not lam > 0:
        raise ValueError(f"lam must be positive, got {lam!r}")
    return lam


def _top(matrix: Array) -> tuple[float, Array]:
    last = len(matrix) - 1
    values, vectors = eigh(matrix, subset_by_index=[last, last], check_finite=False)
    return float(values[0]), vectors[:, 0]


def unit_direction(data: SpikedData, d: int, rng: Generator) -> Any:
    """Return the direction (d,) of the spike, drawn where none is given."""
    if data.direction is not None:
        return data.direction
    u = rng.standard_normal(d)
    return u / np.linalg.norm(u)


def draw_spiked(data: SpikedData, d: int, rng: Generator, inputs: Inputs) -> tuple[Array, Array]:
    """Draw the direction of the spike, where it is not given, and n = round(alpha d) rows.

    Of many Gaussian rows, where the noise has independent coordinates or its family has no cheap map, d + 1 are drawn
    that have second moments of the same law.
    """
    if data.strength is None:
        raise ValueError("strength must be a positive number to draw spiked data, got None")
    n, noise, u = sample_size(data.alpha, d), at_size(data.noise, d), unit_direction(data, d, rng)
    independent = isinstance(noise, Isotropic | Diagonal | TwoLevel)
    many = n > 2 * d if independent else n >= 2 * d and not has_own_map(noise)
    many = many and not isinstance(data.training, OnePass)  # one pass sees each row
    alike = isinstance(data.row_scales, EqualScales) and isinstance(data.row_dependence, IndependentRows)
    if inputs == "gaussian" and alike and many:
        white = second_moment_rows(n, d + 1, rng)
        return u, times_root(noise, white[:, :d].copy()) + np.sqrt(data.strength) * white[:, d:] * u
    return u, sample(Spiked(noise, u, data.strength), n, rng, inputs, data.row_scales, data.row_dependence)
