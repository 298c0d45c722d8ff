"""Defines measured numbers: a mean over independent replicates, its standard error, and their number."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Count, NonNegative, Real, checked, checked_fields


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


@checked
def extrapolate(small: Estimate, large: Estimate) -> Estimate:
    """Extrapolate independent runs at d and 2d to d -> infinity, where the correction to the limit is of order 1/d.

    If a mean is s(d) = s + c/d then 2 s(2d) - s(d) = s. The two errors add in squares, that of the larger size with a
    factor of two; `n` is the smaller of both numbers of replicates, whose error is known less well.

    >>> print(extrapolate(Estimate(1.10, 0.01, 40), Estimate(1.05, 0.01, 30)))
    1.000(22)
    """
    return Estimate(2 * large.mean - small.mean, math.hypot(2 * large.stderr, small.stderr), min(small.n, large.n))


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
