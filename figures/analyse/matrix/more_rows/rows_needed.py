"""Says how many rows a target error needs, and what is the least that any number of rows can reach."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from figures.analyse.matrix.admissible import admitted, scaled
from figures.analyse.matrix.more_rows.curve import LongCurve, beyond, gaussian_theory, long_curve
from theory.core import DataFrame, NonNegative, Positive, Result, checked, table
from theory.core.arrays import Array

TWO_STDERR = 2.0  # half width of the intervals, in standard errors


@dataclass(frozen=True, eq=False, repr=False)
class RowsNeeded(Result):
    """The learning curve of a table from its own n rows on, and the rows at which it reaches a target.

    Errors are mean squares of a column, averaged over the columns, each number of rows with the ridge that is best for
    it; standard errors are NaN where they were not estimated. Where .9 n is at most d + 1 the curve ends at 2 n,
    and the limit is not known.
    """

    n: int
    d: int
    mean_variance: float  # the error of predicting every column by its mean
    rows: Array  # (points,), from n to 64 n and infinity, or to 2 n
    errors: Array = field(repr=False)  # (points,)
    stderr: Array = field(repr=False)  # (points,)
    target_error: float | None
    rows_needed: float  # for the target; infinite where no number of rows reaches it, NaN where this is not known
    interval: tuple[float, float]  # of the rows needed, about two standard errors

    @property
    def limit(self) -> float:
        """The error that infinitely many rows would have; NaN where it is not known."""
        return float(self.errors[-1]) if np.isinf(self.rows[-1]) else math.nan

    @property
    def limit_stderr(self) -> float:
        """The standard error of `limit`."""
        return float(self.stderr[-1]) if np.isinf(self.rows[-1]) else math.nan

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each number of rows: rows, error and its standard error."""
        return table(rows=self.rows, error=self.errors, stderr=self.stderr)


@checked
def rows_needed(
    X: Any, target_error: Positive | None = None, *, standardize: bool = False, seed: NonNegative = 0
) -> RowsNeeded:
    """Predict the error of masked regression for more rows than the table X (n, d) has, and the rows for a target.

    Every column is predicted from all others at the best ridge for so many rows, and errors are means over the columns
    of mean squares, in units of the columns or, with `standardize`, of their standard deviations. The curve needs no
    estimate of the covariance itself: what the ridge path of all rows says of it is free of the noise of the sample
    (see `figures.analyse.matrix.data_theory`). Standard errors leave tenths of the rows out, chosen with `seed`.

    It holds for independent rows that are alike in scale. Measured for 40 columns of three populations, predictions
    at 2, 4 and 8 times the rows and in the limit are within 1 % of the truth on average at 120 and 400 rows, and within
    3 % at 60; single ones scatter no more than their standard errors say. With as many columns as rows or more they are
    too low by up to a tenth at 2 n, where the curve therefore ends.

    `rows_needed` is infinite where the target is below the limit, n where the table's rows reach it already, and NaN
    where the curve ends before. ValueError as in `analyse_matrix`, and for a target that is not positive.

    >>> from simulate.core import stream
    >>> from simulate.masked import sample
    >>> from theory.models import AR1
    >>> found = rows_needed(sample(AR1(20, 0.7), 100, stream(0, "docstring")), target_error=0.38)
    >>> print(f"{found.errors[0]:.2f} now, {found.limit:.2f} with infinitely many rows")
    0.40 now, 0.35 with infinitely many rows
    >>> found.rows_needed
    173.0
    """
    data = scaled(admitted(X, None, drop_constant=False), standardize=standardize, equal_rows=False)
    curve = long_curve(data, gaussian_theory(data), beyond(data.n, data.d), int(seed))
    needed, interval = math.nan, (math.nan, math.nan)
    if target_error is not None:
        needed = _needed(curve, curve.errors, target_error)
        low, high = (curve.errors + sign * TWO_STDERR * curve.stderr for sign in (-1, 1))
        if np.isfinite(curve.stderr).all():
            interval = _needed(curve, low, target_error), _needed(curve, high, target_error)
    return RowsNeeded(
        n=data.n,
        d=data.d,
        mean_variance=float(data.variances.mean()),
        rows=curve.rows,
        errors=curve.errors,
        stderr=curve.stderr,
        target_error=target_error,
        rows_needed=needed,
        interval=interval,
    )


def _needed(curve: LongCurve, errors: Array, target: float) -> float:
    """Return the rows at which these errors reach the target, interpolated in 1/n and rounded up.

    NaN where they do not reach it and end before infinity.
    """
    errors = np.minimum.accumulate(errors)
    if errors[0] <= target:
        return float(curve.rows[0])
    if errors[-1] >= target:
        return math.inf if np.isinf(curve.rows[-1]) else math.nan
    falling = np.append(True, np.diff(errors) < 0)
    inverse = PchipInterpolator(errors[falling][::-1], (1 / curve.rows)[falling][::-1])
    return float(math.ceil(1 / max(float(inverse(target)), 1e-15)))
