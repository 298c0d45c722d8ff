"""The fraction of runs that succeed, with its error."""

import numpy as np
from numpy.typing import NDArray

from simulate.core import Estimate


def rate(successes: NDArray[np.float64]) -> Estimate:
    """Return the fraction of successes, with the binomial error of one more success and one more failure."""
    n = len(successes)
    likely = (successes.sum() + 1) / (n + 2)
    return Estimate(float(successes.mean()), float(np.sqrt(likely * (1 - likely) / n)), n)
