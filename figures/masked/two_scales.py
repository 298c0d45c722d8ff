"""Defines a family of laws of the rows' scales that the experiments on rows of different scale share."""

import numpy as np

from theory.models import EqualScales, PointScales, RowScales


def two_scales(heterogeneity: float) -> RowScales:
    """Return two scales, the larger of a quarter of the rows, with E tau = 1 and E tau^2 = h, for h from 1 to 4."""
    if heterogeneity == 1:
        return EqualScales()
    step = np.sqrt((heterogeneity - 1) / 3)
    return PointScales([1 - step, 1 + 3 * step], [0.75, 0.25])
