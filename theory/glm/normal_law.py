"""The bivariate normal law by Owen's T function."""

import numpy as np
from scipy.special import ndtr, owens_t

from theory.core import Array, Correlation, checked

ZERO_ARGUMENT = 1e-100  # an argument below it is taken for zero, so that ratios of arguments stay finite
FULL = 1e-15  # a correlation this near to +-1 is full


@checked
def bivariate_normal(x: float, y: float, correlation: Correlation) -> float:
    """Compute P(X < x, Y < y) of two standard normal variables with this `correlation` in [-1, 1].

    x and y may be infinite. By D. B. Owen, Ann. Math. Stat. 27, 1075 (1956), to rounding. ValueError for a correlation
    outside [-1, 1].

    >>> round(bivariate_normal(0.0, 0.0, 0.5), 12)
    0.333333333333
    """
    return float(bivariate(x, y, correlation))


def bivariate(x: Array | float, y: Array | float, correlation: float) -> Array:
    """Compute `bivariate_normal` for arrays x and y of one shape, which are not checked."""
    x, y = (np.asarray(value, float) for value in (x, y))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if abs(correlation) >= 1 - FULL:
            overlap = ndtr(np.minimum(x, y)) if correlation > 0 else np.maximum(ndtr(x) - ndtr(-y), 0.0)
            return np.asarray(overlap)
        root = float(np.sqrt((1 - correlation) * (1 + correlation)))
        x, y = (np.where(abs(value) < ZERO_ARGUMENT, 0.0, value) for value in (x, y))
        opposite = np.where((x < 0) != (y < 0), 0.5, 0.0)
        found = (ndtr(x) + ndtr(y)) / 2 - _owen(x, y, correlation, root) - _owen(y, x, correlation, root) - opposite
        origin = 0.25 + np.arcsin(correlation) / (2 * np.pi)
        found = np.where((x == 0) & (y == 0), origin, found)
        # At infinity one condition drops out, or cannot be met.
        found = np.where(np.isinf(x), np.where(x > 0, ndtr(y), 0.0), found)
        found = np.where(np.isinf(y), np.where(y > 0, ndtr(x), 0.0), found)
    return np.asarray(np.clip(found, 0.0, 1.0))


def _owen(x: Array, y: Array, correlation: float, root: float) -> Array:
    """Return Owen's T(x, (y/x - r)/sqrt(1 - r^2)), which in the limit x -> 0 is a quarter with the sign of y."""
    zero = x == 0
    slope = (y / np.where(zero, 1.0, x) - correlation) / root
    return np.asarray(np.where(zero, 0.25 * np.sign(y), owens_t(x, slope)))
