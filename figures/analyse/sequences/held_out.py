"""The masked loss of sequences that were not fitted, with an error bar that knows which of them are related."""

import numpy as np
from numpy.typing import NDArray

from simulate.core import Estimate
from theory.models.arrays import Array
from theory.models.potts import Potts

BLOCK = 256  # sequences


def sequence_losses(model: Potts, states: NDArray[np.integer]) -> Array:
    """(M,) -log P(s_i | the other sites) in nats, averaged over the sites of each sequence (M, L)."""
    losses = np.empty(len(states))
    for start in range(0, len(states), BLOCK):
        part = states[start : start + BLOCK]
        chosen = np.take_along_axis(model.log_conditionals(part), part[:, :, None].astype(np.int64), axis=2)
        losses[start : start + BLOCK] = -chosen.mean(axis=(1, 2))
    return losses


def clustered_mean(values: Array, weights: Array, clusters: NDArray[np.int64]) -> Estimate:
    """Weighted mean of values (M,) whose errors are independent between clusters only; `n` is their number."""
    total = weights.sum()
    mean = float(weights @ values / total)
    _, labels = np.unique(clusters, return_inverse=True)
    residuals = np.bincount(labels, weights * (values - mean))
    n = len(residuals)
    return Estimate(mean, float(np.sqrt((residuals**2).sum() * n / (n - 1)) / total), n)
