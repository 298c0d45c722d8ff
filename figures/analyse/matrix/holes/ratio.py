"""Gives the standard error of a ratio of sums, such as the mean square of entries that err together in their row."""

import numpy as np

from theory.core.arrays import Array


def ratio_stderr(sums: Array, counts: Array) -> float:
    """Return the standard error of sum(sums)/sum(counts), whose terms are independent; NaN where it has fewer than two.

    Derived here: to first order the ratio differs from its limit by the sum of (sums - ratio * counts) over that of the
    counts. Terms without a count do not count.

    >>> float(ratio_stderr(np.array([1.0, 2.0, 4.0]), np.ones(3))).__round__(6)  # that of a mean
    0.881917
    """
    used = counts > 0
    m = int(used.sum())
    if m < 2:
        return np.nan
    gaps = (sums - sums.sum() / counts.sum() * counts)[used]
    return float(np.sqrt((gaps**2).sum() * m / (m - 1)) / counts.sum())
