"""Two layers of stochastic binary weights: their gradient, their limits, draws of their weights, and training."""

import numpy as np
import pytest
from scipy.special import logsumexp

from simulate.core import Estimate, stream
from simulate.perceptron import TwoLayerNetwork, train_two_layers
from simulate.perceptron.two_layer_network import loss_and_gradient

P, D, K, C = 9, 7, 5, 3


def problem(name, rows=P, d=D, hidden=K, classes=C):
    rng = stream(0, name)
    inputs, labels = rng.standard_normal((rows, d)), rng.integers(0, classes, rows)
    weights = rng.uniform(-0.9, 0.9, (d, hidden)), rng.uniform(-0.9, 0.9, (hidden, classes))
    return inputs, labels, *weights, (rng.standard_normal((rows, hidden)), rng.standard_normal((rows, classes)))


def logistic(network, inputs, labels):
    scores = network.scores(inputs)
    return float(np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(labels)), labels]))


@pytest.mark.parametrize("noisy", [True, False])
def test_gradient(noisy):
    inputs, labels, first, second, noise = problem("gradient")
    noise, h = noise if noisy else None, 1e-6
    _, *gradients = loss_and_gradient(inputs, labels, first, second, noise)
    for weights, gradient in zip((first, second), gradients, strict=True):
        for place in np.ndindex(weights.shape):
            kept, ends = weights[place], []
            for weights[place] in (kept + h, kept - h):
                ends.append(loss_and_gradient(inputs, labels, first, second, noise)[0])
            weights[place] = kept
            assert gradient[place] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5, abs=1e-8)


def test_scores_are_those_of_the_definition():
    inputs, labels, first, second, _ = problem("scores")
    network = TwoLayerNetwork(first, second)
    for row, scores in zip(inputs, network.scores(inputs), strict=True):
        hidden = [max(sum(row[i] * first[i, k] for i in range(D)) / D**0.5, 0) for k in range(K)]
        assert scores == pytest.approx([sum(hidden[k] * second[k, c] for k in range(K)) / K**0.5 for c in range(C)])
    chosen = network.scores(inputs).argmax(axis=1)
    assert network.error(inputs, labels) == np.mean(chosen != labels)
    assert TwoLayerNetwork(3 * first, 0.2 * second).error(inputs, chosen) == 0


def test_means_of_one_are_the_deterministic_network():
    inputs, labels, first, second, noise = problem("deterministic")
    network = TwoLayerNetwork(first, second).binarized()
    assert np.array_equal(abs(network.first), np.ones((D, K)))
    with_noise = loss_and_gradient(inputs, labels, network.first, network.second, noise)[0]
    assert with_noise == pytest.approx(logistic(network, inputs, labels), rel=1e-12)
    drawn = network.sampled(stream(0, "certain"))
    assert np.array_equal(drawn.first, network.first)
    assert np.array_equal(drawn.second, network.second)
    near = loss_and_gradient(inputs, labels, network.first * (1 - 1e-12), network.second * (1 - 1e-12), noise)[0]
    assert near == pytest.approx(with_noise, abs=1e-4)


def test_the_loss_is_that_of_drawn_binary_weights(agrees):
    """Gaussian fields stand for sums over 60 independent binary weights; one percent is left to the finite number."""
    inputs, labels, first, second, _ = problem("drawn", rows=40, d=60, hidden=60)
    network, rng = TwoLayerNetwork(first, second), stream(0, "drawn weights")
    drawn = [logistic(network.sampled(rng), inputs, labels) for _ in range(1500)]
    noise = rng.standard_normal((1500, 40, 60)), rng.standard_normal((1500, 40, C))
    gaussian = [loss_and_gradient(inputs, labels, first, second, (a, b))[0] for a, b in zip(*noise, strict=True)]
    agrees(Estimate.of(drawn), float(np.mean(gaussian)), resolves=0.06, bias=0.01 * float(np.mean(gaussian)))
    # Without the widths of the fields the loss is smaller by more than what the comparison resolves.
    assert logistic(network, inputs, labels) < 0.9 * np.mean(gaussian)


