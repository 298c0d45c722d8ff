"""Takes data matrices in the forms that hold more rows than memory does, and cuts them into blocks of rows."""

import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from simulate.masked import checks
from simulate.masked.moments import Gram
from simulate.masked.row_blocks import RowBlocks, block_rows, views
from theory.core import Array, checked
from theory.core.checks import shown

TALL = 4  # rows for each column, from which on a Gram matrix that is kept is little beside the table


@checked
def row_blocks(X: Any) -> RowBlocks:
    """Take a data matrix X (n, d) as blocks of rows, of which fits hold one at a time.

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


def as_row_blocks(name: str, data: Any, with_gram: bool = False) -> RowBlocks:
    """Convert anything that `row_blocks` takes; `name` is what errors call it. A matrix in memory is copied.

    `with_gram` says that the Gram matrix of a tall table will be needed: then its diagonal is what shows that all
    entries are finite, which saves a pass over the table.
    """
    if isinstance(data, RowBlocks):
        return data
    if isinstance(data, os.PathLike):
        data = _opened(name, Path(data))
    if isinstance(data, np.memmap):
        return _of_mapped(name, data)
    if callable(data) and not hasattr(data, "__array__"):
        return _of_function(name, data)
    if _is_sequence_of_blocks(data):
        return _of_function(name, partial(iter, data))
    if hasattr(data, "__next__"):
        raise ValueError(
            f"{name} must give its blocks more than once, since the Gram matrix takes one pass and the errors another: "
            f"pass a function that returns the iterator anew instead of the iterator itself, got {shown(data)}"
        )
    if type(data).__module__.startswith("dask.array"):
        return _of_dask(name, data)
    if hasattr(data, "iter_batches"):
        return _of_parquet(name, data)
    return _of_matrix(name, data, with_gram)


def _of_matrix(name: str, data: Any, with_gram: bool) -> RowBlocks:
    matrix = checks.copied_matrix(name, data)
    n, d = matrix.shape
    products = dsyrk(1.0, matrix.T, lower=1) if with_gram and n >= TALL * d else None
    power = checks.squares(matrix) if products is None else np.diagonal(products)
    checks.require_power(name, matrix, power, data)
    gram = None if products is None else Gram(n, products, None)
    return RowBlocks(d, partial(views, matrix), name, matrix, gram)


def _is_sequence_of_blocks(data: Any) -> bool:
    """Say whether this is a list of matrices; a list of rows is one matrix."""
    listed = isinstance(data, list | tuple) and len(data) > 0
    return listed and all(isinstance(block, np.ndarray) and block.ndim == 2 for block in data)


def _opened(name: str, path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if path.suffix == ".parquet":
        return parquet_file(path)
    raise ValueError(f"{name} must be a .npy or .parquet file, or hold numbers itself, got the path {str(path)!r}")


def parquet_file(path: Path) -> Any:
    """Open a Parquet file by pyarrow; ImportError that names the extra where that is missing."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'masked-ssl-theory[tables]'") from error
    return ParquetFile(path)


def _of_mapped(name: str, data: NDArray[Any]) -> RowBlocks:
    checks.require_matrix(name, data)
    mapped = _Mapped(data)
    return RowBlocks(data.shape[1], mapped.blocks, name, size=len(data), select=mapped.select)


@dataclass(frozen=True, eq=False)
class _Mapped:
    """An array that is mapped from a file. Pickled it is the name of the file, of which no copy is made."""

    data: NDArray[Any]

    def blocks(self) -> Iterator[Array]:
        step = block_rows(self.data.shape[1])
        for i in range(0, len(self.data), step):
            yield self.data[i : i + step]
            _give_back(self.data)

    def select(self, rows: NDArray[np.integer]) -> Array:
        data, step = self.data, block_rows(self.data.shape[1])
        found = [np.asarray(data[rows[:0]])]
        for i in range(0, len(data), step):  # a row touches a whole page, and pages of all blocks would stay in memory
            first, last = np.searchsorted(rows, [i, i + step])
            if last > first:
                found.append(np.asarray(data[rows[first:last]]))
                _give_back(data)
        return np.concatenate(found)

    def __reduce__(self) -> tuple[Any, ...]:
        """Name the file that is mapped as a whole and read only; anything else is pickled with its numbers."""
        data: Any = self.data
        if not (
            isinstance(data, np.memmap) and isinstance(data.base, mmap.mmap) and data.mode == "r" and data.filename
        ):
            return _Mapped, (np.array(data),)
        order = "C" if data.flags.c_contiguous else "F"
        return _mapped_again, (str(data.filename), data.dtype, data.offset, data.shape, order)


def _mapped_again(filename: str, dtype: Any, offset: int, shape: tuple[int, ...], order: Any) -> _Mapped:
    return _Mapped(np.memmap(filename, dtype, "r", offset, shape, order))


def _give_back(data: NDArray[Any]) -> None:
    """Release the pages of a mapped file, which count as memory of the process; they are read again when needed.

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
    return RowBlocks(width, partial(_blocks_of, name, function), name, size=size)


def _blocks_of(name: str, function: Callable[[], Any]) -> Iterator[Any]:
    return _cut(_iterated(name, function))


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
    size = None if np.isnan(data.shape[0]) else int(data.shape[0])
    return RowBlocks(int(data.shape[1]), partial(_computed, whole), name, size=size)


def _computed(data: Any) -> Iterator[Array]:
    return _cut(data.blocks[i].compute() for i in range(data.numblocks[0]))


def _of_parquet(name: str, file: Any) -> RowBlocks:
    return _of_function(name, partial(_batches, file), size=file.metadata.num_rows)


def _batches(file: Any) -> Iterator[Array]:
    names = list(file.schema_arrow.names)
    for batch in file.iter_batches(batch_size=block_rows(max(1, len(names))), columns=names):
        yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])


def _cut(blocks: Iterator[Any]) -> Iterator[Any]:
    """Cut blocks of very many rows, each of which would need as much memory again in a product."""
    return chain.from_iterable(
        (block[i : i + block_rows(block.shape[1])] for i in range(0, len(block), block_rows(block.shape[1])))
        if isinstance(block, np.ndarray) and block.ndim == 2 and block.size
        else (block,)
        for block in blocks
    )
