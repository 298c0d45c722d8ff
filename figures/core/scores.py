"""Turns the gaps between measured means and predictions into scores that are normal for a right theory."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri_exp
from scipy.stats import f as fisher
from scipy.stats import norm
from scipy.stats import t as student

COVERAGE = 0.95  # of the error bars that are drawn
SMALLEST = -690.0  # logarithm of the least probability that is told apart from zero: scores reach 37
SPARE = 8  # replicates beyond the number of rows from which on a covariance is measured well enough


def normal_score(t: float, n: int) -> float:
    """Returns the normal quantile of a mean's gap in standard errors `t`, where n replicates gave the standard error.

    With few replicates the standard error itself is uncertain, and t follows Student's law with n - 1 degrees of
    freedom: large values are common. The score has the probability of t under the standard normal law instead, so that
    scores of different n can be compared and squared. A standard error of zero gives t = 0 or infinity, which stays.

    >>> round(normal_score(2.0, 3), 3), round(normal_score(2.0, 8), 3), round(normal_score(2.0, 1000), 3)
    (1.327, 1.728, 1.997)
    """
    if not math.isfinite(t) or t == 0:
        return t
    return math.copysign(-float(ndtri_exp(max(float(student.logsf(abs(t), n - 1)), SMALLEST))), t)


def error_bars(stderr: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Returns the half-lengths of bars that contain the true mean with the probability COVERAGE, by Student's law."""
    return np.asarray(student.ppf((1 + COVERAGE) / 2, np.asarray(n, dtype=float) - 1) * np.asarray(stderr))


def joint_score(gaps: ArrayLike) -> float:
    """Returns one normal score for several means from the same replicates, whose `gaps` to theory are (n, p).

    Rows that share samples are not independent. With n >= p + 8 replicates the score is the normal quantile of
    Hotelling's T^2, the chi-square of all means with their measured covariance: large where the means deviate in any
    way, and negative where they agree better than chance lets most sets agree. With fewer replicates a covariance
    cannot be measured; then it is the score of the mean over the rows of gap/deviation, which has one number a
    replicate and sees deviations in a common direction. Rows that are sums of others are counted once.

    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal((40, 1)) + 0.3 * rng.standard_normal((40, 5))
    >>> abs(joint_score(shared)) < 3, joint_score(shared + [2.0, 0, 0, 0, 0]) > 6
    (True, True)
    """
    sample = np.asarray(gaps, dtype=float)
    n = len(sample)
    scale = sample.std(axis=0, ddof=1)
    scale[scale <= 1e-13 * abs(sample).max(axis=0)] = 0  # the scatter of rounding alone
    if (abs(sample.mean(axis=0))[scale == 0] > 0).any():
        return math.inf  # a number without any scatter misses its prediction
    sample = sample[:, scale > 0] / scale[scale > 0]
    if not sample.size:
        return 0.0
    means, centered = sample.mean(axis=0), sample - sample.mean(axis=0)
    _, widths, directions = np.linalg.svd(centered, full_matrices=False)
    kept = widths > 1e-8 * widths[0]
    p = int(kept.sum())
    if n < p + SPARE:
        each = sample.mean(axis=1)
        return normal_score(float(each.mean() * math.sqrt(n) / each.std(ddof=1)), n)
    square = n * (n - 1) * float(np.sum((directions[kept] @ means / widths[kept]) ** 2))
    value = square * (n - p) / (p * (n - 1))
    lower, upper = fisher.logcdf(value, p, n - p), fisher.logsf(value, p, n - p)
    return float(ndtri_exp(max(lower, SMALLEST)) if lower < upper else -ndtri_exp(max(upper, SMALLEST)))


def expected_rms(n: int) -> float:
    """Returns the standard deviation of the root mean square of n independent standard normal scores, about 1."""
    return 1 / math.sqrt(2 * n)


def expected_largest(n: int) -> float:
    """Returns the median of the largest of n independent standard normal scores in absolute value."""
    return float(norm.isf(-math.expm1(math.log(0.5) / n) / 2))
