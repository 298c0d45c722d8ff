"""Draws the scales of rows, each law by numpy's generator of the same name."""

import numpy as np
from numpy.random import Generator

from theory.core.arrays import Array
from theory.models import EqualScales, GammaScales, LogNormalScales, PointScales, RowScales, StudentTScales


def draw_row_scales(law: RowScales, n: int, rng: Generator) -> Array:
    """Draw the scales tau of n rows, (n,), whose mean over the law is 1; ValueError for a law that is not known."""
    match law:
        case EqualScales():
            return np.ones(n)
        case PointScales():
            return rng.choice(law.nodes, size=n, p=law.probabilities)
        case StudentTScales():
            return (law.degrees_of_freedom - 2) / rng.chisquare(law.degrees_of_freedom, size=n)
        case GammaScales():
            return rng.gamma(law.shape, 1 / law.shape, size=n)
        case LogNormalScales():
            return rng.lognormal(-(law.log_std**2) / 2, law.log_std, size=n)
    raise ValueError(f"row_scales must be one of the laws of theory.models, got {law!r}")


def scaled_rows(X: Array, law: RowScales, rng: Generator) -> Array:
    """Multiply the rows of X (n, d), in place, by the square roots of scales drawn from the law."""
    if not law.alike:
        X *= np.sqrt(draw_row_scales(law, len(X), rng))[:, None]
    return X
