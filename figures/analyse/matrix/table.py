"""Makes the rows of the table (learning curves, choice of the ridge), and the table of columns."""

from collections.abc import Callable

import numpy as np

from figures.analyse.matrix.best_ridge import LeaveOneOut
from figures.analyse.matrix.data_theory import Predict, PredictBoth
from figures.analyse.matrix.dependent.laws import SeriesLaws
from figures.analyse.matrix.dependent.record import CORRECTED, DependentRows
from figures.analyse.matrix.dependent.row_order import RowOrder
from figures.analyse.matrix.dependent.theory import DependentTheory
from figures.analyse.matrix.plan import MIN_ROWS, Plan
from figures.analyse.matrix.record import ELLIPTICAL, TUNED, TUNED_CORRECTED, MatrixAnalysis, curve_labels
from figures.core import DataFrame, Row, row
from simulate.core import Estimate
from theory.core.arrays import Array

HELD_OUT, TRAINING, CHOICE = "held-out rows", "GCV of the training rows", "choice of the ridge for all rows"
MEAN = "predicting the mean"
RAW = "empirical covariance"
RAW_TUNED = f"{TUNED}, {RAW}"
RAW_ELLIPTICAL, RAW_TUNED_ELLIPTICAL = f"{RAW}, {ELLIPTICAL}", f"{RAW_TUNED}, {ELLIPTICAL}"
GCV, LOO, BEST, BEST_LOO = "GCV", "leave-one-out", "best by GCV", "best by leave-one-out"
BLOCKS, BEST_CORRECTED = "held-out blocks", f"best by {CORRECTED}"
LINE_POINTS, ELLIPTICAL_POINTS = 90, 45


def with_tuned(predict: Predict, n: int, lams: Array, tuning: Array) -> Array:
    """Return the errors at `lams` and, last, the least one on the grid `tuning`: (n_lams + 1,)."""
    errors = predict(n, np.concatenate([lams, tuning]))
    tuned = errors[len(lams) :]
    return np.append(errors[: len(lams)], np.nanmin(tuned) if np.isfinite(tuned).any() else np.nan)


def learning_rows(
    predict: Callable[[int], Array], raw: Callable[[int], Array], lams: Array, plan: Plan, n: int
) -> list[Row]:
    """Return the theory lines up to all n rows, and the uncorrected one of the tuned curve.

    There are none below MIN_ROWS training rows.
    """
    line = line_sizes(plan, n, LINE_POINTS)
    if not line:
        return []
    predicted, uncorrected = (np.array([of(size) for size in line]) for of in (predict, raw))
    curves = [
        (panel, label, predicted[:, i]) for panel in (HELD_OUT, TRAINING) for i, label in enumerate(curve_labels(lams))
    ]
    curves.append((HELD_OUT, RAW_TUNED, uncorrected[:, -1]))
    return [row(label, x, panel=panel, theory=y) for panel, label, ys in curves for x, y in zip(line, ys, strict=True)]


def line_sizes(plan: Plan, n: int, points: int) -> list[int]:
    """Return about so many training sizes for a theory line, those that are measured among them."""
    grid = {round(x) for x in np.geomspace(plan.sizes[0], n, points)} | {*plan.sizes}
    return sorted(x for x in grid if x >= MIN_ROWS)


def measured_rows(test: Array, gcv: Array, theory: Array, lams: Array, plan: Plan, d: int) -> list[Row]:
    """Return the measured points, without z: the splits share rows, so that their scatter is not all of the error."""
    rows = []
    for panel, values in ((HELD_OUT, test), (TRAINING, gcv)):
        for i, label in enumerate(curve_labels(lams)):
            for j, n in enumerate(plan.sizes):
                estimate = Estimate.of(values[:, j, i])
                predicted = theory[j, i] if n >= MIN_ROWS else None
                rows.append(row(label, n, panel=panel, theory=predicted, d=d, estimate=estimate, judged=False))
    return rows


def baseline_rows(variance: float, plan: Plan, n: int, lams: Array) -> list[Row]:
    """Return the line of predicting every column by its mean, for every panel."""
    ends = {HELD_OUT: (plan.sizes[0], n), TRAINING: (plan.sizes[0], n), CHOICE: (lams[0], lams[-1])}
    return [row(MEAN, x, panel=panel, measured=variance) for panel, xs in ends.items() for x in xs]


def ridge_rows(
    predict: Predict,
    raw: Predict,
    lams: Array,
    best: float,
    loo: LeaveOneOut,
    n: int,
    d: int,
    left_out: Predict | None = None,
    independent: bool = True,
) -> list[Row]:
    """Return the errors of all n rows against the ridge: GCV, leave-one-out, theory, and the best one as a star.

    Where rows differ in scale the theory of leave-one-out is `left_out` and not GCV, and the best ridge is its own.
    Where they are not `independent` the star is left to `dependent_rows`.
    """
    true = left_out or predict
    curves = ((GCV, predict), (RAW, raw)) if n >= MIN_ROWS else ((GCV, predict),)
    rows = [
        row(label, x, panel=CHOICE, theory=y) for label, of in curves for x, y in zip(lams, of(n, lams), strict=True)
    ]
    expected = true(n, loo.lams)
    for lam, theory, estimate in zip(loo.lams, expected, loo.errors, strict=True):
        reached = theory if np.isfinite(theory) else None  # beyond the searched ridges there is none
        rows.append(row(LOO, lam, panel=CHOICE, theory=reached, d=d, estimate=estimate, judged=False))
    if not independent:
        return rows
    star = BEST if left_out is None else BEST_LOO
    rows.append(row(star, best, panel=CHOICE, theory=float(true(n, np.array([best]))[0]), d=d))
    return rows


