"""Measures how well a pair model predicts each of many sequences, with the compiled sums of its fits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.codes import Chunk, chunks
from simulate.potts.inference.kernels import add_tables, logits
from simulate.potts.inference.objective import SLAB, filled_rows, site_groups, slabs
from theory.core.arrays import Array
from theory.models import DensePottsModel
from theory.models.potts.batches import blocks, checked_samples

BLOCK_SAMPLES = 512  # samples whose rows are worked on at a time, so that they stay in the second cache


def sequence_losses(model: DensePottsModel, states: Any) -> Array:
    """Compute -log P(s_i | the other sites) in nats, (M,), averaged over the sites of each of the states (M, L).

    Logits are added up in single precision, as in a fit: errors are about 1e-7 of the size of the logits. ValueError
    for states that do not fit the model.
    """
    checked = checked_samples("states", states, model.n_colors, model.n_sites)
    columns = np.ascontiguousarray(checked.T, np.uint8 if model.n_colors <= 256 else np.uint32)
    total, parts = np.zeros(columns.shape[1]), list(chunks(columns, model.n_colors))
    for sites in site_groups(*model.fields.shape):
        J = model.beta * model.couplings[sites]  # (G, L, C, C)
        table = filled_rows(J.transpose(1, 3, 0, 2).reshape(*model.fields.shape, -1), np.float32)
        fields = filled_rows(model.beta * model.fields[sites].reshape(-1), np.float32)
        for chunk in parts:
            total[chunk.samples] += _of_group(columns[sites, chunk.samples], chunk, table, fields, model.n_colors)
    return total / model.n_sites


def _of_group(
    own: NDArray[Any], chunk: Chunk, table: NDArray[np.float32], fields: NDArray[np.float32], n_colors: int
) -> Array:
    """Return the losses (B,) of a group of sites in a chunk of samples, summed over the sites."""
    (n_sites, B), losses = own.shape, np.empty(own.shape[1])
    z = np.zeros((slabs(n_sites * n_colors), B, SLAB), np.float32)
    add_tables(chunk.codes, chunk.n_each, table, z)
    own, nothing = np.ascontiguousarray(own), np.zeros(B, np.float32)
    for rows in blocks(B, 1, most=BLOCK_SAMPLES):
        row = np.empty((rows.stop - rows.start, SLAB * len(z)), np.float32)
        logits(z, rows.start, fields, own, nothing, n_colors, row)
        by_site = row[:, : n_sites * n_colors].reshape(-1, n_sites, n_colors)
        shown = np.take_along_axis(by_site, own[:, rows].T[:, :, None].astype(np.intp), axis=2)[:, :, 0]
        losses[rows] = (np.log(np.exp(by_site).sum(axis=2)) - shown).sum(axis=1, dtype=float)
    return losses
