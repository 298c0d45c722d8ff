"""Measures the best time to stop training beside the best ridge, both chosen without the rows that judge them."""

from dataclasses import dataclass, field

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.held_out import Order
from figures.analyse.matrix.plan import MIN_ROWS, Plan
from figures.analyse.matrix.stopping.search import Found, by_estimate, by_leaving_out, by_setting_aside
from figures.analyse.splits import Sweep
from simulate.core import Estimate, Task
from simulate.masked import fit
from simulate.masked.training import fit_training
from theory.core.arrays import Array
from theory.models import Flow

DEPENDENT = (
    "The best time to stop training is not reported where rows depend on each other: the estimates that choose it take "
    "rows as independent, and would choose too late a time"
)
COPIES = (
    "The best time to stop training is not reported where copied rows are kept: the estimates that choose it take a "
    "copy as a row of its own, and would choose too late a time"
)
FEW = f"The best time to stop training is not reported for fewer than {MIN_ROWS} fitted rows"
IN_BLOCKS = (
    "The best time to stop training is not reported for rows of different scale in a table that is read in blocks"
)


@dataclass(frozen=True, eq=False)
class BestStop:
    """The best time of gradient flow from zero without a ridge, and its errors beside those of the best ridge.

    Times are in units of one over a variance of the analysis. Errors are means over the columns. `held_out` and
    `ridge_held_out` (splits,) are those on the held-out rows of each split, of fits to `fitted_rows` rows, from which
    alone the time (`times`) and the ridge were chosen.
    """

    time: float  # for all rows
    at_start: bool  # whether it is at an end of the times that were searched
    at_end: bool
    estimate: float  # of the error of all rows at that time, from these rows alone
    ridge_estimate: float  # at the best ridge, in the same way
    by_leave_one_out: bool  # the estimates, as where rows differ in scale
    fitted_rows: int
    held_out_rows: int
    times: Array = field(repr=False)
    held_out: Array = field(repr=False)
    ridge_held_out: Array = field(repr=False)

    @property
    def difference(self) -> Estimate:
        """Stopping minus ridge on held-out rows, a mean over the splits, as a share of the error of the ridge.

        Random splits share most of their fitted rows, so that the scatter over the splits is less than that over new
        tables. The variance of the mean is therefore that of one split times (1/splits + held-out/fitted rows), the
        correction of Nadeau and Bengio (Machine Learning 52, 239 (2003)).
        """
        found = Estimate.of((self.held_out - self.ridge_held_out) / self.ridge_held_out.mean())
        shared = np.sqrt(1 + found.n * self.held_out_rows / self.fitted_rows)
        return Estimate(found.mean, float(found.stderr * shared), found.n)


def best_stop(
    X: CenteredRows,
    plan: Plan,
    rows: Order,
    tuning: Array,
    ridge_errors: Array,
    ridge_estimate: float,
    *,
    unlike: bool,
    dependent: bool,
    copies: bool,
    seed: int,
    run: Sweep,
) -> BestStop | str:
    """Find the best time for all rows and measure it on the splits of the `plan`; a string says why it is not done.

    `ridge_errors` (splits,) are the held-out errors at the ridge that GCV chose from `tuning`, and `ridge_estimate`
    is the estimated error of all rows at the best one. Where rows are `unlike` in scale the time for all rows is chosen
    by leaving rows out, and that of each split, like its ridge, by a fifth of its fitted rows that is set aside.
    """
    if dependent or copies:
        return COPIES if copies else DEPENDENT
    if plan.sizes[-1] < MIN_ROWS:
        return FEW
    if unlike and X.rows.in_memory is None:
        return IN_BLOCKS
    unit = float(X.variances.mean())
    common = (X, rows, plan.sizes[-1], plan.n_test, unit, tuning if unlike else None)
    values = run([Task(f"stop/{r}", split_stop, (*common, r)) for r in range(plan.repeats)])
    times, held_out, *others = np.array(list(values.values())).T
    found = by_leaving_out(X.rows.centered(), unit, seed) if unlike else by_estimate(X.contrasts(), unit)
    error = _left_out(X, found) if unlike else found.error
    return BestStop(
        time=found.time,
        at_start=found.at_start,
        at_end=found.at_end,
        estimate=error,
        ridge_estimate=ridge_estimate,
        by_leave_one_out=unlike,
        fitted_rows=plan.sizes[-1],
        held_out_rows=plan.n_test,
        times=times,
        held_out=held_out,
        ridge_held_out=others[0] if unlike else ridge_errors,
    )


def split_stop(
    X: CenteredRows, rows: Order, size: int, n_test: int, unit: float, ridges: Array | None, repeat: int
) -> Array:
    """Return the time that `size` fitted rows choose, its error on held-out rows, and that of the ridge.

    With `ridges` the rows are unlike, and the time and one of the ridges are chosen by a fifth of the fitted rows that
    is set aside; without them the error of a ridge is not measured.
    """
    order = rows.order(X.n, repeat)
    held_out = X.rows.take(np.sort(order[X.n - n_test :]))
    if ridges is None:
        mean, contrasts = next(iter(X.training_sets(order, (size,))))
        found = by_estimate(contrasts, unit)
        return np.array([found.time, found.path.test_error(0, held_out - mean).mean()])
    fitted = X.rows.all_rows()[order[:size]]  # in the order of the split, whose last fifth is set aside
    time, lam = by_setting_aside(fitted, unit, ridges)
    mean = fitted.mean(axis=0)
    trained, ridge = fit_training(fitted - mean, Flow(time)), fit(fitted - mean, lam)
    return np.array([time, trained.mean_test_error(held_out - mean), ridge.mean_test_error(held_out - mean)])


def _left_out(X: CenteredRows, found: Found) -> float:
    """Return the mean error of all rows, each left out, at the time that was found."""
    total = sum(float((found.path.loo_residuals(0, rows, centered=True) ** 2).sum()) for rows in X.rows.centered())
    return total / (X.n * X.d)
