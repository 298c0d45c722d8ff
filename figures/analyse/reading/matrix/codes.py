"""Notes tables whose cells may be codes of letters or categories, which the analysis would take for measurements."""

import numpy as np

from theory.core.arrays import Array

MOST_CODES = 32  # different whole numbers, as many as letters of an alphabet
MIN_COLUMNS = 4
ROWS = 20_000  # that are looked at


def code_notes(values: Array) -> tuple[str, ...]:
    """Return a sentence where all cells are whole numbers from 0 or 1 on, of which there are few different ones.

    Counts may look so, too, which is why it is no error. NaN, which stands for a missing cell, is passed by.
    """
    if values.shape[1] < MIN_COLUMNS:
        return ()
    some = values[:ROWS]
    if np.isnan(some.min()):
        some = some[np.isfinite(some)]  # what is seen of a table with holes
    if not some.size or some.min() not in (0, 1) or not some.max() < MOST_CODES or (some != np.floor(some)).any():
        return ()
    codes = np.unique(some)
    if not 3 <= len(codes) <= MOST_CODES or len(codes) * 4 > some.size or len(codes) < codes[-1] - codes[0]:
        return ()
    return (
        f"every cell is a whole number from {codes[0]:.0f} to {codes[-1]:.0f}, as codes of letters or categories are: "
        "differences of such codes mean nothing; if these are codes say --kind sequences, if they are counts or "
        "measured numbers go on",
    )
