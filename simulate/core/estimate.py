"""Defines measured numbers: a mean over independent replicates, its standard error, and their number."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit  # scipy.stats takes half a second to load

from theory.core import Count, NonNegative, OpenShare, Positive, Real, checked, checked_fields


@dataclass(frozen=True)
class Estimate:
    """Holds a measured number: the mean of `n` independent replicates and the standard error of that mean.

    The standard error is the standard deviation of the replicates (with n - 1 in the denominator) over sqrt(n). An
    estimate prints with its error in units of the last digit, as 0.19385(19). ValueError for a mean that is not finite,
    a negative error, or fewer than two replicates.

    >>> estimate = Estimate.of([1.0, 2.0, 4.0])
    >>> print(estimate, estimate.n)
    2.33(88) 3
    >>> round(estimate.z(2.0), 3)
    0.378
    """

    mean: Real
    stderr: NonNegative
    n: Count

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.n < 2:
            raise ValueError(f"n must be >= 2 (one replicate has no error bar), got {self.n}")

    @classmethod
    @checked
    def of(cls, values: ArrayLike) -> "Estimate":
        """Summarize the replicates `values`, (n,) with n >= 2.

        ValueError where one of them is not finite, because dropping failures would bias the mean.
        """
        sample = np.asarray(values, dtype=float)
        if sample.ndim != 1 or sample.size < 2:
            raise ValueError(f"values must be a list of at least 2 replicates, got shape {sample.shape}")
        bad = np.flatnonzero(~np.isfinite(sample))
        if bad.size:
            raise ValueError(
                f"values must be finite, got {sample[bad[0]]} at position {bad[0]} ({bad.size} of {sample.size})"
            )
        if sample.min() == sample.max():  # otherwise rounding in the mean would give an error of 1e-17 instead of 0
            return cls(float(sample[0]), 0.0, sample.size)
        # Squares overflow from 1e154 on and vanish below 1e-162; a power of two shifts them and changes no digit.
        exponent = math.frexp(abs(sample).max())[1]
        shift = exponent if abs(exponent) > 400 else 0
        sample = np.ldexp(sample, -shift)
        mean, stderr = sample.mean(), sample.std(ddof=1) / math.sqrt(sample.size)
        return cls(math.ldexp(mean, shift), math.ldexp(stderr, shift), sample.size)

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of Student's law for the gap in standard errors: n - 1."""
        return self.n - 1.0

    @checked
    def interval(self, coverage: OpenShare = 0.95) -> tuple[float, float]:
        """Return the ends of the interval that contains the true mean with this probability, by Student's law.

        >>> low, high = Estimate(2.0, 0.1, 5).interval()
        >>> round(low, 3), round(high, 3)
        (1.722, 2.278)
        """
        half = float(stdtrit(self.degrees_of_freedom, (1 + coverage) / 2)) * self.stderr
        return self.mean - half, self.mean + half

    @checked
    def z(self, predicted: float) -> float:
        """Return (mean - predicted) / stderr; with stderr 0 it is 0 where they are equal and infinite elsewhere."""
        gap = self.mean - predicted
        if self.stderr == 0:
            return math.copysign(math.inf, gap) if gap else 0.0
        return gap / self.stderr

    def __str__(self) -> str:
        if self.stderr == 0:
            return f"{self.mean:.12g}(0)"
        scale = _exponent(max(abs(self.mean), self.stderr))
        if -5 < scale < 6:
            return _short(self.mean, self.stderr)
        return _short(self.mean / 10.0**scale, self.stderr / 10.0**scale) + f"e{scale:+03d}"


@dataclass(frozen=True)
class Extrapolation(Estimate):
    """Holds a mean that was extrapolated from two sizes; `n` is the smaller of both numbers of replicates.

    The errors of both sizes add, so that their sum has `degrees` degrees of freedom by the rule of Welch and
    Satterthwaite, more than n - 1.
    """

    degrees: Positive

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of Student's law by the rule of Welch and Satterthwaite."""
        return self.degrees


