"""Asks whether cells are missing where other columns have certain values, and names the columns."""

import numpy as np
from scipy.special import ndtri

from figures.analyse.matrix.holes.admitted import HoledTable
from figures.analyse.matrix.holes.record import Dependence
from simulate.core import stream
from simulate.masked import holes_depend_on_values

LEVEL = 0.05


def dependence(table: HoledTable, seed: int) -> Dependence:
    """Test whether holes depend on values that are seen, and name the pairs of columns where they do.

    A pair is a column whose values the test names and another with holes. Where the test finds a dependence those pairs
    are named whose correlation chance gives in 5 % of tables at most, among all pairs of columns, or else the pair with
    the largest. A correlation times the root of the number of its rows less one has mean 0 and variance 1 over all
    orders of the values, and is taken for Gaussian.
    """
    found = holes_depend_on_values(table.X, table.seen, stream(seed, "holes and values"))
    pairs = found.strongest(table.d**2)
    if found.p_value > LEVEL:
        return Dependence(found.p_value, ())
    limit = -ndtri(LEVEL / (2 * table.d * (table.d - 1)))
    counts = table.seen.sum(axis=0)
    beyond = [pair for pair in pairs if abs(pair[2]) * np.sqrt(counts[pair[0]] - 1) > limit]
    return Dependence(found.p_value, tuple(beyond or pairs[:1]))
