"""Estimates the noise in a covariance: independent columns, with the variances left without a few directions.

Model: Sigma = diag(s) + a few directions. In the units of s the noise has the Marchenko-Pastur law whatever s is, so
eigenvalues above its edge are directions; with those removed the diagonal that is left gives the next s.
"""

from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array

TRACY_WIDOM = 2.0234  # quantile .99 of the largest eigenvalue of real noise, in units of its scale
ROUNDS = 30
FEW_DIRECTIONS_SHARE = 0.25  # a few directions are at most this share of min(n, d)
SCALE_TOLERANCE = 1e-2  # largest relative change of s between two rounds that agree
LEAST_FREE, LEAST_SHARE = 0.05, 1e-4  # least share of a column outside the directions, and of its variance


@dataclass(frozen=True, eq=False)
class NoisePart:
    """The variances s of the noise in a covariance, and how many directions were removed to find them."""

    variances: Array = field(repr=False)  # (d,)
    removed: int  # number of directions taken out
    settled: bool  # False where s and the directions found in its units never agreed; then s is the first one


def noise_part(covariance: Array, n: int) -> NoisePart:
    """Find the noise part of the sample covariance (d, d) of n rows of mean zero."""
    variances = np.diagonal(covariance).copy()
    most = int(FEW_DIRECTIONS_SHARE * min(n, len(covariance)))
    first, count = None, 0
    for _ in range(ROUNDS):
        found, left = _without_directions(covariance, variances, n, count)
        first = first or NoisePart(left, found, found == 0)
        if found == 0 or found > most:
            return first
        change = float(abs(left / variances - 1).max())
        if found == count and change < SCALE_TOLERANCE:
            return NoisePart(left, found, True)
        variances, count = left, found
    return first or NoisePart(variances, 0, True)


def white_limit(n: int, d: int) -> float:
    """Return where the eigenvalues of n rows of white noise in d dimensions end.

    The largest one is above it in 1 % of samples: the edge of the Marchenko-Pastur law plus the .99 quantile of the
    Tracy-Widom fluctuation, in the centering and scaling of Johnstone (Ann. Statist. 29, 295, 2001).
    """
    scale = (np.sqrt(n) + np.sqrt(d)) * (1 / np.sqrt(n) + 1 / np.sqrt(d)) ** (1 / 3) / n
    return float((1 + np.sqrt(d / n)) ** 2 + TRACY_WIDOM * scale)


def _without_directions(covariance: Array, variances: Array, n: int, least: int) -> tuple[int, Array]:
    """Return how many directions stand out in the units of `variances`, and the variances that they leave.

    At least `least` of them are removed.
    """
    root, d = np.sqrt(variances), len(variances)
    eigenvalues, vectors = np.linalg.eigh(covariance / root[:, None] / root)
    count = min(max(least, int((eigenvalues > white_limit(n, d)).sum())), min(n, d) // 2)
    if count == 0:
        return 0, np.diagonal(covariance).copy()
    weights = vectors[:, d - count :] ** 2
    left = np.diagonal(covariance) / variances - weights @ eigenvalues[d - count :]
    # `count` directions take as many of n rows, and of every column its weight on them
    unbiased = left / np.maximum(1 - weights.sum(axis=1), LEAST_FREE) * n / (n - count)
    return count, np.maximum(unbiased * variances, LEAST_SHARE * np.diagonal(covariance))
