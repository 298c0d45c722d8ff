"""Gaussian free fields on periodic lattices."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from scipy.special import ellipkm1

from theory.core import Array, AtLeast, Count, Within, checked_fields
from theory.models.covariance import Covariance
from theory.models.one_pole import one_pole_circle
from theory.models.spectrum import Spectrum, homogeneous
from theory.numerics.quadrature import divided, graded_edges, panelled_legendre


@dataclass(frozen=True)
class GaussianFreeField(Covariance):
    """The covariance of a lattice free field: its inverse is mass^2 - Laplacian, on a ring or a square torus.

    `dimension` is 1 for the ring and 2 for the torus, of d = side^dimension sites in row-major order. The eigenvalues
    are 1/(mass^2 + sum_i 2 (1 - cos k_i)) at the wave numbers k_i = 2 pi j / side. d may be infinite: in one dimension
    k runs over the circle, in two e = sum_i 2 (1 - cos k_i) has the density of states K(1 - (e/4 - 1)^2)/(2 pi^2) on
    (0, 8), K the complete elliptic integral.

    >>> round(float(GaussianFreeField(float("inf"), mass=1.0).variances[0]), 6)  # 1/sqrt(m^2 (m^2 + 4))
    0.447214
    """

    d: Annotated[int | float, AtLeast(3, infinite=True)]
    mass: Annotated[float, Within(1e-150, 1e150, closed=(True, True))]
    dimension: Count = 1
    _structured: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_fields(self)
        d = self.d
        if self.dimension > 2:
            raise ValueError(f"dimension must be 1 or 2, got {self.dimension!r}")
        if self.dimension == 2 and math.isfinite(d) and (math.isqrt(int(d)) ** 2 != d or d < 9):
            raise ValueError(f"d must be the square of a side of at least 3 in dimension 2, got {d!r}")
        # The square of the mass is a precision and its inverse a variance: both must be numbers.

    @property
    def side(self) -> int:
        """The number of sites along one direction of the lattice."""
        return self.size if self.dimension == 1 else math.isqrt(self.size)

    def mode_grid(self) -> Array:
        """Return the eigenvalues on the grid of wave numbers of numpy's fft, shape (side,) or (side, side)."""
        steps = 2 - 2 * np.cos(2 * np.pi * np.arange(self.side) / self.side)
        energies = steps if self.dimension == 1 else steps[:, None] + steps
        return np.asarray(1 / (self.mass**2 + energies))

    def _matrix(self) -> Array:
        half_grid = self.mode_grid()[..., : self.side // 2 + 1]
        axes = tuple(range(self.dimension))
        correlation = np.fft.irfftn(half_grid, s=(self.side,) * self.dimension, axes=axes)
        shift = (np.arange(self.side)[:, None] - np.arange(self.side)) % self.side
        if self.dimension == 1:
            matrix = correlation[shift]
        else:
            matrix = correlation[shift[:, None, :, None], shift[None, :, None, :]].reshape(self.size, self.size)
        return np.asarray(matrix + matrix.T) / 2

    def _spectrum(self) -> Spectrum:
        half = np.arange(self.side // 2 + 1)
        steps = 2 - 2 * np.cos(2 * np.pi * half / self.side)
        weights = np.where((half == 0) | (2 * half == self.side), 1.0, 2.0)
        if self.dimension == 2:
            steps, weights = (steps[:, None] + steps).ravel(), np.outer(weights, weights).ravel()
        return homogeneous(1 / (self.mass**2 + steps), weights)

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        if self.dimension == 1:
            return one_pole_circle(1.0, self.mass**2, 1.0, times)
        # Panels shrink towards the logarithm of the density in the middle of the band, and towards its lower end, near
        # which 1/(mass^2 + e) has its pole at e = -mass^2.
        inner = graded_edges(0, 2, 1e-16, ratio=3)
        outer = graded_edges(4, 2, min(self.mass**2, 1) / 2)[::-1]
        distance, weights = panelled_legendre(divided(np.append(inner, outer[1:]), times))
        weights = weights * ellipkm1((distance / 4) ** 2)
        energies = np.concatenate([4 - distance, 4 + distance])
        return homogeneous(1 / (self.mass**2 + energies), np.tile(weights, 2))
