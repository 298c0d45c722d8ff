"""Covariances that are made of other covariances or of data: spiked, rescaled, empirical."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Self

import numpy as np

from theory.core import Array, FiniteArray, checked, checked_fields, checks
from theory.models.covariance import Covariance, frozen, repetitions, same_size, set_checked
from theory.models.eigenmodes import PLAIN_SOLVER_RATIO, eigenmodes, rounding, scaled_modes
from theory.models.matrices import semidefinite_matrix

LARGEST_ENTRY = 1e150  # of data; squares of more overflow


@dataclass(frozen=True, eq=False)
class Spiked(Covariance):
    """The covariance base + sum_i strengths[i] u_i u_i^T of a noise with spikes.

    `directions` holds the unit vectors u_i in rows, (k, d), or (d,) for one; `strengths` are positive variances, (k,).

    >>> from theory.models import Isotropic
    >>> Spiked(Isotropic(2), directions=[0.6, 0.8], strengths=2.0).matrix
    array([[1.72, 0.96],
           [0.96, 2.28]])
    """

    base: Covariance
    directions: Array = field(repr=False)
    strengths: Sequence[float] | float | Array

    def __post_init__(self) -> None:
        checks.record("base", self.base, Covariance)
        directions = checks.finite_array(
            "directions", np.atleast_2d(checks.real_array("directions", self.directions)), 2
        )
        strengths = checks.finite_array("strengths", np.atleast_1d(checks.real_array("strengths", self.strengths)), 1)
        if directions.shape != (len(strengths), self.base.size):
            expected = (len(strengths), self.base.size)
            raise ValueError(f"directions must have shape {expected} (strengths, d), got {directions.shape}")
        with np.errstate(over="ignore"):  # an infinite norm is refused like any other that is not one
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
        """Return the record itself at its own size; at another, ValueError: the directions are vectors of that size."""
        return same_size(self, d)


@dataclass(frozen=True, eq=False)
class Scaled(Covariance):
    """The covariance diag(scales) base diag(scales): the coordinates of `base` in other units.

    `scales` are positive, of shape (d,).

    >>> from theory.models import AR1
    >>> Scaled(AR1(2, 0.5), scales=[1.0, 10.0]).matrix
    array([[  1.,   5.],
           [  5., 100.]])
    """

    base: Covariance
    scales: Annotated[Array, FiniteArray(1, positive=True)] = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        if len(self.scales) != self.base.size:
            raise ValueError(f"scales must have shape ({self.base.size},), got {self.scales.shape}")

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return self.base.size

    def _matrix(self) -> Array:
        return np.asarray(self.scales[:, None] * self.base.matrix * self.scales)

    def _eigh(self) -> tuple[Array, Array]:
        # The base may know its small eigenvalues better than the entries of the product can tell. Whether any is small
        # is seen without its eigenvectors, which cost as much as those of the product.
        spread = 2 * (np.log(self.scales.max()) - np.log(self.scales.min()))
        if spread <= np.log(PLAIN_SOLVER_RATIO):
            rough = self.base._rough_eigenvalues()
            if rough[0] > 1e4 * rounding(rough):
                return super()._eigh()
        return scaled_modes(self.scales, self.base.eigenvalues, self.base.eigenvectors)

    def resized(self, d: int | float) -> "Scaled":
        """Resize the base to d and repeat the scales; d must be a multiple of the present dimension."""
        count = repetitions("scales", self.d, d)
        return Scaled(self.base.resized(d), np.tile(self.scales, count))


@dataclass(frozen=True, eq=False, repr=False)
class Empirical(Covariance):
    """A given covariance matrix, (d, d), symmetric and positive semi-definite in the units of its columns.

    An eigenvalue counts as zero where the matrix of correlations has one to rounding, whatever the units.

    >>> Empirical([[2.0, 1.0], [1.0, 2.0]]).eigenvalues
    array([1., 3.])
    """

    matrix: Annotated[Array, FiniteArray(2)] = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        matrix = semidefinite_matrix("matrix", self.matrix)
        eigenvalues, eigenvectors = eigenmodes(matrix)
        # The decomposition that every solver needs is computed here, once.
        set_checked(self, matrix=frozen(matrix), _eigen=(frozen(eigenvalues), frozen(eigenvectors)))

    def __repr__(self) -> str:
        return f"Empirical(d={self.d})"

    @classmethod
    @checked
    def from_data(cls, X: Annotated[Array, FiniteArray(2)], *, center: bool = True) -> "Empirical":
        """Compute X^T X / n of the rows of X (n, d), after subtracting the column means unless `center` is False."""
        largest = abs(X).max()
        if largest > LARGEST_ENTRY or 0 < largest < 1 / LARGEST_ENTRY:
            allowed = f"entries from {1 / LARGEST_ENTRY:g} to {LARGEST_ENTRY:g} in size"
            raise ValueError(f"X must have {allowed}, since their squares are summed, got at most {largest:g}")
        if center:
            # A constant column has no variance: rounding of its mean would leave a tiny one.
            X = np.where(np.ptp(X, axis=0) > 0, X - X.mean(axis=0), 0.0)
        return cls(X.T @ X / len(X))

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return len(self.matrix)

    def _matrix(self) -> Array:
        return self.matrix

    def resized(self, d: int | float) -> Self:
        """Return the record itself at its own size; at another, ValueError: the matrix has no other size."""
        return same_size(self, d)
