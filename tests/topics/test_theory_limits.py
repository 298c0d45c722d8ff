"""Limits and bounds of the optimal topic weight, the escape from uniform attention, and averages of attention."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from tests.topics.routes import (
    MODEL,
    SMALL,
    STANDARD,
    attention_loss,
    logits_gradient,
    masking_of,
    model_of,
    settings,
    small,
    tied_weights,
    word_frequencies,
)
from theory import topics
from theory.models import Masking


def optimum(T, tau, masking=STANDARD, **options):
    return topics.stage2_optimum(model_of(T, 10, tau), masking, **options).topic_weight


def test_bounds_on_two_thousand_settings():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        T = int(rng.integers(3, 60))
        selected, kept, split = rng.random(3)
        model = model_of(T, int(rng.integers(1, 20)), int(rng.integers(2, T)))
        masking = masking_of(selected, kept, split * (1 - kept))
        A = topics.stage2_optimum(model, masking).topic_weight
        assert 1 < A < topics.stage2_bounds(model, masking).upper


@run(max_examples=40)
@given(settings())
def test_bounds_at_the_edges(setting):
    A, bounds = topics.stage2_optimum(*setting).topic_weight, topics.stage2_bounds(*setting)
    assert 1 <= A <= bounds.upper == min(bounds.random_words, bounds.overshoot)


def test_bounds_without_what_causes_them():
    assert topics.stage2_bounds(MODEL, masking_of(0.2, 0.5, 0.0)).random_words == math.inf
    assert topics.stage2_bounds(MODEL, masking_of(0.2, 1.0, 0.0)).overshoot == math.inf
    bounds = topics.stage2_bounds(MODEL, STANDARD)
    assert (bounds.random_words, bounds.overshoot) == pytest.approx((11, 1 + 2 / 0.135))


def test_monotone_in_topics_and_topics_per_document():
    by_T = [optimum(T, 3) for T in range(4, 60)]
    by_tau = [optimum(30, tau) for tau in range(1, 30)]
    by_kept = [optimum(10, 3, Masking(kept=kept)) for kept in np.linspace(0, 0.9, 20)]
    by_random = [optimum(10, 3, Masking(randomized=r)) for r in np.linspace(0, 0.9, 20)]
    by_selected = [optimum(10, 3, Masking(selected=p)) for p in np.linspace(0.01, 1, 20)]
    for rising in (by_T, by_tau, by_kept, by_random[::-1], by_selected[::-1]):
        assert rising == sorted(rising)


@run(max_examples=40)
@given(settings())
def test_without_random_words(setting):
    model, masking = setting
    masking = masking_of(masking.selected, masking.kept, 0.0)
    A = topics.without_random_words(model, masking)
    assert topics.stage2_optimum(model, masking).topic_weight == pytest.approx(A, rel=1e-10)


def test_nothing_random_nothing_hidden():
    assert topics.without_random_words(MODEL, masking_of(0.3, 1.0, 0.0)) == math.inf
    assert topics.without_random_words(MODEL, masking_of(0.3, 0.0, 0.0)) == 1
    assert topics.without_random_words(MODEL, Masking(randomized=0)) == pytest.approx(14.3707714935, abs=1e-9)


@run(max_examples=40)
@given(settings(), st.sampled_from(["free", "none", "decayed"]))
def test_unselected_keys(setting, bias):
    model, masking = setting
    found = topics.stage2_optimum(model, masking, keys="unselected", bias=bias)
    assert found.topic_weight == pytest.approx(topics.unselected_keys(model, masking), rel=1e-8)


def test_unselected_keys_minimize_the_enumerated_loss():
    """A* = 1 + T p_c/p_r, whatever tau, v and p_m."""
    model, masking = model_of(4, 2, 2), masking_of(0.4, 0.2, 0.3)
    W = topics.optimal_value_matrix(model, masking_of(0.4, 1.0, 0.0))
    A, h = 1 + 4 * 0.2 / 0.3, 1e-4
    assert topics.unselected_keys(model, masking) == pytest.approx(A)
    at = [
        attention_loss(model, masking, tied_weights(model, A * f, A * f), W.matrix, W.bias, clean_keys=True)
        for f in (1 - h, 1, 1 + h)
    ]
    assert abs(at[2] - at[0]) < 1e-3 * (at[0] + at[2] - 2 * at[1])


def test_rare_selection():
    assert optimum(10, 2, Masking(selected=1e-5)) == pytest.approx(10.99955, abs=1e-5)


@pytest.mark.parametrize("tau", [2, 5, 100])
@pytest.mark.parametrize("mask_weight", [0.0, 1.0, 2.5])
def test_many_topics(tau, mask_weight):
    limit = topics.many_topics(STANDARD, tau, mask_weight=mask_weight)
    assert optimum(10**8, tau, mask_weight=mask_weight) == pytest.approx(limit, rel=1e-4)


@pytest.mark.parametrize(
    ("tau", "A"), [(2, 14.052700), (3, 21.817069), (5, 36.827847), (10, 73.979383), (40, 296.274193)]
)
def test_many_topics_reference_values(tau, A):
    assert topics.many_topics(STANDARD, tau) == pytest.approx(A, abs=1e-6)


def test_many_topics_edges():
    assert topics.many_topics(STANDARD, 1) == pytest.approx(1, rel=1e-14)
    assert topics.many_topics(masking_of(0.3, 1.0, 0.0), 3) == math.inf


@pytest.mark.parametrize(
    ("x", "a"), [(0.01, 6.894879), (0.1, 4.243066), (0.25, 2.583081), (0.5, 1.560112), (0.75, 1.115050), (1, 0.866039)]
)
def test_scaling_limit(x, a):
    assert topics.scaling_limit(STANDARD, x) == pytest.approx(a, abs=2e-6)
    if x < 1:
        assert optimum(10**6, round(x * 10**6)) / (x * 10**6) == pytest.approx(a, rel=1e-4)


@run(max_examples=40)
@given(settings(), st.floats(0, 1))
def test_ends_of_the_scaling_limit(setting, x):
    _, masking = setting
    ends = [topics.scaling_limit(masking, share) for share in (0.0, x, 1.0)]
    if masking.kept == 0:
        assert ends == [0, 0, 0]
        return
    kappa, r, kept = masking.true_fraction, masking.random_fraction, masking.kept
    assert ends[0] == pytest.approx(1 / masking.hidden_fraction, rel=1e-12)
    last = kept * kappa / ((kappa + r) * (kept + masking.randomized - kept * kappa))
    assert ends[2] == pytest.approx(last, rel=1e-10)
    assert ends[1] <= ends[0] * (1 + 1e-12)


def test_interval_of_the_standard_masking():
    """lambda_1 tau < A* < lambda_2 T: no ratio below 0.866 or above 1.144."""
    pairs = [(T, tau) for T in (3, 4, 10, 40, 300) for tau in {2, 3, T // 2, T - 1} if 2 <= tau < T]
    assert min(optimum(T, tau) / tau for T, tau in pairs) == pytest.approx(0.8720, abs=5e-5)
    assert max(optimum(T, tau) / T for T, tau in pairs) == pytest.approx(1.144, abs=5e-4)
    assert topics.scaling_limit(STANDARD, 1.0) < 0.8720


@pytest.mark.parametrize("case", [case for case in SMALL if case[0][2] < case[0][0]])
@pytest.mark.parametrize("bias", ["free", "none", "decayed"])
def test_escape_rate_by_singular_values(case, bias):
    """Of -dL/dG at uniform attention: T - 1 equal ones, no others."""
    model, masking = small(case)
    W, D = topics.optimal_value_matrix(model, masking, bias=bias), model.n_tokens
    loss, gradient = logits_gradient(model, masking, np.zeros((D, D)), W.matrix, W.bias)
    assert loss == pytest.approx(topics.population_loss_uniform(model, masking, W), rel=1e-13)
    expected = np.zeros(D)
    expected[: model.n_topics - 1] = topics.escape_rate(model, masking).sigma
    assert np.linalg.svd(gradient, compute_uv=False) == pytest.approx(expected, abs=1e-14)


def test_gradient_by_a_complex_step():
    model, masking = small(SMALL[0])
    rng = np.random.default_rng(0)
    G, direction, W = rng.standard_normal((3, 13, 13))
    b = rng.standard_normal(13)
    by_step = attention_loss(model, masking, np.exp(G + 1e-30j * direction), W, b)
    loss, gradient = logits_gradient(model, masking, G, W, b)
    assert (by_step.real, by_step.imag / 1e-30) == pytest.approx((loss, (gradient * direction).sum()), rel=1e-11)


def test_growth_of_keys_and_queries():
    """dW_K/dt = W_Q H^T/sqrt(d_a), dW_Q/dt = W_K H/sqrt(d_a): their norms grow at the rate."""
    model, masking, d_a = model_of(4, 2, 2), masking_of(0.5, 0.3, 0.1), 9
    escape = topics.escape_rate(model, masking)
    assert escape.rate == pytest.approx(0.004327, abs=5e-7)
    assert escape.rate == pytest.approx(escape.sigma / 3)
    W = topics.optimal_value_matrix(model, masking)
    H = -logits_gradient(model, masking, np.zeros((9, 9)), W.matrix, W.bias)[1]
    W_K, W_Q = np.random.default_rng(0).standard_normal((2, d_a, 9))
    norms = []
    for _ in range(4000):
        W_K, W_Q = W_K + 0.5 * W_Q @ H.T / 3, W_Q + 0.5 * W_K @ H / 3
        norms.append(np.linalg.norm(W_K))
    assert np.log(norms[-1] / norms[-401]) / 200 == pytest.approx(escape.rate, rel=2e-3)


def test_escape_reference_values():
    escape = topics.escape_rate(MODEL, STANDARD)
    assert escape.sigma == pytest.approx(5.57482337829e-05, rel=1e-11)
    assert 1 / escape.value_rate == pytest.approx(150.4, abs=0.05)
    assert 1 / escape.rate == pytest.approx(1.803e5, rel=1e-3)
    assert escape.separation == pytest.approx(1200, rel=1e-2)
    assert escape.separation * escape.rate == pytest.approx(escape.value_rate, rel=1e-14)
    assert escape.onset(math.exp(-2)) == pytest.approx(2 / escape.rate)
    assert topics.escape_rate(MODEL, STANDARD, 404).rate == pytest.approx(escape.rate / 2)
    still = topics.escape_rate(MODEL, Masking(kept=0))
    assert (still.sigma, still.separation, still.onset(0.1)) == (0, math.inf, math.inf)


@pytest.mark.parametrize(("alpha", "beta"), [(3.0, None), (2.0, 9.0)])
def test_attention_averages_by_enumeration(alpha, beta):
    """Long documents: positions in classes, attention normalized over the tokens of the document."""
    model = model_of(4, 3, 2)
    found = topics.attention_averages(model, alpha, beta)
    weights = tied_weights(model, alpha, alpha if beta is None else beta)
    tokens, topic = np.arange(13), (np.arange(13) - 1) // 3
    same_word = tokens[:, None] == tokens
    same_topic = (topic[:, None] == topic) & ~same_word
    sums = np.zeros((3, 2))
    for mu in word_frequencies(model):
        pairs = np.outer(mu, mu)  # frequencies of (key, query)
        attention = weights / (weights * mu[:, None]).sum(axis=0)  # times the length
        for k, chosen in enumerate((same_word, same_topic, ~same_word & ~same_topic)):
            sums[k] += (pairs * attention)[chosen].sum(), pairs[chosen].sum()
    averages = sums[:, 0] / sums[:, 1]
    assert (found.same_word, found.same_topic, found.different_topic) == pytest.approx(averages, rel=1e-13)


def test_attention_averages_at_the_optimum():
    found = topics.attention_averages(MODEL, 6.637)
    assert (found.same_topic / 100, found.different_topic / 100) == pytest.approx((0.01738, 0.00262), abs=5e-6)
    assert topics.attention_averages(MODEL, 1.0) == topics.AttentionAverages(1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topics.without_random_words(MODEL, STANDARD), "masking must have randomized = 0, got 0.1"),
        (lambda: topics.many_topics(STANDARD, 0), "topics_per_document must be an integer of at least 1"),
        (lambda: topics.many_topics(STANDARD, 2, mask_weight=-1), "mask_weight must lie in"),
        (lambda: topics.many_topics(Masking(kept=0), 2), "masking must have kept above 0"),
        (lambda: topics.many_topics(0.15, 2), "masking must be a record"),
        (lambda: topics.scaling_limit(STANDARD, 1.2), r"share must lie in \[0, 1\], got 1.2"),
        (lambda: topics.scaling_limit(None, 0.5), "masking must be a record"),
        (lambda: topics.stage2_bounds(None, STANDARD), "model must be a record"),
        (lambda: topics.unselected_keys(MODEL, None), "masking must be a record"),
        (lambda: topics.escape_rate(model_of(3, 2, 3), STANDARD), "for a gap"),
        (lambda: topics.escape_rate(MODEL, STANDARD, 0), "attention_dimension must be an integer of at least 1, got 0"),
        (lambda: topics.escape_rate(MODEL, STANDARD).onset(1.0), r"initial_scale must lie in \(0, 1\)"),
        (lambda: topics.attention_averages(MODEL, -1.0), "same_topic_weight must lie in"),
        (lambda: topics.attention_averages(model_of(3, 2, 1), 0.0), "must be positive where a document has a single"),
        (lambda: topics.attention_averages(None, 1.0), "model must be a record"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
