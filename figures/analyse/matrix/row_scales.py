"""Asks whether the rows of a matrix differ in scale, and what law their scales follow."""

import numpy as np

from figures.analyse.matrix.best_ridge import MOST_CELLS, MOST_WORK, leave_one_out_work
from simulate.core import stream
from simulate.masked import RowHeterogeneity, row_heterogeneity
from simulate.masked.heterogeneity import ROTATIONS
from theory.models import EqualScales, PointScales, RowScales
from theory.models.arrays import Array

LEVEL = 0.05  # of the test: so often rows that are alike are taken for unlike
MOST_SCALES = 100  # values of the law of the scales


def heterogeneity(X: Array, lam: float, seed: int) -> RowHeterogeneity | str:
    """Estimate how unlike in scale the rows of X (n, d) about their mean are, and test it, at the ridge `lam`.

    The rows themselves are used, because contrasts would mix their scales. A string says why where this would take
    minutes.
    """
    n, d = X.shape
    rotations = ROTATIONS * (4 * n * min(n, d) ** 2 + 2 * n * d * min(n, d) + 2 * n * d * d)
    if n * d > MOST_CELLS or max(rotations, leave_one_out_work(n, d)) > MOST_WORK:
        return (
            "Whether the rows differ in scale was not tested: it would take minutes for a matrix of this size. If they "
            "do, generalized cross-validation reports too small an error"
        )
    return row_heterogeneity(X - X.mean(axis=0), lam, stream(seed, "rotations"))


def differ(found: RowHeterogeneity | str) -> bool:
    """Say whether the test found rows of different scale."""
    return not isinstance(found, str) and found.p_value <= LEVEL


def law_of_scales(found: RowHeterogeneity | str) -> RowScales | None:
    """Return the law of the estimated scales, drawn toward their mean so far that their mean square is h.

    None where the rows are alike, as far as one can tell.

    An estimate is the scale of a row times a chi-squared noise, which spreads the estimates more than the scales. Up to
    MOST_SCALES values are kept: means of groups of rows that follow each other in size.
    """
    if isinstance(found, str) or not differ(found):
        return None
    spread = float(np.mean(found.row_scales**2)) - 1
    if found.value <= 1 or spread <= 0:
        return EqualScales()
    scales = 1 + np.sqrt((found.value - 1) / spread) * (np.sort(found.row_scales) - 1)
    groups = np.array_split(np.maximum(scales, 0.0), min(MOST_SCALES, len(scales)))
    weights = np.array([len(group) for group in groups]) / len(scales)
    return PointScales.rescaled([group.mean() for group in groups], weights)
