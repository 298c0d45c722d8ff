"""Asks whether the rows of a matrix depend on each other, in the order of the file or within groups, and how.

The test is exact for rows of any law. It says nothing of the cause: rows that were sorted by one of their columns
resemble their neighbors as the rows of a time series do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter, lfiltic

from figures.analyse.matrix.centered_rows import ROUNDING, CenteredRows
from figures.analyse.matrix.dependent.laws import GroupLaws, RowLaws, SeriesLaws
from figures.analyse.matrix.dependent.splits import LaterBlocks, WholeGroups
from figures.analyse.matrix.held_out import RandomOrder, Splitting
from figures.analyse.matrix.plan import Plan
from simulate.core import stream
from simulate.masked import RowAutoregression, RowBlocks, autoregressive_rows
from simulate.masked.autocorrelation import RowAutocorrelation, group_numbers, row_autocorrelation
from theory.core.arrays import Array

RowChoice = Literal["test", "time", "none"]

LEVEL = 0.01  # of the test: so often rows that are independent are taken for dependent
MIN_ROWS = 20  # fewer tell nothing
MAX_TESTED_ROWS = 2000  # of which the products of all pairs are taken
RUNS = 10  # of successive rows, where a table has more
MAX_GROUPED_NUMBERS = 2e6  # of the rows whose groups are permuted
MAX_FITTED_NUMBERS = 4e6  # of the rows from which the autoregression is learned
NEAR_CORRELATION = 0.1  # rows that correlate less count as far from each other
MAX_GAP_SHARE = 0.1  # of the rows, beyond which a gap costs more than it saves
SHOWN_LAGS = 20
MAX_LAGS = 20_000  # beyond which rows count as independent


@dataclass(frozen=True, eq=False)
class RowOrder:
    """What the order of the rows, or their groups, says.

    `test` is a sentence where there was none. `laws` say how the rows depend on each other, None where they do not as
    far as one can tell. `gap` is the number of rows between fitted and held-out blocks, None where splits are random,
    and `reached` says whether rows that far apart correlate by less than NEAR_CORRELATION. `groups` (n,) are numbers.
    `before` is what was found of rows that were whitened since.
    """

    test: RowAutocorrelation | str
    tested: int  # rows
    n: int
    laws: RowLaws | None = None
    fitted: RowAutoregression | None = None
    gap: int | None = None
    reached: bool = True
    groups: NDArray[np.int64] | None = field(default=None, repr=False)
    before: "RowOrder | None" = field(default=None, repr=False)

    @property
    def spare(self) -> int:
        """How many rows of a split may be neither fitted nor held out, as those of a group that would be divided."""
        return 0 if self.groups is None else int(np.bincount(self.groups).max()) - 1

    def splitting(self, plan: Plan, seed: int) -> Splitting:
        """Say how rows are split into fitted and held-out ones, and how what is reported of them is corrected."""
        rows = RandomOrder(seed) if self.groups is None else WholeGroups(self.groups, seed)
        corrections = () if self.laws is None else tuple(self.laws.contrasts(size) for size in plan.sizes)
        return Splitting(rows if plan.gap is None else LaterBlocks.of(plan), corrections)

    def blocks(self, seed: int) -> LaterBlocks | WholeGroups:
        """Return the blocks, or sets of groups, that are held out once each."""
        return LaterBlocks(1, 1, 1, self.gap or 0) if self.groups is None else WholeGroups(self.groups, seed)


def row_order(
    X: CenteredRows, order: RowChoice, groups: Sequence[Any] | NDArray[Any] | None, gap: int | None, seed: int
) -> RowOrder:
    """Test whether the rows of X (n, d) depend on each other, and fit their dependence where they do.

    With `order` "test" the splits are blocks of later rows where the test finds rows dependent, with "time" always, and
    with "none" there is no test in the order of the file. With `groups` (n,), a label for each row, rows of one group
    are compared instead. ValueError for labels that make no groups.
    """
    if groups is not None:
        return _in_groups(X, numbers_of_groups("groups", groups, X.n), seed)
    always = None if order != "time" else gap or 0
    if order == "none":
        return RowOrder("Whether successive rows resemble each other was not tested, as was asked for", 0, X.n)
    if X.n < MIN_ROWS:
        said = f"Whether rows depend on each other cannot be tested on fewer than {MIN_ROWS} rows"
        return RowOrder(said, 0, X.n, gap=always)
    some = varying(_runs(X))
    test = row_autocorrelation(some, min(SHOWN_LAGS, len(some) // 4), stream(seed, "order of the rows"))
    if test.p_value > LEVEL:
        return RowOrder(test, len(some), X.n, gap=always)
    return _series(X, test, len(some), gap, seed)


def _series(X: CenteredRows, test: RowAutocorrelation, tested: int, gap: int | None, seed: int) -> RowOrder:
    """Fit an autoregression to the rows, and choose the gap beyond which rows are far from each other."""
    fitted, laws = fitted_series(X.rows, X.d, seed)
    far, reached = far_apart(laws.correlations(X.n))
    return RowOrder(test, tested, X.n, laws, fitted, far if gap is None else gap, reached)


def fitted_series(rows: RowBlocks, d: int, seed: int) -> tuple[RowAutoregression, SeriesLaws]:
    """Fit an autoregression to as many successive rows as are affordable, those in the middle of the table."""
    n = rows.n
    count = int(min(n, max(MAX_TESTED_ROWS, MAX_FITTED_NUMBERS // d)))
    start = (n - count) // 2
    some = varying(rows.take(np.arange(start, start + count)))
    # The test was done; this level lets BIC alone choose the order.
    fitted = autoregressive_rows(some, stream(seed, "order of the rows"), level=0.99, permutations=19)
    return fitted, SeriesLaws(autocovariances(fitted, min(2 * n, MAX_LAGS)), fitted.coefficients)


def varying(rows: Array) -> Array:
    """Return the columns of some rows of a table that vary in them, as all do in the whole table."""
    spread, size = np.ptp(rows, axis=0), abs(rows).max(axis=0)
    return rows[:, spread > ROUNDING * size]


def autocovariances(fitted: RowAutoregression, n: int) -> Array:
    """Continue the covariances of a fitted autoregression to the lags 0 to n - 1, (n,)."""
    known, terms = fitted.autocovariance[:n], np.append(1.0, -fitted.coefficients)
    if not fitted.order or len(known) == n:
        return np.append(known, np.zeros(n - len(known)))
    state = lfiltic([1.0], terms, known[::-1][: fitted.order])
    return np.append(known, lfilter([1.0], terms, np.zeros(n - len(known)), zi=state)[0])


def far_apart(correlations: Array) -> tuple[int, bool]:
    """Return the lag from which on rows correlate by less than NEAR_CORRELATION, or the largest that is affordable.

    `correlations` (n,) are those at the lags 0 to n - 1. The second value says whether it is far enough.
    """
    most = max(int(MAX_GAP_SHARE * len(correlations)), 1)
    near = np.flatnonzero(abs(correlations) >= NEAR_CORRELATION)
    lag = int(near[-1]) + 1
    return max(min(lag, most), 1), lag <= most


def _runs(X: CenteredRows) -> Array:
    """Return all rows, or some runs of successive ones at equal distances."""
    if X.n <= MAX_TESTED_ROWS:
        return X.rows.all_rows()
    length = MAX_TESTED_ROWS // RUNS
    starts = np.linspace(0, X.n - length, RUNS).astype(int)
    return X.rows.take((starts[:, None] + np.arange(length)).ravel())


def numbers_of_groups(name: str, labels: Sequence[Any] | NDArray[Any], n: int) -> NDArray[np.int64]:
    """Return the number of the group of each row (n,) by its label.

    ValueError, about what is called `name`, unless some rows but not all share a label.
    """
    numbers = group_numbers(name, labels, n)
    if int(numbers.max()) + 1 == n:
        raise ValueError(f"{name} must have a label that occurs twice, got {n} different ones for {n} rows")
    return np.asarray(numbers, dtype=np.int64)


def _in_groups(X: CenteredRows, numbers: NDArray[np.int64], seed: int) -> RowOrder:
    """Compare the rows of one group, in as many whole groups as are affordable."""
    if X.n < MIN_ROWS:
        said = f"Whether rows of one group resemble each other cannot be tested on fewer than {MIN_ROWS} rows"
        return RowOrder(said, 0, X.n, groups=numbers)
    rank = stream(seed, "groups that are tested").permutation(int(numbers.max()) + 1)
    most = int(max(MAX_TESTED_ROWS, MAX_GROUPED_NUMBERS // X.d))
    chosen = np.sort(np.argsort(rank[numbers], kind="stable")[:most])
    test = row_autocorrelation(
        varying(X.rows.take(chosen)), 1, stream(seed, "order of the rows"), groups=numbers[chosen]
    )
    sizes = np.bincount(numbers)
    least = -1 / (int(sizes.max()) - 1)  # of any law: that of groups which have had their own means subtracted
    correlation = float(np.clip(test.values[0], least * (1 - 1e-6), 1 - 1e-6))
    laws = GroupLaws(sizes, correlation) if test.p_value <= LEVEL else None
    return RowOrder(test, len(chosen), X.n, laws, groups=numbers)
