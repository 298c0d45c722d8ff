"""Population losses against sums over sets, queries and targets, written out."""

import numpy as np
import pytest

from tests.topics.routes import (
    MODEL,
    SMALL,
    STANDARD,
    attention_loss,
    model_of,
    outcomes,
    small,
    tied_weights,
    visible_law,
    word_frequencies,
)
from theory import topics
from theory.topics import BlockMatrix


def random_weights(model, seed=0):
    rng = np.random.default_rng(seed)
    D = model.n_tokens
    return rng.standard_normal((D, D)), rng.standard_normal((D, D)), rng.standard_normal(D)


def random_block(model, seed=0):
    return BlockMatrix(model, *np.random.default_rng(seed).standard_normal(8))


def test_reference_values():
    W = topics.optimal_value_matrix(MODEL, STANDARD)
    assert topics.block_loss_uniform(STANDARD, W) == pytest.approx(0.95, abs=1e-14)
    assert topics.population_loss_uniform(MODEL, STANDARD, W) == pytest.approx(0.95, abs=1e-14)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("kind", ["squared", "cross_entropy"])
def test_uniform_losses_by_enumeration(case, kind):
    model, masking = small(case)
    _, W, b = random_weights(model)
    sets, expected = word_frequencies(model), 0.0
    for mu in sets:
        f = W @ visible_law(masking, mu) + b
        for word in np.flatnonzero(mu):
            one = ((f - np.eye(len(mu))[word]) ** 2).sum() if kind == "squared" else -f[word] + np.log(np.exp(f).sum())
            expected += mu[word] * one / len(sets)
    assert topics.population_loss_uniform(model, masking, W, b, loss=kind) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("kind", ["squared", "cross_entropy"])
def test_block_form(case, kind):
    model, masking = small(case)
    W = random_block(model)
    dense = topics.population_loss_uniform(model, masking, W.matrix, W.bias, loss=kind)
    assert topics.block_loss_uniform(masking, W, loss=kind) == pytest.approx(dense, rel=1e-13)
    assert topics.population_loss_uniform(model, masking, W, loss=kind) == dense


def test_block_form_needs_no_enumeration():
    model = model_of(1000, 10, 100)
    loss = topics.block_loss_uniform(STANDARD, topics.optimal_value_matrix(model, STANDARD))
    assert loss == pytest.approx(1 - 1e-3, abs=1e-12)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("keys", ["all", "unselected"])
def test_attention_loss_by_enumeration(case, keys):
    model, masking = small(case)
    G, W, b = random_weights(model)
    expected = attention_loss(model, masking, np.exp(G), W, b, clean_keys=keys == "unselected")
    assert topics.population_loss(model, masking, G, W, b, keys=keys) == pytest.approx(expected, rel=1e-12)


def test_attention_cross_entropy_by_enumeration():
    model, masking = small(SMALL[0])
    G, W, b = random_weights(model)
    sets, expected = word_frequencies(model), 0.0
    for mu in sets:
        attention = np.exp(G) * visible_law(masking, mu)[:, None]
        f = W @ (attention / attention.sum(axis=0)) + b[:, None]
        log_norm = np.log(np.exp(f).sum(axis=0))
        expected += sum(p * (log_norm[query] - f[target, query]) for p, query, target in outcomes(masking, mu))
    value = topics.population_loss(model, masking, G, W, b, loss="cross_entropy")
    assert value == pytest.approx(expected / len(sets), rel=1e-12)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("kind", ["squared", "cross_entropy"])
def test_equal_logits_are_uniform_attention(case, kind):
    model, masking = small(case)
    W = random_block(model, 1)
    rows = np.linspace(-3, 3, model.n_tokens)[None, :] * np.ones((model.n_tokens, 1))  # the same for every key
    value = topics.population_loss(model, masking, rows, W, loss=kind)
    assert value == pytest.approx(topics.population_loss_uniform(model, masking, W, loss=kind), rel=1e-13)


def test_excluded_keys_and_large_logits():
    model, masking = small(SMALL[0])
    W, weights = random_block(model), tied_weights(model, 2.0, 3.0, gamma=0.0, mask_query=0.0)
    with np.errstate(divide="ignore"):
        G = np.log(weights)
    expected = attention_loss(model, masking, weights, W.matrix, W.bias)
    assert topics.population_loss(model, masking, G, W) == pytest.approx(expected, rel=1e-12)
    assert topics.population_loss(model, masking, G + 900, W) == pytest.approx(expected, rel=1e-12)


def test_logits_of_key_and_query_matrices():
    W_K, W_Q = np.random.default_rng(0).standard_normal((2, 4, 7))
    G = topics.attention_logits(W_K, W_Q)
    assert G[2, 5] == pytest.approx(W_K[:, 2] @ W_Q[:, 5] / 2)


def test_cross_entropy_falls_to_its_floor_as_the_gap_grows():
    losses = []
    for gap in (1.0, 3.0, 10.0, 3000.0):
        W = BlockMatrix(MODEL, gap * 0.9, gap * 0.9, -0.1 * gap, word_bias=200.0)
        losses.append(topics.block_loss_uniform(STANDARD, W, loss="cross_entropy") - np.log(20))
    assert losses[:3] == sorted(losses[:3], reverse=True)
    assert abs(losses[-1]) < 1e-12


SQUARE, ZERO = np.zeros((13, 13)), np.zeros(13)
M, K = small(SMALL[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topics.population_loss_uniform(M, K, np.zeros((12, 12))), r"matrix must have shape \(13, 13\)"),
        (lambda: topics.population_loss_uniform(M, K, SQUARE * np.nan), "matrix must be finite"),
        (lambda: topics.population_loss_uniform(M, K, SQUARE, np.zeros(3)), r"bias must have shape \(13,\)"),
        (lambda: topics.population_loss_uniform(M, K, SQUARE, loss="l1"), "loss must be one of 'squared',"),
        (lambda: topics.population_loss_uniform(M, 0.15, SQUARE), r"masking must be a record .*Masking"),
        (lambda: topics.population_loss_uniform(3, K, SQUARE), r"model must be a record .*TopicModel"),
        (
            lambda: topics.population_loss_uniform(model_of(40, 1, 20), K, SQUARE),
            "at most 200000 sets, n_topics over topics_per_document, got 137846528820",
        ),
        (lambda: topics.block_loss_uniform(K, SQUARE), "W must be a record"),
        (lambda: topics.block_loss_uniform(K, BlockMatrix(M, 1, 1, 0), loss="l1"), "loss must be"),
        (lambda: topics.population_loss(M, K, np.zeros((3, 3)), SQUARE), r"logits must have shape \(13, 13\)"),
        (lambda: topics.population_loss(M, K, SQUARE + np.inf, SQUARE), "logits must be finite or -inf"),
        (lambda: topics.population_loss(M, K, SQUARE - np.inf, SQUARE), "leave a key to every query, got none for 0"),
        (lambda: topics.population_loss(M, K, SQUARE, SQUARE, loss="l1"), "loss must be"),
        (lambda: topics.population_loss(M, K, SQUARE, SQUARE, keys="some"), "keys must be one of 'all', 'unselected'"),
        (lambda: topics.attention_logits(np.ones((2, 5)), np.ones((3, 5))), "query_matrix must have the shape"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_block_matrix_of_another_model_is_refused():
    other = model_of(2, 4, 2)
    assert other.n_tokens == model_of(4, 2, 2).n_tokens
    with pytest.raises(ValueError, match="of the model"):
        topics.population_loss_uniform(model_of(4, 2, 2), STANDARD, random_block(other))
