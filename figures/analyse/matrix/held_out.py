"""Measures one random split into held-out rows and training sets of growing size."""

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows, ridge_of_contrasts
from simulate.core import stream
from simulate.masked import RowBlocks, fit_path
from theory.core.arrays import Array


def split_errors(
    X: CenteredRows, lams: Array, tuning: Array, sizes: tuple[int, ...], n_test: int, seed: int, repeat: int
) -> Array:
    """Return the held-out and the GCV errors of one random split, (2, n_sizes, n_lams + 1).

    They are means over columns, at each of `lams` and at the best of `tuning`. The first n rows of one permutation are
    fitted about their own mean, and the last `n_test` rows are predicted. The best ridge is that of the smallest GCV
    error of the same n rows, so that nothing is learnt from the held-out ones.
    """
    order = stream(seed, "split", repeat).permutation(X.n)
    held_out = X.rows.take(np.sort(order[X.n - n_test :]))
    return np.stack([_errors(*one, held_out, lams, tuning) for one in X.training_sets(order, sizes)], axis=1)


def _errors(mean: Array, contrasts: RowBlocks, held_out: Array, lams: Array, tuning: Array) -> Array:
    """Fit rows of this mean and these contrasts, and return errors (2, n_lams + 1), the held-out ones and of GCV."""
    n = contrasts.n + 1
    path = fit_path(contrasts, ridge_of_contrasts(np.concatenate([lams, tuning]), n))
    gcv = path.gcv_error.mean(axis=1) * (n / (n - 1))  # the mean takes one more degree of freedom
    chosen = [*range(len(lams)), len(lams) + int(gcv[len(lams) :].argmin())]
    centered = held_out - mean
    return np.array([[path.test_error(i, centered).mean() for i in chosen], gcv[chosen]])
