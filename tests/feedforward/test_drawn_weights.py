"""Binary networks whose weights are drawn: probabilities of signs against the sum over all weights, and counts."""

from itertools import product

import numpy as np
import pytest
from scipy.special import erf

from simulate.core import Estimate, stream
from simulate.feedforward import stochastic, stochastic_activations
from simulate.feedforward.binary import Layer
from theory.models import BinaryNetwork


def exact_means(layer, state):
    """E sign(sum_j W_ij s_j/sqrt(N) + b_i) over all weights with means m = sqrt(mean_variance) signs."""
    N, m = len(layer.biases), np.sqrt(layer.network.mean_variance)
    totals = np.zeros(N)
    for weights in product((1, -1), repeat=N):
        row = np.array(weights)
        chance = np.prod((1 + row * m * layer.signs) / 2, axis=1)
        totals += chance * np.where(row @ state / np.sqrt(N) + layer.biases >= 0, 1, -1)
    return totals


def test_signs_of_one_layer_have_their_exact_probabilities():
    """Means of 3 neurons over 60,000 draws of all weights; each is known to half a percent."""
    network = BinaryNetwork(mean_variance=0.5, bias_variance=0.3)
    rng = stream(0, "drawn weights")
    layer, state = Layer.random(network, 3, rng), np.array([1, -1, 1], dtype=np.int8)
    drawn = np.array([
        stochastic._drawn(layer.signs.astype(np.int8), layer.biases, 0.5, state, rng) for _ in range(60_000)
    ])  # fmt: skip
    for values, exact in zip(drawn.T, exact_means(layer, state), strict=True):
        found = Estimate.of((1 + values) / 2)
        assert found.stderr < 0.0025
        assert abs(found.z((1 + exact) / 2)) < 4


def test_mean_signs_are_averaged_over_as_many_draws_and_layers_as_asked_for(monkeypatch):
    made = []
    original = stochastic._drawn

    def counted(*arguments):
        made.append(original(*arguments))
        return made[-1]

    monkeypatch.setattr(stochastic, "_drawn", counted)
    network = BinaryNetwork(mean_variance=0.7, bias_variance=0.1)
    found = stochastic_activations(network, 50, 2, 40, stream(0, "draws"))
    assert len(made) == 2 * 40
    assert found.slopes.shape == found.excess_errors.shape == (2,)
    rng = stream(0, "draws")
    layers = [Layer.random(network, 50, rng) for _ in range(2)]
    start = rng.choice([-1, 1], 50)
    means = np.mean(made[::2], axis=0)
    driven = (layers[0].scale * (layers[0].signs @ start) + layers[0].biases) / np.sqrt(0.3)
    # Each mean of n signs scatters by (1 - mean^2)/(n - 1), which is taken from the squared error.
    surrogate = erf(driven / np.sqrt(2))
    assert found.slopes[0] == pytest.approx(means @ surrogate / (surrogate @ surrogate))
    assert found.excess_errors[0] == pytest.approx(np.mean((means - surrogate) ** 2 - (1 - means**2) / 39))


def test_layers_are_drawn_with_the_variance_of_their_biases_to_one_percent():
    network, rng = BinaryNetwork(mean_variance=0.7, bias_variance=0.3), stream(0, "biases")
    layers = [Layer.random(network, 40, rng) for _ in range(5000)]
    x = np.concatenate([layer.biases for layer in layers]) / np.sqrt(0.3)
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    assert np.mean(x * x) == pytest.approx(1, abs=5 * np.sqrt(2 / x.size))  # 1.6 percent
    assert np.mean((x * x) ** 2) == pytest.approx(3, abs=5 * np.sqrt(96 / x.size))
    signs = np.array([layer.signs for layer in layers[:500]])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 5 / np.sqrt(signs.size)
