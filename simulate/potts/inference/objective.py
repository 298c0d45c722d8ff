"""Computes the negative log pseudo-likelihood of full couplings, and its gradient, for a group of sites."""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.codes import Chunk
from simulate.potts.inference.kernels import add_tables, scatter, softmax_residuals
from simulate.potts.inference.sequences import Sequences
from theory.core.arrays import Array

ROW_NUMBERS = 128  # numbers in a row of a group's table, so that the arrays of a group take little memory
SLAB = 8  # columns of a table that are worked on at a time, which is what a vector unit holds


def slabs(width: int) -> int:
    """Return how many slabs of `SLAB` columns hold `width` columns."""
    return -(-width // SLAB)


def filled_rows(rows: NDArray[Any], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return rows (..., W) of type `dtype`, filled up with zeros to an odd number of slabs.

    Rows at distances of powers of two would share few places of the caches.
    """
    filled = np.zeros((*rows.shape[:-1], SLAB * (slabs(rows.shape[-1]) | 1)), dtype)
    filled[..., : rows.shape[-1]] = rows
    return filled


class GroupLoss(NamedTuple):
    """The loss of a group of G sites, its gradients, and how much each conditional probability varies."""

    value: float
    by_table: Array  # (L, C, G, C)
    by_field: Array  # (G, C)
    variances: Array  # (G, C), see `group_loss`


def site_groups(n_sites: int, n_colors: int) -> list[slice]:
    """Return groups of neighboring sites, whose sizes differ by one at most and whose rows have about `ROW_NUMBERS`.

    Where there are many groups their number is a multiple of four, so that threads which share them end together.
    """
    wanted = n_sites * n_colors / ROW_NUMBERS
    count = 4 * round(wanted / 4) if wanted > 6 else math.ceil(wanted)
    bounds = np.linspace(0, n_sites, min(count, n_sites) + 1).round().astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def group_loss(
    data: Sequences,
    sites: slice,
    table: NDArray[Any],
    fields: Array,
    frequencies: Array,
    dtype: type[np.floating[Any]] = np.float64,
) -> GroupLoss:
    """Compute -sum_m w_m sum_{i in sites} log P(s_i | rest) and its gradients by `table` and `fields` (G, C).

    `table` (L, C, G, C) holds in [j, b, i, a] the coupling of color a at site i of the group with color b at site j;
    the blocks of a site with itself must be zero. `frequencies` (L, C) are those of the data. Logits are of type
    `dtype`; sums over samples are double.

    The variances are the larger of two means over samples: of P (1 - P), and of (P - one-hot)^2. They agree where the
    model is right. Where it is far too sure of itself the former is much too small to be a scale for a step, and for
    colors that hardly occur the latter is.
    """
    L, C, G, _ = table.shape
    width = G * C
    rows, field_row = filled_rows(table.reshape(L, C, width), dtype), filled_rows(fields.reshape(-1), dtype)
    total, sums = 0.0, np.zeros((3, SLAB * slabs(width)))
    gradient = np.zeros(rows.shape, dtype if len(data.chunks) == 1 else float)
    for chunk in data.chunks:
        part = gradient if len(data.chunks) == 1 else np.zeros(rows.shape, dtype)
        total += _chunk_loss(data, sites, chunk, rows, field_row, part, sums)
        if part is not gradient:
            gradient += part
    seen, (by_field, squares, hits) = frequencies[sites].reshape(-1), sums[:, :width]
    variances = np.maximum(by_field + seen - squares, squares - 2 * hits + seen)
    by_table = np.ascontiguousarray(gradient[:, :, :width]).reshape(table.shape)
    return GroupLoss(total, by_table, by_field.reshape(G, C), variances.reshape(G, C))


def _chunk_loss(
    data: Sequences,
    sites: slice,
    chunk: Chunk,
    rows: NDArray[Any],
    field_row: NDArray[Any],
    gradient: NDArray[Any],
    sums: Array,
) -> float:
    """Return the loss of some samples, and add to the gradient by the table.

    Added to the rows of `sums` (3, W) are the gradient by fields, and the squares and hits of `softmax_residuals`.
    """
    z = np.zeros((sums.shape[1] // SLAB, chunk.codes.shape[1], SLAB), rows.dtype)
    add_tables(chunk.codes, chunk.n_each, rows, z)
    own = np.ascontiguousarray(data.columns[sites, chunk.samples])
    weights = data.weights[chunk.samples].astype(rows.dtype)
    total = softmax_residuals(z, field_row, own, weights, data.n_colors, sums)
    scatter(chunk.codes, chunk.n_each, z, gradient)
    return total
