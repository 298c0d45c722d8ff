"""Describes noise of equal variances of which half is a chain, at any size and in the limit of infinitely many."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import block_diag

from theory.models import AR1, Covariance, Spectrum


@dataclass(frozen=True)
class HalfChain(Covariance):
    """Describes unit variances where half the coordinates are an AR(1) chain with r = 0.8 and half independent.

    The limit of infinitely many takes the spectrum of the chain at 96 frequencies, which leaves an error of 1e-5 of
    thresholds along training. ValueError for an odd d.
    """

    d: int | float

    def __post_init__(self) -> None:
        if np.isfinite(self.d) and (self.d < 2 or self.d % 2):
            raise ValueError(f"d must be an even number or infinity, got {self.d!r}")

    def _matrix(self) -> np.ndarray:
        half = self.size // 2
        return np.asarray(block_diag(AR1(half, 0.8).matrix, np.eye(half)))

    def _limit(self) -> Spectrum:
        count = 96
        chain = 0.36 / (1.64 - 1.6 * np.cos((np.arange(count) + 0.5) * np.pi / count))
        loadings = np.zeros((2, count + 1))
        loadings[0, :count], loadings[1, count] = 1 / count, 1.0
        return Spectrum(np.append(chain, 1.0), loadings.mean(0), loadings=loadings)

    def resized(self, d: int | float) -> "HalfChain":
        """Return the record of this size, one for all replicates, since it keeps the eigenvectors once computed."""
        return half_chain_of(d)


@cache
def half_chain_of(d: int | float) -> HalfChain:
    """Return the one record of half a chain at size d."""
    return HalfChain(d)
