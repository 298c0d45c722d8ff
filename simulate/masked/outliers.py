"""Spiked data, measured: the top eigenvalue of four methods and the overlap of its eigenvectors with the spike."""

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from simulate.masked.draw import at_size, sample_size
from simulate.masked.fit import fit
from simulate.masked.sampler import Inputs, sample
from theory.models import Spiked, SpikedData, SpikeMethod
from theory.models.arguments import checked
from theory.models.arrays import Array


@checked
def top_outlier(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """(3,): top eigenvalue of the method's matrix, and (u . v)^2 of its normalized right and left eigenvectors v."""
    u, X = _draw(data, d, rng, inputs)
    eigenvalue, right, left = top_eigenvectors(X, data.method, data.lam)
    return np.array([eigenvalue, (u @ right) ** 2, (u @ left) ** 2])


@checked
def top_eigenvalue(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Largest eigenvalue of the matrix of the method."""
    return float(top_outlier(data, d, rng, inputs)[0])


@checked
def top_overlap(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Squared overlap (u . v)^2 of the normalized right top eigenvector v with the direction u of the spike."""
    return float(top_outlier(data, d, rng, inputs)[1])


@checked
def symmetric_outlier(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """(2,): top eigenvalue of the symmetric part (A + A^T)/2 of the fitted predictor, and its eigenvector's overlap."""
    u, X = _draw(data, d, rng, inputs)
    predictor = fit(X, _ridge(data.lam)).predictor
    eigenvalue, vector = _top((predictor + predictor.T) / 2)
    return np.array([eigenvalue, (u @ vector) ** 2])


@checked
def top_eigenvectors(X: Array, method: SpikeMethod, lam: float | None = None) -> tuple[float, Array, Array]:
    """Largest eigenvalue with its unit right and left eigenvectors, in the coordinates of the rows X (n, d).

    All four matrices are D^-1 times a symmetric one up to a shift, so that of the similar symmetric one serves.
    """
    symmetric, scale = _symmetric(X, method, lam)
    eigenvalue, w = _top(symmetric)
    right, left = w / scale, w * scale
    return eigenvalue, right / np.linalg.norm(right), left / np.linalg.norm(left)


def _symmetric(X: Array, method: SpikeMethod, lam: float | None) -> tuple[Array, Array]:
    """diag(scale) M diag(scale)^-1, symmetric, and the scale: roots of diag Q for ssr, of 1/diag C for correlations."""
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


def _ridge(lam: float | None) -> float:
    if lam is None or not lam > 0:
        raise ValueError(f"lam must be positive, got {lam!r}")
    return lam


def _top(matrix: Array) -> tuple[float, Array]:
    last = len(matrix) - 1
    values, vectors = eigh(matrix, subset_by_index=[last, last], check_finite=False)
    return float(values[0]), vectors[:, 0]


def _draw(data: SpikedData, d: int, rng: Generator, inputs: Inputs) -> tuple[Array, Array]:
    """The direction of the spike and n = round(alpha d) rows."""
    if data.strength is None:
        raise ValueError("strength must be a positive number to draw spiked data, got None")
    n, noise = sample_size(data.alpha, d), at_size(data.noise, d)
    u: Any = data.direction
    if u is None:
        u = rng.standard_normal(d)
        u /= np.linalg.norm(u)
    return u, sample(Spiked(noise, u, data.strength), n, rng, inputs)
