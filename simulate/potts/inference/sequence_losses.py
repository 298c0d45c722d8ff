"""Measures how well a pair model predicts each of many sequences, with the compiled sums of its fits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.kernels import logits
from simulate.potts.inference.objective import BLOCK_SAMPLES, site_groups
from theory.core.arrays import Array
from theory.models import DensePottsModel
from theory.models.potts.batches import blocks, checked_samples


def sequence_losses(model: DensePottsModel, states: Any) -> Array:
    """Compute -log P(s_i | the other sites) in nats, (M,), averaged over the sites of each of the states (M, L).

    Logits are added up in single precision, as in a fit: errors are about 1e-7 of the size of the logits. ValueError
    for states that do not fit the model.
    """
    checked = checked_samples("states", states, model.n_colors, model.n_sites)
    columns = np.ascontiguousarray(checked.T, np.uint8 if model.n_colors <= 256 else np.uint32)
    total = np.zeros(columns.shape[1])
    for sites in site_groups(*model.fields.shape):
        J = model.beta * model.couplings[sites]  # (G, L, C, C)
        table = np.ascontiguousarray(J.transpose(1, 3, 0, 2), np.float32).reshape(*model.fields.shape, -1)
        fields = (model.beta * model.fields[sites]).astype(np.float32).ravel()
        for rows in blocks(len(total), 1, most=BLOCK_SAMPLES):
            total[rows] += _of_group(np.ascontiguousarray(columns[:, rows]), sites, table, fields, model.n_colors)
    return total / model.n_sites


def _of_group(
    columns: NDArray[Any], sites: slice, table: NDArray[np.float32], fields: NDArray[np.float32], n_colors: int
) -> Array:
    """Return the losses (B,) of a group of sites, summed over them."""
    own, B = columns[sites], columns.shape[1]
    z = np.empty((B, len(fields)), np.float32)
    logits(columns, own, table, fields, np.zeros(B, np.float32), z)
    by_site = z.reshape(B, -1, n_colors)
    shown = np.take_along_axis(by_site, own.T[:, :, None].astype(np.intp), axis=2)[:, :, 0]
    return np.asarray((np.log(np.exp(by_site).sum(axis=2)) - shown).sum(axis=1, dtype=float))
