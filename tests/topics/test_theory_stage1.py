"""Optimal value matrices against least squares, and finite documents against enumerated moments."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run

from tests.topics.routes import (
    MODEL,
    SMALL,
    STANDARD,
    masking_of,
    model_of,
    settings,
    small,
    visible_law,
    word_frequencies,
)
from theory import topics
from theory.models import Masking, TopicMixture

GAPPED = [case for case in SMALL if case[0][0] > case[0][2]]


def test_reference_values():
    assert topics.same_topic_gap(MODEL, STANDARD) == pytest.approx(0.115606936416, abs=1e-12)
    none, decayed = (topics.optimal_value_matrix(MODEL, STANDARD, bias=bias) for bias in ("none", "decayed"))
    assert none.same == pytest.approx(0.108020231214, abs=1e-12)
    assert none.diagonal == none.same
    assert none.different == pytest.approx(-0.00758670520231, abs=1e-14)
    assert none.mask_column == pytest.approx(0.0541907514451, abs=1e-13)
    assert (decayed.different, decayed.word_bias) == pytest.approx((-0.0114746000971, 0.00978335733517), abs=1e-13)
    at = topics.sectors(MODEL, STANDARD)
    assert (at.topic, at.mean) == pytest.approx((0.00332544444444, 0.022144), abs=1e-14)
    ridge = topics.optimal_value_matrix(MODEL, STANDARD, bias="none", ridge=0.01)
    assert ridge.gap == pytest.approx(0.0288504031552, abs=1e-13)


@pytest.mark.parametrize("case", SMALL)
def test_sectors_are_the_spectrum_of_what_is_seen(case):
    model, masking = small(case)
    seen = np.array([visible_law(masking, mu) for mu in word_frequencies(model)])
    spectrum = np.sort(np.linalg.eigvalsh(seen.T @ seen / len(seen)))[::-1]
    at = topics.sectors(model, masking)
    expected = np.zeros(model.n_tokens)
    expected[: model.n_topics] = sorted([at.mean] + [at.topic] * (model.n_topics - 1), reverse=True)
    assert spectrum == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("case", GAPPED)
@pytest.mark.parametrize("bias", ["none", "decayed", "free"])
@pytest.mark.parametrize("ridge", [0.0, 1e-3, 0.3])
def test_value_matrix_is_the_least_squares_solution(case, bias, ridge):
    """Pseudo-inverse (least norm) or ridge, with no bias, one that is decayed, and one that is not."""
    model, masking = small(case)
    mu = word_frequencies(model)
    X = np.array([visible_law(masking, row) for row in mu])
    center = bias == "free"
    inputs = np.c_[X, np.ones(len(X))] if bias == "decayed" else X - center * X.mean(axis=0)
    targets = mu - center * mu.mean(axis=0)
    if ridge:
        power = inputs.T @ inputs / len(X) + ridge * np.eye(inputs.shape[1])
        solution = np.linalg.solve(power, inputs.T @ targets / len(X)).T
    else:
        solution = (np.linalg.pinv(inputs, rcond=1e-10) @ targets).T
    W = topics.optimal_value_matrix(model, masking, bias=bias, ridge=ridge)
    assert W.matrix == pytest.approx(solution[:, : model.n_tokens], abs=1e-12)
    b = {"none": 0.0, "decayed": solution[:, -1], "free": mu.mean(axis=0) - W.matrix @ X.mean(axis=0)}[bias]
    assert W.bias == pytest.approx(b + np.zeros(model.n_tokens), abs=1e-12)


@pytest.mark.parametrize("law", [(4, 2, 0.3), (5, 3, 2.0)])
def test_mixtures_by_least_squares_on_the_moments_of_dirichlet(law):
    """E theta theta^T of the Dirichlet law, in words; ridge on the centered inputs."""
    T, v, a = law
    second = (np.full((T, T), a * a) + np.eye(T) * a) / (T * a * (T * a + 1))
    words = np.kron(second, np.full((v, v), 1 / v**2))
    covariance = words - 1 / (T * v) ** 2
    kappa, ridge = STANDARD.true_fraction, 1e-3
    solution = np.linalg.solve(kappa**2 * covariance + ridge * np.eye(T * v), kappa * covariance).T
    mixture = TopicMixture.dirichlet(n_topics=T, words_per_topic=v, concentration=a)
    W = topics.optimal_value_matrix(mixture, STANDARD, ridge=ridge)
    assert W.matrix[1:, 1:] == pytest.approx(solution, abs=1e-13)
    assert topics.same_topic_gap(mixture, STANDARD) == 1 / (v * kappa)


@run(max_examples=40)
@given(settings(most_topics=7))
def test_zero_excess_and_the_same_gap_under_all_conventions(setting):
    model, masking = setting
    floor = 1 - 1 / (model.topics_per_document * model.words_per_topic)
    for bias in ("free", "none", "decayed"):
        W = topics.optimal_value_matrix(model, masking, bias=bias)
        assert W.gap == pytest.approx(1 / (model.words_per_topic * masking.true_fraction), rel=1e-12)
        assert topics.block_loss_uniform(masking, W) == pytest.approx(floor, abs=1e-10)


def finite_length_moments(model, masking, N):
    """E x x^T, E y x^T and E x of visible frequencies x and the target y of a selected position.

    They follow from the law of one position and of pairs, which are independent given the topics.
    """
    D = model.n_tokens
    xx, yx, x = np.zeros((D, D)), np.zeros((D, D)), np.zeros(D)
    sets = word_frequencies(model)
    uniform = np.r_[0, np.full(D - 1, 1 / (D - 1))]
    for mu in sets:
        other = visible_law(masking, mu)
        blind = masking.randomized * uniform + (1 - masking.kept - masking.randomized) * np.eye(D)[0]
        joint = masking.kept * np.diag(mu) + np.outer(mu, blind)  # (target, what the selected position shows)
        here = joint.sum(axis=0)
        rest = (N - 1) * other
        xx += np.diag(here) + np.outer(here, rest) + np.outer(rest, here)
        xx += (N - 1) * np.diag(other) + (N - 1) * (N - 2) * np.outer(other, other)
        yx += joint + np.outer(mu, rest)
        x += here + rest
    return xx / N**2 / len(sets), yx / N / len(sets), x / N / len(sets)


@pytest.mark.parametrize("N", [1, 2, 10, 40])
@pytest.mark.parametrize(
    "case", [((4, 3, 2), (0.3, 0.2, 0.2)), ((5, 2, 3), (0.4, 0.3, 0.7)), ((3, 2, 3), (0.4, 0.3, 0.1))]
)
def test_finite_length_against_least_squares_on_exact_moments(case, N):
    model, masking = small(case)
    xx, yx, x = finite_length_moments(model, masking, N)
    y = np.r_[0, np.full(model.n_words, 1 / model.n_words)]
    covariance, cross = xx - np.outer(x, x), yx - np.outer(y, x)
    W = topics.finite_length_value_matrix(model, masking, N)
    words = np.linalg.pinv(covariance, rcond=1e-10)
    centered = np.eye(model.n_tokens)[1:] - y  # a free bias leaves what multiplies sum_c x_c = 1 open
    assert W.matrix[1:] @ covariance == pytest.approx(cross[1:], abs=1e-14)
    assert W.matrix[1:, 1:] @ centered[:, 1:] == pytest.approx(W.matrix[1:, 1:], abs=1e-13)
    assert W.bias == pytest.approx(y - W.matrix @ x, abs=1e-13)
    loss = 1 - y @ y - np.trace(cross @ words @ cross.T)
    assert topics.finite_length_loss(model, masking, N) == pytest.approx(loss, abs=1e-13)


@pytest.mark.parametrize("case", [((4, 3, 2), (0.3, 0.2, 0.2)), ((5, 2, 3), (0.4, 0.3, 0.7))])
def test_documents_of_many_lengths_count_by_their_length(case):
    model, masking = small(case)
    lengths = range(2, 8)
    xx, yx, x = (
        sum(N * moment for N, moment in zip(lengths, moments, strict=True)) / sum(lengths)
        for moments in zip(*(finite_length_moments(model, masking, N) for N in lengths), strict=True)
    )
    y = np.r_[0, np.full(model.n_words, 1 / model.n_words)]
    covariance, cross = xx - np.outer(x, x), yx - np.outer(y, x)
    W = topics.finite_length_value_matrix(model, masking, (2, 7))
    assert W.matrix[1:] @ covariance == pytest.approx(cross[1:], abs=1e-14)
    loss = 1 - y @ y - np.trace(cross @ np.linalg.pinv(covariance, rcond=1e-10) @ cross.T)
    assert topics.finite_length_loss(model, masking, (2, 7)) == pytest.approx(loss, abs=1e-13)
    same, single = (topics.finite_length_value_matrix(model, masking, length) for length in ((6, 6), 6))
    assert (same.diagonal, same.same, same.different) == (single.diagonal, single.same, single.different)


def test_finite_length_reference_values():
    W = topics.finite_length_value_matrix(MODEL, STANDARD, 60)
    expected = 0.206588457335, 0.0914695010801, -0.0114423774117
    assert (W.diagonal, W.same, W.different) == pytest.approx(expected, abs=1e-12)
    assert topics.finite_length_loss(MODEL, STANDARD, 60) == pytest.approx(0.950724903824, abs=1e-12)


@pytest.mark.parametrize(("N", "a", "s", "gap"), [(10, 0.5379, 0.2808, 0.36652), (40, 0.5825, 0.3355, 0.41782)])
def test_finite_length_rows_of_the_regression(N, a, s, gap):
    W = topics.finite_length_value_matrix(model_of(4, 3, 2), masking_of(0.3, 0.2, 0.2), N)
    assert (W.diagonal - W.different, W.same - W.different, W.gap) == pytest.approx((a, s, gap), abs=6e-5)


def test_long_documents_and_no_ridge_do_not_commute():
    long, ever = (topics.finite_length_value_matrix(MODEL, STANDARD, N) for N in (10**9, math.inf))
    assert long.gap == pytest.approx(ever.gap, rel=1e-6)
    assert long.diagonal - long.same == pytest.approx(0.1 / (1 - STANDARD.mask_fraction), rel=1e-6)
    assert ever.diagonal == ever.same
    losses = [topics.finite_length_loss(MODEL, STANDARD, N) for N in (10, 100, 10**9, math.inf)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(0.95, abs=1e-14)
    mixture = TopicMixture(n_topics=10, words_per_topic=10, proportion_variance=0.04)
    assert topics.finite_length_loss(mixture, STANDARD, 50) == pytest.approx(
        topics.finite_length_loss(MODEL, STANDARD, 50), rel=1e-12
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: topics.same_topic_gap(model_of(3, 2, 3), STANDARD),
            "below n_topics = 3 for a gap",
        ),
        (
            lambda: topics.same_topic_gap(model_of(1, 2, 1), STANDARD),
            "below n_topics = 1 for a gap",
        ),
        (lambda: topics.optimal_value_matrix(model_of(3, 2, 3), STANDARD), "all documents look alike"),
        (
            lambda: topics.same_topic_gap(TopicMixture(n_topics=3, words_per_topic=2, proportion_variance=0), STANDARD),
            "topic proportions that vary",
        ),
        (
            lambda: topics.optimal_value_matrix(MODEL, STANDARD, bias="some"),
            "bias must be one of 'free',",
        ),
        (lambda: topics.optimal_value_matrix(MODEL, STANDARD, ridge=-1), r"ridge must lie in \[0, inf\)"),
        (lambda: topics.optimal_value_matrix(MODEL, 0.15), "masking must be a record"),
        (lambda: topics.optimal_value_matrix(Masking(), STANDARD), "model must be a record"),
        (lambda: topics.finite_length_value_matrix(MODEL, STANDARD, 0), "length must be an integer of at least 1"),
        (lambda: topics.finite_length_loss(MODEL, STANDARD, 2.5), "length must be an integer"),
        (lambda: topics.finite_length_loss(MODEL, STANDARD, (5, 4)), "length must be an integer of at least 5, got 4"),
        (lambda: topics.finite_length_loss(MODEL, STANDARD, (1, 4, 5)), "length must have 2 entries, got"),
        (lambda: topics.finite_length_loss(MODEL, STANDARD, (1, 10**7)), "length must have ends that differ by"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
