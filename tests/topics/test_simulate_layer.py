"""The layer of attention: gradients by differences, the same loss position by position, exact populations."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics import (
    Batch,
    Layer,
    attention_by_class,
    batch_of,
    layer_loss,
    loss_and_gradient,
    mask_documents,
    population_batch,
    sample_topic_documents,
    topic_gap,
)
from simulate.topics.population import topic_sets
from theory.models.topics import Masking, TopicModel

MODEL = TopicModel(n_topics=3, words_per_topic=2, topics_per_document=2)
MASKING = Masking(selected=0.5, kept=0.3, randomized=0.2)
LOSSES = ["squared", "squared_mean", "cross_entropy"]


def random_layer(name, D=MODEL.n_tokens, rows=4):
    rng = stream(0, "layer", name)
    return Layer(*(rng.standard_normal(shape) for shape in ((rows, D), (rows, D), (D, D), (D,))))


def sampled_batch(keys, name="batch"):
    rng = stream(0, name, keys)
    return batch_of(mask_documents(sample_topic_documents(MODEL, 4, rng, length=(8, 12)), MASKING, rng), keys)


def difference(layer, batch, loss, name, index, h=1e-4):
    """Central difference of fourth order."""
    values = []
    for step in (-2, -1, 1, 2):
        moved = getattr(layer, name).copy()
        moved[index] += step * h
        values.append(layer_loss(replace(layer, **{name: moved}), batch, loss))
    return np.dot([1, -8, 8, -1], values) / (12 * h)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("keys", ["all", "unselected", "population"])
def test_gradient_is_the_difference_quotient(loss, keys):
    batch = population_batch(MODEL, MASKING) if keys == "population" else sampled_batch(keys)
    layer = random_layer("gradient")
    value, gradient = loss_and_gradient(layer, batch, loss)
    assert value == pytest.approx(layer_loss(layer, batch, loss), rel=1e-14)
    pick = stream(0, "pick")
    for name, array in layer.arrays().items():
        for _ in range(12):
            index = tuple(pick.integers(array.shape))
            assert getattr(gradient, name)[index] == pytest.approx(
                difference(layer, batch, loss, name, index), abs=1e-9
            )


def by_positions(layer, shown, true, selected, keys, loss):
    """The loss of one document as a list of tokens, position by position."""
    total, D = 0.0, len(layer.bias)
    X = np.eye(D)[shown]
    for position in np.flatnonzero(selected):
        score = (layer.key @ X.T).T @ (layer.query @ X[position]) / np.sqrt(len(layer.key))
        weight = np.exp(score) * (np.ones(len(shown)) if keys == "all" else ~selected)
        f = layer.value @ X.T @ (weight / weight.sum()) + layer.bias
        if loss == "cross_entropy":
            total += np.log(np.exp(f).sum()) - f[true[position]]
        else:
            total += ((f - np.eye(D)[true[position]]) ** 2).sum() / (D if loss == "squared_mean" else 1)
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("keys", ["all", "unselected"])
def test_types_stand_for_positions(loss, keys):
    rng, layer = stream(0, "positions"), random_layer("positions")
    masked = mask_documents(sample_topic_documents(MODEL, 3, rng, length=15), MASKING, rng)
    total = 0.0
    for d in range(3):
        mine, rest = masked.document == d, masked.unselected[d]
        rest = np.repeat(np.arange(len(rest)), rest)
        shown = np.concatenate([np.repeat(masked.shown[mine], masked.times[mine]), rest])
        true = np.concatenate([np.repeat(masked.target[mine], masked.times[mine]), rest])
        total += by_positions(layer, shown, true, np.arange(len(shown)) < len(shown) - len(rest), keys, loss)
    assert layer_loss(layer, batch_of(masked, keys), loss) == pytest.approx(total / masked.n_selected, rel=1e-13)


def by_topic_sets(layer, keys, loss):
    """The population loss in words: every topic set, target and query."""
    D, c, r, p = MODEL.n_tokens, MASKING.kept, MASKING.randomized, MASKING.selected
    power, total = np.exp(layer.key.T @ layer.query / np.sqrt(len(layer.key))), 0.0
    sets = list(combinations(range(3), 2))
    for topics in sets:
        words = [1 + 2 * k + i for k in topics for i in range(2)]
        seen = np.zeros(D)
        seen[words] = 1 / 4
        if keys == "all":
            seen = (1 - p + p * c) * seen + p * (1 - c - r) * np.eye(D)[0] + p * r * (np.arange(D) > 0) / 6
        for query in range(D):
            a = power[:, query] * seen
            f = layer.value @ (a / a.sum()) + layer.bias
            for target in words:
                weight = (1 - c - r if query == 0 else r / 6 + c * (query == target)) / 4 / len(sets)
                miss = ((f - np.eye(D)[target]) ** 2).sum()
                total += weight * (np.log(np.exp(f).sum()) - f[target] if loss == "cross_entropy" else miss)
    return total


@pytest.mark.parametrize("loss", ["squared", "cross_entropy"])
@pytest.mark.parametrize("keys", ["all", "unselected"])
def test_population_is_the_sum_over_topic_sets(loss, keys):
    layer, batch = random_layer("population"), population_batch(MODEL, MASKING, keys)
    assert batch.targets.sum() == pytest.approx(1, rel=1e-14)
    assert layer_loss(layer, batch, loss) == pytest.approx(by_topic_sets(layer, keys, loss), rel=1e-13)


def test_population_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="train on sampled documents"):
        population_batch(TopicModel(n_topics=30, words_per_topic=10, topics_per_document=10), MASKING)


def test_no_overflow_and_no_keys():
    """Scores of 1e4 and a document all of whose positions are selected: its output is the bias."""
    layer = random_layer("large")
    large = replace(layer, key=1e2 * layer.key, query=1e2 * layer.query)
    assert np.isfinite(layer_loss(large, sampled_batch("all"), "squared"))
    batch = replace(sampled_batch("unselected"), keys=np.zeros((4, MODEL.n_tokens)))
    f = np.broadcast_to(layer.bias, batch.targets.shape)
    expected = (batch.targets.sum(axis=1) * (f**2).sum(axis=1)).sum() - 2 * (batch.targets * f).sum() + 1
    value, gradient = loss_and_gradient(layer, batch, "squared")
    assert value == pytest.approx(expected, rel=1e-12)
    assert not gradient.value.any()


def test_a_batch_without_selected_positions_has_no_gradient():
    masked = mask_documents(np.ones((2, 6), dtype=int), Masking(selected=1e-12), stream(0))
    value, gradient = loss_and_gradient(random_layer("none"), batch_of(masked), "squared")
    assert value == 0
    assert not any(array.any() for array in gradient.arrays().values())
    assert isinstance(batch_of(masked), Batch)


def test_attention_by_class_counts_pairs_of_positions():
    rng, layer = stream(0, "pairs"), random_layer("pairs")
    counts = sample_topic_documents(MODEL, 5, rng, length=(6, 9)).counts
    power, sums, pairs = np.exp(layer.logits), np.zeros(3), np.zeros(3)
    for n in counts:
        tokens = 1 + np.repeat(np.arange(6), n)
        attention = power[np.ix_(tokens, tokens)]
        attention = attention / attention.sum(axis=0) * len(tokens) / 100
        topic = (tokens - 1) // 2
        kind = np.where(tokens[:, None] == tokens, 0, np.where(topic[:, None] == topic, 1, 2))
        sums += np.bincount(kind.ravel(), attention.ravel(), 3)
        pairs += np.bincount(kind.ravel(), minlength=3)
    found = attention_by_class(MODEL, layer, counts)
    assert (found.same_word, found.same_topic, found.different_topic) == pytest.approx(sums / pairs, rel=1e-13)


def test_tied_attention_has_its_averages():
    """(beta, alpha, 1) 0.01/Z with Z = (A + tau - 1)/tau; A = 6.637: 0.01738, 0.01738, 0.00262."""
    model = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
    topics = np.vstack([np.zeros(10), np.repeat(np.eye(10), 10, axis=0)]).T
    layer = Layer(topics, np.sqrt(10) * np.log(6.637) * topics, np.zeros((101, 101)), np.zeros(101))
    found = attention_by_class(model, layer, topic_sets(model))
    assert found.same_word == pytest.approx(0.01738, abs=5e-6)
    assert found.same_topic == pytest.approx(found.same_word, rel=1e-12)
    assert found.different_topic == pytest.approx(0.00262, abs=5e-6)


def test_classes_without_pairs_are_nan():
    model = TopicModel(n_topics=1, words_per_topic=1, topics_per_document=1)
    found = attention_by_class(model, random_layer("one", D=2), np.array([[3]]))
    assert found.same_word == pytest.approx(0.01)
    assert np.isnan(found.same_topic)
    assert np.isnan(topic_gap(model, np.ones((2, 2))))


def test_gap_of_blocks():
    value = np.zeros((7, 7))
    value[1:, 1:] = 0.3 + 0.2 * np.kron(np.eye(3), np.ones((2, 2)))
    value[0] = value[:, 0] = 100.0
    assert topic_gap(MODEL, value) == pytest.approx(0.2)
