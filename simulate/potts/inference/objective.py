"""The penalized negative log pseudo-likelihood of full couplings, and its gradient."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.kernels import logits, residuals, scatter
from simulate.potts.inference.sequences import Sequences
from theory.models.arrays import Array

ROW = 96  # numbers in a row of a group's table: long enough for vector units, short enough for the cache
BLOCK = 256  # samples whose logits are held at a time
CHUNK = 2**13  # samples after which single-precision sums go over into double ones

T = TypeVar("T")
S = TypeVar("S")


def site_groups(n_sites: int, n_colors: int) -> list[slice]:
    """Groups of neighboring sites whose rows have about `ROW` numbers."""
    size = max(1, ROW // n_colors)
    return [slice(start, min(start + size, n_sites)) for start in range(0, n_sites, size)]


def in_threads(function: Callable[[S], T], items: Iterable[S], n_threads: int) -> Iterator[T]:
    """`map` by threads, in the order of `items`: sums of the results do not depend on their number."""
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(function, items)


def group_loss(
    data: Sequences, sites: slice, table: Array, fields: Array, dtype: type[np.floating[Any]] = np.float64
) -> tuple[float, Array, Array]:
    """-sum_m w_m sum_{i in sites} log P(s_i | rest) and its gradients in `table` (L, C, G, C) and `fields` (G, C).

    table[j, b, i, a] is the coupling of color a at site i of the group with color b at site j; the group's own blocks
    must be zero. Logits are of type `dtype`, sums over samples double.
    """
    L, C, G, _ = table.shape
    rows = np.ascontiguousarray(table.reshape(L, C, G * C), dtype=dtype)
    field_row = fields.reshape(-1).astype(dtype)
    total, gradient, field_gradient = 0.0, np.zeros(rows.shape), np.zeros(G * C)
    for start in range(0, data.n_samples, CHUNK):
        part = np.zeros(rows.shape, dtype)
        for first in range(start, min(start + CHUNK, data.n_samples), BLOCK):
            block = slice(first, min(first + BLOCK, start + CHUNK, data.n_samples))
            total += _block_loss(data, sites, block, rows, field_row, part, field_gradient)
        gradient += part
    return total, gradient.reshape(table.shape), field_gradient.reshape(G, C)


def _block_loss(
    data: Sequences,
    sites: slice,
    block: slice,
    rows: NDArray[Any],
    field_row: NDArray[Any],
    gradient: NDArray[Any],
    field_gradient: Array,
) -> float:
    columns = np.ascontiguousarray(data.columns[:, block])
    own, weights = columns[sites], data.weights[block]
    z = np.empty((columns.shape[1], len(field_row)), rows.dtype)
    total = logits(columns, own, rows, field_row, weights, z)
    np.exp(z, out=z)
    total += residuals(own, weights, data.n_colors, z)
    scatter(columns, z, gradient)
    field_gradient += z.sum(axis=0, dtype=float)
    return total
