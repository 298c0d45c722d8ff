"""Cross-validation by blocks of successive rows, with gaps between the rows that are fitted and those left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.masked import checks
from simulate.masked.autocorrelation import group_numbers
from simulate.masked.fit import fit
from simulate.masked.row_blocks import RowBlocks
from theory.core import Array, NonNegativeCount, Result, checked
from theory.core.checks import count, shown

LEAST_FITTED = 2  # rows that a gap must leave to be fitted


@dataclass(frozen=True, eq=False, repr=False)
class BlockedError(Result):
    """The errors of rows that were left out by folds: `error` (d,), and `fold_errors` (folds, d) of each fold.

    They are mean squares, without a factor 1/2. `fitted_rows` (folds,) are the numbers of rows that each fold was
    predicted from.
    """

    error: Array
    fold_errors: Array
    fitted_rows: NDArray[np.integer]
    lam: float
    gap: int

    @property
    def mean_error(self) -> float:
        """Mean of `error` over the coordinates."""
        return float(self.error.mean())


@checked
def blocked_error(X: Any, lam: float, folds: Any, gap: NonNegativeCount = 0, centered: bool = False) -> BlockedError:
    """Compute the errors of the masked regressions of X (n, d) on folds of rows that are left out in turn.

    `folds` is the number of contiguous blocks of nearly equal length, or a label for each row, (n,), whose equal ones
    make a fold: whole subjects, or random folds. `gap` rows on either side of every row of a fold are left out of its
    fit too, so that what is fitted resembles what is predicted less. lam is kept, as the objective is a mean over the
    rows that are fitted. With `centered` the means of the fitted rows are subtracted from them and from those left out.

    Where rows resemble their neighbors, random folds report as small an error as leaving one row out. Blocks are right
    if they are much longer than the correlation, up to their ends, and a gap of that length makes them right
    altogether, except that fewer rows are fitted. Every fold is a fit of its own, at the cost of `fit`.

    ValueError as in `fit`, for a number of folds that is not from 2 to n, for labels of another number of rows or all
    alike, and for a gap that leaves less than two rows to be fitted.

    >>> from simulate.core import stream
    >>> from simulate.masked import fit, sample
    >>> from theory.models import AR1, AR1Rows
    >>> covariance = AR1(d=50, correlation=0.6)
    >>> X = sample(covariance, 100, stream(0, "docstring"), row_dependence=AR1Rows(100, 0.9))
    >>> random = blocked_error(X, 0.1, np.arange(100) % 5)
    >>> blocks = blocked_error(X, 0.1, 5, gap=10)
    >>> print(f"{fit(X, 0.1).mean_gcv_error:.2f} {random.mean_error:.2f} {blocks.mean_error:.2f}")
    0.12 0.12 0.73
    """
    data = checks.data_matrix("X", X)
    labels = _labels(folds, len(data))
    errors, fitted, sizes = [], [], []
    for left_out, kept in _splits(labels, gap):
        rows, others = data[left_out], data[kept]
        if centered:
            mean = others.mean(axis=0)
            rows, others = rows - mean, others - mean
        errors.append(fit(RowBlocks.of_array("X", others), lam).test_error(rows))
        fitted.append(len(others))
        sizes.append(len(rows))
    return BlockedError(
        error=np.average(errors, axis=0, weights=sizes),
        fold_errors=np.array(errors),
        fitted_rows=np.array(fitted),
        lam=checks.ridge(lam),
        gap=gap,
    )


def _labels(folds: Any, n: int) -> NDArray[np.integer]:
    """Return the number of the fold of each row, (n,)."""
    try:
        alone = np.ndim(folds) == 0
    except Exception:  # an object's conversion raises anything
        raise ValueError(f"folds must be a number or a label for each row, got {shown(folds)}") from None
    if alone:
        number = count("folds", folds, least=2)
        if number > n:
            raise ValueError(f"folds must be at most the number of rows, which is {n}, got {shown(folds)}")
        return np.asarray(np.arange(n) * number // n)
    return group_numbers("folds", folds, n)


def _splits(labels: NDArray[np.integer], gap: int) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield which rows are left out and which are fitted, (n,) both, for each fold."""
    n = len(labels)
    for label in range(int(labels.max()) + 1):
        left_out = labels == label
        places = np.flatnonzero(left_out)
        # Rows within the gap of a row left out: counts of such rows in a window that moves along all rows.
        below = np.searchsorted(places, np.arange(n) - gap, side="left")
        above = np.searchsorted(places, np.arange(n) + gap, side="right")
        near = above > below
        if n - int(near.sum()) < LEAST_FITTED:
            raise ValueError(
                f"gap must leave at least {LEAST_FITTED} of the n = {n} rows of X to be fitted beside each fold, "
                f"got {gap}, which leaves {n - int(near.sum())} beside fold {label}"
            )
        yield left_out, ~near
