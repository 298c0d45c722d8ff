"""What the experiments on spikes share: noises of every kind, and theory and measurement of a `SpikedData` record."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.random import Generator
from scipy.linalg import block_diag

from simulate.masked.outliers import SpikedData, top_outlier
from theory.models import AR1, Blocks, Covariance, Empirical, Equicorrelated, Scaled, TwoLevel
from theory.random_matrix import SpikeOutlier, spike_outlier, spike_threshold

NAMES = {"pca": "PCA", "correlation_pca": "correlation PCA", "diagonal_deleted_pca": "no-diagonal PCA"}


@cache
def scaled_chain() -> Covariance:
    """AR(1) .6 with standard deviations that alternate in runs: correlated and heteroscedastic, d = 100."""
    return Scaled(AR1(100, 0.6), np.sqrt(np.where(np.arange(100) % 5 == 0, 4.0, 0.3)))


@cache
def half_chain() -> Covariance:
    """Unit variances, half the coordinates an AR(1) chain with r = .8, half independent, d = 100."""
    return Empirical(block_diag(AR1(50, 0.8).matrix, np.eye(50)))


@cache
def pairs_and_blocks(d: int = 20) -> Covariance:
    """Unit variances, half the coordinates in pairs correlated by .95, half in tens correlated by .5."""
    ten = np.asarray(Equicorrelated(10, 0.5).matrix)
    return Empirical(block_diag(*(d // 20) * [Blocks(10, 2, 0.95).matrix, ten]))


@cache
def two_level() -> Covariance:
    """Variances .3 and 4 on 80 and 20 % of the coordinates, in the limit."""
    return TwoLevel(np.inf)


def predicted(data: SpikedData) -> SpikeOutlier:
    """The record of theory."""
    return spike_outlier(
        data.noise, data.direction, strength=data.strength, alpha=data.alpha, method=data.method, lam=data.lam
    )


def well_above_threshold(data: SpikedData) -> bool:
    """Where corrections are of order 1/d: nearer, and below, they are powers of d that no extrapolation removes."""
    return data.strength > 1.3 * predicted(data).threshold


def threshold(data: SpikedData) -> float | None:
    """The threshold of the theory whatever the strength; None where there is none."""
    found = spike_threshold(data.noise, data.direction, alpha=data.alpha, method=data.method, lam=data.lam).value
    return found if np.isfinite(found) else None


def measured(data: SpikedData, d: int, rng: Generator) -> np.ndarray:
    """(eigenvalue, overlap, left overlap) with the noise at size d."""
    noise = pairs_and_blocks(d) if data.noise is not two_level() and data.noise.d == 20 else data.noise
    return top_outlier(replace(data, noise=noise), d, rng)


def measured_eigenvalue(data: SpikedData, d: int, rng: Generator) -> float:
    """The top eigenvalue alone."""
    return float(measured(data, d, rng)[0])


def measured_overlap(data: SpikedData, d: int, rng: Generator) -> float:
    """The right overlap alone."""
    return float(measured(data, d, rng)[1])
