"""Rows of a user's table for its analysis: all at once where they are few, else as blocks."""

from typing import Any

import numpy as np

from figures.analyse.memory import MOST_CELLS
from simulate.masked import RowBlocks, row_blocks


def table_rows(X: Any) -> RowBlocks:
    """Take a matrix (n, d) as rows, without copying it: in blocks where it is mapped from a file or large."""
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap) and X.size <= MOST_CELLS:
        return RowBlocks.of_array("X", np.ascontiguousarray(X, dtype=np.float64))
    return row_blocks([X] if isinstance(X, np.ndarray) and not isinstance(X, np.memmap) else X)


def in_blocks(rows: RowBlocks) -> bool:
    """Say whether the rows come block by block."""
    return rows.in_memory is None