def wilson(share: float, n: int, coverage: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval for the true share where n trials have this share of successes, (0, 1) for n = 0.

    Wilson, Journal of the American Statistical Association 22, 209 (1927).

    >>> low, high = wilson(0.9, 10)
    >>> f"{low:.3f} {high:.3f}"
    '0.596 0.982'
    """
    if n == 0:
        return 0.0, 1.0
    square = float(ndtri((1 + coverage) / 2)) ** 2 / n
    center, half = share + square / 2, math.sqrt(square * (share * (1 - share) + square / 4))
    return max(center - half, 0.0) / (1 + square), min((center + half) / (1 + square), 1.0)


@dataclass(frozen=True)
class Share(Estimate):
    """Holds the share of successes among n independent trials.

    Its standard error is that of one more success and one more failure, so that it does not vanish at 0 and 1, and its
    interval is Wilson's (Journal of the American Statistical Association 22, 209, 1927), which stays within [0, 1].

    >>> share = Share.of([1, 1, 0, 1, 1])
    >>> low, high = share.interval()
    >>> share.mean, round(low, 3), round(high, 3)
    (0.8, 0.376, 0.964)
    """

    @classmethod
    @checked
    def of(cls, values: ArrayLike) -> "Share":
        """Summarize the trials `values`, (n,) with n >= 2, each 1 for a success and 0 else; ValueError for others."""
        trials = np.asarray(values, dtype=float)
        if trials.ndim != 1 or trials.size < 2 or not np.isin(trials, (0.0, 1.0)).all():
            raise ValueError(f"values must be a list of at least 2 zeros and ones, got {values!r:.60}")
        likely = (trials.sum() + 1) / (trials.size + 2)
        return cls(float(trials.mean()), math.sqrt(likely * (1 - likely) / trials.size), trials.size)

    @checked
    def interval(self, coverage: OpenShare = 0.95) -> tuple[float, float]:
        """Return Wilson's interval for the true share at this coverage.

        >>> low, high = Share.of([0, 0, 0, 0]).interval()
        >>> round(low, 3), round(high, 3)
        (0.0, 0.49)
        """
        return wilson(self.mean, self.n, coverage)


@dataclass(frozen=True)
class GeometricMean(Estimate):
    """Holds the geometric mean of n positive replicates; its interval and its z are those of the mean logarithm.

    `stderr` is the geometric mean times the standard error of the mean logarithm.

    >>> found = GeometricMean.of([1.0, 4.0])
    >>> low, high = found.interval()
    >>> round(found.mean, 3), bool(0 < low < 2 < high)
    (2.0, True)
    """

    @classmethod
    @checked
    def of(cls, values: ArrayLike) -> "GeometricMean":
        """Summarize the positive replicates `values`, (n,) with n >= 2; ValueError where one is not positive."""
        sample = np.asarray(values, dtype=float)
        if not (sample > 0).all():
            raise ValueError(f"values must be positive for a geometric mean, got {sample.min()}")
        logs = Estimate.of(np.log(sample))
        return cls(math.exp(logs.mean), math.exp(logs.mean) * logs.stderr, logs.n)

    @property
    def _logarithm(self) -> Estimate:
        return Estimate(math.log(self.mean), self.stderr / self.mean, self.n)

    @checked
    def interval(self, coverage: OpenShare = 0.95) -> tuple[float, float]:
        """Return the exponentials of the ends of the interval of the mean logarithm: both are positive.

        >>> low, high = GeometricMean.of([1.0, 2.0, 4.0]).interval()
        >>> round(low, 3), round(high, 3)
        (0.357, 11.19)
        """
        low, high = self._logarithm.interval(coverage)
        return math.exp(low), math.exp(high)

    @checked
    def z(self, predicted: float) -> float:
        """Return the gap of the logarithms in standard errors; inf where the prediction is not positive."""
        return self._logarithm.z(math.log(predicted)) if predicted > 0 else math.inf


@checked
def extrapolate(small: Estimate, large: Estimate) -> Extrapolation:
    """Extrapolate independent runs at d and 2d to d -> infinity, where the correction to the limit is of order 1/d.

    If a mean is s(d) = s + c/d then 2 s(2d) - s(d) = s. The two errors add in squares, that of the larger size with a
    factor of two; their sum has the degrees of freedom of Welch and Satterthwaite, v^2 / (v_1^2/(n_1 - 1) +
    v_2^2/(n_2 - 1)) for the variances v = v_1 + v_2, and `n` is the smaller of both numbers of replicates.

    >>> print(extrapolate(Estimate(1.10, 0.01, 40), Estimate(1.05, 0.01, 30)))
    1.000(22)
    """
    stderr, n = math.hypot(2 * large.stderr, small.stderr), min(small.n, large.n)
    shares = [(2 * large.stderr / stderr) ** 4, (small.stderr / stderr) ** 4] if stderr else [1.0, 0.0]
    degrees = 1 / (shares[0] / large.degrees_of_freedom + shares[1] / small.degrees_of_freedom)
    return Extrapolation(2 * large.mean - small.mean, stderr, n, degrees)


def _exponent(number: float) -> int:
    """Return the decimal exponent of a number that is rounded to two digits first (0.0996 counts as 0.10)."""
    return int(f"{number:.1e}".split("e")[1])


def _short(mean: float, stderr: float) -> str:
    """Write the mean with two digits of its error, in units of the last digit of the mean if it is below one."""
    decimals = 1 - _exponent(stderr)
    if decimals <= 0:
        return f"{round(mean, decimals):.0f}({round(stderr, decimals):.0f})"
    error = f"{stderr:.{decimals}f}"
    return f"{mean:.{decimals}f}({error if stderr >= 1 else error.replace('.', '').lstrip('0')})"