def elliptical_label(label: str) -> str:
    """Name the line of a curve by the theory of rows of different scale."""
    return f"{label}, {ELLIPTICAL}"


def with_chosen(predict: PredictBoth, n: int, lams: Array, tuning: Array) -> Array:
    """Return the test errors at `lams` with what GCV reports, and last those at its choice from the grid `tuning`.

    They have the shape (2, n_lams + 1), and are NaN below MIN_ROWS rows. Where rows differ in scale the choice of
    GCV does not have the least error.
    """
    if n < MIN_ROWS:
        return np.full((2, len(lams) + 1), np.nan)
    errors = predict(n, np.concatenate([lams, tuning]))
    tuned = errors[:, len(lams) :]
    chosen = int(np.nanargmin(tuned[1])) if np.isfinite(tuned[1]).any() else 0
    return np.column_stack([errors[:, : len(lams)], tuned[:, chosen]])


def elliptical_rows(
    predict: PredictBoth, raw: PredictBoth, lams: Array, tuning: Array, plan: Plan, n: int
) -> list[Row]:
    """Return the lines of rows of different scale: both learning curves, and the errors of all n rows at any ridge.

    There are none below MIN_ROWS training rows.
    """
    line = line_sizes(plan, n, ELLIPTICAL_POINTS)
    if not line:
        return []
    errors = np.array([with_chosen(predict, size, lams, tuning) for size in line])  # (n_sizes, 2, n_lams + 1)
    tuned = [with_chosen(raw, size, lams[:0], tuning)[0, 0] for size in line]
    sizes = np.array(line, dtype=float)
    curves = [
        (panel, elliptical_label(label), sizes, errors[:, part, i])
        for part, panel in enumerate((HELD_OUT, TRAINING))
        for i, label in enumerate(curve_labels(lams))
    ]
    curves.append((HELD_OUT, RAW_TUNED_ELLIPTICAL, sizes, np.array(tuned)))
    curves.append((CHOICE, LOO, tuning, predict(n, tuning)[0]))
    curves.append((CHOICE, RAW_ELLIPTICAL, tuning, raw(n, tuning)[0]))
    finite = [
        (panel, label, x, y) for panel, label, xs, ys in curves for x, y in zip(xs, ys, strict=True) if np.isfinite(y)
    ]
    return [row(label, x, panel=panel, theory=y) for panel, label, x, y in finite]


def dependent_rows(theory: DependentTheory, found: DependentRows, tuning: Array, plan: Plan, best: float) -> list[Row]:
    """Return what is right for all rows against the ridge, corrected and on blocks, and for fewer rows as measured."""
    n, d = theory.n, len(found.columns)
    reached = [(lam, y) for lam, y in zip(tuning, theory.mean_test_error(n, tuning), strict=True) if np.isfinite(y)]
    at_best = float(theory.mean_test_error(n, np.array([best]))[0])
    measured = [Estimate.of(values) for values in found.corrected_error[:, :, -1].T]
    return [
        *(row(CORRECTED, lam, panel=CHOICE, theory=y) for lam, y in reached),
        *(
            row(BLOCKS, lam, panel=CHOICE, d=d, estimate=error, judged=False)
            for lam, error in zip(found.blocked.lams, found.blocked.errors, strict=True)
        ),
        row(BEST_CORRECTED, best, panel=CHOICE, theory=at_best, d=d),
        *(
            row(CORRECTED, size, panel=TRAINING, d=d, estimate=error, judged=False)
            for size, error in zip(plan.sizes, measured, strict=True)
        ),
    ]


def with_corrected_choice(rows: list[Row]) -> list[Row]:
    """Rename the curve of the ridge that GCV chooses, where corrected GCV does."""
    return [{**line, "curve": line["curve"].replace(TUNED, TUNED_CORRECTED)} for line in rows]


def lags_frame(found: RowOrder) -> DataFrame:
    """Return a table with one line for each lag: the correlation of rows, its error, and the fitted one."""
    import pandas as pd

    test = found.test
    if isinstance(test, str):
        raise ValueError("found must have a test of the rows, and they were not tested")
    lags = np.arange(1, len(test.values) + 1)
    frame = {"lag": lags, "correlation": test.values, "stderr": test.stderr}
    if isinstance(found.laws, SeriesLaws):
        frame["fitted"] = found.laws.correlations(len(lags) + 1)[1:]
    return pd.DataFrame(frame)


def errors_frame(found: DependentRows) -> DataFrame:
    """Return a table with one line for each error of all rows at the ridge that is chosen, and how it was found."""
    import pandas as pd

    blocks, later = found.blocked_error, found.fits_later
    lines = [
        ("GCV", found.gcv, None),
        ("leave-one-out", found.loo.mean, found.loo.stderr),
        ("corrected GCV", found.corrected, None),
        ("held-out blocks", blocks.mean, blocks.stderr),
        ("later blocks over corrected GCV of the rows before", later.mean, later.stderr),
        ("effective rows, regressions", found.effective_rows, None),
        ("effective rows, means", found.effective_rows_of_mean, None),
    ]
    return pd.DataFrame(lines, columns=["number", "value", "stderr"])


def columns_frame(analysis: MatrixAnalysis) -> DataFrame:
    """Return a table with one line for each column: variance, error at the best ridge, share that is explained."""
    import pandas as pd

    return pd.DataFrame(
        {
            "column": analysis.names,
            "variance": analysis.variances,
            "error": analysis.column_error,
            "explained": analysis.explained,
        }
    )
