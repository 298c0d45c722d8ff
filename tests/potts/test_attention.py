"""The layer as a network: its loss is the pseudo-likelihood, its gradients are right, training reaches the floor."""

import numpy as np
import pytest
from scipy.stats import chi2

from simulate.core import DivergenceError, stream
from simulate.potts import (
    AttentionLayer,
    loss_and_gradient,
    masked_inputs,
    masked_language_model_loss,
    masked_loss,
    recovery_error,
    train,
)
from simulate.potts.inference.factored_kernel import FactoredObjective
from simulate.potts.training import Adam
from tests.potts.populations import population
from tests.potts.reference import pair_model
from theory import potts

PAIR = pair_model(6, 3, 0.3, beta=0.8)
STATES, P = population(PAIR)
LAYER = AttentionLayer(PAIR.beta * PAIR.site_couplings, PAIR.color_couplings)


def sampled(n_samples, seed=0):
    return STATES[stream(seed, "attention").choice(len(STATES), n_samples, p=P)]


def random_layer(n_sites=5, n_colors=4):
    rng = stream(0, "layer")
    A = rng.standard_normal((n_sites, n_sites))
    return AttentionLayer(
        A - np.diag(np.diag(A)), rng.standard_normal((n_colors, n_colors)), rng.standard_normal((n_sites, n_colors))
    )


def test_masked_language_model_loss_is_the_pseudo_likelihood():
    """Each site masked in turn, against the compiled sums and against the conditionals of the Potts model."""
    layer, states = random_layer(), stream(0, "states").integers(4, size=(40, 5))
    objective = FactoredObjective(states.astype(np.int32), np.full(40, 1 / 40))
    pseudo = objective(layer.attention, layer.values, layer.fields)[0]
    assert masked_language_model_loss(layer, states) == pytest.approx(pseudo / 5, rel=1e-15, abs=1e-15)
    for sample in (STATES[:100], sampled(500)):
        expected = masked_loss(PAIR, sample).loss
        assert masked_language_model_loss(LAYER, sample) == pytest.approx(expected, rel=1e-14)


def test_the_layer_represents_the_model_exactly():
    log_p = np.stack([LAYER.logits(masked_inputs(STATES, 3, i))[:, i] for i in range(6)], axis=1)
    p = np.exp(log_p)
    np.testing.assert_allclose(p / p.sum(axis=2, keepdims=True), PAIR.conditionals(STATES), atol=1e-14)


def test_random_layers_have_the_variances_of_their_scale():
    layer = AttentionLayer.random(700, 600, 1.5, stream(0, "variances"))
    off = ~np.eye(700, dtype=bool)
    for weights, size in ((layer.attention[off], 700), (layer.values.ravel(), 600)):
        x = weights * np.sqrt(size) / 1.5
        assert abs(x.mean()) < 5 / np.sqrt(x.size)
        assert np.mean(x * x) == pytest.approx(1, abs=5 * np.sqrt(2 / x.size))  # 1.2 and 1 percent
        assert np.mean((x * x) ** 2) == pytest.approx(3, abs=5 * np.sqrt(96 / x.size))
    assert not layer.fields.any()


def test_a_masked_site_is_the_zero_vector():
    inputs = masked_inputs(STATES[:7], 3, 2)
    assert not inputs[:, 2].any()
    assert np.all(inputs[:, [0, 1, 3, 4, 5]].sum(axis=2) == 1)


def test_random_layers_have_the_variances_that_are_said():
    """By chi-square, at 1e-6 a tail: scale^2/L off the diagonal of the attention, and scale^2/C."""
    L, C, scale = 40, 30, 0.7
    layer = AttentionLayer.random(L, C, scale, stream(4, "variances"))
    assert not np.diag(layer.attention).any()
    assert not layer.fields.any()
    for squares, count in ((L * layer.attention**2, L * (L - 1)), (C * layer.values**2, C * C)):
        assert chi2.isf(1 - 1e-6, count) < squares.sum() / scale**2 < chi2.isf(1e-6, count)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, ">i4"])
def test_gradients_of_states_of_any_integers(dtype):
    layer = random_layer()
    states, sites = STATES[:7, :5] % 4, np.arange(7) % 5
    for given, expected in zip(
        loss_and_gradient(layer, states.astype(dtype), sites.astype(dtype)),
        loss_and_gradient(layer, states, sites),
        strict=True,
    ):
        np.testing.assert_array_equal(given, expected)


