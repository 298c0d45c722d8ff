"""Puts together what changes in the analysis of a matrix where its rows differ in scale."""

from functools import partial

import numpy as np

from figures.analyse.matrix import table
from figures.analyse.matrix.best_ridge import loo_means
from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.data_theory import PredictBoth
from figures.analyse.matrix.elliptical_theory import EllipticalTheory, empirical_elliptical_errors
from figures.analyse.matrix.plan import Plan
from figures.analyse.matrix.record import UnlikeRows
from figures.core import Row
from simulate.core import Estimate
from theory.core.arrays import Array


def unlike_rows(
    X: CenteredRows, elliptical: EllipticalTheory, lams: Array, tuning: Array, plan: Plan, by_gcv: float, chosen: float
) -> tuple[UnlikeRows, list[Row]]:
    """Predict the learning curves at `lams` by elliptical theory, and say what choosing the ridge by GCV would cost.

    `tuning` are the ridges among which GCV chooses for fewer rows; for all rows of X (n, d) it chose `by_gcv`. Returns
    the lines of the table too.
    """
    predict, raw = elliptical.errors, partial(empirical_elliptical_errors, X.covariance(), elliptical.rows)
    corrected, uncorrected = (_errors(of, lams, tuning, plan) for of in (predict, raw))
    at_chosen, at_gcv = (loo_means(X, lam)[0] for lam in (chosen, by_gcv))
    found = UnlikeRows(
        law=elliptical.rows,
        theory=corrected[0],
        empirical_theory=uncorrected[0],
        gcv_theory=corrected[1],
        error=Estimate.of(at_chosen),
        error_at_gcv=Estimate.of(at_gcv),
        cost=Estimate.of(at_gcv - at_chosen),
        reported_by_gcv=float(elliptical.errors(X.n, np.array([by_gcv]))[1, 0]),
    )
    return found, table.elliptical_rows(predict, raw, lams, tuning, plan, X.n)


def _errors(predict: PredictBoth, lams: Array, tuning: Array, plan: Plan) -> Array:
    """Return the test errors and what GCV reports, (2, n_sizes, n_lams + 1)."""
    return np.stack([table.with_chosen(predict, size, lams, tuning) for size in plan.sizes], axis=1)