def test_drawn_weights_have_the_means():
    m = np.linspace(-1, 1, 6).reshape(3, 2)
    network, rng = TwoLayerNetwork(m, m[:2]), stream(0, "means")
    values = np.array([network.sampled(rng).first for _ in range(4000)])
    assert set(values.ravel()) == {-1.0, 1.0}
    assert values.mean(axis=0) == pytest.approx(m, abs=5 / 4000**0.5)


def teacher_task(d=31, rows=500, held_out=300):
    rng = stream(0, "task")
    inputs = rng.standard_normal((rows + held_out, d))
    labels = np.argmax(inputs @ rng.choice([-1.0, 1.0], (d, 3)), axis=1)
    return inputs[:rows], labels[:rows], inputs[rows:], labels[rows:]


@pytest.mark.parametrize("stochastic", [True, False])
def test_training_learns_and_its_result_is_consistent(stochastic):
    task = teacher_task()
    options = {"stochastic": stochastic, "epochs": 15, "batch_size": 64}
    found = train_two_layers(*task, 40, stream(0, "training"), **options)
    assert found.iterations == 15 * 8
    assert (
        found.losses.shape == found.errors.shape == found.binarized_errors.shape == found.sampled_errors.shape == (16,)
    )
    assert np.isnan(found.losses[0])
    assert found.losses[-1] < 0.6 * found.losses[1]
    assert found.error == found.errors[-1] == found.network.error(*task[2:]) < 0.25
    assert found.binarized_error == found.binarized_errors[-1] == found.binarized().error(*task[2:]) < 0.35
    assert found.residual == found.binarized().error(*task[:2])
    assert found.converged == (found.residual == 0)
    if stochastic:
        assert abs(found.network.first).max() < 1
        assert found.sampled_error == found.sampled_errors[-1] < 0.35
    else:
        assert np.isnan(found.sampled_errors).all()
    again = train_two_layers(*task, 40, stream(0, "training"), **options)
    np.testing.assert_array_equal(again.network.first, found.network.first)


def test_what_does_not_fit_is_refused():
    inputs, labels, tests, test_labels = teacher_task(d=5, rows=20, held_out=10)
    rng, network = stream(0, "refused"), TwoLayerNetwork(np.ones((5, 2)), 2 * np.ones((2, 3)))
    with pytest.raises(ValueError, match="second must have a row for each of 2 columns of first, got 3"):
        TwoLayerNetwork(np.ones((5, 2)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="inputs must have shape"):
        network.scores(np.ones((4, 6)))
    with pytest.raises(ValueError, match="which reach 2 beyond 1"):
        network.sampled(rng)
    with pytest.raises(ValueError, match="labels must lie between 0 and"):
        train_two_layers(inputs, labels - 1, tests, test_labels, 3, rng)
    with pytest.raises(ValueError, match="test_labels must lie between 0 and 2, got"):
        train_two_layers(inputs, labels, tests, test_labels + 1, 3, rng)
    with pytest.raises(ValueError, match="labels must have shape"):
        train_two_layers(inputs, labels[:-1], tests, test_labels, 3, rng)
    with pytest.raises(ValueError, match="labels must be an array of integers"):
        train_two_layers(inputs, labels + 0.5, tests, test_labels, 3, rng)
    with pytest.raises(ValueError, match="test_inputs must have shape"):
        train_two_layers(inputs, labels, tests[:, :4], test_labels, 3, rng)
    with pytest.raises(ValueError, match="epochs must be at most 10000"):
        train_two_layers(inputs, labels, tests, test_labels, 3, rng, epochs=10**6)
    with pytest.raises(ValueError, match=r"test_inputs must lie between -1e\+06 and 1e\+06, got"):
        train_two_layers(inputs, labels, 1e300 * tests, test_labels, 3, rng)
    with pytest.raises(MemoryError, match="hidden units"):
        train_two_layers(inputs, labels, tests, test_labels, 10**13, rng)


def test_large_inputs_and_rates_overflow_nowhere():
    inputs, labels, tests, test_labels = teacher_task(d=5, rows=20, held_out=10)
    scale = 1e6 / max(abs(inputs).max(), abs(tests).max())
    for stochastic in (True, False):
        found = train_two_layers(
            scale * inputs, labels, scale * tests, test_labels, 4, stream(0, "large"), stochastic=stochastic,
            learning_rate=1.0, epochs=20, batch_size=7,
        )  # fmt: skip
        assert np.isfinite(found.losses[1:]).all()
