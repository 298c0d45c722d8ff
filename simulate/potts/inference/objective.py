"""Computes the negative log pseudo-likelihood of full couplings, and its gradient, for a group of sites."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.kernels import logits, residuals, scatter
from simulate.potts.inference.sequences import Sequences
from theory.models.arrays import Array
from theory.models.potts.batches import blocks

ROW = 96  # numbers in a row of a group's table: long enough for vector units, short enough for the cache
BLOCK = 256  # samples whose logits are held at a time
CHUNK = 2**13  # samples after which sums in single precision are added to those in double precision


def site_groups(n_sites: int, n_colors: int) -> list[slice]:
    """Returns groups of neighboring sites whose rows have about `ROW` numbers."""
    return list(blocks(n_sites, n_colors, most=ROW))


def group_loss(
    data: Sequences, sites: slice, table: Array, fields: Array, dtype: type[np.floating[Any]] = np.float64
) -> tuple[float, Array, Array]:
    """Computes -sum_m w_m sum_{i in sites} log P(s_i | rest) and its gradients by `table` and `fields` (G, C).

    `table` (L, C, G, C) holds in [j, b, i, a] the coupling of color a at site i of the group with color b at site j;
    the blocks of a site with itself must be zero. Logits are of type `dtype`; sums over samples are double.
    """
    L, C, G, _ = table.shape
    rows = np.ascontiguousarray(table.reshape(L, C, G * C), dtype=dtype)
    field_row = fields.reshape(-1).astype(dtype)
    total, gradient, field_gradient = 0.0, np.zeros(rows.shape), np.zeros(G * C)
    for chunk in blocks(data.n_samples, 1, most=CHUNK):
        part = np.zeros(rows.shape, dtype)
        for within in blocks(chunk.stop - chunk.start, 1, most=BLOCK):
            block = slice(chunk.start + within.start, chunk.start + within.stop)
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
