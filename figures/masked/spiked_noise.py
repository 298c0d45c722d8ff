"""What the experiments on spikes share: noises of every kind, and where a measurement of a spike may be judged."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import block_diag

from theory.models import AR1, Blocks, Covariance, Empirical, Equicorrelated, Scaled, SpikedData, SpikeMethod, TwoLevel
from theory.random_matrix import threshold

NAMES: dict[SpikeMethod, str] = {
    "pca": "PCA",
    "correlation_pca": "correlation PCA",
    "diagonal_deleted_pca": "no-diagonal PCA",
}


@cache
def scaled_chain() -> Covariance:
    """AR(1) .6 with standard deviations that alternate in runs: correlated and heteroscedastic, d = 100."""
    return Scaled(AR1(100, 0.6), np.sqrt(np.where(np.arange(100) % 5 == 0, 4.0, 0.3)))


@cache
def half_chain() -> Covariance:
    """Unit variances, half the coordinates an AR(1) chain with r = .8, half independent, d = 100."""
    return Empirical(block_diag(AR1(50, 0.8).matrix, np.eye(50)))


@dataclass(frozen=True)
class PairsAndBlocks(Covariance):
    """Unit variances, half the coordinates in pairs correlated by .95, half in tens by .5; d a multiple of 20."""

    d: int = 20

    def __post_init__(self) -> None:
        if self.d < 20 or self.d % 20:
            raise ValueError(f"d must be a multiple of 20, got {self.d!r}")

    def _matrix(self) -> np.ndarray:
        ten = np.asarray(Equicorrelated(10, 0.5).matrix)
        return np.asarray(block_diag(*(self.d // 20) * [Blocks(10, 2, 0.95).matrix, ten]))

    def resized(self, d: int | float) -> "PairsAndBlocks":
        """The record of this size, one for all replicates: it keeps the eigenvectors that it has computed."""
        if not np.isfinite(d):
            raise ValueError(f"d must be a multiple of 20, got {d!r}")
        return pairs_and_blocks(int(d))


@cache
def pairs_and_blocks(d: int = 20) -> PairsAndBlocks:
    """Pairs and blocks at size d."""
    return PairsAndBlocks(d)


@cache
def two_level() -> Covariance:
    """Variances .3 and 4 on 80 and 20 % of the coordinates, in the limit."""
    return TwoLevel(np.inf)


def well_above_threshold(data: SpikedData) -> bool:
    """Where corrections are of order 1/d: nearer, and below, they are powers of d that no extrapolation removes."""
    return data.strength is not None and data.strength > 1.3 * threshold(data).value


def finite_threshold(data: SpikedData) -> float | None:
    """The threshold of the theory; None, which is not drawn, where no strength suffices."""
    found = threshold(data).value
    return found if np.isfinite(found) else None
