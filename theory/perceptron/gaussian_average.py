"""Averages over a standard Gaussian variable: points and weights of the trapezoidal rule."""

from functools import cache

import numpy as np

from theory.core.arrays import Array

HALF_WIDTH = 10.0  # the Gaussian measure outside is 1.5e-23
STEP = 0.025


@cache
def gaussian_grid(step: float = STEP, reach: float = HALF_WIDTH) -> tuple[Array, Array]:
    """Return equidistant points z from -reach to reach and weights that sum to the average over z ~ N(0, 1).

    The trapezoidal rule is exponentially accurate for functions that are analytic in a strip around the real axis: its
    error is of order exp(-2 pi b/step) for a strip of half width b. Both arrays are read-only.
    """
    half = round(reach / step)
    z = np.asarray(np.arange(-half, half + 1) * step, dtype=float)
    density = np.exp(-(z**2) / 2)
    weights = np.asarray(density / density.sum(), dtype=float)
    z.setflags(write=False)
    weights.setflags(write=False)
    return z, weights


@cache
def half_gaussian_grid(step: float = STEP, reach: float = HALF_WIDTH) -> tuple[Array, Array]:
    """Return the points z >= 0 of `gaussian_grid`, with weights that give the same averages of even functions."""
    z, weights = gaussian_grid(step, reach)
    half = len(z) // 2
    doubled = np.concatenate([weights[half : half + 1], 2 * weights[half + 1 :]])
    doubled.setflags(write=False)
    return z[half:], doubled
