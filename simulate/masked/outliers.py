"""Spiked data, measured: the top eigenvalue of four methods and the overlap of its eigenvectors with the spike."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from simulate.masked.fit import fit
from simulate.masked.sampler import sample
from theory.models import Covariance, Spiked
from theory.models.arrays import Array

METHODS = ("ssr", "pca", "correlation_pca", "diagonal_deleted_pca")


@dataclass(frozen=True, eq=False)
class SpikedData:
    """n = alpha d rows x ~ N(0, noise + strength u u^T), and the method that looks for u.

    `direction`: (d,), of unit length; None: a new random one in every replicate. `lam` is the ridge of "ssr".
    """

    noise: Covariance
    strength: float
    alpha: float
    method: str = "ssr"
    lam: float | None = None
    direction: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {list(METHODS)}, got {self.method!r}")
        if (self.lam is not None) != (self.method == "ssr"):
            raise ValueError(f"lam must be given for method 'ssr' and only there, got lam = {self.lam!r}")


def top_outlier(data: SpikedData, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """(eigenvalue, overlap, left overlap): (u . v)^2 of the normalized right and left top eigenvectors v."""
    u, X = _draw(data, d, rng, inputs)
    eigenvalue, right, left = top_eigenvectors(X, data.method, data.lam)
    return np.array([eigenvalue, (u @ right) ** 2, (u @ left) ** 2])


def top_eigenvalue(data: SpikedData, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """The largest eigenvalue."""
    return float(top_outlier(data, d, rng, inputs)[0])


def top_overlap(data: SpikedData, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """(u . v)^2 of the normalized right top eigenvector v."""
    return float(top_outlier(data, d, rng, inputs)[1])


def left_overlap(data: SpikedData, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """The same for the left one."""
    return float(top_outlier(data, d, rng, inputs)[2])


def symmetric_outlier(data: SpikedData, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """(eigenvalue, overlap) at the top of the symmetric part (A + A^T)/2 of the fitted predictor."""
    u, X = _draw(data, d, rng, inputs)
    predictor = fit(X, _ridge(data.lam)).predictor
    eigenvalue, vector = _top((predictor + predictor.T) / 2)
    return np.array([eigenvalue, (u @ vector) ** 2])


def top_eigenvectors(X: Array, method: str, lam: float | None = None) -> tuple[float, Array, Array]:
    """Largest eigenvalue with its unit right and left eigenvectors, in the coordinates of the rows X (n, d).

    All four matrices are D^-1 times a symmetric one up to a shift, so that of the similar symmetric one serves.
    """
    symmetric, scale = _symmetric(X, method, lam)
    eigenvalue, w = _top(symmetric)
    right, left = w / scale, w * scale
    return eigenvalue, right / np.linalg.norm(right), left / np.linalg.norm(left)


def _symmetric(X: Array, method: str, lam: float | None) -> tuple[Array, Array]:
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


def _draw(data: SpikedData, d: int, rng: Generator, inputs: str) -> tuple[Array, Array]:
    noise = data.noise if data.noise.d == d else data.noise.resized(d)
    u: Any = data.direction
    if u is None:
        u = rng.standard_normal(d)
        u /= np.linalg.norm(u)
    return u, sample(Spiked(noise, u, data.strength), round(data.alpha * d), rng, inputs)
