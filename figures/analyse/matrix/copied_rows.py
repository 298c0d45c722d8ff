"""Says which rows of a table are copies of others, as where a file was pasted twice; their errors are too small."""

import numpy as np
from numpy.typing import NDArray

from figures.analyse.wording import counted
from theory.core.arrays import Array

CHANCE_SHARE = 0.1  # copies in a table of shuffled columns over those found, above which coarse numbers make them


def copied_rows(X: Array) -> NDArray[np.intp]:
    """Return the rows (k,) of X (n, d), NaN in its holes, that repeat an earlier one in every cell.

    Rows of whole numbers may repeat by chance, and so may rows with few cells that are seen: none is returned where the
    table has nearly as many copies after each of its columns was shuffled by itself, or has whole numbers only, or for
    rows that show fewer than two cells.

    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> copied_rows(np.vstack([X, X[4:6]]))
    array([20, 21])
    """
    seen = X[~np.isnan(X)]
    if (seen == np.floor(seen)).all():
        return np.empty(0, dtype=np.intp)
    found = _copies(X)
    if not len(found):
        return found
    by_chance = len(_copies(np.random.default_rng(0).permuted(X, axis=0)))
    return found[:0] if by_chance > CHANCE_SHARE * len(found) else found


def copies_text(copies: NDArray[np.intp]) -> list[str]:
    """Say that some rows are copies, and what that does."""
    if not len(copies):
        return []
    are = "is a copy of an earlier one" if len(copies) == 1 else "are copies of earlier ones"
    return [
        f"{counted(len(copies), 'row')} {are} in every cell: a row whose copy is fitted is predicted too well, so that "
        "errors come out too small, and tests find more than there is; if they are no measurements of their own delete "
        "them"
    ]


def _copies(X: Array) -> NDArray[np.intp]:
    some = np.flatnonzero((~np.isnan(X)).sum(axis=1) > 1)
    _, first = np.unique(np.nan_to_num(X[some] + 0.0, nan=np.inf), axis=0, return_index=True)
    return some[np.setdiff1d(np.arange(len(some)), first)]
