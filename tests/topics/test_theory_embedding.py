"""Optimal embeddings against minimization over W_E from random starts, full, decayed and of low rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.topics.routes import MODEL, STANDARD, masking_of, model_of, settings, visible_law, word_frequencies
from theory import topics
from theory.models import TopicMixture


def trained(model, masking, dimension, *, seed=0, decay=0.0, free_bias=False, scale=0.5):
    """(excess loss, E = W_E^T W_E, b) after L-BFGS with the exact gradient."""
    mu = word_frequencies(model)
    X, D = np.array([visible_law(masking, row) for row in mu]), model.n_tokens
    floor = 1 - 1 / (model.topics_per_document * model.words_per_topic)

    def objective(w):
        W, b = w[: dimension * D].reshape(dimension, D), w[dimension * D :] * free_bias
        errors = X @ W.T @ W + b - mu
        slope = 2 * errors.T @ X / len(mu)
        by_W = W @ (slope + slope.T) + 2 * decay * W
        loss = (errors**2).sum() / len(mu) + decay * (W**2).sum()
        return loss, np.r_[by_W.ravel(), free_bias * 2 * errors.mean(axis=0)]

    start = scale * np.random.default_rng(seed).standard_normal((dimension + 1) * D)
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-11, "maxiter": 20000}
    )
    W, b = found.x[: dimension * D].reshape(dimension, D), found.x[dimension * D :] * free_bias
    excess = topics.population_loss_uniform(model, masking, W.T @ W, b) - floor
    return excess, W.T @ W, b


def row_gaps(E, model):
    """(same-topic mean less different-topic mean, spread of the means over different topics) of every word row."""
    T, v = model.n_topics, model.words_per_topic
    means = E[1:, 1:].reshape(T * v, T, v).mean(axis=2)
    own = np.repeat(np.eye(T, dtype=bool), v, axis=0)
    other = means[~own].reshape(T * v, T - 1)
    return means[own] - other.mean(axis=1), np.ptp(other, axis=1)


def test_every_minimizer_has_the_gap_row_by_row():
    model, masking = model_of(4, 3, 2), STANDARD
    excess, E, _ = trained(model, masking, 6)
    gaps, spread = row_gaps(E, model)
    delta = topics.same_topic_gap(model, masking)
    assert abs(excess) < 1e-14
    assert gaps == pytest.approx(np.full(12, delta), abs=1e-6)
    assert spread.max() < 1e-6
    block = E[1:4, 1:4]
    assert block[np.triu_indices(3)].std() > 0.02  # what is not determined differs
    q, m = masking.mask_fraction, E[0, 1:].mean()
    assert E[0, 0] == pytest.approx(-(1 - q) * m / q, abs=1e-6)


@run(max_examples=40)
@given(settings(most_topics=6), st.one_of(st.just(0.0), st.floats(0.1, 3)), st.floats(0, 5))
def test_the_whole_family_is_optimal_and_positive(setting, m, excess):
    model, masking = setting
    m = -m if masking.mask_fraction > 1e-3 else 0.0
    excess = excess if model.words_per_topic > 1 else 0.0
    E = topics.embedding_family(model, masking, mask_entry=m, diagonal_excess=excess)
    floor = 1 - 1 / (model.topics_per_document * model.words_per_topic)
    assert topics.block_loss_uniform(masking, E) == pytest.approx(floor, abs=1e-9)
    spectrum = np.linalg.eigvalsh(E.matrix)
    assert spectrum[0] > -1e-12 * max(spectrum[-1], 1)
    assert E.gap == pytest.approx(topics.same_topic_gap(model, masking), rel=1e-10)
    if m:  # the other sign is as good a fit, but no Gram matrix
        flipped = topics.embedding_family(model, masking)
        assert np.trace(flipped.matrix) < np.trace(E.matrix)


def test_reference_values():
    E = topics.optimal_embedding_gram(MODEL, STANDARD)
    assert E.same == E.diagonal == pytest.approx(0.115409879138, abs=1e-12)
    assert E.different == pytest.approx(-0.000197057277982, abs=1e-14)
    assert topics.block_loss_uniform(STANDARD, E) == pytest.approx(0.95, abs=1e-14)
    assert E.mask_column == E.mask_mask == 0


@pytest.mark.parametrize(("bias", "rank", "small"), [("none", 4, 1 / 0.88), ("free", 3, None)])
def test_spectrum_of_the_least_trace(bias, rank, small):
    model = model_of(4, 3, 2)
    E = topics.optimal_embedding_gram(model, STANDARD, bias=bias)
    spectrum = np.linalg.eigvalsh(E.matrix)[::-1]
    expected = np.zeros(13)
    expected[:3] = 1 / STANDARD.true_fraction
    if small:
        expected[3] = 1 / (1 - STANDARD.mask_fraction)
    assert spectrum == pytest.approx(np.sort(expected)[::-1], abs=1e-14)
    assert np.linalg.matrix_rank(E.matrix, tol=1e-10) == rank
    assert topics.population_loss_uniform(model, STANDARD, E) == pytest.approx(1 - 1 / 6, abs=1e-14)


@pytest.mark.parametrize(("bias", "T"), [("none", 4), ("free", 5)])
def test_weak_decay_selects_the_least_trace(bias, T):
    """The deviation is proportional to the decay: half of it at half the decay."""
    model, decay = model_of(T, 3, 2), 4e-5
    E = topics.optimal_embedding_gram(model, STANDARD, bias=bias)
    gaps = []
    for strength in (decay, decay / 2):
        _, found, b = trained(model, STANDARD, T + 1, decay=strength, free_bias=bias == "free")
        same, other = found[1:4, 1:4], found[1:4, 4:]
        assert np.ptp(same) < 1e-5
        assert abs(found[0]).max() < 3 * strength
        assert b[1:] == pytest.approx(np.full(3 * T, E.word_bias), abs=1e-5)
        gaps.append((same.mean() - E.same, other.mean() - E.different))
    assert abs(gaps[0][0]) < 1e-2 * E.same
    assert 2 * np.array(gaps[1]) == pytest.approx(gaps[0], rel=2e-2, abs=1e-7)


@pytest.mark.parametrize("dimension", [0, 1, 2, 3, 4, 6])
def test_excess_of_few_dimensions(dimension):
    model, masking = model_of(5, 2, 2), masking_of(0.3, 0.2, 0.1)
    expected = topics.embedding_excess(model, masking, dimension)
    assert expected == pytest.approx(max(4 - dimension, 0) * 3 / (2 * 5 * 4 * 2))
    if dimension:
        best = min(trained(model, masking, dimension, seed=seed, free_bias=True)[0] for seed in range(2))
        assert best == pytest.approx(expected, abs=1e-12)


def test_excess_of_a_mixture():
    mixture = TopicMixture.dirichlet(n_topics=10, words_per_topic=10, concentration=0.1)
    assert topics.embedding_excess(mixture, STANDARD, 4) == pytest.approx(5 * 0.005)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: topics.optimal_embedding_gram(MODEL, STANDARD, bias="decayed"),
            "one of 'none', 'free', got 'decayed'",
        ),
        (lambda: topics.optimal_embedding_gram(model_of(3, 2, 3), STANDARD), "for a gap"),
        (lambda: topics.embedding_family(MODEL, STANDARD, mask_entry=0.1), r"mask_entry must lie in \(-inf, 0\]"),
        (lambda: topics.embedding_family(MODEL, STANDARD, diagonal_excess=-0.1), "diagonal_excess must lie in"),
        (
            lambda: topics.embedding_family(MODEL, masking_of(0.3, 0.5, 0.5), mask_entry=-1.0),
            "mask_entry needs masked tokens",
        ),
        (lambda: topics.embedding_family(model_of(3, 1, 1), STANDARD, diagonal_excess=1.0), "words_per_topic > 1"),
        (lambda: topics.embedding_excess(MODEL, STANDARD, -1), "dimension must be an integer of at least 0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
