"""Puts together what changes in the analysis of a matrix where its rows depend on each other."""

import numpy as np

from figures.analyse.matrix.best_ridge import LeaveOneOut
from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.data_theory import DataTheory
from figures.analyse.matrix.dependent.errors import blocked_errors, corrected_columns
from figures.analyse.matrix.dependent.record import DependentRows
from figures.analyse.matrix.dependent.row_order import RowOrder
from figures.analyse.matrix.dependent.theory import DependentTheory
from figures.analyse.matrix.dependent.verdicts import (
    FAR_OFF,
    MIN_MEANS,
    MIN_NUMBERS,
    MIN_STRETCHES,
    compared,
    repeats_shifted,
)
from simulate.core import Estimate
from theory.core.arrays import Array

BLOCK_ERRORS = 4.0  # standard errors of five blocks, of which chance exceeds as many in 1 % of tables


def dependent_rows(
    X: CenteredRows,
    found: RowOrder,
    gaussian: DataTheory,
    theory: DependentTheory,
    loo: LeaveOneOut,
    by_gcv: float,
    lam: float,
    test: Array,
    corrected: Array,
    unlike_ratio: Estimate | None,
    seed: int,
) -> DependentRows:
    """Measure what is right for the rows of X (n, d) at the ridge lam, and say where it is not to be trusted.

    `test` and `corrected` (repeats, n_sizes, n_lams + 1) are held-out errors of later blocks, and the corrected ones of
    the rows that predict them.
    """
    columns = corrected_columns(X, theory.laws, lam)
    gcv = float(gaussian.mean_test_error(X.n, np.array([lam]))[0])
    blocked = blocked_errors(X, found, lam, seed)
    last = (slice(None), -1, -1)
    later, above, below = compared(test[last], corrected[last])
    at_blocks = blocked.errors[len(blocked.errors) // 2]
    law = theory.laws.contrasts(X.n)
    series = found.groups is None
    error = float(columns.mean())
    tested = found.test
    if isinstance(tested, str):
        raise AssertionError("rows that were not tested are not called dependent")
    return DependentRows(
        order=found,
        columns=columns,
        gcv=gcv,
        loo=loo.errors[len(loo.errors) // 2],
        corrected=error,
        blocked=blocked,
        at_best=float(theory.mean_test_error(X.n, np.array([lam]))[0]),
        at_gcv=float(theory.mean_test_error(X.n, np.array([by_gcv]))[0]),
        effective_rows=theory.effective_rows(lam),
        effective_rows_of_mean=1 / law.mean_variance,
        corrected_error=corrected,
        unlike_ratio=unlike_ratio,
        later_worse=series and above,
        drift=series and (above or 1 / law.mean_variance < MIN_STRETCHES),
        too_large=(series and below)
        or (found.reached and error > FAR_OFF * at_blocks.mean + BLOCK_ERRORS * at_blocks.stderr),
        shifted=series and repeats_shifted(X),
        few=tested.n * tested.effective_columns < MIN_NUMBERS or 1 / law.mean_variance < MIN_MEANS,
        fits_later=later,
    )
