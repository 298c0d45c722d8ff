"""Drawn binary networks of finite width against the maps of infinite ones, which share no formula with them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import binom

from simulate.core import Estimate, stream
from simulate.feedforward import decay, field_statistics, stochastic_activations
from simulate.feedforward.binary import Layer, activation
from simulate.feedforward.stochastic import _drawn
from theory.feedforward import propagate, signal_fixed_point
from theory.models import BinaryNetwork


def network(mean_variance, bias_variance, neurons="sign"):
    return BinaryNetwork(mean_variance=mean_variance, bias_variance=bias_variance, neurons=neurons)


@pytest.mark.parametrize(
    ("system", "width"), [(network(0.9, 0.1), 400), (network(0.9, 0.05, "tanh"), 400)], ids=["sign", "tanh"]
)
def test_fields_after_five_layers(agrees, system, width):
    law = propagate(system, 5, variance=1.0, correlation=0.3)
    runs = [
        field_statistics(system, width, 5, stream(0, "fields", system.neurons, r), variance=1.0, correlation=0.3)
        for r in range(60)
    ]
    agrees(Estimate.of([run.variances[-1] for run in runs]), law.variances[-1], resolves=0.15, bias=1 / width)
    agrees(Estimate.of([run.correlations[-1] for run in runs]), law.correlations[-1], resolves=0.15, bias=1 / width)


@pytest.mark.parametrize(
    ("system", "n_layers"),
    [(network(0.9, 0.05), 6), (network(0.95, 0.05, "tanh"), 5), (network(1.0, 0.05, "tanh"), 5)],
    ids=["sign", "tanh", "tanh without noise"],
)
def test_correlations_and_gradients_decay_as_predicted(agrees, system, n_layers):
    point, width = signal_fixed_point(system), 300
    names = (system.neurons, system.mean_variance)
    runs = [
        decay(
            system,
            width,
            n_layers,
            stream(0, "decay", *names, r),
            variance=point.variance,
            correlation=point.correlation,
        )
        for r in range(40)
    ]
    left = Estimate.of([run.correlations[-1] for run in runs])
    agrees(left, point.correlation_slope**n_layers, resolves=0.3)
    back = Estimate.of([run.gradients[-1] for run in runs])
    agrees(back, point.gradient_factor**n_layers, resolves=0.3)
    agrees(Estimate.of([run.variance for run in runs]), point.variance, resolves=0.2)


@pytest.mark.parametrize(("neurons", "phi"), [("sign", "erf"), ("tanh", "erf"), ("sign", "tanh")])
def test_gradients_by_finite_differences(neurons, phi):
    rng = np.random.default_rng(1)
    layer = Layer.random(replace(network(0.6, 0.2, neurons), phi=phi), 12, rng)
    fields, noise, readout = rng.standard_normal((3, 12, 2))
    gradient = layer.backward(fields, noise, readout)
    for j in range(12):
        moved = np.zeros((12, 2))
        moved[j] = 1e-6
        up, down = ((layer.forward(fields + sign * moved, noise) * readout).sum(axis=0) for sign in (1, -1))
        np.testing.assert_allclose(gradient[j], (up - down) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("neurons", ["sign", "tanh"])
def test_one_layer_by_plain_sums(neurons):
    rng = np.random.default_rng(2)
    N, s = 9, 0.7
    layer = Layer.random(network(s, 0.3, neurons), N, rng)
    assert set(np.unique(layer.signs)) <= {-1.0, 1.0}
    fields, noise = rng.standard_normal((2, N, 1))
    M = np.sqrt(s) * layer.signs
    found = layer.forward(fields, noise)
    for i in range(N):
        f = erf(fields[:, 0] / np.sqrt(2)) if neurons == "sign" else np.tanh(fields[:, 0])
        driven = sum(M[i, j] * f[j] for j in range(N)) / np.sqrt(N) + layer.biases[i]
        if neurons == "sign":
            expected = driven / np.sqrt(1 - sum(M[i, j] ** 2 * f[j] ** 2 for j in range(N)) / N)
        else:
            expected = driven + noise[i, 0] * np.sqrt(sum((1 - M[i, j] ** 2) * f[j] ** 2 for j in range(N)) / N)
        assert found[i, 0] == pytest.approx(expected, rel=1e-12)


def test_the_surrogate_is_the_mean_of_the_stochastic_network(agrees):
    system = network(0.7, 0.1)
    runs = [stochastic_activations(system, 150, 3, 60, stream(0, "signs", r)) for r in range(20)]
    slopes, errors = np.array([run.slopes for run in runs]), np.array([run.excess_errors for run in runs])
    for layer in range(3):
        agrees(Estimate.of(slopes[:, layer]), 1.0, resolves=0.1, bias=1 / 150)
    assert abs(errors.mean(axis=0)).max() < 0.01  # a mean of zero instead would miss the outputs' squares, 0.2 to 0.7


def test_draws_of_a_layer_have_the_exact_law():
    """The mean signs over draws against the convolution of two binomials, by a chi-square of 40 neurons."""
    N, s, draws = 40, 0.3, 4_000
    rng = np.random.default_rng(3)
    layer = Layer.random(network(s, 0.1), N, rng)
    state = rng.choice([-1, 1], N).astype(np.int8)
    signs = layer.signs.astype(np.int8)
    counted = sum(_drawn(signs, layer.biases, s, state, rng).astype(int) for _ in range(draws)) / draws
    against = (1 - np.sqrt(s)) / 2
    exact = np.empty(N)
    for i in range(N):
        k = int((signs[i] * state == 1).sum())
        law = np.convolve(binom.pmf(np.arange(k + 1), k, 1 - against), binom.pmf(np.arange(N - k + 1), N - k, against))
        fields = (2 * np.arange(N + 1) - N) / np.sqrt(N) + layer.biases[i]
        exact[i] = law @ np.where(fields >= 0, 1, -1)
    chi2 = np.sum((counted - exact) ** 2 * draws / (1 - exact**2))
    assert 10 < chi2 < 100  # 40 degrees of freedom: outside with probability 1e-6
    assert activation(system := network(s, 0.1), np.zeros((1, 1))) == 0
    assert system.neurons == "sign"


def test_stochastic_networks_have_sign_neurons():
    with pytest.raises(ValueError, match="network must have sign neurons"):
        stochastic_activations(network(0.5, 0.1, "tanh"), 10, 1, 2, np.random.default_rng(0))


@pytest.mark.parametrize("bias_variance", [0.0, 0.5])
def test_a_network_without_chance_is_its_surrogate(bias_variance):
    """With means of +-1 every neuron is certain: its field is infinite, and counts as positive where it is zero."""
    for seed in range(5):
        found = stochastic_activations(network(1.0, bias_variance), 4, 3, 2, np.random.default_rng(seed))
        np.testing.assert_array_equal(found.slopes, 1)
        np.testing.assert_array_equal(found.excess_errors, 0)


def test_layers_whose_fields_vanish_or_are_infinite_are_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="width must be so large that not all neurons are saturated, got 2"):
        field_statistics(network(1.0, 1e6), 2, 3, rng)
    with pytest.raises(ValueError, match="width must be so large that not all neurons are saturated, got 2"):
        decay(network(1.0, 1e6), 2, 3, rng, variance=1.0)
    for measure in (
        lambda rng: field_statistics(network(1.0, 0.0, "tanh"), 2, 30, rng, correlation=1.0),
        lambda rng: decay(network(1.0, 0.0, "tanh"), 2, 30, rng, variance=1.0),
        lambda rng: stochastic_activations(network(0.5, 0.0), 2, 30, 2, rng),
    ):
        with pytest.raises(ValueError, match=r"width must be so large that not all (fields|outputs) of a layer vanish"):
            measure(rng)
