"""Covariances made of others or of data: spiked, rescaled, empirical."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np

from theory.models import checks
from theory.models.arrays import Array
from theory.models.covariance import Covariance, frozen, set_checked, without_rounding

SomeCovariance = TypeVar("SomeCovariance", bound=Covariance)


@dataclass(frozen=True, eq=False)
class Spiked(Covariance):
    """Sigma = base + sum_i strengths[i] u_i u_i^T with unit rows u_i of `directions`, (k, d) or (d,) for one spike."""

    base: Covariance
    directions: Array = field(repr=False)
    strengths: Sequence[float] | float | Array

    def __post_init__(self) -> None:
        checks.record("base", self.base, Covariance)
        directions = checks.finite_array("directions", np.atleast_2d(self.directions), 2)
        strengths = checks.finite_array("strengths", np.atleast_1d(self.strengths), 1)
        if directions.shape != (len(strengths), self.base.size):
            expected = (len(strengths), self.base.size)
            raise ValueError(f"directions must have shape {expected} (spikes, d), got {directions.shape}")
        norms = np.linalg.norm(directions, axis=1)
        if np.any(abs(norms - 1) > 1e-8):
            raise ValueError(f"directions must be unit vectors, got norms {norms}")
        if strengths.min() <= 0:
            raise ValueError(f"strengths must be positive, got {strengths.min()}")
        set_checked(self, directions=directions, strengths=strengths)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return self.base.size

    def _matrix(self) -> Array:
        return np.asarray(self.base.matrix + (self.directions.T * self.strengths) @ self.directions)

    def resized(self, d: int | float) -> Self:
        """Itself at its own size; a direction has no other."""
        return _same_size(self, d)


@dataclass(frozen=True, eq=False)
class Scaled(Covariance):
    """Sigma = diag(scales) base diag(scales), positive scales of shape (d,): heteroscedastic correlated coordinates."""

    base: Covariance
    scales: Array = field(repr=False)

    def __post_init__(self) -> None:
        checks.record("base", self.base, Covariance)
        scales = checks.finite_array("scales", self.scales, 1)
        if len(scales) != self.base.size:
            raise ValueError(f"scales must have shape ({self.base.size},), got {scales.shape}")
        if scales.min() <= 0:
            raise ValueError(f"scales must be positive, got {scales.min()} at index {int(scales.argmin())}")
        set_checked(self, scales=scales)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return self.base.size

    def _matrix(self) -> Array:
        return np.asarray(self.scales[:, None] * self.base.matrix * self.scales)

    def resized(self, d: int | float) -> "Scaled":
        """The base at size d with the scales repeated; d must be a multiple of the present dimension."""
        if not math.isfinite(d) or d % self.d:
            raise ValueError(f"d must be a multiple of {self.d} to repeat these scales, got {d!r}")
        return Scaled(self.base.resized(d), np.tile(self.scales, int(d) // self.d))


@dataclass(frozen=True, eq=False, repr=False)
class Empirical(Covariance):
    """A given covariance matrix, (d, d), symmetric and positive semi-definite."""

    matrix: Array = field(repr=False)

    def __post_init__(self) -> None:
        matrix = checks.finite_array("matrix", self.matrix, 2)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"matrix must be square, got shape {matrix.shape}")
        scale = abs(matrix).max()
        gap = abs(matrix - matrix.T)
        if gap.max() > 1e-10 * scale:
            i, j = np.unravel_index(int(gap.argmax()), gap.shape)
            raise ValueError(f"matrix must be symmetric, got {matrix[i, j]} and {matrix[j, i]} at ({i}, {j})")
        eigenvalues, eigenvectors = np.linalg.eigh((matrix + matrix.T) / 2)
        if eigenvalues[0] < -1e-10 * scale * len(matrix):
            raise ValueError(f"matrix must be positive semi-definite, got an eigenvalue {eigenvalues[0]}")
        # the decomposition that proves the matrix admissible is the one that every solver needs
        set_checked(self, matrix=frozen((matrix + matrix.T) / 2))
        set_checked(self, _eigen=(frozen(without_rounding(eigenvalues)), frozen(eigenvectors)))

    def __repr__(self) -> str:
        return f"Empirical(d={self.d})"

    @classmethod
    def from_data(cls, X: Array, *, center: bool = True) -> "Empirical":
        """X^T X / n of the rows of X (n, d), after subtracting the column means unless `center` is False."""
        X = checks.finite_array("X", X, 2)
        if center:
            X = X - X.mean(axis=0)
        return cls(X.T @ X / len(X))

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return len(self.matrix)

    def _matrix(self) -> Array:
        return self.matrix

    def resized(self, d: int | float) -> Self:
        """Itself at its own size."""
        return _same_size(self, d)


def _same_size(covariance: SomeCovariance, d: int | float) -> SomeCovariance:
    if d != covariance.d:
        raise ValueError(f"a {type(covariance).__name__} covariance has fixed d = {covariance.d}, got {d!r}")
    return covariance