def test_gradient_by_differences():
    layer, rng = random_layer(), stream(1, "gradient")
    states, sites = rng.integers(4, size=(30, 5)), rng.integers(5, size=30)
    loss, *gradient = loss_and_gradient(layer, states, sites)
    point = [layer.attention, layer.values, layer.fields]
    for place, slopes in enumerate(gradient):
        for index in np.ndindex(slopes.shape):
            if place == 0 and index[0] == index[1]:
                assert slopes[index] == 0.0  # the masked row is zero
                continue
            values = []
            for sign in (1, -1):
                moved = [each.copy() for each in point]
                moved[place][index] += sign * 1e-6
                values.append(loss_and_gradient(AttentionLayer(*moved), states, sites)[0])
            assert slopes[index] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-9)
    assert loss > 0


def test_masking_one_site_each_averages_to_masking_every_site():
    layer, states = random_layer(), stream(0, "states").integers(4, size=(20, 5))
    every = loss_and_gradient(layer, np.repeat(states, 5, axis=0), np.tile(range(5), 20))
    compiled = FactoredObjective(states.astype(np.int32), np.full(20, 1 / 20))(*vars(layer).values())
    for one, other in zip(every, compiled, strict=True):
        np.testing.assert_allclose(one, other / 5, atol=1e-15)


@pytest.mark.parametrize(
    "options",
    [{"learning_rate": 0.03}, {"optimizer": "sgd", "learning_rate": 2.0}, {"masks": "random", "learning_rate": 0.03}],
)
def test_training_reaches_the_floor(options):
    start = AttentionLayer.random(6, 3, 0.5, stream(2, "start"))
    trained = train(start, sampled(20_000), sampled(5_000, seed=1), n_steps=600, rng=stream(0, "batches"), **options)
    floor, A, V = potts.masked_loss_floor(PAIR), trained.layer.attention, trained.layer.values
    population_loss = FactoredObjective(STATES.astype(np.int32), P)(A, V, trained.layer.fields)[0] / 6
    assert floor < population_loss < floor + 0.01
    assert recovery_error(A, V, PAIR) < 0.2
    assert trained.losses[0] > 0.95 * np.log(3)
    assert trained.losses[-1] == pytest.approx(population_loss, abs=0.03)
    assert len(trained.losses) == len(trained.steps)
    assert trained.steps[0] == 0
    assert trained.steps[-1] == 600
    assert not A.diagonal().any()


def test_training_repeats_itself_and_can_leave_fields_out():
    start, states = AttentionLayer.random(6, 3, 0.5, stream(2, "start")), sampled(200)
    options = {"n_steps": 5, "record": [0, 5], "batch_size": 16, "fields": False}
    one, same, other = (train(start, states, states, rng=stream(seed, "rng"), **options) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.layer.attention, same.layer.attention)
    assert np.any(one.layer.attention != other.layer.attention)
    assert not one.layer.fields.any()
    assert one.steps.tolist() == [0, 5]
    assert one.losses[0] == pytest.approx(masked_language_model_loss(start, states), rel=1e-13)
    np.testing.assert_array_equal(start.attention, AttentionLayer.random(6, 3, 0.5, stream(2, "start")).attention)


@pytest.mark.parametrize("masks", ["every", "random"])
@pytest.mark.parametrize(("optimizer", "rate"), [("sgd", 1e80), ("adam", 1e160), ("sgd", 1.7e308)])
def test_a_training_that_runs_away_is_said_to_diverge(masks, optimizer, rate):
    """It ended with a ValueError that spoke of an attention that the caller had never given."""
    rng = np.random.default_rng(0)
    layer, states = AttentionLayer.random(4, 3, 1.0, rng), rng.integers(0, 3, (20, 4))
    with pytest.raises(DivergenceError, match=r"training diverged by step .* learning_rate = .* is too large"):
        train(layer, states, states, n_steps=20, rng=rng, learning_rate=rate, optimizer=optimizer, masks=masks)


def test_losses_are_recorded_at_sixty_steps_in_equal_ratios():
    """Of which those below ten fall together: a reader of the curve counts on where its points lie."""
    start = AttentionLayer.random(6, 3, 0.5, stream(2, "start"))
    trained = train(start, STATES[:8], STATES[:8], n_steps=1000, rng=stream(0, "records"), batch_size=2)
    assert trained.steps.tolist() == sorted({0, *(round(1000 ** (k / 59)) for k in range(60))})
    assert len(trained.steps) == len(trained.losses) == 50


def test_first_step_of_adam_has_the_length_of_the_learning_rate():
    x, gradient = np.array([1.0, 2.0]), np.array([3.0, -0.5])
    Adam(0.1)([x], (gradient,))
    np.testing.assert_allclose(x, [0.9, 2.1], rtol=1e-7)


