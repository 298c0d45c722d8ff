"""Measured numbers: a mean over independent replicates, its standard error, and the number of replicates."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Estimate:
    """Mean of `n` independent replicates and its standard error (sample deviation / sqrt(n)); prints 0.19385(19)."""

    mean: float
    stderr: float
    n: int

    def __post_init__(self) -> None:
        if not math.isfinite(self.mean):
            raise ValueError(f"mean must be finite, got {self.mean}")
        if not (math.isfinite(self.stderr) and self.stderr >= 0):
            raise ValueError(f"stderr must be finite and >= 0, got {self.stderr}")
        if self.n < 2:
            raise ValueError(f"n must be >= 2 (one replicate has no error bar), got {self.n}")

    @classmethod
    def of(cls, values: ArrayLike) -> "Estimate":
        """From the replicates, (n,). A non-finite one is an error: dropping failures would bias the mean."""
        sample = np.asarray(values, dtype=float)
        if sample.ndim != 1 or sample.size < 2:
            raise ValueError(f"values must be a list of at least 2 replicates, got shape {sample.shape}")
        bad = np.flatnonzero(~np.isfinite(sample))
        if bad.size:
            raise ValueError(
                f"values must be finite, got {sample[bad[0]]} at position {bad[0]} ({bad.size} of {sample.size})"
            )
        if np.ptp(sample) == 0:  # rounding in the mean would otherwise give 1e-17 where the answer is 0
            return cls(float(sample[0]), 0.0, sample.size)
        return cls(float(sample.mean()), float(sample.std(ddof=1) / math.sqrt(sample.size)), sample.size)

    def z(self, predicted: float) -> float:
        """(mean - predicted) / stderr; with stderr 0 it is 0 where they are equal and infinite elsewhere."""
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


def extrapolate(small: Estimate, large: Estimate) -> Estimate:
    """2 large - small: the limit d -> infinity from independent runs at d and 2d where the correction is 1/d."""
    return Estimate(2 * large.mean - small.mean, math.hypot(2 * large.stderr, small.stderr), min(small.n, large.n))


def _exponent(number: float) -> int:
    """Decimal exponent once rounded to two digits (0.0996 counts as 0.10)."""
    return int(f"{number:.1e}".split("e")[1])


def _short(mean: float, stderr: float) -> str:
    """Two digits of the error, in units of the last digit of the mean where it is below one."""
    decimals = 1 - _exponent(stderr)
    if decimals <= 0:
        return f"{round(mean, decimals):.0f}({round(stderr, decimals):.0f})"
    error = f"{stderr:.{decimals}f}"
    return f"{mean:.{decimals}f}({error if stderr >= 1 else error.replace('.', '').lstrip('0')})"
