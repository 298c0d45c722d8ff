"""Asks whether the rows of a matrix differ in scale, and what law their scales follow."""

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.memory import MOST_CELLS
from simulate.core import stream
from simulate.masked import RowHeterogeneity, row_heterogeneity
from simulate.masked.heterogeneity import ROTATIONS
from theory.models import EqualScales, PointScales, RowScales

LEVEL = 0.05  # level of the test: so often rows that are alike are taken for unlike
MOST_WORK = 2e11  # floating point operations of the test
FEWEST_PER_COLUMN = 2  # rows a column, with which a random choice of rows says something
MOST_SCALES = 100  # values of the law of the scales


def heterogeneity(X: CenteredRows, lam: float, seed: int) -> tuple[RowHeterogeneity | str, str | None]:
    """Estimate how unlike in scale the rows of X (n, d) about their mean are, and test it, at the ridge `lam`.

    The rows themselves are used, because contrasts would mix their scales; where all of them would take minutes it is
    a random choice of so many as are affordable, which the second value says. A string in the place of the result says
    why even so many were too much.
    """
    n, d = X.n, X.d
    most = rows_of_test(n, d)
    if n == most:
        return row_heterogeneity(X.rows.centered(), lam, stream(seed, "rotations")), None
    if most == 0:
        return (
            "Whether the rows differ in scale was not tested: it would take minutes for a matrix of this size. If they "
            "do, generalized cross-validation reports too small an error"
        ), None
    some = X.rows.take(np.sort(stream(seed, "rows of the test").permutation(n)[:most]))
    found = row_heterogeneity(some - some.mean(axis=0), lam, stream(seed, "rotations"))
    return found, f"whether the rows differ in scale was tested on {most} of the {n} rows, chosen at random"


def rows_of_test(n: int, d: int) -> int:
    """Return on how many of n rows of d numbers the test is done; 0 where so few say nothing."""
    most = _affordable_rows(d)
    return n if n <= most else most if most >= FEWEST_PER_COLUMN * d else 0


def _affordable_rows(d: int) -> int:
    """Return how many rows of d numbers the test takes within MOST_CELLS and MOST_WORK."""
    of_more_rows = MOST_WORK / (ROTATIONS * 8 * d * d)  # the work grows in proportion to the rows beyond d of them
    return int(min(MOST_CELLS / d, of_more_rows))


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