def test_steps_of_adam_are_those_of_the_weighted_means():
    """arXiv:1412.6980: the moments are weighted means of all gradients so far, weights falling by .9 and .999."""
    gradients = stream(5, "gradients").standard_normal((6, 4))
    x, expected, update = np.zeros(4), np.zeros(4), Adam(0.1)
    for t in range(1, 7):
        update([x], (gradients[t - 1],))
        ages = np.arange(t)[::-1]
        mean = np.average(gradients[:t], axis=0, weights=0.9**ages)
        square = np.average(gradients[:t] ** 2, axis=0, weights=0.999**ages)
        expected -= 0.1 * mean / np.sqrt(square)
        np.testing.assert_allclose(x, expected, rtol=1e-6)


@pytest.mark.parametrize("fields", [True, False])
def test_the_learning_rate_falls_with_the_cosine_of_the_step(fields):
    """All sequences alike, so that batches do not matter: the steps of gradient descent, one by one."""
    start, states, total = AttentionLayer.random(6, 3, 0.5, stream(2, "start")), np.tile(STATES[5], (9, 1)), 4
    options = {"batch_size": 3, "learning_rate": 0.4, "optimizer": "sgd", "fields": fields, "record": [0, 2, 4]}
    found = train(start, states, states, n_steps=total, rng=stream(0, "rng"), **options)
    parameters = [np.array(each) for each in (start.attention, start.values, start.fields)]
    losses = []
    for rate in (0.4, 0.4 * (1 + np.sqrt(0.5)) / 2, 0.2, 0.4 * (1 - np.sqrt(0.5)) / 2):
        losses.append(masked_language_model_loss(AttentionLayer(*parameters), states))
        each_site = [loss_and_gradient(AttentionLayer(*parameters), STATES[5:6], np.array([i]))[1:] for i in range(6)]
        for k in range(3 if fields else 2):
            parameters[k] -= rate * np.mean([gradients[k] for gradients in each_site], axis=0)
    losses.append(masked_language_model_loss(AttentionLayer(*parameters), states))
    for one, other in zip((found.layer.attention, found.layer.values, found.layer.fields), parameters, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert found.losses == pytest.approx(losses[::2], abs=1e-12)


ZERO = np.zeros((3, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AttentionLayer(np.eye(3), ZERO), "attention must be square with a zero diagonal"),
        (lambda: AttentionLayer(ZERO, np.zeros((3, 2))), "values must be square"),
        (lambda: AttentionLayer(ZERO, ZERO, np.zeros((3, 2))), r"fields must have shape \(3, 3\)"),
        (lambda: AttentionLayer(ZERO, np.full((3, 3), np.nan)), "values must be finite"),
        (lambda: AttentionLayer.random(3, 3, 0.0, stream(0)), "scale must lie in"),
        (lambda: masked_language_model_loss(LAYER, np.zeros((0, 6), dtype=int)), "at least one sample"),
        (lambda: masked_language_model_loss(LAYER, STATES + 1), "states must be colors from 0 to 2"),
        (
            lambda: loss_and_gradient(LAYER, STATES[:3], [0, 1, 6]),
            "sites must be 3 integers from 0 to 5, one for each state",
        ),
        (lambda: train(LAYER, STATES[:0], STATES, n_steps=1, rng=stream(0)), "states must have shape"),
        (lambda: train(LAYER, STATES, STATES[:, :5], n_steps=1, rng=stream(0)), "test_states must have shape"),
        (lambda: train(LAYER, STATES, STATES, n_steps=0, rng=stream(0)), "n_steps must be an integer"),
        (lambda: train(LAYER, STATES, STATES, n_steps=1, rng=stream(0), batch_size=0), "batch_size must be"),
        (
            lambda: train(LAYER, STATES, STATES, n_steps=1, rng=stream(0), optimizer="newton"),
            "optimizer must be one of 'adam', 'sgd'",
        ),
        (
            lambda: train(LAYER, STATES, STATES, n_steps=1, rng=stream(0), masks="all"),
            "masks must be one of 'every', 'random'",
        ),
        (
            lambda: train(LAYER, STATES, STATES, n_steps=1, rng=stream(0), learning_rate=-1.0),
            "learning_rate must lie in",
        ),
        (
            lambda: train(LAYER, STATES, STATES, n_steps=1, rng=stream(0), record=[-1, 1]),
            "record must name steps from 0 to n_steps = 1",
        ),
        (
            lambda: train(LAYER, STATES, STATES, n_steps=1, rng=stream(0), record=[2]),
            "record must name steps from 0 to n_steps = 1",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
