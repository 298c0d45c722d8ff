"""Tests whether entries are missing more often where other columns are large or small."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.masked.holes.table import require_entries, with_mask
from theory.core import Array, NonNegativeCount, Result, checked

LEVEL = 0.05  # at which columns are named
ENOUGH = 10  # permutations that reach the observed value settle that a column is not the one (Besag and Clifford)
LEAST_PERMUTATIONS, PER_COLUMN = 1999, 40  # the least p-value is 1/40 times the correction for the columns, or less
BATCH_NUMBERS = 4_000_000  # of one batch of permuted columns


@dataclass(frozen=True, eq=False, repr=False)
class HolesDependence(Result):
    """Whether holes depend on the values seen: a permutation test of each column, and of all of them.

    `p_value` is the least one of the columns times their number, at most 1: small where holes of other columns lie
    where the values of one are large or small. `columns` are the numbers of those whose corrected p-value is at most
    0.05. `correlations` (d, d) are those of the values seen of column j with the holes of column k in the same rows,
    zero where k has no holes there; positive where k is missing more often at large values of j.
    """

    p_value: float
    columns: NDArray[np.intp]
    p_values: Array  # (d,), of each column, not corrected
    correlations: Array = field(repr=False)

    @checked
    def strongest(self, count: NonNegativeCount = 5) -> list[tuple[int, int, float]]:
        """Return the pairs (j, k, correlation) of largest absolute correlation among the columns j that are named."""
        named = np.zeros_like(self.correlations)
        named[self.columns] = abs(self.correlations[self.columns])
        order = np.argsort(-named, axis=None, kind="stable")[:count]
        places = (np.unravel_index(place, named.shape) for place in order)
        return [(int(j), int(k), float(self.correlations[j, k])) for j, k in places if named[j, k] > 0]


@checked
def holes_depend_on_values(X: Any, seen: Any, rng: Generator) -> HolesDependence:
    """Test whether entries of a table X (n, d) are missing depending on values of other columns, which are seen.

    For each column j the statistic is the sum over k of the squared correlations of x_j with the holes of k, over the
    rows that have x_j; its law under the hypothesis is that for x_j permuted among these rows. This holds whatever the
    dependence of the columns, and of the holes of one row, among themselves; the smallest p-value is multiplied by the
    number of columns that were tested. Permutations of a column stop once ten of them reach the observed value
    (Besag and Clifford 1991), which keeps p-values valid; at most max(1999, 40 d) are made.

    A small p-value says that entries are not missing completely at random, and that errors at the holes will differ
    from those that `impute` expects. A large one does not say the contrary: whether an entry is missing because of its
    own value shows only in columns that are correlated with it. `seen` (n, d) are truth values, None: all but NaN.
    ValueError as in `impute`, but columns may be constant and rows empty.

    >>> from simulate.masked import sample, with_holes
    >>> from theory.models import AR1
    >>> rng = np.random.default_rng(0)
    >>> X = sample(AR1(6, 0.5), 200, rng)
    >>> holed, seen = with_holes(X, 0.2, rng)
    >>> holes_depend_on_values(holed, seen, rng).p_value > 0.05
    True
    >>> seen[:, 3] &= rng.random(200) > 0.8 * (X[:, 0] > 0.5)
    >>> found = holes_depend_on_values(holed, seen, rng)
    >>> found.p_value < 0.05, found.strongest(1)[0][:2]
    (True, (0, 3))
    """
    data, mask = with_mask("X", X, seen)
    require_entries(data, mask, rows=False)
    d = data.shape[1]
    p_values, correlations = np.ones(d), np.zeros((d, d))
    most = max(LEAST_PERMUTATIONS, PER_COLUMN * d)
    tested = 0
    for j in range(d):
        rows = mask[:, j]
        values, holes = _unit(data[rows, j][:, None])[:, 0], _unit((~mask[rows]).astype(np.float64))
        some = holes.any(axis=0)
        if not (values.any() and some.any()):
            continue
        tested += 1
        correlations[j] = holes.T @ values
        p_values[j] = _permutation_p_value(values, np.ascontiguousarray(holes[:, some].T), most, rng)
    least = float(min(1.0, p_values.min() * max(tested, 1)))
    return HolesDependence(
        p_value=least,
        columns=np.flatnonzero(p_values * max(tested, 1) <= LEVEL),
        p_values=p_values,
        correlations=correlations,
    )


def _unit(columns: Array) -> Array:
    """Return columns minus their means, of length 1; zeros for constant ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = abs(columns).max(axis=0)
        centered = columns / np.where(size > 0, size, 1)
    centered = centered - centered.mean(axis=0)
    lengths = np.sqrt((centered * centered).sum(axis=0))
    return np.asarray(
        np.where(lengths > 1e-12 * np.sqrt(len(columns)), centered / np.where(lengths > 0, lengths, 1), 0.0)
    )


def _permutation_p_value(values: Array, holes: Array, most: int, rng: Generator) -> float:
    """Return the share of permutations that reach the observed sum of squared correlations, sequentially."""
    observed = float(np.sum((holes @ values) ** 2)) * (1 - 1e-12)
    reached, made, batch = 0, 0, 19
    largest = max(1, BATCH_NUMBERS // len(values))
    while made < most:
        batch = min(batch, most - made, largest)
        permuted = rng.permuted(np.broadcast_to(values[:, None], (len(values), batch)), axis=0)
        hits = np.sum((holes @ permuted) ** 2, axis=0) >= observed
        if reached + hits.sum() >= ENOUGH:  # the p-value is ten over the number of permutations until the tenth hit
            last = int(np.searchsorted(np.cumsum(hits) + reached, ENOUGH)) + 1
            return ENOUGH / (made + last)
        reached, made, batch = reached + int(hits.sum()), made + batch, 2 * batch
    return (reached + 1) / (made + 1)
