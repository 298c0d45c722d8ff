"""Measures the errors of fits to all rows of a matrix whose rows depend on each other, corrected and on blocks."""

import numpy as np

from figures.analyse.matrix.best_ridge import RIDGE_FACTORS
from figures.analyse.matrix.centered_rows import CenteredRows, ridge_of_contrasts
from figures.analyse.matrix.dependent.laws import RowLaws
from figures.analyse.matrix.dependent.record import BlockedErrors
from figures.analyse.matrix.dependent.row_order import RowOrder
from figures.analyse.matrix.plan import TEST_ROWS
from simulate.core import Estimate
from simulate.masked import fit, fit_path
from theory.core.arrays import Array


def corrected_columns(X: CenteredRows, laws: RowLaws, lam: float) -> Array:
    """Return the corrected errors (d,) of the columns on a row far from all rows of X (n, d), at the ridge lam."""
    found = fit(X.contrasts(), float(ridge_of_contrasts(lam, X.n)))
    return laws.contrasts(X.n).corrected(found.train_error, found.gcv_error)


def blocked_errors(X: CenteredRows, found: RowOrder, lam: float, seed: int) -> BlockedErrors:
    """Hold out blocks of successive rows, or sets of groups, once each, and fit the rows far from them, around `lam`.

    At most TEST_ROWS rows of a block are predicted, at equal distances.
    """
    lams = RIDGE_FACTORS * lam
    errors, sizes = [], []
    for block, far in found.blocks(seed).folds(X.n):
        unused = np.setdiff1d(np.arange(X.n), np.concatenate([block, far]), assume_unique=True)
        mean, contrasts = next(iter(X.training_sets(np.concatenate([far, unused, block]), (len(far),))))
        some = block[np.linspace(0, len(block) - 1, min(len(block), TEST_ROWS)).astype(int)]
        path = fit_path(contrasts, ridge_of_contrasts(lams, len(far)))
        errors.append(path.mean_test_errors(X.rows.take(some) - mean))
        sizes.append(len(far))
    estimates = tuple(Estimate.of(values) for values in np.array(errors).T)
    return BlockedErrors(lams, estimates, float(np.mean(sizes)))
