"""The network of random signs itself: binary weights and sign neurons, drawn again and again, against its surrogate."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.feedforward.binary import Layer, activation
from theory.core import Array, Result, Several, checked, checks
from theory.models import BinaryNetwork

PROBABILITY_LEVELS = 65_536  # of probabilities of weights, so that one draw takes 16 bits


@dataclass(frozen=True, eq=False, repr=False)
class StochasticActivations(Result):
    """How the neurons' mean signs, over draws of all weights, compare with the surrogate's outputs, (n_layers,) each.

    `slopes` are those of the regression (without constant) of the mean signs on the outputs, and `excess_errors` the
    mean square of their difference, minus what the finite number of draws contributes.
    """

    slopes: Array
    excess_errors: Array


@checked
def stochastic_activations(
    network: BinaryNetwork, width: Several, n_layers: int, n_draws: int, rng: np.random.Generator
) -> StochasticActivations:
    """Draw all weights of a network `n_draws` times and compares the mean signs of its neurons with the surrogate's.

    Biases and means of weights are drawn once. The input is a random vector of signs; a weight is +1 or -1 with its
    mean, and a neuron is the sign of sum_j W_ij s_j/sqrt(N) + b_i. ValueError for a network of other neurons than
    signs or of another phi than "erf", which alone is the mean sign, for fewer than two neurons, one layer or two
    draws, and for so few neurons that all outputs of a layer vanish.

    >>> network = BinaryNetwork(mean_variance=0.7, bias_variance=0.1)
    >>> found = stochastic_activations(network, 200, 2, 100, np.random.default_rng(0))
    >>> abs(found.slopes - 1).max() < 0.1
    np.True_
    """
    if network.neurons != "sign" or network.phi != "erf":
        raise ValueError(f"network must have sign neurons and phi='erf', got {network}")
    N, count = width, int(checks.between("n_layers", n_layers, 1, 10_000, closed=(True, True)))
    draws = int(checks.between("n_draws", n_draws, 2, 1e9, closed=(True, True)))
    checks.fits_in_memory(f"{count} layers of {N} neurons", (count + 2.0) * float(N) ** 2)
    layers = [Layer.random(network, N, rng) for _ in range(count)]
    start = rng.choice([-1, 1], N).astype(np.int8)
    totals = np.zeros((count, N))
    signs = [layer.signs.astype(np.int8) for layer in layers]
    for _ in range(draws):
        state = start
        for k, layer in enumerate(layers):
            state = _drawn(signs[k], layer.biases, network.mean_variance, state, rng)
            totals[k] += state
    means = totals / draws
    slopes, errors = np.empty(count), np.empty(count)
    # The input is certain: its outputs are +-1, not those of a Gaussian field.
    driven = layers[0].scale * (layers[0].signs @ start) + layers[0].biases
    certain = np.where(driven >= 0, np.inf, -np.inf)
    fields = (driven / math.sqrt(1 - network.mean_variance) if network.mean_variance < 1 else certain)[:, None]
    for k in range(count):
        if k:
            fields = layers[k].forward(fields, np.zeros((N, 1)))
        outputs = activation(network, fields).ravel()
        if not outputs.any():
            raise ValueError(f"width must be so large that not all outputs of a layer vanish, got {N}")
        slopes[k] = means[k] @ outputs / (outputs @ outputs)
        errors[k] = np.mean((means[k] - outputs) ** 2 - (1 - means[k] ** 2) / (draws - 1))
    return StochasticActivations(slopes, errors)


def _drawn(
    signs: NDArray[np.int8], biases: Array, mean_variance: float, state: NDArray[np.int8], rng: np.random.Generator
) -> NDArray[np.int8]:
    """Return the signs of one layer for one draw of its weights; a field of exactly zero counts as positive."""
    against = round(
        PROBABILITY_LEVELS * (1 - math.sqrt(mean_variance)) / 2
    )  # a weight is opposed to its mean in so many cases
    turned = rng.integers(0, PROBABILITY_LEVELS, signs.shape, dtype=np.uint16) < against
    products = signs * state
    field = products.sum(axis=1, dtype=np.int64) - 2 * np.where(turned, products, 0).sum(axis=1, dtype=np.int64)
    return np.where(field / math.sqrt(len(biases)) + biases >= 0, 1, -1).astype(np.int8)
