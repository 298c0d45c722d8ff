"""Steps of training at many tokens: the gradient from the queries that occur alone, and Adam in pieces."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.core.optimizers import CACHED, EPSILON, FIRST, SECOND, adam_direction
from simulate.topics import Training, sample_topic_documents
from simulate.topics.layer import Layer, attend, batch_of, layer_loss, loss_and_gradient
from simulate.topics.masking import mask_counts
from simulate.topics.population import population_batch
from simulate.topics.run import Optimizer, Run
from theory.models.topics import Masking, TopicModel

MODEL = TopicModel(n_topics=6, words_per_topic=8, topics_per_document=2)


def sampled_batch(seed=0, n=5):
    rng = stream(seed, "steps")
    counts = sample_topic_documents(MODEL, n, rng, length=(30, 40)).counts
    return batch_of(mask_counts(counts, Masking(), rng))


def random_layer(seed=1):
    rng, D = stream(seed, "layer"), MODEL.n_tokens
    return Layer(*(rng.standard_normal((rows, D)) for rows in (7, 7, D)), rng.standard_normal(D))


def gradient_from_all_logits(layer, batch, loss):
    """As if every token were a query: (D, D) logits, whose derivatives are added query by query."""
    A, D = attend(layer.logits, batch), layer.n_tokens
    f = A @ layer.value.T + layer.bias
    weight = batch.targets.sum(axis=1, keepdims=True)
    if loss == "cross_entropy":
        p = np.exp(f - f.max(axis=1, keepdims=True))
        by_output = weight * p / p.sum(axis=1, keepdims=True) - batch.targets
    else:
        by_output = 2 * (weight * f - batch.targets) / (D if loss == "squared_mean" else 1)
    by_A = by_output @ layer.value
    by_score = A * (by_A - (A * by_A).sum(axis=1, keepdims=True)) / np.sqrt(len(layer.key))
    by_logits = np.zeros((D, D))
    for query, row in zip(batch.shown, by_score, strict=True):
        by_logits[:, query] += row
    return layer.query @ by_logits.T, layer.key @ by_logits, by_output.T @ A, by_output.sum(axis=0)


@pytest.mark.parametrize("loss", ["squared", "squared_mean", "cross_entropy"])
@pytest.mark.parametrize("source", [sampled_batch, lambda: population_batch(MODEL, Masking())])
def test_the_gradient_is_that_from_the_logits_of_all_tokens(source, loss):
    layer, batch = random_layer(), source()
    value, gradient = loss_and_gradient(layer, batch, loss)
    for found, expected in zip(gradient.arrays().values(), gradient_from_all_logits(layer, batch, loss), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)
    assert value == pytest.approx(layer_loss(layer, batch, loss), rel=1e-14)


def test_a_step_asks_for_no_logits_of_all_tokens(monkeypatch):
    """Their time grows as the cube of the number of tokens."""

    def refused(_layer):
        raise AssertionError("all logits")

    monkeypatch.setattr(Layer, "logits", property(refused))
    loss_and_gradient(random_layer(), sampled_batch(), "squared")
    training = Training(steps=10**6, rate=0.003, record_every=10**6, evaluated=3, length=(30, 40))
    run = Run(MODEL, Masking(), training, stream(0, "run"))
    run.advance()  # what is recorded, the attention of all tokens, is no part of a step
    assert run.step == 1


def test_a_batch_without_queries_has_no_gradient():
    rng = stream(3, "empty")
    counts = sample_topic_documents(MODEL, 2, rng, length=10).counts
    batch = batch_of(mask_counts(counts, Masking(selected=1e-300), rng))
    assert len(batch.shown) == 0
    value, gradient = loss_and_gradient(random_layer(), batch, "squared")
    assert value == 0
    assert not any(array.any() for array in gradient.arrays().values())


@pytest.mark.parametrize("shape", [(3 * CACHED + 5,), (301, 170), (2, CACHED + 3)])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_adam_in_pieces_is_adam_to_the_bit(shape, precision):
    rng = stream(4, "adam")
    m, v, mean, power = (np.zeros(shape, precision) for _ in range(4))
    for step in (1, 2, 3):
        g = rng.standard_normal(shape).astype(precision)
        found = adam_direction(g, mean, power, step)
        m += (1 - FIRST) * (g - m)
        v += (1 - SECOND) * (g**2 - v)
        expected = m / (1 - FIRST**step) / (np.sqrt(v / (1 - SECOND**step)) + EPSILON)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(mean, m)
        assert found.dtype == precision


def test_a_step_of_the_optimizer_leaves_the_given_arrays():
    arrays = {"x": stream(5, "x").standard_normal((4, 3))}
    before = arrays["x"].copy()
    moved = Optimizer("adam", 0.1, arrays).advanced(arrays, {"x": np.ones((4, 3))}, 1)
    np.testing.assert_array_equal(arrays["x"], before)
    np.testing.assert_allclose(moved["x"], before - 0.1, atol=1e-8)
