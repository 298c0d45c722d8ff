"""Analyzes a samples-by-features matrix."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix import table
from figures.analyse.matrix.admissible import admitted, scale_notes, scaled
from figures.analyse.matrix.best_ridge import best_ridge, least_error, leave_one_out
from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.copies import CopyChoice, copies_said, taken_once
from figures.analyse.matrix.counts import logarithms
from figures.analyse.matrix.data_theory import Predict, data_theory, empirical_errors, trusted
from figures.analyse.matrix.dependent.analyse import dependent_rows
from figures.analyse.matrix.dependent.errors import blocked_errors
from figures.analyse.matrix.dependent.row_order import RowChoice, row_order
from figures.analyse.matrix.dependent.theory import dependent_theory, empirical_dependent_errors
from figures.analyse.matrix.dependent.unlike import unlike_too
from figures.analyse.matrix.dependent.whitening import whitened_rows
from figures.analyse.matrix.elliptical_theory import MAX_SAMPLED_ROWS, EllipticalTheory, elliptical_theory
from figures.analyse.matrix.held_out import Splitting, split_errors
from figures.analyse.matrix.mask_rates import mask_rates
from figures.analyse.matrix.more_rows.lines import more_rows, more_rows_lines
from figures.analyse.matrix.plan import MIN_ROWS, Plan, make_plan
from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.row_scales import heterogeneity, law_of_scales
from figures.analyse.matrix.spectrum import matrix_spectrum
from figures.analyse.matrix.stopping import best_stop
from figures.analyse.matrix.unlike_rows import unlike_rows
from figures.analyse.splits import Sweep
from simulate.core import Task, sweep
from theory.core.arrays import Array

RELATIVE_LAMS = np.array([1e-3, 1e-2, 1e-1])  # in units of the mean variance
SEARCHED_RIDGES = np.geomspace(1e-5, 1e2, 57)  # in the same units, eight for each decade
NEAR_BEST_FACTOR = 3.0  # a default lam within this factor of the best one is left out


def analyse_matrix(
    X: Any,
    names: Sequence[str] | None = None,
    *,
    lams: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    test_fraction: float = 0.2,
    repeats: int | None = None,
    standardize: bool = False,
    drop_constant: bool = False,
    equal_rows: bool = False,
    order: RowChoice = "none",
    groups: Sequence[Any] | NDArray[Any] | None = None,
    gap: int | None = None,
    whiten_rows: bool = False,
    copies: CopyChoice = "once",
    row_names: Sequence[str] = (),
    log1p: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    progress: str | None = None,
    run: Sweep | None = None,
) -> MatrixAnalysis:
    """Measure and predict the masked regression of the columns of X (n, d) about their means.

    `repeats` random splits (20, fewer where that would take long) hold out `test_fraction` of the rows and fit nested
    training sets of `sizes` rows at every ridge of `lams`, in the convention of `simulate.masked.fit` for centered
    rows, and at the one that GCV chooses. `standardize` measures each column in units of its standard deviation over
    all rows, and `equal_rows` then brings every row to the same distance from the mean. `run` carries out the tasks in
    the place of `simulate.core.sweep`. The result does not depend on n_jobs.

    X may be larger than memory: mapped from a file, or rows of `simulate.masked.row_blocks`. Such tables, and those of
    more than 20 million numbers, are analyzed block by block; the notes name the parts that use a random choice of
    rows. X may also be rows that were `admitted` before, with their names.

    Where a test says that the rows differ in scale, the ridge for all rows is chosen by leave-one-out, and the theory
    of such rows is given beside the Gaussian one.

    With the `order` "test" it is tested whether successive rows resemble each other, or with `groups`, a label for each
    row, whether those of one group do. Where they do, the held-out rows are later blocks, `gap` rows after the fitted
    ones (or whole groups), the ridge is that of the least corrected GCV, and the theory is that of such rows.
    `whiten_rows` then takes the dependence out of the rows first. With the `order` "time" the held-out rows are later
    blocks in any case; with "none" the order of the rows says nothing.

    Rows that are copies of another one, exactly or up to rounding, are taken once with `copies` "once"; with "together"
    all are kept, and copies are groups that are held out as a whole. `row_names` name the rows of X in results, and
    `log1p` takes log(1 + x) of all cells first.

    ValueError for X that is not a finite matrix with n >= 3 and d >= 2, for constant columns unless `drop_constant`,
    for rows that equal the mean with `equal_rows`, for lams <= 0, for a gap that leaves fewer than two rows, and for
    groups that have another length, one label, or no label twice; for `row_names` of another number, for "together"
    with groups or an order, and for negative cells with `log1p`.
    """
    taken = taken_once(admitted(X, names, drop_constant=drop_constant), groups, copies, row_names)
    plain = logarithms(taken.rows) if log1p else taken.rows
    data = scaled(plain, standardize=standardize, equal_rows=equal_rows)
    order_of_rows = row_order(data, order, taken.groups, gap, seed)
    if whiten_rows:
        data, order_of_rows = whitened_rows(data, order_of_rows, seed)
    n, d, variances = data.n, data.d, data.variances
    scale = float(variances.mean())
    given = None if lams is None else _checked(lams)
    fixed = scale * RELATIVE_LAMS if given is None else given
    curves = len(fixed) + 1 + (given is None)
    plan = make_plan(
        n,
        d,
        curves,
        test_fraction=test_fraction,
        sizes=sizes,
        repeats=repeats,
        gap=order_of_rows.gap,
        spare=order_of_rows.spare,
    )
    tuning = scale * SEARCHED_RIDGES
    theory = data_theory(data, np.concatenate([fixed, tuning]), plan.sizes[0])
    by_gcv = least_error(theory.mean_test_error, n, scale, SEARCHED_RIDGES)
    found, some_rows = heterogeneity(data, by_gcv[0], seed)
    order_of_rows, ratio = unlike_too(data, order_of_rows, found, by_gcv[0], seed)
    dependent = None if order_of_rows.laws is None else dependent_theory(theory, order_of_rows.laws)
    law = None if dependent is not None else law_of_scales(found)
    elliptical = None if law is None else elliptical_theory(data, theory, law, by_gcv[0], seed)
    expected = dependent or elliptical or theory
    chosen = by_gcv if expected is theory else least_error(expected.mean_test_error, n, scale, SEARCHED_RIDGES)
    lam = chosen[0]
    fixed = _with_best(fixed, lam) if given is None else given
    covariance = data.covariance()
    predict, raw = trusted(theory.mean_test_error), trusted(partial(empirical_errors, covariance))
    if dependent is not None:
        predict = trusted(dependent.mean_test_error)
        raw = trusted(partial(empirical_dependent_errors, covariance, dependent.laws, n))
    run = run or partial(sweep, n_jobs=n_jobs, progress=progress)
    splitting = order_of_rows.splitting(plan, seed)
    test, gcv, *corrected = _measured(data, fixed, tuning, plan, seed, splitting, run)
    loo = leave_one_out(data, lam)
    predict_curves = partial(table.with_tuned, predict, lams=fixed, tuning=tuning)
    raw_curves = partial(table.with_tuned, raw, lams=fixed, tuning=tuning)
    predicted, uncorrected = (np.array([of(size) for size in plan.sizes]) for of in (predict_curves, raw_curves))
    left_out = None if elliptical is None else elliptical.mean_test_error
    rows = [
        *table.learning_rows(predict_curves, raw_curves, fixed, plan, n),
        *table.measured_rows(test, gcv, predicted, fixed, plan, d),
        *table.baseline_rows(scale, plan, n, tuning),
        *table.ridge_rows(theory.mean_test_error, raw, tuning, lam, loo, n, d, left_out, dependent is None),
    ]
    unlike, depending, columns = None, None, loo.column_error
    if dependent is not None:
        depending = dependent_rows(
            data, order_of_rows, theory, dependent, loo, by_gcv[0], lam, test, corrected[0], ratio, seed
        )
        columns = depending.columns
        rows = table.with_corrected_choice(rows) + table.dependent_rows(dependent, depending, tuning, plan, lam)
    if elliptical is not None:
        unlike, lines = unlike_rows(data, elliptical, fixed, tuning, plan, by_gcv[0], lam)
        rows += lines
    more = more_rows(data, left_out, dependent is not None, seed)
    rows += more_rows_lines(more, plan.sizes[0])
    return MatrixAnalysis(
        names=data.names,
        n=n,
        variances=variances,
        lams=fixed,
        plan=plan,
        test_error=test,
        gcv_error=gcv,
        theory=predicted,
        empirical_theory=uncorrected,
        best=best_ridge(
            by_gcv, chosen, loo, covariance, n, dependent.rows if dependent else law, dependent is not None
        ),
        heterogeneity=found,
        unlike_rows=unlike,
        row_order=order_of_rows,
        dependent_rows=depending,
        effective_ridge=expected.effective_ridge(lam),
        degrees_of_freedom=theory.degrees_of_freedom(lam),
        column_error=columns,
        doubled_error=_doubled(expected.mean_test_error, n, tuning),
        rows=rows,
        converged=all(entry["converged"] for entry in rows),
        notes=(
            *data.notes,
            *copies_said(taken.found, copies, row_names),
            *scale_notes(variances, n),
            *plan.notes,
            *_of_some_rows(data, some_rows, elliptical),
        ),
        more_rows=more,
        mask_rates=mask_rates(data, lam, dependent is None, seed),
        stopping=best_stop(
            data,
            plan,
            splitting.rows,
            tuning,
            test[:, -1, -1],
            float(
                loo.errors[len(loo.errors) // 2].mean if elliptical else theory.mean_test_error(n, np.array([lam]))[0]
            ),
            unlike=elliptical is not None,
            dependent=dependent is not None,
            copies=copies == "together" and len(taken.found.copies) > 0,
            seed=seed,
            run=run,
        ),
        _spectrum=partial(matrix_spectrum, data, data.names, lam, seed),
        _data=data,
        row_numbers=taken.numbers[len(taken.numbers) - n :],  # whitening leaves out the first ones
        row_names=tuple(row_names),
        copies=taken.found,
        error_of_groups=None
        if order_of_rows.groups is None or dependent is not None
        else blocked_errors(data, order_of_rows, lam, seed),
    )


def _of_some_rows(data: CenteredRows, tested: str | None, elliptical: EllipticalTheory | None) -> list[str]:
    """Say which parts of the analysis use a random choice of the rows, or permute them within blocks alone."""
    said = [] if tested is None else [tested]
    if elliptical is not None and data.n > MAX_SAMPLED_ROWS:
        said.append(
            f"how leave-one-out depends on the ridge in elliptical theory is that of {MAX_SAMPLED_ROWS} rows, chosen "
            f"at random and left out of fits to all {data.n}; its size at the best ridge is that of all rows"
        )
    return [*said, *data.said_of_permuted]


def _checked(lams: Sequence[float]) -> Array:
    values = np.atleast_1d(np.asarray(lams, dtype=float))
    if values.ndim != 1 or not values.size or not (np.isfinite(values).all() and values.min() > 0):
        raise ValueError(f"lams must be positive numbers, got {lams}")
    return np.unique(values)


def _with_best(lams: Array, best: float) -> Array:
    """Return the ridges in ascending order, with the best one in the place of its near neighbors.

    The table stays short enough to read.
    """
    near = np.maximum(lams / best, best / lams) < NEAR_BEST_FACTOR
    return np.array(sorted({float(f"{lam:.2g}") for lam in lams[~near]} | {best}))


def _measured(
    X: CenteredRows, lams: Array, tuning: Array, plan: Plan, seed: int, splitting: Splitting, run: Sweep
) -> list[Array]:
    """Carry out all splits, and return their held-out, GCV and corrected errors, each (repeats, n_sizes, n_lams + 1).

    There are corrected ones where the splitting has a correction.
    """
    common = (X, lams, tuning, plan.sizes, plan.n_test, seed)
    values = run([Task(f"split/{r}", split_errors, (*common, r, splitting)) for r in range(plan.repeats)])
    return list(np.moveaxis(np.array(list(values.values())), 1, 0))


def _doubled(predict: Predict, n: int, tuning: Array) -> float | None:
    """Predict the least error that twice as many rows as the n there are would have.

    None for few rows, and where the ridge path of the data does not enclose the minimum.
    """
    errors = predict(2 * n, tuning)
    if n < MIN_ROWS or not np.isfinite(errors).any():
        return None
    i = int(np.nanargmin(errors))
    return float(errors[i]) if i > 0 and np.isfinite(errors[i - 1]) else None
