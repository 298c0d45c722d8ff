"""Defines what the experiments on spikes share: kinds of noise, and where a measurement of a spike may be judged."""

from collections.abc import Callable
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
COLORS: dict[SpikeMethod, int] = {method: place for place, method in enumerate(("ssr", *NAMES))}  # in the color cycle


@cache
def scaled_chain() -> Covariance:
    """Make AR(1) with r = 0.6 and d = 100 in which every fifth coordinate has variance 4 and the others 0.3."""
    return Scaled(AR1(100, 0.6), np.sqrt(np.where(np.arange(100) % 5 == 0, 4.0, 0.3)))


@cache
def half_chain() -> Covariance:
    """Make unit variances where half the coordinates are an AR(1) chain with r = 0.8 and half independent, d = 100."""
    return Empirical(block_diag(AR1(50, 0.8).matrix, np.eye(50)))


@dataclass(frozen=True)
class PairsAndBlocks(Covariance):
    """Describes unit variances, half the coordinates in pairs correlated by 0.95 and half in groups of ten by 0.5.

    ValueError for a d that is not a multiple of 20.
    """

    d: int = 20

    def __post_init__(self) -> None:
        if self.d < 20 or self.d % 20:
            raise ValueError(f"d must be a multiple of 20, got {self.d!r}")

    def _matrix(self) -> np.ndarray:
        ten = np.asarray(Equicorrelated(10, 0.5).matrix)
        return np.asarray(block_diag(*(self.d // 20) * [Blocks(10, 2, 0.95).matrix, ten]))

    def resized(self, d: int | float) -> "PairsAndBlocks":
        """Return the record of this size, one for all replicates, since it keeps the eigenvectors once computed."""
        if not np.isfinite(d):
            raise ValueError(f"d must be a multiple of 20, got {d!r}")
        return pairs_and_blocks(int(d))


@cache
def pairs_and_blocks(d: int = 20) -> PairsAndBlocks:
    """Return the one record of pairs and blocks at size d."""
    return PairsAndBlocks(d)


@cache
def two_level() -> Covariance:
    """Make variances 0.3 and 4 on 80 and 20 % of infinitely many coordinates."""
    return TwoLevel(np.inf)


NOISES: dict[str, Callable[[], Covariance]] = {
    "two variances": two_level,
    "scaled AR(1)": scaled_chain,
    "half AR(1)": half_chain,
    "pairs and blocks": pairs_and_blocks,
}


def delocalized(noise: Callable[[], Covariance], method: SpikeMethod, lam: float | None, alpha: float) -> SpikedData:
    """Make a spike over all coordinates in one kind of noise, whose strength is left open."""
    return SpikedData(noise(), alpha=alpha, method=method, lam=lam)


def well_above_threshold(data: SpikedData) -> bool:
    """Tell whether corrections are of order 1/d.

    Nearer to the threshold, and below it, they are other powers of d, which the extrapolation does not remove.
    """
    return data.strength is not None and data.strength > 1.3 * threshold(data).value


def finite_threshold(data: SpikedData) -> float | None:
    """Return the threshold by theory, or None, which is not drawn, where no strength suffices."""
    found = threshold(data).value
    return found if np.isfinite(found) else None
