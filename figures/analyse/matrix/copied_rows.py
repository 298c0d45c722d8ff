"""Says which rows of a table are copies of others, as where a file was pasted twice; their errors are too small."""

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.copies.find import find_copies
from figures.analyse.wording import counted
from theory.core.arrays import Array


def copied_rows(X: Array) -> NDArray[np.intp]:
    """Return the rows (k,) of X (n, d), NaN in its holes, that repeat an earlier one in every cell.

    What tells copies from rows that agree by chance is said in `copies.find_copies`; those up to rounding are not
    counted here.

    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> copied_rows(np.vstack([X, X[4:6]]))
    array([20, 21])
    """
    found = find_copies(X)
    return np.flatnonzero(~found.kept & ~found.rounded)


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
