"""Takes the dependence out of the rows of a matrix, so that what is fitted afterwards are independent rows."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.dependent.laws import GroupLaws
from figures.analyse.matrix.dependent.row_order import RowOrder, row_order
from simulate.masked import RowBlocks
from theory.core.arrays import Array


def whitened_rows(X: CenteredRows, found: RowOrder, seed: int) -> tuple[CenteredRows, RowOrder]:
    """Return the rows of X (n, d) without the dependence that was found, and what a second test says of them.

    Rows in order are filtered by their autoregression: x_i - sum_j coefficients_j x_(i-j), over the standard deviation
    of what it leaves, has the covariance between columns that x_i has; the first rows, of which not all rows before are
    known, are left out. In a group the mean of its rows is scaled, and so are the differences from it. Rows that were
    not found dependent are returned as they are. ValueError for groups in a table that is not in memory.
    """
    if found.laws is None:
        return X.changed(X.rows, "nothing was whitened, since rows were not found to depend on each other"), found
    if isinstance(found.laws, GroupLaws) and found.groups is not None:
        if X.rows.in_memory is None:
            raise ValueError("whiten_rows needs a table in memory where there are groups; take fewer rows or columns")
        white = _of_groups(X.rows.in_memory - X.mean, found.groups, found.laws.correlation)
        again = row_order(X.changed(RowBlocks.of_array("X", white), ""), "none", found.groups, None, seed)
        note = f"rows were whitened: what those of a group share (correlation {found.laws.correlation:.2f}) was scaled"
        return X.changed(RowBlocks.of_array("X", white), note), replace(again, laws=None, groups=None, before=found)
    fitted = found.fitted
    if fitted is None or not fitted.order:
        return X.changed(X.rows, "rows were not whitened: no autoregression describes how they depend"), found
    rows = _filtered(X, fitted.coefficients, fitted.noise)
    before = "the one before it" if fitted.order == 1 else f"the {fitted.order} before it"
    note = (
        f"rows were whitened: each was predicted from {before}, and what is left is scaled to the "
        "variance that a row has"
    )
    white_rows = X.changed(rows, note)
    again = row_order(white_rows, "test", None, None, seed)
    return white_rows, replace(again, laws=None, gap=None, before=found)


def _of_groups(centered: Array, groups: NDArray[np.int64], correlation: float) -> Array:
    sizes = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    means = np.add.reduceat(centered[order], np.cumsum(sizes) - sizes, axis=0) / sizes[:, None]
    own = means[groups]
    shared = np.sqrt(1 + (sizes - 1) * correlation)[groups][:, None]
    return np.asarray((centered - own) / np.sqrt(1 - correlation) + own / shared)


def _filtered(X: CenteredRows, coefficients: Array, noise: float) -> RowBlocks:
    """Return the n - order rows of X that have all rows before them, filtered, in memory where X is."""
    produce = partial(_innovations, X.rows, X.mean, coefficients, 1 / np.sqrt(noise))
    if X.rows.in_memory is not None:
        return RowBlocks.of_array("X", np.concatenate(list(produce())))
    return RowBlocks(X.d, produce, size=X.n - len(coefficients))


def _innovations(rows: RowBlocks, mean: Array, coefficients: Array, scale: float) -> Iterator[Array]:
    order, before = len(coefficients), np.empty((0, rows.d))
    for block in rows:
        joined = np.concatenate([before, block - mean])
        left = joined[order:].copy()
        for j, coefficient in enumerate(coefficients, 1):
            left -= coefficient * joined[order - j : len(joined) - j]
        before = joined[len(joined) - order :] if len(joined) >= order else joined
        if len(left):
            yield left * scale
