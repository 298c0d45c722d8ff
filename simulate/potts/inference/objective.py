"""Computes the negative log pseudo-likelihood of full couplings, and its gradient, for a group of sites."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.kernels import logits, residuals, scatter, sums
from simulate.potts.inference.sequences import Sequences
from theory.core.arrays import Array
from theory.models.potts.batches import blocks

ROW_NUMBERS = 128  # numbers in a row of a group's table: long enough for vector units, short enough for the cache
ROW_MULTIPLE = 8  # rows are filled up with zeros to a multiple of this, so that vector units leave no rest
BLOCK_SAMPLES = 256  # samples whose logits are held at a time
SINGLE_PRECISION_SAMPLES = 2**13  # samples after which sums in single precision are added to those in double precision


class GroupLoss(NamedTuple):
    """The loss of a group of G sites, its gradients, and how much each conditional probability varies."""

    value: float
    by_table: Array  # (L, C, G, C)
    by_field: Array  # (G, C)
    variances: Array  # (G, C), see `group_loss`


def site_groups(n_sites: int, n_colors: int) -> list[slice]:
    """Return groups of neighboring sites whose rows have about `ROW_NUMBERS` numbers."""
    return list(blocks(n_sites, n_colors, most=ROW_NUMBERS))


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
    rows = np.zeros((L, C, -(-width // ROW_MULTIPLE) * ROW_MULTIPLE), dtype)
    rows[:, :, :width] = table.reshape(L, C, width)
    field_row = np.zeros(rows.shape[2], dtype)
    field_row[:width] = fields.reshape(-1)
    total, (field_gradient, squares, hits) = 0.0, np.zeros((3, width))
    chunks = list(blocks(data.n_samples, 1, most=SINGLE_PRECISION_SAMPLES))
    gradient = np.zeros(rows.shape, dtype if len(chunks) == 1 else float)
    for chunk in chunks:
        part = gradient if len(chunks) == 1 else np.zeros(rows.shape, dtype)
        for within in blocks(chunk.stop - chunk.start, 1, most=BLOCK_SAMPLES):
            block = slice(chunk.start + within.start, chunk.start + within.stop)
            value, *sums = _block_loss(data, sites, block, rows, field_row, part)
            total += value
            for all_samples, added in zip((field_gradient, squares, hits), sums, strict=True):
                all_samples += added[:width]
        if part is not gradient:
            gradient += part
    seen = frequencies[sites].reshape(-1)
    variances = np.maximum(field_gradient + seen - squares, squares - 2 * hits + seen)
    by_table = np.ascontiguousarray(gradient[:, :, :width]).reshape(table.shape)
    return GroupLoss(total, by_table, field_gradient.reshape(G, C), variances.reshape(G, C))


def _block_loss(
    data: Sequences, sites: slice, block: slice, rows: NDArray[Any], field_row: NDArray[Any], gradient: NDArray[Any]
) -> tuple[float, Array, NDArray[Any], NDArray[Any]]:
    """Add to the gradient by the table; return the loss, its gradient by fields, and the sums of `residuals`."""
    columns = np.ascontiguousarray(data.columns[:, block])
    own, weights = columns[sites], data.weights[block].astype(rows.dtype)
    z = np.empty((columns.shape[1], len(field_row)), rows.dtype)
    squares, hits = np.zeros((2, len(field_row)), rows.dtype)
    total = logits(columns, own, rows, field_row, weights, z)
    np.exp(z, out=z)
    total += residuals(own, weights, data.n_colors, z, squares, hits)
    scatter(columns, z, gradient)
    return total, sums(z), squares, hits
