"""Continues the learning curve of a table beyond its rows, with standard errors by leaving out tenths of the rows.

The theory is that of `data_theory`: the fits to all N rows at a ridge mu know the effective ridge kappa(mu) and, by
generalized cross-validation, the error E_gcv(mu), and n rows have at the same kappa

    lam = (N/n) mu + (1 - N/n) kappa(mu),    E(n, lam) = E_gcv(mu) d mu/d lam.

For n > N only ridges above (1 - N/n) kappa(0) are reached. With fewer columns than rows kappa(0) = 0, and the curve is
known up to n = infinity, where it ends at the unbiased estimate of the errors of the population's own regressions, the
squared residuals of least squares over N - d. With as many columns as rows or more the best ridge of many more rows
lies below what is reached, and what is found near the end of it is noise: at 30 rows of 40 columns the error is 1 to
11 % too low on average at 2 N, and up to 16 % at 4 N; at 110 rows of 100 columns 1 % and 4 %, and 7 % in the limit.
Where nine tenths of the rows are no more than the columns the curve therefore ends at 2 N.
"""

from dataclasses import dataclass

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows, centered_rows
from figures.analyse.matrix.data_theory import Predict, data_theory
from simulate.core import stream
from simulate.masked import RowBlocks
from theory.core.arrays import Array

PARTS = 10  # of the rows, each left out once
RIDGES = np.geomspace(1e-6, 1e2, 161)  # in units of the mean variance, twenty for each decade
INFINITY = 10**12  # rows that differ from infinitely many by less than rounding shows
MIN_ROWS_OF_BARS = 30  # below, tenths of the rows say nothing about each other
FLOPS_OF_BARS = 2e11  # about ten seconds on one core


@dataclass(frozen=True, eq=False)
class LongCurve:
    """The least error over the ridges at some numbers of rows, and for infinitely many."""

    rows: Array  # (points,), whole numbers, of which the last may be infinite
    errors: Array  # (points,), means over the columns
    stderr: Array  # (points,), NaN where it was not estimated


def long_curve(X: CenteredRows, predict: Predict, rows: Array, seed: int) -> LongCurve:
    """Return the curve that `predict` gives at `rows`, the last of which may be infinite.

    The standard errors are those of the Gaussian theory, by the jackknife over tenths of the rows of log errors, and
    NaN for fewer than 30 rows, for rows that are not in memory, where ten more ridge paths would take long, and within
    a tenth of as many rows as columns, where fewer rows are another problem. Elsewhere they are
    between 0.8 and 1.7 times the scatter at n = 3 d and 1.1 and 2.5 times at 1.5 d, for three populations of d = 100.
    """
    errors = least_errors(predict, rows, float(X.variances.mean()))
    stderr = np.full(len(rows), np.nan)
    affordable = operations_of_bars(X.n, X.d) < FLOPS_OF_BARS
    crosses = 0.9 * X.n <= X.d + 1 <= 1.1 * X.n
    if affordable and not crosses and X.n >= MIN_ROWS_OF_BARS and X.rows.in_memory is not None:
        stderr = errors * _jackknife(X, rows, seed)
    return LongCurve(rows, errors, stderr)


def operations_of_bars(n: int, d: int) -> float:
    """Return the floating point operations of the ten ridge paths that the standard errors take."""
    k = min(n, d)
    return PARTS * (n * d * k + 12.0 * k**3)


def beyond(n: int, d: int) -> Array:
    """Return numbers of rows from n to 64 n, in steps of a root of two, and infinity; to 2 n for few rows."""
    rows = np.append(np.round(n * 2.0 ** np.arange(0, 6.5, 0.5)), np.inf)
    return rows if 0.9 * n > d + 1 else rows[:3]


def gaussian_theory(X: CenteredRows) -> Predict:
    """Return the prediction of `data_theory` for the rows X, at ridges low enough for any number of rows."""
    return data_theory(X, float(X.variances.mean()) * RIDGES, X.n).mean_test_error


def least_errors(predict: Predict, rows: Array, variance: float) -> Array:
    """Return the least error over the ridges at each number of rows; NaN where no ridge is reached."""
    found = np.full(len(rows), np.nan)
    for i, n in enumerate(rows):
        errors = predict(int(min(n, INFINITY)), variance * RIDGES)
        if np.isfinite(errors).any():
            found[i] = np.nanmin(errors)
    return found


def _jackknife(X: CenteredRows, rows: Array, seed: int) -> Array:
    """Return the standard errors (points,) of the logarithms of the errors."""
    data = X.rows.all_rows()
    part = stream(seed, "more rows", "parts").permutation(X.n) % PARTS
    logs = []
    for left_out in range(PARTS):
        some = centered_rows(RowBlocks.of_array("X", data[part != left_out]))
        if some.constant:
            return np.full(len(rows), np.nan)
        logs.append(np.log(least_errors(gaussian_theory(some), rows, float(some.variances.mean()))))
    return np.asarray(np.sqrt((PARTS - 1) * np.var(logs, axis=0)))
