"""The error at the holes of a table before they are filled: every entry seen is left out and predicted once."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.masked import checks
from simulate.masked.holes.laid import Laid, laid_holes
from simulate.masked.holes.own_rows import OwnRows
from simulate.masked.holes.pairwise import Pairwise
from simulate.masked.holes.patterns import Patterns
from simulate.masked.holes.table import HoledTable, holed_table
from theory.core import Array, DataFrame, Result, checked, table

ABOVE_LEAST = np.logspace(-2, 1, 13)  # ridges that are tried above the least one, in units of the columns' variance


@dataclass(frozen=True, eq=False, repr=False)
class ImputationErrors(Result):
    """Expected squared errors at the holes of each column along ridges, in squared units of the data.

    `error` and `stderr` (ridges, d) are per column. `mean_error` and `mean_stderr` (ridges,) are means over the entries
    in units of their columns' variances, so that 1 is what filling with the mean gives. `hole_error` and `hole_stderr`
    (ridges,) are means over the columns instead, each weighted by its number of holes: the error to expect at the holes
    that are there. Standard errors are those of sums over rows, since the entries of a row err together.
    """

    lams: Array  # (ridges,), in units of the columns' variance
    error: Array
    stderr: Array
    mean_error: Array
    mean_stderr: Array
    hole_error: Array
    hole_stderr: Array
    variances: Array  # (d,), of the entries seen
    method: str
    least_ridge: float  # 0 for own rows, which need none
    pairs_never_seen: int  # pairs of columns that no row shows together, taken to be uncorrelated by "pairwise"
    matched: float  # share of the holes that rows that see more could show; 1 where holes lie apart
    weights: Array = field(repr=False)  # (d,), shares of the columns in the mean by which the best ridge is chosen

    def best(self) -> int:
        """Return the place in `lams` of the ridge of least error, columns weighted by their numbers of holes."""
        return int(np.argmin(self.hole_error))

    def to_frame(self) -> DataFrame:
        """Make a table with a row for each ridge."""
        return table(lam=self.lams, mean_error=self.mean_error, mean_stderr=self.mean_stderr)


@checked
def imputation_error(
    X: Any, seen: Any = None, lams: Any = None, method: Literal["pairwise", "own_rows"] = "pairwise"
) -> ImputationErrors:
    """Predict the squared error at the holes of a table X (n, d), before filling them, along a list of ridges.

    Every entry seen is predicted as if it were a hole, from the others of its row, by covariances ("pairwise") or a
    regression ("own_rows") that do not contain it. It costs one inverse a row, or one eigendecomposition a column, and
    no refits. The entry is left out of the mean of its column too, and of the scale: results are in the units of the
    data, since in units of the entries' own standard deviation they would be too small by 4/N. The mean square
    estimates the error at holes up to terms of order 1/n, if entries are missing completely at random: if whether an
    entry is missing has nothing to do with any value. Where holes come together beyond chance, entries are hidden as
    the holes of other rows are, as `impute` says; `matched` is the share of the holes for which this could be done.

    `seen` (n, d) are truth values; by default all entries but NaN are seen. Ridges are in units of the columns'
    variances; by default 13 from 0.01 to 10, for "pairwise" above the least ridge, at which the smallest eigenvalue of
    the covariance is zero. Pairs of columns that no row shows together count as uncorrelated: `pairs_never_seen` says
    how many. Derived here, as in the docstrings of `Pairwise` and `OwnRows`. ValueError as in `impute`, and for a ridge
    at or below the least one.

    >>> from simulate.masked import sample, with_holes
    >>> from theory.models import AR1
    >>> rng = np.random.default_rng(0)
    >>> holed, seen = with_holes(sample(AR1(12, 0.8), 200, rng), 0.2, rng)
    >>> found = imputation_error(holed, seen)
    >>> print(f"{found.mean_error[found.best()]:.2f} +- {found.mean_stderr[found.best()]:.2f} of the variance")
    0.33 +- 0.01 of the variance
    """
    return errors_along(holed_table(X, seen).in_own_order()[0], lams, method)


def errors_along(holed: HoledTable, lams: Any, method: str) -> ImputationErrors:
    """Predict the errors of a checked table; see `imputation_error`."""
    pairwise = Pairwise(holed.values, Patterns.of(holed.seen), holed.rates) if method == "pairwise" else None
    least = pairwise.least_ridge if pairwise else 0.0
    strengths = least + ABOVE_LEAST if lams is None else checks.ridges(lams, checks.positive_ridge)
    if pairwise:
        for i, lam in enumerate(strengths):
            pairwise.require(lam, f"lams[{i}]")
    laid = laid_holes(holed.seen)
    if pairwise:
        standard = [
            (residuals, shifts) for residuals, _, shifts in (left_out(pairwise, lam, laid) for lam in strengths)
        ]
    else:
        standard = regressions_left_out(OwnRows(holed.values, holed.seen), strengths, laid)
    measured = measured_weights(holed.seen, laid)
    columns, means, in_holes, weights = [], [], [], hole_weights(holed.seen)
    for residuals, shifts in standard:
        data_units = in_data_units(residuals, shifts, holed)
        columns.append(by_column(data_units, measured))
        means.append(over_entries(data_units / np.sqrt(holed.variances), measured))
        in_holes.append(over_holes(data_units / np.sqrt(holed.variances), measured, weights))
    return ImputationErrors(
        lams=strengths,
        error=np.array([error for error, _ in columns]),
        stderr=np.array([stderr for _, stderr in columns]),
        mean_error=np.array([error for error, _ in means]),
        mean_stderr=np.array([stderr for _, stderr in means]),
        hole_error=np.array([error for error, _ in in_holes]),
        hole_stderr=np.array([stderr for _, stderr in in_holes]),
        variances=holed.variances,
        method=method,
        least_ridge=least,
        pairs_never_seen=pairwise.pairs_never_seen if pairwise else 0,
        matched=1.0 if laid is None else laid.matched,
        weights=weights,
    )


def left_out(pairwise: Pairwise, lam: float, laid: Laid | None) -> tuple[Array, Array, Array]:
    """Return residuals, variances, shifts (n, d) of entries predicted as holes, alone or as the holes come together."""
    alone = pairwise.entry_errors(lam)
    if laid is None:
        return alone
    first, second, third = pairwise.laid_errors(lam, laid)
    columns = laid.columns
    return np.where(columns, first, alone[0]), np.where(columns, second, alone[1]), np.where(columns, third, alone[2])


def regressions_left_out(own_rows: OwnRows, lams: Array, laid: Laid | None) -> list[tuple[Array, Array]]:
    """Return the same residuals and shifts for regressions, for each of the ridges."""
    alone = own_rows.entry_errors(lams)
    if laid is None:
        return list(zip(*alone, strict=True))
    together = own_rows.laid_errors(lams, laid)
    return list(zip(*(np.where(laid.columns, two, one) for one, two in zip(alone, together, strict=True)), strict=True))


def measured_weights(seen: NDArray[np.bool_], laid: Laid | None) -> Array:
    """Return the weights (n, d) of the entries predicted as holes: equal ones in columns whose holes were not laid."""
    return seen.astype(np.float64) if laid is None else np.where(laid.columns, laid.weights, seen)


def hole_weights(seen: NDArray[np.bool_]) -> Array:
    """Return the shares (d,) of the columns in the holes; equal ones where there is no hole."""
    holes = (~seen).sum(axis=0).astype(np.float64)
    return holes / holes.sum() if holes.any() else np.full(len(holes), 1 / len(holes))


def in_data_units(residuals: Array, shifts: Array, holed: HoledTable) -> Array:
    """Return residuals (n, d) in units of the data, with every entry left out of the mean of its own column as well.

    The mean of the N - 1 others is lower by x/(N - 1), and `shifts` say how residuals follow.
    """
    return np.where(holed.seen, (residuals + shifts * holed.values / (holed.counts - 1)) * holed.scales, 0.0)


def by_column(residuals: Array, measured: NDArray[Any]) -> tuple[Array, Array]:
    """Return the mean square (d,) of the entries measured in each column, and its standard error; NaN without any.

    `measured` (n, d) are weights, or truth values.
    """
    squares = residuals**2
    counts, totals = (measured > 0).sum(axis=0), measured.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(measured > 0, measured * squares, 0.0).sum(axis=0) / totals
        spread = np.where(measured > 0, measured * (squares - mean), 0.0)
        return mean, np.sqrt((spread**2).sum(axis=0) * (counts / (counts - 1))) / totals


def over_entries(residuals: Array, measured: NDArray[Any]) -> tuple[float, float]:
    """Return the mean square over all entries measured, and its standard error as a ratio of sums over rows."""
    totals = np.where(measured > 0, measured * residuals**2, 0.0).sum(axis=1)
    counts = measured.sum(axis=1)
    mean = totals.sum() / counts.sum()
    n = len(counts)
    return float(mean), float(np.sqrt(n / (n - 1) * np.sum((totals - mean * counts) ** 2)) / counts.sum())


def over_holes(residuals: Array, measured: NDArray[Any], weights: Array) -> tuple[float, float]:
    """Return the mean square of columns by their `weights` (d,), and its standard error.

    The entries measured in a column stand for its holes. A column of large weight and few entries makes the standard
    error that of these few; columns of one row err together.
    """
    counts, totals = np.maximum((measured > 0).sum(axis=0), 1), np.maximum(measured.sum(axis=0), 1)
    squares = np.where(measured > 0, residuals**2, 0.0)
    mean = (measured * squares).sum(axis=0) / totals
    of_mean = (
        np.where(measured > 0, measured * (squares - mean), 0.0) / totals * np.sqrt(counts / np.maximum(counts - 1, 1))
    )
    return float(weights @ mean), float(np.sqrt(np.sum((of_mean @ weights) ** 2)))
