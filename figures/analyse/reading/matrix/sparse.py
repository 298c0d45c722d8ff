"""Makes rows of a sparse matrix that was read: the chosen columns, with its zeros written out, if memory suffices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import require_memory
from figures.analyse.reading.matrix.arrays import FEWER
from figures.analyse.reading.matrix.raw_rows import held_rows
from simulate.masked import RowBlocks

NUMBER = 8  # bytes


def dense_rows(path: Path, matrix: Any, chosen: Sequence[int]) -> RowBlocks:
    """Return the `chosen` columns of a matrix of scipy.sparse, or an array, as rows in memory.

    DataError, before anything is allocated, where they do not fit there.
    """
    n, d = matrix.shape
    require_memory(path, f"writing out the zeros of {n} x {len(chosen)} numbers", NUMBER * n * len(chosen), FEWER)
    some = matrix if len(chosen) == d and list(chosen) == list(range(d)) else matrix[:, list(chosen)]
    return held_rows(np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64))


def require_table(path: Path, shape: Sequence[int]) -> tuple[int, int]:
    """Return the rows and columns of a table. DataError where it has another number of axes or is empty."""
    if len(shape) != 2 or 0 in shape:
        raise DataError(path, f"holds no table of samples by features: its shape is {tuple(map(int, shape))}")
    return int(shape[0]), int(shape[1])
