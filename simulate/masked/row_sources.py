"""Takes data matrices in the forms that hold more rows than memory does, and cuts them into blocks of rows."""

import mmap
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.masked import checks
from simulate.masked.row_blocks import RowBlocks, block_rows
from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.core.checks import shown


@checked
def row_blocks(X: Any) -> RowBlocks:
    """Takes a data matrix X (n, d) as blocks of rows, of which fits hold one at a time.

    X is one of: a memory-mapped array (numpy.load with mmap_mode="r"); a function without arguments that returns an
    iterator of blocks (rows, d); a list or tuple of such blocks, or of memory-mapped ones; the path (pathlib.Path) of a
    .npy or .parquet file, or a pyarrow ParquetFile, whose columns are numbers; a Dask array; or any matrix in memory.
    Large blocks are cut. Rows are read twice, so that an iterator that ends after one pass is refused. ValueError for
    other things, and, when the rows are read, as `fit`, where rows count from 0 over all blocks.

    >>> X = np.random.default_rng(0).standard_normal((300, 4)) + 10
    >>> blocks = row_blocks(lambda: (X[i : i + 100] for i in range(0, 300, 100)))
    >>> blocks.d, blocks.centered().n
    (4, 300)
    """
    return as_row_blocks("X", X)


def as_row_blocks(name: str, data: Any) -> RowBlocks:
    """Converts anything that `row_blocks` takes; `name` is what errors call it. A matrix in memory is copied."""
    if isinstance(data, RowBlocks):
        return data
    if isinstance(data, os.PathLike):
        data = _opened(name, Path(data))
    if isinstance(data, np.memmap):
        return _of_mapped(name, data)
    if callable(data) and not hasattr(data, "__array__"):
        return _of_function(name, data)
    if _is_sequence_of_blocks(data):
        return _of_function(name, lambda: iter(data))
    if hasattr(data, "__next__"):
        raise ValueError(
            f"{name} must give its blocks more than once, since the Gram matrix takes one pass and the errors another: "
            f"pass a function that returns the iterator anew instead of the iterator itself, got {shown(data)}"
        )
    if type(data).__module__.startswith("dask.array"):
        return _of_dask(name, data)
    if hasattr(data, "iter_batches"):
        return _of_parquet(name, data)
    return RowBlocks.of_array(name, checks.data_matrix(name, data))


def _is_sequence_of_blocks(data: Any) -> bool:
    """Says whether this is a list of matrices; a list of rows is one matrix."""
    listed = isinstance(data, list | tuple) and len(data) > 0
    return listed and all(isinstance(block, np.ndarray) and block.ndim == 2 for block in data)


def _opened(name: str, path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if path.suffix == ".parquet":
        return parquet_file(path)
    raise ValueError(f"{name} must be a .npy or .parquet file, or hold numbers itself, got the path {str(path)!r}")


def parquet_file(path: Path) -> Any:
    """Opens a Parquet file by pyarrow; ImportError that names the extra where that is missing."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'masked-ssl-theory[tables]'") from error
    return ParquetFile(path)


def _of_mapped(name: str, data: NDArray[Any]) -> RowBlocks:
    checks.require_matrix(name, data)
    step = block_rows(data.shape[1])

    def blocks() -> Iterator[Array]:
        for i in range(0, len(data), step):
            yield data[i : i + step]
            _give_back(data)

    def select(rows: NDArray[np.integer]) -> Array:
        found = [np.asarray(data[rows[:0]])]
        for i in range(0, len(data), step):  # a row touches a whole page, and pages of all blocks would stay in memory
            first, last = np.searchsorted(rows, [i, i + step])
            if last > first:
                found.append(np.asarray(data[rows[first:last]]))
                _give_back(data)
        return np.concatenate(found)

    return RowBlocks(data.shape[1], blocks, name, size=len(data), select=select)


def _give_back(data: NDArray[Any]) -> None:
    """Releases the pages of a mapped file, which count as memory of the process; they are read again when needed.

    A private copy (mode "c") is left alone: what was written to it exists in these pages only.
    """
    mapped: Any = data
    while isinstance(mapped, np.ndarray):
        mapped = mapped.base
    if isinstance(mapped, mmap.mmap) and getattr(data, "mode", "c") != "c" and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _of_function(name: str, function: Callable[[], Any], size: int | None = None) -> RowBlocks:
    first = next(iter(_iterated(name, function)), None)
    if first is None:
        raise ValueError(f"{name} must have at least one row, got no blocks")
    width = checks.block(name, first, None, 0).shape[1]
    return RowBlocks(width, lambda: _cut(_iterated(name, function)), name, size=size)


def _iterated(name: str, function: Callable[[], Any]) -> Iterator[Any]:
    try:
        return iter(function())
    except TypeError as error:
        raise ValueError(
            f"{name} must be a function without arguments that returns an iterator of blocks of rows, got "
            f"{shown(function)} ({error})"
        ) from None


def _of_dask(name: str, data: Any) -> RowBlocks:
    checks.require_matrix(name, data)
    whole = data.rechunk({1: -1})

    def blocks() -> Iterator[Array]:
        return _cut(whole.blocks[i].compute() for i in range(whole.numblocks[0]))

    size = None if np.isnan(data.shape[0]) else int(data.shape[0])
    return RowBlocks(int(data.shape[1]), blocks, name, size=size)


def _of_parquet(name: str, file: Any) -> RowBlocks:
    names = tuple(file.schema_arrow.names)
    step = block_rows(max(1, len(names)))

    def blocks() -> Iterator[Array]:
        for batch in file.iter_batches(batch_size=step, columns=list(names)):
            yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])

    return _of_function(name, blocks, size=file.metadata.num_rows)


def _cut(blocks: Iterator[Any]) -> Iterator[Any]:
    """Cuts blocks of very many rows, each of which would need as much memory again in a product."""
    return chain.from_iterable(
        (block[i : i + block_rows(block.shape[1])] for i in range(0, len(block), block_rows(block.shape[1])))
        if isinstance(block, np.ndarray) and block.ndim == 2 and block.size
        else (block,)
        for block in blocks
    )
