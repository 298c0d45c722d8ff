"""Rows as they come from a file, not checked yet: all in memory, or in blocks that are read when they are needed."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.masked import RowBlocks, row_blocks
from simulate.masked.row_blocks import views
from theory.core.arrays import Array


def held_rows(values: Array) -> RowBlocks:
    """Take numbers (n, d) that were read as rows in memory, in C order, of which any may be NaN."""
    rows = np.ascontiguousarray(values, dtype=np.float64)
    return RowBlocks(rows.shape[1], partial(views, rows), in_memory=rows)


def mapped_rows(mapped: NDArray[Any], chosen: Sequence[int]) -> RowBlocks:
    """Return the `chosen` columns of an array that is mapped from a file, as blocks of rows.

    The pages of a block leave memory before the next one is read, also where single rows are taken.
    """
    whole = row_blocks(mapped)
    kept = slice(None) if len(chosen) == whole.d else np.asarray(chosen, dtype=np.int64)
    select = partial(_taken, whole, kept)
    return RowBlocks(len(chosen), partial(_columns, whole, kept), size=whole.n, select=select)


def _columns(whole: RowBlocks, kept: slice | NDArray[np.int64]) -> Iterator[Array]:
    return (block[:, kept] for block in whole.blocks())


def _taken(whole: RowBlocks, kept: slice | NDArray[np.int64], numbers: NDArray[np.integer]) -> Array:
    return np.asarray(whole.take(numbers)[:, kept])


def extremes(rows: RowBlocks) -> tuple[float, float]:
    """Return the smallest and the largest entry; both are NaN if an entry is."""
    found = [(block.min(), block.max()) for block in rows.blocks() if len(block)]
    lowest, highest = np.array(found, dtype=np.float64).T
    return float(lowest.min()), float(highest.max())


def entries_where(rows: RowBlocks, bad: Callable[[Array], NDArray[np.bool_]]) -> tuple[int, int, float, int]:
    """Return row, column and value of the first entry that is `bad`, and how many entries are."""
    first, count, start = None, 0, 0
    for block in rows.blocks():
        wrong = bad(np.asarray(block))
        count += int(wrong.sum())
        if first is None and wrong.any():
            row, column = (int(index) for index in np.argwhere(wrong)[0])
            first = (start + row, column, float(block[row, column]))
        start += len(block)
    if first is None:
        raise AssertionError("no entry is as the caller has found one")
    return *first, count


def finite_rows(rows: RowBlocks) -> NDArray[np.bool_]:
    """Return for each row whether all its numbers are finite, (n,)."""
    return np.concatenate([np.isfinite(block).all(axis=1) for block in rows.blocks()])


def without_gaps(rows: RowBlocks, whole: NDArray[np.bool_]) -> RowBlocks:
    """Return the rows that are `whole`, all others passed by in each block."""
    if rows.in_memory is not None:
        return held_rows(rows.in_memory[whole])
    return RowBlocks(rows.d, partial(_whole_rows, rows, whole), size=int(whole.sum()))


def _whole_rows(rows: RowBlocks, whole: NDArray[np.bool_]) -> Iterator[Array]:
    start = 0
    for block in rows.blocks():
        yield block[whole[start : start + len(block)]]
        start += len(block)
