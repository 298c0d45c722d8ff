"""Corrects the fields of a sampled model, so that the frequencies of single sites become those of the data."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from theory.core.arrays import Array
from theory.models import DensePottsModel

PRIOR_SAMPLES = 5.0  # a color of which fewer samples are expected keeps most of its field: they tell little of it
MAX_STEPS = 60  # of the search, which is far below the noise of the samples then


def calibrated(model: DensePottsModel, states: NDArray[np.integer], frequencies: Array) -> DensePottsModel:
    """Return the model with fields under which its samples `states` (N, L) show the `frequencies` (L, C) of the data.

    Samples of a law with the fields h are samples of the one with h + d if they count by exp(sum_i d_i(s_i)). So d
    is what maximizes the likelihood of the frequencies, sum_i f_i . d_i - log mean exp(sum_i d_i(s_i)), less the
    square of d times PRIOR_SAMPLES/2N. All sites move together: it takes one set of samples in equilibrium, where
    learning chains need many steps because sites that vary together, as the gaps of fragments do, change slowly.
    Couplings stay as they are. Derived here.
    """
    columns = np.ascontiguousarray(np.asarray(states).T)
    (L, C), N = frequencies.shape, columns.shape[1]
    prior = PRIOR_SAMPLES / N

    def loss(x: Array) -> tuple[float, Array]:
        d = x.reshape(L, C)
        scores = np.sum([d[i][columns[i]] for i in range(L)], axis=0)
        top = scores.max()
        weights = np.exp(scores - top)
        total = weights.sum()
        shown = np.stack([np.bincount(column, weights, C) for column in columns]) / total
        gradient = shown - frequencies + prior * d
        value = top + np.log(total / N) - np.sum(frequencies * d) + prior / 2 * np.sum(d**2)
        return float(value), gradient.ravel()

    found = minimize(loss, np.zeros(L * C), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    fields = model.fields + found.x.reshape(L, C)
    return replace(model, fields=fields - fields.mean(axis=1, keepdims=True))
