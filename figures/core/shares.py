"""Shares of replicates that succeed, with Wilson's intervals, which have a length at none and at all of them too."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulate.core import Estimate

NORMAL_QUANTILE = 1.959964  # of an interval that holds 95 %


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Return the interval of a share of `hits` in n at 95 % by Wilson, (0, 1) for n = 0.

    Wilson, Journal of the American Statistical Association 22, 209 (1927).

    >>> low, high = wilson(9, 10)
    >>> f"{low:.3f} {high:.3f}"
    '0.596 0.982'
    """
    if n == 0:
        return 0.0, 1.0
    z2 = NORMAL_QUANTILE**2
    center = (hits + z2 / 2) / (n + z2)
    half = NORMAL_QUANTILE * math.sqrt(hits * (n - hits) / n + z2 / 4) / (n + z2)
    return center - half, center + half


def share(successes: ArrayLike) -> Estimate:
    """Return the share of replicates that are 1, of all that are 0 or 1; its error is that of Wilson's interval.

    The interval is not symmetric about the share; its half-length over the normal quantile stands for the error.
    ValueError for replicates that are neither 0 nor 1.

    >>> print(share([1, 1, 1, 0]))
    0.75(17)
    """
    found = np.asarray(successes, dtype=float)
    if not np.isin(found, (0.0, 1.0)).all():
        raise ValueError(f"successes must be 0 or 1, got {found[~np.isin(found, (0.0, 1.0))][0]}")
    low, high = wilson(found.sum(), len(found))
    return Estimate(float(found.mean()), (high - low) / 2 / NORMAL_QUANTILE, len(found))


def share_bars(shares: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Return how far Wilson's intervals reach below and above measured shares of n replicates each, (2, points)."""
    values, counts = np.asarray(shares, dtype=float), np.asarray(n, dtype=float)
    ends = np.array([wilson(value * count, count) for value, count in zip(values, counts, strict=True)]).reshape(-1, 2)
    return np.asarray(np.maximum((values - ends[:, 0], ends[:, 1] - values), 0.0))  # rounding at shares of 0 and 1
