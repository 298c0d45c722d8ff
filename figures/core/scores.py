"""Turns the gaps between measured means and predictions into scores that are normal for a right theory."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtr, fdtrc, ndtri, ndtri_exp, stdtr  # scipy.stats takes half a second to load

COVERAGE = 0.95  # coverage of the error bars that are drawn
MIN_LOG_PROBABILITY = -690.0  # logarithm of the least probability that is told apart from zero: scores reach 37
SPARE_REPLICATES = 6  # replicates beyond the number of rows from which on their covariance is measured well enough
EXACT = 12  # replicates up to which all choices of signs are tried


def normal_score(t: float, degrees: float) -> float:
    """Return the normal quantile of a mean's gap in standard errors `t`, which has so many degrees of freedom.

    With few replicates the standard error itself is uncertain, and t follows Student's law with n - 1 degrees of
    freedom (for extrapolated means with those of Welch and Satterthwaite): large values are common. The score has the
    probability of t under the standard normal law instead, so that scores of different n can be compared and squared.
    A standard error of zero gives t = 0 or infinity, which stays.

    >>> round(normal_score(2.0, 2), 3), round(normal_score(2.0, 7), 3), round(normal_score(2.0, 999), 3)
    (1.327, 1.728, 1.997)
    """
    if not math.isfinite(t) or t == 0:
        return t
    return math.copysign(-_quantile(float(stdtr(degrees, -abs(t)))), t)


def joint_score(gaps: ArrayLike) -> float:
    """Return one normal score for several means from the same replicates, whose `gaps` to theory are (n, p).

    Rows that share samples are not independent. The score is the normal quantile of Hotelling's T^2, the chi-square of
    all means with their measured covariance: large where the means deviate in any way, and negative where they agree
    better than chance lets most sets agree. Rows that are sums of others are counted once. With fewer than p + 6
    replicates the covariance of p rows cannot be measured. Then the score is the normal quantile of the rank that the
    sum of squared means, in units of the root mean squares, has among its values when each replicate's gaps have their
    signs turned or not: for a right theory and symmetric noise all of these are equally likely. It cannot exceed 2.7
    with 8 replicates and 3.5 with 12, since there are no more choices of signs.

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
    if n < sample.shape[1] + SPARE_REPLICATES:
        return _rank_score(sample)
    means, centered = sample.mean(axis=0), sample - sample.mean(axis=0)
    _, widths, directions = np.linalg.svd(centered, full_matrices=False)
    kept = widths > 1e-8 * math.sqrt(n)  # of rows that have the deviation one
    p = int(kept.sum())
    square = n * (n - 1) * float(np.sum((directions[kept] @ means / widths[kept]) ** 2))
    value = square * (n - p) / (p * (n - 1))
    lower, upper = float(fdtr(p, n - p, value)), float(fdtrc(p, n - p, value))
    return _quantile(lower) if lower < upper else -_quantile(upper)


def _quantile(probability: float) -> float:
    """Return the normal quantile of a probability, also where that is so small that it is taken for zero.

    What is not a number stays so.
    """
    return float(
        ndtri_exp(MIN_LOG_PROBABILITY if probability == 0 else max(math.log(probability), MIN_LOG_PROBABILITY))
    )


def _rank_score(gaps: NDArray[np.float64]) -> float:
    """Return the normal quantile of the rank of the observed means among those of all choices of signs."""
    n = len(gaps)
    if n <= EXACT:
        signs = 1.0 - 2.0 * (np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1)  # the last one is never turned
    else:
        signs = np.vstack([np.ones(n), np.random.default_rng(0).choice((-1.0, 1.0), (2**EXACT, n))])
    sizes = np.sum((signs @ (gaps / np.sqrt(np.mean(gaps**2, axis=0)))) ** 2, axis=1)
    tied = np.isclose(sizes, sizes[0], rtol=1e-9)
    rank = np.sum(~tied & (sizes < sizes[0])) + tied.sum() / 2
    return float(ndtri(rank / len(sizes)))


def spread_of_rms(n: int) -> float:
    """Return the standard deviation, around 1, of the root mean square of n independent standard normal scores."""
    return 1 / math.sqrt(2 * n)


def expected_largest(n: int) -> float:
    """Return the median of the largest of n independent standard normal scores in absolute value."""
    return -float(ndtri(-math.expm1(math.log(0.5) / n) / 2))
