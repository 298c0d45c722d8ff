"""Finds the ridge to use for all rows, by generalized cross-validation, by leave-one-out and by theory."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.data_theory import Predict
from figures.analyse.matrix.plan import MIN_ROWS
from figures.analyse.matrix.record import BestRidge
from simulate.core import Estimate
from simulate.masked import fit
from theory import masked
from theory.core.arrays import Array
from theory.models import Empirical, EqualScales, MaskedRegression, RowScales

RIDGE_FACTORS = np.array([0.1, 0.3, 1.0, 3.0, 10.0])  # leave-one-out is measured there, in units of the chosen ridge


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Exact leave-one-out errors at a few ridges.

    `errors` are means over the columns with their standard errors over the rows, and `column_error` (d,) are the errors
    of the columns at the ridge in the middle.
    """

    lams: Array
    errors: tuple[Estimate, ...]
    column_error: Array = field(repr=False)


def least_error(predict: Predict, n: int, scale: float, searched: Array) -> tuple[float, bool]:
    """Return the ridge of least error of all n rows to two digits, and whether it lies at an end of the range.

    At all n rows the Gaussian theory of the data is generalized cross-validation, and the elliptical one leave-one-out.
    `scale` is the mean variance, in whose units the range is `searched`.
    """
    lams = scale * np.geomspace(searched[0], searched[-1], 1000)
    errors = predict(n, lams)
    i = int(np.nanargmin(errors))
    return float(f"{lams[i]:.2g}"), i in (0, len(lams) - 1)


def leave_one_out(X: CenteredRows, best: float) -> LeaveOneOut:
    """Measure leave-one-out errors of all rows around the best ridge."""
    found = [loo_means(X, factor * best) for factor in RIDGE_FACTORS]
    center = int(np.flatnonzero(RIDGE_FACTORS == 1)[0])
    return LeaveOneOut(best * RIDGE_FACTORS, tuple(Estimate.of(rows) for rows, _ in found), found[center][1])


def loo_means(X: CenteredRows, lam: float) -> tuple[Array, Array]:
    """Return the mean leave-one-out error of each row (n,) over the columns, and of each column (d,) over the rows."""
    by_row, by_column = [], np.zeros(X.d)
    for squares in loo_squares(X, lam):
        by_row.append(squares.mean(axis=1))
        by_column += squares.sum(axis=0)
    return np.concatenate(by_row), by_column / X.n


def loo_squares(X: CenteredRows, lam: float) -> Iterator[Array]:
    """Yield, for blocks of rows, the squared error of each entry, predicted by regression and mean of the other rows.

    The mean is one more direction of the hat matrix, with 1/n on its diagonal; the penalty n lam is kept. So the
    residual r of the fit to all rows, which is r' = r/(1 - h) for a known mean, becomes r/(1 - h - 1/n) = r'/(1 - r'/(n
    r)).
    """
    fitted = fit(X.rows.centered(), lam)
    for residuals, known_mean in fitted.residual_blocks():
        yield refitted_mean(known_mean, residuals, X.n) ** 2


def refitted_mean(known_mean: Array, residuals: Array, n: int) -> Array:
    """Return leave-one-out residuals (rows, d) about a mean that is fitted again, from those of a `known_mean`.

    `residuals` are those of the fit to all n rows.
    """
    share = np.divide(known_mean, n * residuals, out=np.zeros_like(residuals), where=residuals != 0)
    return np.asarray(known_mean / (1 - share))


def best_ridge(
    gcv: tuple[float, bool],
    chosen: tuple[float, bool],
    loo: LeaveOneOut,
    covariance: Empirical,
    n: int,
    law: RowScales | None = None,
    dependent: bool = False,
) -> BestRidge:
    """Put the best ridges by GCV, by leave-one-out and by theory side by side.

    `gcv` and `chosen` are what `least_error` found. Where rows differ in scale, by the `law` given, the one that is
    `chosen` is that of leave-one-out; where they are `dependent` the law is that of the eigenvalues of their
    covariance, and the one that is chosen that of corrected GCV. The theory takes the covariance of the data as exact.
    Its model of n - 1 contrasts has the ridge lam n/(n - 1) where n centered rows have lam. With no more contrasts than
    columns that covariance is fitted exactly, and there is no theory.
    """
    alpha = (n - 1) / covariance.d
    theory = None
    if alpha > 1 and n >= MIN_ROWS:
        theory = masked.optimal_ridge(MaskedRegression(covariance, alpha, law or EqualScales())).lam * (n - 1) / n
    left_out = chosen[0] if law is not None and not dependent else _vertex(loo)
    return BestRidge(*gcv, left_out, theory, *chosen)


def _vertex(loo: LeaveOneOut) -> float:
    """Return the ridge at the minimum of the parabola in log lam through the three lowest points.

    Where the error still falls toward an end of the range it is that end.
    """
    errors = np.array([estimate.mean for estimate in loo.errors])
    i = int(errors.argmin())
    if i in (0, len(errors) - 1):
        return float(loo.lams[i])
    a, b, _ = np.polyfit(np.log(loo.lams[i - 1 : i + 2]), errors[i - 1 : i + 2], 2)
    return float(np.exp(-b / (2 * a))) if a > 0 else float(loo.lams[i])
