"""How much the rows of a data matrix resemble their neighbors, and an exact test of whether they do at all."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.masked.lagged_products import centered_rows, effective_columns, pooled_products, without_mean
from theory.core import Array, AtLeast, Count, OpenShare, Result, checked, checks
from theory.core.checks import shown
from theory.models import IndependentRows, RowDependence, SubjectRows

TEST_LEVEL = 0.01  # at which the test must reject independence before a dependence is assumed
TESTED_LAGS = 5  # neighbors at these lags enter the test
PERMUTATIONS = 199  # the least p-value is then 1/200
MAX_GRAM_ROWS = 4000  # above so many rows the products of all pairs are not held


@dataclass(frozen=True, eq=False, repr=False)
class RowAutocorrelation(Result):
    """The correlation of rows that lie a lag apart, or that belong to one group, from one data matrix.

    `values` (H,) are the correlations at the lags 1 to H; with groups they are the one correlation of two rows of a
    group, (1,). `stderr`, of the same shape, is their standard error for independent rows, 1/sqrt(pairs d_eff), with
    `effective_columns` = d_eff = (tr Sigma)^2/tr Sigma^2. `p_value` is the probability that exchangeable rows, of any
    law, look at least as dependent. `mean_variance` is the variance of the mean of all rows, in units of that of one
    row: 1/n for independent rows.
    """

    values: Array
    stderr: Array
    p_value: float
    effective_columns: float
    mean_variance: float
    n: int
    group_sizes: NDArray[np.integer] | None = field(default=None, repr=False)

    @checked
    def dependence(self, level: OpenShare = TEST_LEVEL) -> RowDependence:
        """Return the law of groups of these sizes, of independent rows where the test does not reject at `level`.

        The groups stand one after the other in it, which plays no role for `MaskedFit.corrected_error`; `whitened` and
        whatever else takes rows one by one needs rows that are sorted by their groups. ValueError where the
        correlations are those of lags: then `autoregressive_rows` finds a law.
        """
        if self.group_sizes is None:
            raise ValueError("groups must have been given: autoregressive_rows finds the law of rows in their order")
        if self.p_value > level:
            return IndependentRows()
        least = -1 / (int(self.group_sizes.max()) - 1)
        return SubjectRows(self.group_sizes, min(max(float(self.values[0]), least), 1.0))


@checked
def row_autocorrelation(
    X: Any,
    lags: Count,
    rng: Generator,
    groups: Any = None,
    permutations: Annotated[int, AtLeast(19)] = PERMUTATIONS,
) -> RowAutocorrelation:
    """Estimate the correlations of the rows of X (n, d) at the lags 1 to `lags`, and test whether rows are dependent.

    The correlation at lag h is the mean of x_i.x_(i+h) over that of |x_i|^2, about the columns' means. It pools all
    columns and is right whatever their covariance is, if all of them have the same correlation in time; columns of
    large variance weigh most, so that columns in different units should be standardized first. That subtracting the
    means lowers all of them is undone with the variance of the mean by the autoregression that they determine.

    With `groups`, one label for each row, rows of equal label are compared instead, and their order plays no role.

    The test ranks a statistic among that of `permutations` random orders of the rows: the sum over the lags 1 to 5 of
    the squared mean cosine between centered rows, or the distance of the mean cosine within groups from its mean over
    all orders, since rows of a group can be less alike than others too, as where each group has had its own mean
    subtracted. It is exact for any n and d, also for rows of unlike scale: independent rows are called dependent at the
    level .05 in 5 % of the cases. It does not say why rows are dependent; rows that were sorted by one of their columns
    are.

    ValueError for an X that is no finite matrix of at least 20 rows, with a constant column, for lags that are not
    below n, for groups that have another length, a label that is NaN, a single label, or no label twice, and for less
    than 19 permutations.

    >>> from simulate.core import stream
    >>> from simulate.masked import sample
    >>> from theory.models import AR1
    >>> X = sample(AR1(d=30, correlation=0.5), 200, stream(0, "docstring"))
    >>> row_autocorrelation(X, 3, stream(0)).p_value > 0.05
    True
    >>> smooth = X[1:] + X[:-1]  # neighbors share a half
    >>> found = row_autocorrelation(smooth, 3, stream(0))
    >>> print(found.values.round(2), found.p_value)
    [ 0.49 -0.02 -0.02] 0.005
    """
    rows = centered_rows("X", X)
    n = len(rows)
    if lags >= n:
        raise ValueError(f"lags must be below the number of rows, which is {n}, got {lags}")
    columns = effective_columns(rows)
    if groups is not None:
        numbers = group_numbers("groups", groups, n)
        if numbers.max() == n - 1:
            raise ValueError(f"groups must have a label that occurs twice, got {n} different ones for {n} rows")
        return _within_groups(rows, numbers, columns, rng, permutations)
    found = without_mean(pooled_products(rows, max(lags, most_lags(n))), n, n * columns, most_lags(n))
    return RowAutocorrelation(
        values=found.correlations[1 : lags + 1],
        stderr=1 / np.sqrt((n - np.arange(1, lags + 1)) * columns),
        p_value=permutation_test(rows, rng, permutations),
        effective_columns=columns,
        mean_variance=found.mean_variance,
        n=n,
        residual=found.residual,
        iterations=found.iterations,
    )


def most_lags(n: int) -> int:
    """Return the largest order of an autoregression that is fitted to n rows: 10, or a fifth of few rows."""
    return min(10, n // 5)


def permutation_test(
    rows: Array, rng: Generator, permutations: int = PERMUTATIONS, groups: NDArray[np.integer] | None = None
) -> float:
    """Rank how neighbors, or rows of one group, resemble each other among random orders of the centered rows."""
    n = len(rows)
    checks.fits_in_memory(f"what {permutations} permutations give by chance", 4 * float(permutations))
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    unit = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    rounding = 0.0
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        starts = _starts(groups[order])
        usual = _usual_group_cosine(unit, np.bincount(groups))
        observed = abs(_group_cosine(unit[order], starts) - usual)
        by_chance = [abs(_group_cosine(unit[rng.permutation(n)], starts) - usual) for _ in range(permutations)]
        rounding = 1e-12 * n
    else:
        cosines = unit @ unit.T if n <= MAX_GRAM_ROWS else None
        observed = _neighbor_statistic(unit, cosines, np.arange(n))
        by_chance = [_neighbor_statistic(unit, cosines, rng.permutation(n)) for _ in range(permutations)]
    # Equal statistics that rounding tells apart must count as equal.
    return (1 + int(np.sum(np.array(by_chance) >= observed * (1 - 1e-12) - rounding))) / (1 + permutations)


def _neighbor_statistic(unit: Array, cosines: Array | None, order: NDArray[np.integer]) -> float:
    """Return the sum over lags of (mean cosine + 1/(n - 1))^2, where -1/(n - 1) is what centering alone makes."""
    n, total = len(order), 0.0
    ordered = unit[order] if cosines is None else unit
    for lag in range(1, TESTED_LAGS + 1):
        if cosines is None:
            sum_of_cosines = np.vdot(ordered[lag:], ordered[:-lag])
        else:
            sum_of_cosines = cosines[order[lag:], order[:-lag]].sum()
        total += (float(sum_of_cosines) / (n - lag) + 1 / (n - 1)) ** 2
    return total


def _group_cosine(unit: Array, starts: NDArray[np.integer]) -> float:
    """Return the sum over groups of |sum of their rows|^2, which for unit vectors rises with the mean cosine within."""
    sums = np.add.reduceat(unit, starts, axis=0)
    return float(np.vdot(sums, sums))


def _usual_group_cosine(unit: Array, sizes: NDArray[np.integer]) -> float:
    """Return the mean of `_group_cosine` over all orders of the rows, from the mean cosine of all pairs of rows."""
    total, power, n = unit.sum(axis=0), float(np.vdot(unit, unit)), len(unit)
    pairs = float(np.sum(sizes * (sizes - 1)))
    return power + (float(np.vdot(total, total)) - power) / (n * (n - 1)) * pairs


def _starts(sorted_groups: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the first row of each group, of rows that are sorted by their groups."""
    return np.flatnonzero(np.diff(sorted_groups, prepend=-1))


