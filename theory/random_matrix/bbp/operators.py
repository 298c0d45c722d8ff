"""Quadratic forms and traces of R = (x scale - shift - h Sigma_0)^-1, the resolvent of the noise Sigma_0 at (h, x).

They are sums over coordinates where the noise is diagonal, else they cost a Cholesky factorization.
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from theory.core.arrays import Array
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.random_matrix.bbp.normalization import Normalization
from theory.random_matrix.bbp.spiked_noise import SpikedNoise
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, DenseEnsemble, Ensemble
from theory.random_matrix.spectral.real_branch import BranchPoint


@dataclass(frozen=True, eq=False)
class Forms:
    """Holds the quadratic forms U^T . U of the spikes' directions U (d, k), for the operators written beside them.

    R U is the deterministic part of left eigenvectors of a method's matrix, scale R U that of right ones.
    """

    left: Array = field(repr=False)  # R
    right: Array = field(repr=False)  # scale R
    left_norm: Array = field(repr=False)  # R R
    norm: Array = field(repr=False)  # R scale R
    right_norm: Array = field(repr=False)  # R scale^2 R
    noise: Array = field(repr=False)  # R Sigma_0 R


@dataclass(frozen=True)
class Traces:
    """Holds the traces tr . / n of the operators written beside them, for the noise alone."""

    left: float  # Sigma_0 R R
    middle: float  # Sigma_0 R scale R
    right: float  # Sigma_0 R scale^2 R


class Diagonal:
    """A noise Sigma_0 = diag(sigma) on coordinates, or modes, of given weights, with spikes of `directions` (k, r).

    The directions are None for a delocalized spike. `heavy` says that the weights are a quadrature of variances without
    a mean.
    """

    def __init__(self, sigma: Array, weights: Array, directions: Array | None, heavy: bool = False) -> None:
        self.sigma, self.weights, self.directions, self.heavy = sigma, weights, directions, heavy

    def ensemble(self, alpha: float, normalization: Normalization, rows: RowScales = GAUSSIAN) -> Ensemble:
        """Return the ensemble of diag(scale)^-1/2 (X'X/n + shift) diag(scale)^-1/2."""
        offset = np.broadcast_to(normalization.shift / normalization.scale, self.sigma.shape)
        return CommutingEnsemble(alpha, self.sigma / normalization.scale, offset, self.weights, rows)

    def forms(self, h: float, x: float, normalization: Normalization) -> Forms:
        """Compute the forms at one point right of the bulk."""
        r, scale = 1 / (normalization.at(x) - h * self.sigma), normalization.scale
        diagonals = (r, scale * r, r * r, scale * r * r, (scale * r) ** 2, self.sigma * r * r)
        if self.directions is None:
            return Forms(*(np.array([[float(value @ self.weights)]]) for value in diagonals))
        return Forms(*((self.directions * value) @ self.directions.T for value in diagonals))

    def solved(self, h: float, x: float, normalization: Normalization) -> Array:
        """Compute R u for every direction u, (k, r); none may be delocalized."""
        return np.asarray(cast(Array, self.directions) / (normalization.at(x) - h * self.sigma))

    def traces(self, point: BranchPoint, normalization: Normalization, alpha: float) -> Traces:
        """Compute the traces at one point right or left of the bulk."""
        r = 1 / (normalization.at(point.nu) - point.h * self.sigma)
        weights, scaled = self.sigma * self.weights / alpha, normalization.scale * r
        # A right vector carries the scales of the coordinates: its noise has their mean variance.
        right = np.inf if self.heavy else float(np.sum(weights * scaled * scaled))
        return Traces(float(np.sum(weights * r * r)), float(np.sum(weights * r * scaled)), right)


class Dense:
    """A noise whose matrix Sigma_0 does not commute with the scales of its coordinates."""

    def __init__(self, matrix: Array, directions: Array | None) -> None:
        self.matrix, self.directions = matrix, directions

    def ensemble(self, alpha: float, normalization: Normalization, rows: RowScales = GAUSSIAN) -> Ensemble:
        """Return the ensemble of diag(scale)^-1/2 (X'X/n + shift) diag(scale)^-1/2."""
        root = 1 / np.sqrt(np.broadcast_to(normalization.scale, len(self.matrix)))
        return DenseEnsemble(alpha, root[:, None] * self.matrix * root, normalization.shift * root**2, rows)

    def forms(self, h: float, x: float, normalization: Normalization) -> Forms:
        """Compute the forms at one point right of the bulk."""
        scale = np.broadcast_to(normalization.scale, len(self.matrix))
        if self.directions is None:
            return self._mean_forms(h, x, normalization)
        U = self.directions.T
        V = self.solved(h, x, normalization).T
        left, norm, right = (V.T @ (scale[:, None] ** power * V) for power in (0, 1, 2))
        return Forms(U.T @ V, U.T @ (scale[:, None] * V), left, norm, right, V.T @ self.matrix @ V)

    def solved(self, h: float, x: float, normalization: Normalization) -> Array:
        """Compute R u for every direction u, (k, d); none may be delocalized."""
        U = cast(Array, self.directions).T
        return np.asarray(dpotrs(self._factor(h, x, normalization), U, lower=1)[0].T)

    def traces(self, point: BranchPoint, normalization: Normalization, alpha: float) -> Traces:
        """Compute the traces at one point right or left of the bulk."""
        scale = np.broadcast_to(normalization.scale, len(self.matrix))
        # The diagonal of the branch is that of the ensemble, in units in which the scale is 1.
        known = point.diagonal
        noise = self.inverse(point.h, point.nu, normalization)[1] if known is None else known / scale
        return Traces(*(float(noise @ scale**power) / (alpha * len(noise)) for power in (0, 1, 2)))

    def _mean_forms(self, h: float, x: float, normalization: Normalization) -> Forms:
        r, noise = self.inverse(h, x, normalization)
        scale = np.broadcast_to(normalization.scale, len(noise))
        own, squares = np.diagonal(r), np.einsum("ij,ij->j", r, r)
        diagonals = (own, scale * own, squares, scale * squares, scale**2 * squares, noise)
        return Forms(*(np.array([[float(value.mean())]]) for value in diagonals))

    def _factor(self, h: float, x: float, normalization: Normalization) -> Array:
        """Compute the Cholesky factor of R^-1, or of -R^-1, in its lower triangle; the other one means nothing."""
        matrix = -h * self.matrix
        matrix[np.diag_indices(len(matrix))] += normalization.at(x)
        # Left of the bulk R is negative definite. What is asked for there is even in R, so that -R will do.
        if matrix[0, 0] < 0:
            matrix *= -1
        # LAPACK itself: beside a small matrix the checks of scipy's functions are not negligible.
        factor, failed = dpotrf(matrix.T, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError(f"leading minor {failed} of the resolvent's inverse is not positive definite")
        return np.asarray(factor)

    def inverse(self, h: float, x: float, normalization: Normalization) -> tuple[Array, Array]:
        """Compute R and diag(R Sigma_0 R)."""
        r: Array = dpotrs(self._factor(h, x, normalization), np.eye(len(self.matrix)).T, lower=1, overwrite_b=1)[0]
        return r, np.einsum("ij,ij->i", r @ self.matrix, r)


Operator = Diagonal | Dense


def operator(spiked: SpikedNoise) -> Operator:
    """Choose the cheapest exact representation of the noise with its spikes."""
    noise, directions = spiked.noise, spiked.directions
    spectrum = spiked.spectrum
    if directions is None:
        modes = spectrum.axes or spectrum.homogeneous or spiked.method == "pca"
        if not modes:
            return Dense(noise.matrix, None)
        return Diagonal(spectrum.eigenvalues, spectrum.weights, None, spectrum.heavy)
    if spiked.is_diagonal:
        return Diagonal(noise.variances, np.full(noise.size, 1 / noise.size), directions)
    if spiked.method == "pca":
        return Diagonal(noise.eigenvalues, np.full(noise.size, 1 / noise.size), directions @ noise.eigenvectors)
    return Dense(noise.matrix, directions)
