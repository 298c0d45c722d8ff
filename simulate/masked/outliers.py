"""Measures the top eigenvalue of spiked data by four methods, and the overlap of its eigenvectors with the spike."""

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from simulate.masked.draw import at_size, sample_size, second_moment_rows
from simulate.masked.fit import fit
from simulate.masked.sampler import Inputs, by_eigenvectors, has_own_map, sample, times_root
from theory.core import Array, checked
from theory.models import Diagonal, EqualScales, IndependentRows, Isotropic, Spiked, SpikedData, SpikeMethod, TwoLevel


@checked
def top_outlier(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure the top eigenvalue of the method's matrix and (u . v)^2 of its right and left eigenvectors, (3,)."""
    u, X = _draw(data, d, rng, inputs)
    eigenvalue, right, left = top_eigenvectors(X, data.method, data.lam)
    return np.array([eigenvalue, (u @ right) ** 2, (u @ left) ** 2])


@checked
def top_eigenvalue(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure the largest eigenvalue of the method's matrix, of one draw of round(alpha d) rows."""
    return float(top_outlier(data, d, rng, inputs)[0])


@checked
def top_overlap(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure the squared overlap (u . v)^2 of the unit right top eigenvector v with the direction u of the spike."""
    return float(top_outlier(data, d, rng, inputs)[1])


@checked
def symmetric_outlier(data: SpikedData, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure the top eigenvalue of the symmetric part (A + A^T)/2 of the predictor A, and (u . v)^2, (2,)."""
    u, X = _draw(data, d, rng, inputs)
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


def _ridge(lam: float | None) -> float:
    if lam is None or not lam > 0:
        raise ValueError(f"lam must be positive, got {lam!r}")
    return lam


def _top(matrix: Array) -> tuple[float, Array]:
    last = len(matrix) - 1
    values, vectors = eigh(matrix, subset_by_index=[last, last], check_finite=False)
    return float(values[0]), vectors[:, 0]


def _draw(data: SpikedData, d: int, rng: Generator, inputs: Inputs) -> tuple[Array, Array]:
    """Draw the direction of the spike, where it is not given, and n = round(alpha d) rows.

    Of many Gaussian rows, where the noise has independent coordinates or its family has no cheap map, d + 1 are drawn
    that have second moments of the same law.
    """
    if data.strength is None:
        raise ValueError("strength must be a positive number to draw spiked data, got None")
    if data.training is not None:
        raise ValueError(f"training must be None: fits along training are not simulated here, got {data.training}")
    n, noise = sample_size(data.alpha, d), at_size(data.noise, d)
    u: Any = data.direction
    if u is None:
        u = rng.standard_normal(d)
        u /= np.linalg.norm(u)
    independent = isinstance(noise, Isotropic | Diagonal | TwoLevel)
    many = n > 2 * d if independent else n >= 2 * d and not has_own_map(noise)
    alike = isinstance(data.row_scales, EqualScales) and isinstance(data.row_dependence, IndependentRows)
    if inputs == "gaussian" and alike and many:
        white = second_moment_rows(n, d + 1, rng)
        colored = times_root if independent else by_eigenvectors
        return u, colored(noise, white[:, :d].copy()) + np.sqrt(data.strength) * white[:, d:] * u
    return u, sample(Spiked(noise, u, data.strength), n, rng, inputs, data.row_scales, data.row_dependence)
