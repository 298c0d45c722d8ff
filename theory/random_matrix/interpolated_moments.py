"""Degrees of freedom at many ridges from those at few, for covariances that take a factorization for each ridge.

As functions of log kappa they are analytic between the lines at distance pi from the real axis, on which the poles
kappa = -s of all modes lie: a polynomial on Chebyshev's points converges geometrically, the faster the shorter the
range of log kappa is.
"""

import math
from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array
from theory.random_matrix.moments import RidgeMoments

ACCURACY = 1e-13  # of the interpolation, as far as the poles tell


def count_of_nodes(low: float, high: float) -> int:
    """Return how many points an interpolation from the ridge `low` to `high` takes."""
    distance = 2 * math.pi / max(math.log(high) - math.log(low), 1e-3)  # in units of half the range
    return 2 + math.ceil(-math.log(ACCURACY) / math.asinh(distance))


def interpolated_moments(
    moments: Callable[[Array], RidgeMoments], low: float, high: float
) -> Callable[[Array], RidgeMoments]:
    """Return a function that interpolates the moments at ridges from `low` to `high`, and is constant outside.

    FloatingPointError, where numpy is told to raise it, for moments that are not positive.
    """
    from scipy.interpolate import BarycentricInterpolator  # a quarter of a second to load, for many ridges alone

    count = count_of_nodes(low, high)
    middle, half = (math.log(high) + math.log(low)) / 2, (math.log(high) - math.log(low)) / 2
    places = middle + half * np.cos(math.pi * (np.arange(count) + 0.5) / count)
    at = moments(np.exp(places))
    # Logarithms keep small ones positive.
    values = np.log(np.stack([at.df1, at.df2, at.left, at.spread], axis=1))
    curve = BarycentricInterpolator(places, values, random_state=0)

    def interpolated(kappa: Array) -> RidgeMoments:
        df1, df2, left, spread = np.exp(curve(np.clip(np.log(kappa), math.log(low), math.log(high)))).T
        return RidgeMoments(df1, df2, left, spread, at.rank)

    return interpolated
