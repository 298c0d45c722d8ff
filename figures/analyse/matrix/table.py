"""Makes the rows of the table (learning curves, choice of the ridge), and the table of columns."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from figures.analyse.matrix.best_ridge import LeaveOneOut
from figures.analyse.matrix.data_theory import Predict
from figures.analyse.matrix.plan import FEWEST_ROWS, Plan
from figures.analyse.matrix.record import TUNED, MatrixAnalysis, curve_labels
from figures.core import Row, row
from simulate.core import Estimate
from theory.models.arrays import Array

if TYPE_CHECKING:
    from pandas import DataFrame

HELD_OUT, TRAINING, CHOICE = "held-out rows", "GCV of the training rows", "choice of the ridge for all rows"
MEAN = "predicting the mean"
RAW = "empirical covariance"
RAW_TUNED = f"{TUNED}, {RAW}"
GCV, LOO, BEST = "GCV", "leave-one-out", "best by GCV"
LINE_POINTS = 90


def with_tuned(predict: Predict, n: int, lams: Array, tuning: Array) -> Array:
    """Return the errors at `lams` and, last, the least one on the grid `tuning`: (n_lams + 1,)."""
    errors = predict(n, np.concatenate([lams, tuning]))
    tuned = errors[len(lams) :]
    return np.append(errors[: len(lams)], np.nanmin(tuned) if np.isfinite(tuned).any() else np.nan)


def learning_rows(
    predict: Callable[[int], Array], raw: Callable[[int], Array], lams: Array, plan: Plan, n: int
) -> list[Row]:
    """Return the theory lines up to all n rows, and the uncorrected one of the tuned curve.

    There are none below FEWEST_ROWS training rows.
    """
    grid = sorted({round(x) for x in np.geomspace(plan.sizes[0], n, LINE_POINTS)} | {*plan.sizes})
    line = [x for x in grid if x >= FEWEST_ROWS]
    if not line:
        return []
    predicted, uncorrected = (np.array([of(size) for size in line]) for of in (predict, raw))
    curves = [
        (panel, label, predicted[:, i]) for panel in (HELD_OUT, TRAINING) for i, label in enumerate(curve_labels(lams))
    ]
    curves.append((HELD_OUT, RAW_TUNED, uncorrected[:, -1]))
    return [row(label, x, panel=panel, theory=y) for panel, label, ys in curves for x, y in zip(line, ys, strict=True)]


def measured_rows(test: Array, gcv: Array, theory: Array, lams: Array, plan: Plan, d: int) -> list[Row]:
    """Return the measured points, without z: the splits share rows, so that their scatter is not all of the error."""
    rows = []
    for panel, values in ((HELD_OUT, test), (TRAINING, gcv)):
        for i, label in enumerate(curve_labels(lams)):
            for j, n in enumerate(plan.sizes):
                estimate = Estimate.of(values[:, j, i])
                predicted = theory[j, i] if n >= FEWEST_ROWS else None
                rows.append(row(label, n, panel=panel, theory=predicted, d=d, estimate=estimate, judged=False))
    return rows


def baseline_rows(variance: float, plan: Plan, n: int, lams: Array) -> list[Row]:
    """Return the line of predicting every column by its mean, for every panel."""
    ends = {HELD_OUT: (plan.sizes[0], n), TRAINING: (plan.sizes[0], n), CHOICE: (lams[0], lams[-1])}
    return [row(MEAN, x, panel=panel, theory=variance) for panel, xs in ends.items() for x in xs]


def ridge_rows(
    predict: Predict, raw: Predict, lams: Array, best: float, loo: LeaveOneOut | None, n: int, d: int
) -> list[Row]:
    """Return the errors of all n rows against the ridge: GCV, leave-one-out, theory, and the best one as a star."""
    curves = ((GCV, predict), (RAW, raw)) if n >= FEWEST_ROWS else ((GCV, predict),)
    rows = [
        row(label, x, panel=CHOICE, theory=y) for label, of in curves for x, y in zip(lams, of(n, lams), strict=True)
    ]
    if loo is not None:
        expected = predict(n, loo.lams)
        for lam, theory, estimate in zip(loo.lams, expected, loo.errors, strict=True):
            reached = theory if np.isfinite(theory) else None  # beyond the searched ridges there is none
            rows.append(row(LOO, lam, panel=CHOICE, theory=reached, d=d, estimate=estimate, judged=False))
    rows.append(row(BEST, best, panel=CHOICE, theory=float(predict(n, np.array([best]))[0]), d=d))
    return rows


def columns_frame(analysis: MatrixAnalysis) -> "DataFrame":
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
