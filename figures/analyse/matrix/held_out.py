"""Measures one random split into held-out rows and training sets of growing size."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.contrasts import contrasts, ridge_of_contrasts
from figures.analyse.matrix.table_rows import table_rows
from simulate.core import stream
from simulate.masked import RowBlocks, fit_path
from simulate.masked.moments import Moments
from theory.core.arrays import Array


def split_errors(
    X: Array | RowBlocks, lams: Array, tuning: Array, sizes: tuple[int, ...], n_test: int, seed: int, repeat: int
) -> Array:
    """Return the held-out and the GCV errors of one random split, (2, n_sizes, n_lams + 1).

    They are means over columns, at each of `lams` and at the best of `tuning`. The first n rows of one permutation are
    fitted about their own mean, and the last `n_test` rows are predicted. The best ridge is that of the smallest GCV
    error of the same n rows, so that nothing is learnt from the held-out ones.
    """
    rows = table_rows(X)
    order = stream(seed, "split", repeat).permutation(rows.n)
    held_out = rows.take(np.sort(order[rows.n - n_test :]))
    return np.stack([_errors(*one, held_out, lams, tuning) for one in _training_sets(rows, order, sizes)], axis=1)


def _training_sets(
    rows: RowBlocks, order: NDArray[np.integer], sizes: tuple[int, ...]
) -> Iterator[tuple[RowBlocks, Moments | None]]:
    """Yield the first rows of the `order`, as many as each of the ascending `sizes`, with their moments if known.

    In blocks, one pass accumulates the moments of what each size adds to the one before.
    """
    if rows.in_memory is not None:
        for size in sizes:
            yield RowBlocks.of_array("X", rows.in_memory[order[:size]]), None
        return
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    added = rows.moments_of_parts(np.searchsorted(sizes, rank, side="right"), len(sizes))
    so_far: Moments | None = None
    for size, more in zip(sizes, added, strict=True):
        so_far = more if so_far is None else so_far.with_rows(more)
        if size <= rows.d + 1:  # fewer rows than a Gram matrix has
            yield RowBlocks.of_array("X", rows.take(np.sort(order[:size]))), None
        else:
            yield rows.rows(rank < size), so_far


def _errors(rows: RowBlocks, found: Moments | None, held_out: Array, lams: Array, tuning: Array) -> Array:
    """Fit these rows, whose moments are given unless they are in memory, and return errors (2, n_lams + 1).

    They are the held-out ones and those of GCV.
    """
    n, mean = rows.n, rows.all_rows().mean(axis=0) if found is None else found.mean
    path = fit_path(contrasts(rows, found), ridge_of_contrasts(np.concatenate([lams, tuning]), n))
    gcv = path.gcv_error.mean(axis=1) * (n / (n - 1))  # the mean takes one more degree of freedom
    chosen = [*range(len(lams)), len(lams) + int(gcv[len(lams) :].argmin())]
    centered = held_out - mean
    return np.array([[path.test_error(i, centered).mean() for i in chosen], gcv[chosen]])
