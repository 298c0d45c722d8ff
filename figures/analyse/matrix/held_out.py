"""Measures one split into held-out rows and training sets of growing size."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.centered_rows import CenteredRows, ridge_of_contrasts
from simulate.core import stream
from simulate.masked import RowBlocks, fit_path
from theory.core.arrays import Array


class Correction(Protocol):
    """Says what the errors of fitted rows are on a new row far from them, where the rows depend on each other."""

    def corrected(self, train: Array, gcv: Array) -> Array:
        """Return the errors, of the shape of what fits of contrasts report, `train` and `gcv`."""


class Order(Protocol):
    """Says in which order the rows of a split are taken: the first ones are fitted, the last ones held out."""

    def order(self, n: int, repeat: int, /) -> NDArray[np.int64]:
        """Return the numbers of all n rows in the order of one split."""


@dataclass(frozen=True)
class RandomOrder:
    """Any order of the rows, as is right where they are independent."""

    seed: int

    def order(self, n: int, repeat: int) -> NDArray[np.int64]:
        """Return a random permutation of the n rows."""
        return stream(self.seed, "split", repeat).permutation(n)


@dataclass(frozen=True, eq=False)
class Splitting:
    """How rows are split: in what order, and, for each training size, how what is reported of them is corrected."""

    rows: Order
    corrections: tuple[Correction, ...] = field(default=(), repr=False)


def split_errors(
    X: CenteredRows,
    lams: Array,
    tuning: Array,
    sizes: tuple[int, ...],
    n_test: int,
    seed: int,
    repeat: int,
    splitting: Splitting | None = None,
) -> Array:
    """Return the held-out and the GCV errors of one split, (2, n_sizes, n_lams + 1).

    They are means over columns, at each of `lams` and at the best of `tuning`. The first n rows of one order, a random
    permutation unless `splitting` has another, are fitted about their own mean, and the last `n_test` rows are
    predicted. The best ridge is that of the smallest GCV error of the same n rows, so that nothing is learnt from the
    held-out ones. Where the splitting corrects GCV for the dependence of rows, the best ridge is that of the smallest
    corrected error, and the corrected errors are the third of three.
    """
    how = splitting or Splitting(RandomOrder(seed))
    order = how.rows.order(X.n, repeat)
    held_out = X.rows.take(np.sort(order[X.n - n_test :]))
    corrections = how.corrections or (None,) * len(sizes)
    parts = zip(X.training_sets(order, sizes), corrections, strict=True)
    return np.stack([_errors(*one, held_out, lams, tuning, correction) for one, correction in parts], axis=1)


def _errors(
    mean: Array, contrasts: RowBlocks, held_out: Array, lams: Array, tuning: Array, correction: Correction | None
) -> Array:
    """Fit rows of this mean and these contrasts, and return errors (2 or 3, n_lams + 1): held-out, GCV, corrected."""
    n = contrasts.n + 1
    path = fit_path(contrasts, ridge_of_contrasts(np.concatenate([lams, tuning]), n))
    gcv = path.gcv_error.mean(axis=1) * (n / (n - 1))  # the mean takes one more degree of freedom
    reported = [gcv]
    if correction is not None:
        reported.append(correction.corrected(path.mean_train_error, path.mean_gcv_error))
    chosen = [*range(len(lams)), len(lams) + int(reported[-1][len(lams) :].argmin())]
    centered = held_out - mean
    return np.array([[path.test_error(i, centered).mean() for i in chosen], *(errors[chosen] for errors in reported)])
