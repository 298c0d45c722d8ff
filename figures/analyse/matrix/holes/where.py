"""Says where the holes of a table are: in which columns, together in which, in which rows, and in runs."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

LEVEL = 0.01  # chance of a finding of each kind where holes are spread evenly
COINCIDE_SHARE = 0.9  # of the rows in which either of two columns has a hole, so many at least are holes of both
TAIL_SHARE = 0.5  # of the rows with several holes, so many are what is missing from some column on
FEWEST_TAILS = 5

Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Run:
    """Successive rows (from 0, both ends included) in which a column has no number."""

    column: int
    first: int
    last: int

    @property
    def length(self) -> int:
        """Number of rows."""
        return self.last - self.first + 1


@dataclass(frozen=True, eq=False)
class HolePattern:
    """Where the holes of a table of n rows and d columns are.

    `missing` (d,) counts the holes of each column, `complete_rows` the rows without any. `together` are groups of
    columns that have nearly all holes in the same rows, `runs` the longest run of a column where it is longer than
    chance would have it, and `tails` counts the rows, of the `several` with at least two holes, in which all columns
    from some column on are missing and none before, as where someone has stopped answering.
    """

    n: int
    d: int
    missing: NDArray[np.int64] = field(repr=False)
    complete_rows: int
    together: tuple[tuple[int, ...], ...]
    runs: tuple[Run, ...]
    several: int
    tails: int

    @property
    def cells(self) -> int:
        """Number of holes."""
        return int(self.missing.sum())

    @property
    def share(self) -> float:
        """Share of the cells that are holes."""
        return self.cells / (self.n * self.d)

    @property
    def columns(self) -> NDArray[np.int64]:
        """The columns with holes, those with most first."""
        order = np.argsort(-self.missing, kind="stable")
        return np.asarray(order[self.missing[order] > 0])

    @property
    def drops_out(self) -> bool:
        """Whether rows mostly lose all columns from some column on."""
        return self.tails >= FEWEST_TAILS and self.tails > TAIL_SHARE * self.several


def hole_pattern(seen: Booleans) -> HolePattern:
    """Describe the holes of a table (n, d), of which `seen` says which cells have a number.

    Holes that are spread evenly over the rows, in each column by itself, give a group of columns in at most 1 % of
    tables, and a run too.

    >>> seen = np.ones((40, 4), dtype=bool)
    >>> seen[10:19, 1] = seen[[3, 8, 30], 2] = seen[[3, 8, 30], 3] = False
    >>> found = hole_pattern(seen)
    >>> found.cells, found.complete_rows, found.together, found.runs
    (15, 28, ((2, 3),), (Run(column=1, first=10, last=18),))
    """
    holes = ~seen
    n, d = holes.shape
    missing = holes.sum(axis=0)
    by_row = holes.sum(axis=1)
    several = (by_row >= 2) & (by_row < d)
    tails = several & (np.cumsum(holes, axis=1)[:, :-1] * seen[:, 1:] == 0).all(axis=1)
    return HolePattern(
        n=n,
        d=d,
        missing=missing.astype(np.int64),
        complete_rows=int((by_row == 0).sum()),
        together=_together(holes, missing),
        runs=tuple(run for run in map(_longest, range(d), holes.T) if run is not None and _is_long(run, n, missing, d)),
        several=int(several.sum()),
        tails=int(tails.sum()),
    )


def _together(holes: Booleans, missing: NDArray[np.integer]) -> tuple[tuple[int, ...], ...]:
    """Group the columns that have nearly all holes in common, where that is no chance; each in one group."""
    n, d = holes.shape
    table = holes.astype(np.float64)
    shared = table.T @ table
    either = missing[:, None] + missing - shared
    near = (shared >= COINCIDE_SHARE * either) & (shared >= 2)
    groups, taken = [], np.zeros(d, dtype=bool)
    for k in range(d):
        found = [j for j in np.flatnonzero(near[k, k + 1 :]) + k + 1 if not taken[j]]
        own = [j for j in found if _chance(n, missing[k], missing[j], shared[k, j]) < LEVEL / (d * (d - 1) / 2)]
        if own and not taken[k]:
            groups.append((k, *map(int, own)))
            taken[own] = True
    return tuple(groups)


def _chance(n: int, first: int, second: int, shared: float) -> float:
    """Return how probably two random sets of rows, of these sizes, have at least so many rows in common."""
    k = np.arange(shared, min(first, second) + 1)
    logs = _log_choose(first, k) + _log_choose(n - first, second - k) - _log_choose(n, second)
    return float(np.exp(logsumexp(logs)))


def _log_choose(n: float, k: NDArray[np.float64] | float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):  # no such choice has the probability zero
        return np.asarray(gammaln(n + 1) - gammaln(np.asarray(k) + 1) - gammaln(n - np.asarray(k) + 1))


def _longest(column: int, holes: Booleans) -> Run | None:
    """Return the longest run of holes of a column, the first of several; None where it has no hole."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holes, [False]]).astype(np.int8)))
    if not len(edges):
        return None
    starts, ends = edges[::2], edges[1::2]
    i = int((ends - starts).argmax())
    return Run(column, int(starts[i]), int(ends[i]) - 1)


def _is_long(run: Run, n: int, missing: NDArray[np.integer], d: int) -> bool:
    """Say whether a run is no chance, by the expected number of runs at least so long among all orders of the rows."""
    total, length = int(missing[run.column]), run.length
    if length < 2:
        return False
    log_share = float(_log_choose(n - length, total - length) - _log_choose(n, total))
    return bool(np.log(n - length + 1) + log_share < np.log(LEVEL / d))
