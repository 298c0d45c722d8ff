"""Defines a covariance of two blocks of very different variance, which experiments on training share."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import toeplitz

from theory.core import Array
from theory.models import Covariance, Spectrum
from theory.numerics.quadrature import half_circle

CORRELATION = 0.9  # of neighbors in the chain of the small block
FREQUENCIES = 200  # of the chain for d -> infinity, whose means converge as CORRELATION^400


@dataclass(frozen=True)
class TwoBlocks(Covariance):
    """Describes large independent coordinates of variance 1, the first half, and as many of the variance `small`.

    Coordinate k of the small block is sqrt(small) (sqrt(shared) x_k + sqrt(1 - shared) y_k), with x_k that of the large
    block and y an AR(1) chain with CORRELATION. In the limit d -> infinity there are two classes of coordinates, the
    large and the small ones. ValueError for an odd d.
    """

    d: int | float = math.inf
    shared: float = 0.0
    small: float = 1e-3

    def __post_init__(self) -> None:
        if math.isfinite(self.d) and (self.d < 2 or self.d % 2):
            raise ValueError(f"d must be even, got {self.d!r}")

    def _matrix(self) -> Array:
        half = self.size // 2
        between = math.sqrt(self.shared * self.small) * np.eye(half)
        chain = toeplitz(CORRELATION ** np.arange(half))
        within = self.small * (self.shared * np.eye(half) + (1 - self.shared) * chain)
        return np.block([[np.eye(half), between], [between, within]])

    def _limit(self) -> Spectrum:
        # Every frequency of the chain is a matrix of two rows, whose modes load on both classes of coordinates.
        r, pairs = CORRELATION, np.empty((FREQUENCIES, 2, 2))
        pairs[:, 0, 0] = 1.0
        pairs[:, 0, 1] = pairs[:, 1, 0] = math.sqrt(self.shared * self.small)
        chain = (1 - r**2) / (1 - 2 * r * np.cos(half_circle(FREQUENCIES)) + r**2)
        pairs[:, 1, 1] = self.small * (self.shared + (1 - self.shared) * chain)
        eigenvalues, vectors = np.linalg.eigh(pairs)
        loadings = np.moveaxis(vectors**2, 1, 0).reshape(2, -1) / FREQUENCIES
        return Spectrum(eigenvalues.ravel(), np.full(2 * FREQUENCIES, 0.5 / FREQUENCIES), loadings)

    def resized(self, d: int | float) -> "TwoBlocks":
        """Return the record of this size, one for all replicates, since it keeps its matrix once computed."""
        return two_blocks(d, self.shared, self.small)


@cache
def two_blocks(d: int | float = math.inf, shared: float = 0.0, small: float = 1e-3) -> TwoBlocks:
    """Return the one record with these parameters."""
    return TwoBlocks(d, shared, small)