def group_numbers(name: str, groups: Any, n: int) -> NDArray[np.integer]:
    """Return the numbers (n,), from 0, of the groups of rows; ValueError unless there is a label for each, and two."""
    try:
        labels = np.asarray(groups)
        _, numbers = np.unique(labels, return_inverse=True)
        missing = np.atleast_1d(labels != labels)  # NaN and NaT differ from themselves
    except Exception:  # labels of different kinds cannot be sorted, and a stranger's object may raise anything
        raise ValueError(f"{name} must be a list of labels of one kind, got {shown(groups)}") from None
    if labels.shape != (n,):
        raise ValueError(f"{name} must have one label for each row, shape ({n},), got {labels.shape}")
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"{name} must have a label for each row, got {labels[row]} at row {row}")
    if not numbers.any():
        raise ValueError(
            f"{name} must have at least two different labels, got {shown(labels.tolist()[0])} for every row"
        )
    return np.asarray(numbers)


def _within_groups(
    rows: Array, groups: NDArray[np.integer], columns: float, rng: Generator, permutations: int
) -> RowAutocorrelation:
    """Estimate the correlation a of two rows of a group.

    About the mean of all n rows the mean product of two rows of a group of m is a - 2 (1 + (m - 1) a)/n + v, and that
    of a row with itself 1 - v, where v = (1 + a sum m (m - 1)/n)/n is the variance of the mean. The ratio r of both is
    linear in a above and below the line, so that a follows from r directly.
    """
    n, sizes = len(rows), np.bincount(groups)
    pairs = sizes * (sizes - 1)
    order, power = np.argsort(groups, kind="stable"), float(np.vdot(rows, rows))
    ratio = (_group_cosine(rows[order], _starts(groups[order])) - power) / pairs.sum() / (power / n)
    others, spread = float(pairs @ (sizes - 1)) / pairs.sum(), float(pairs.sum()) / n
    value = (ratio * (n - 1) + 1) / (n - 2 * others + spread * (1 + ratio))
    return RowAutocorrelation(
        values=np.array([value]),
        stderr=np.array([1 / np.sqrt(pairs.sum() / 2 * columns)]),
        p_value=permutation_test(rows, rng, permutations, groups),
        effective_columns=columns,
        mean_variance=(1 + value * spread) / n,
        n=n,
        group_sizes=sizes,
    )
