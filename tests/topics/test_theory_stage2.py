"""Stage 2 against token-level enumeration and minimization over all that the theory keeps fixed."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as run
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

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
)
from theory import ConvergenceError, topics
from theory.models import Masking, TopicMixture
from theory.models.topics import TopicModel
from theory.topics import stage2

UNTIED = [  # (T, v, tau), masking, free loss, A*, mask weight, A* at mask weight 1, its loss
    ((4, 2, 2), (0.5, 0.3, 0.1), 0.687749699, 6.038280, 2.717422, 4.250276, 0.689531785),
    ((6, 2, 2), (0.3, 0.2, 0.3), 0.718059769, 3.445019, 1.335062, 3.342577, 0.718161769),
    ((5, 3, 3), (0.15, 0.1, 0.1), 0.875038843, 5.290490, 1.601320, 5.003600, 0.875053571),
]


def test_reference_values():
    assert topics.stage2_loss(MODEL, STANDARD, 3, 1.5) == pytest.approx(0.946465254858, abs=1e-12)
    optimum = topics.stage2_optimum(MODEL, STANDARD)
    assert (optimum.topic_weight, optimum.loss) == pytest.approx((6.63746679467, 0.945894245028), abs=1e-11)
    R1 = STANDARD.true_fraction / 2 + STANDARD.random_fraction / 10
    x = R1 * (optimum.topic_weight - 1)
    assert x / (1 + x) == pytest.approx(0.709864091862, abs=1e-12)
    for bias in ("free", "none", "decayed"):
        excluded = topics.stage2_optimum(MODEL, STANDARD, mask_weight=0.0, bias=bias)
        assert excluded.topic_weight == pytest.approx(6.25785071661, abs=1e-10)
    none = topics.stage2_optimum(MODEL, STANDARD, bias="none")
    assert none.topic_weight == pytest.approx(5.76291279584, abs=1e-10)
    assert topics.stage2_optimum(MODEL, Masking(randomized=0)).topic_weight == pytest.approx(14.3707714935, abs=1e-9)
    assert topics.stage2_optimum(MODEL, STANDARD, keys="unselected").topic_weight == pytest.approx(11, abs=1e-12)


@pytest.mark.parametrize(("v", "A"), [(1, 6.6325), (2, 6.5548), (10, 5.7629), (100, 4.8899)])
def test_words_per_topic_matter_without_a_free_bias_only(v, A):
    model = model_of(10, v, 2)
    assert topics.stage2_optimum(model, STANDARD, bias="none").topic_weight == pytest.approx(A, abs=6e-5)
    assert topics.stage2_optimum(model, STANDARD).topic_weight == pytest.approx(6.63746679467, abs=1e-10)


TABLE = {
    5: (4.600911, 5.003600),
    10: (6.637467, 7.719303, 8.756438, 9.427740),
    20: (8.870707, 11.158726, 13.767740, 15.773017, 16.561766),
    50: (11.334007, 15.665525, 21.807475, 27.771076, 30.531885, 38.032763, 43.175678),
    100: (12.537547, 18.211858, 27.331963, 37.671064, 43.064001, 60.250419, 75.125718),
}


@pytest.mark.parametrize("T", TABLE)
def test_table_of_optima(T):
    for tau, A in zip((2, 3, 5, 8, 10, 20, 40), TABLE[T], strict=False):
        assert topics.stage2_optimum(model_of(T, 10, tau), STANDARD).topic_weight == pytest.approx(A, abs=6e-7)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("bias", ["free", "none", "decayed"])
@pytest.mark.parametrize("keys", ["all", "unselected"])
def test_loss_by_enumeration(case, bias, keys):
    model, masking = small(case)
    seen = masking if keys == "all" else masking_of(masking.selected, 1.0, 0.0)
    W = topics.optimal_value_matrix(model, seen, bias=bias)
    for alpha, beta, gamma, tied in ((1, 1, 1, 1), (3, 1.5, 1, 1), (0.4, 6, 2.5, 1), (5, 2, 0.0, 3.0)):
        weights = tied_weights(model, alpha, beta, gamma, tied)
        expected = attention_loss(model, masking, weights, W.matrix, W.bias, clean_keys=keys == "unselected")
        given_weights = {"mask_weight": gamma, "mask_query_weight": tied}
        value = topics.stage2_loss(model, masking, alpha, beta, **given_weights, bias=bias, keys=keys)
        assert value == pytest.approx(expected, abs=1e-13)


def test_same_words_weigh_like_their_topic_by_default():
    assert topics.stage2_loss(MODEL, STANDARD, 3.0) == topics.stage2_loss(MODEL, STANDARD, 3.0, 3.0)
    assert topics.stage2_loss(MODEL, STANDARD, 0.0, 30.0) == pytest.approx(topics.stage2_loss(MODEL, STANDARD, 3.0))


def test_attention_loss_at_the_reference_point():
    """T = v = 10 by all 45 sets and 101 queries."""
    W, G = topics.optimal_value_matrix(MODEL, STANDARD), np.log(tied_weights(MODEL, 3.0, 1.5))
    assert topics.population_loss(MODEL, STANDARD, G, W) == pytest.approx(0.946465254858, abs=1e-12)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("mask_weight", [0.0, 1.0, 3.0])
def test_optimum_by_minimizing_the_enumerated_loss(case, bias, mask_weight):
    model, masking = small(case)
    W = topics.optimal_value_matrix(model, masking, bias=bias)

    def enumerated(log_A):
        weights = tied_weights(model, math.exp(log_A), math.exp(log_A), mask_weight)
        return attention_loss(model, masking, weights, W.matrix, W.bias)

    best = minimize_scalar(enumerated, bounds=(-4, 6), method="bounded", options={"xatol": 1e-7})
    optimum = topics.stage2_optimum(model, masking, mask_weight=mask_weight, bias=bias)
    assert optimum.converged
    assert optimum.loss == pytest.approx(best.fun, abs=1e-12)
    assert math.log(optimum.topic_weight) == pytest.approx(best.x, abs=1e-5)


def test_only_the_mean_weight_of_the_topic_matters():
    """Minimizing over alpha and beta ends anywhere on a line."""
    model = model_of(4, 3, 2)
    W = topics.optimal_value_matrix(model, STANDARD)
    ends = []
    for start in ([0.0, 0.0], [2.0, -1.0]):
        found = minimize(
            lambda x: topics.population_loss(model, STANDARD, np.log(tied_weights(model, *np.exp(x))), W),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-6, "fatol": 1e-15, "maxfev": 120},
        )
        ends.append(np.exp(found.x))
    means = [(2 * alpha + beta) / 3 for alpha, beta in ends]
    assert means == pytest.approx([4.0509083, 4.0509083], abs=1e-3)
    assert topics.stage2_optimum(model, STANDARD).topic_weight == pytest.approx(4.0509084, abs=1e-7)
    assert abs(ends[0] - ends[1]).max() > 0.3


@pytest.mark.parametrize("row", UNTIED)
def test_free_mask_weight(row):
    model, masking = model_of(*row[0]), masking_of(*row[1])
    free, one = topics.stage2_optimum(model, masking, mask_weight="free"), topics.stage2_optimum(model, masking)
    assert free.loss == pytest.approx(row[2], abs=1e-9)
    assert (free.topic_weight, free.mask_weight) == pytest.approx(row[3:5], abs=1e-5)
    assert (one.topic_weight, one.loss) == pytest.approx(row[5:], abs=1e-6)


def test_no_tying_at_all_ends_tied_with_a_free_mask():
    """L-BFGS over all logits, from a random start, with the value matrix frozen."""
    row = UNTIED[0]
    model, masking = model_of(*row[0]), masking_of(*row[1])
    W = topics.optimal_value_matrix(model, masking)

    def objective(g):
        loss, gradient = logits_gradient(model, masking, g.reshape(9, 9), W.matrix, W.bias)
        return loss, gradient.ravel()

    start = 0.3 * np.random.default_rng(0).standard_normal(81)
    step = 1e-30j * np.random.default_rng(1).standard_normal(81)
    by_step = attention_loss(model, masking, np.exp((start + step).reshape(9, 9)), W.matrix, W.bias)
    assert by_step.imag == pytest.approx(objective(start)[1] @ step.imag, rel=1e-10)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-9, "maxiter": 5000})
    optimum = topics.stage2_optimum(model, masking, mask_weight="free")
    assert found.fun == pytest.approx(optimum.loss, abs=1e-11)
    weights = np.exp(found.x.reshape(9, 9))
    own = np.repeat(np.eye(4), 2, axis=0).repeat(2, axis=1).astype(bool)
    for query in range(8):
        column, mine = weights[1:, 1 + query], own[:, query]
        assert column[mine].mean() / column[~mine].mean() == pytest.approx(optimum.topic_weight, rel=1e-3)
        assert weights[0, 1 + query] / column[~mine].mean() == pytest.approx(optimum.mask_weight, rel=1e-3)


def test_slopes_and_curvature_by_differences():
    terms = stage2.stage2_terms(stage2.Setting(model_of(5, 3, 2), STANDARD, "none"))
    at, h = np.array([0.7, -0.4]), 1e-5
    for k, step in enumerate(h * np.eye(2)):
        low, high = np.exp(at - step), np.exp(at + step)
        slope = (terms.loss(*high) - terms.loss(*low)) / (2 * h)
        assert terms.log_slopes(*np.exp(at))[0][k] == pytest.approx(slope, rel=1e-6)
        curvature = (terms.log_slopes(*high)[0] - terms.log_slopes(*low)[0]) / (2 * h)
        assert terms.log_curvature(*np.exp(at))[k] == pytest.approx(curvature, rel=1e-6)


def test_mask_may_be_better_excluded():
    """Where much is kept, the sink of the [MASK] key does not form: its best weight is zero."""
    model, masking = model_of(33, 9, 25), masking_of(0.17565562, 0.74507785, 0.07473814)
    free = topics.stage2_optimum(model, masking, mask_weight="free")
    excluded, one = (topics.stage2_optimum(model, masking, mask_weight=weight) for weight in (0.0, 1.0))
    assert free.mask_weight == 0
    assert free.loss == excluded.loss < one.loss
    losses = [topics.stage2_optimum(model, masking, mask_weight=weight).loss for weight in (0, 0.01, 0.1, 1, 10, 100)]
    assert losses == sorted(losses)


def test_a_sink_far_from_one_is_found_on_the_grid():
    model, masking = model_of(23, 4, 21), masking_of(0.0027385, 0.73514209, 0.00029876)
    free = topics.stage2_optimum(model, masking, mask_weight="free")
    assert free.mask_weight == pytest.approx(20, rel=0.1)
    assert free.loss <= topics.stage2_optimum(model, masking).loss


@pytest.mark.parametrize("bias", ["free", "none", "decayed"])
def test_without_random_words_true_words_are_copied(bias):
    """Weights in the ratio that gives [MASK] its share of the visible tokens, growing without end."""
    model, masking = model_of(5, 3, 2), masking_of(0.3, 0.2, 0.0)
    free = topics.stage2_optimum(model, masking, mask_weight="free", bias=bias)
    assert free.topic_weight == free.mask_weight == math.inf
    excess = []
    for A in (1e2, 1e4, 1e6):
        loss = topics.stage2_loss(model, masking, A, mask_weight=A / 2, bias=bias)  # kappa/tau A against q A/2
        excess.append(loss - free.loss)
        assert loss > free.loss
    assert excess[2] < 1e-10 < excess[0]


def test_mask_queries_are_best_uniform():
    losses = [topics.stage2_loss(MODEL, STANDARD, 3.0, mask_query_weight=weight) for weight in (0, 0.5, 1, 2, 10)]
    assert min(losses) == losses[2]
    assert losses[:3] == sorted(losses[:3], reverse=True)
    assert losses[2:] == sorted(losses[2:])
    assert losses[2] == topics.stage2_loss(MODEL, STANDARD, 3.0)


@run(max_examples=40)
@given(settings(), st.sampled_from(["free", "none", "decayed"]))
def test_two_quartics_agree(setting, bias):
    """The convex form against all stationary points of the loss in A."""
    case = stage2.Setting(*setting, bias)
    convex = topics.stage2_optimum(*setting, bias=bias)
    tied = stage2._tied(stage2.stage2_terms(case), 1.0)
    assert tied.topic_weight == pytest.approx(convex.topic_weight, rel=1e-7)
    assert tied.loss == pytest.approx(convex.loss, abs=1e-15)


@run(max_examples=40)
@given(settings(), st.floats(0, 5))
def test_no_weight_is_better(setting, mask_weight):
    optimum = topics.stage2_optimum(*setting, mask_weight=mask_weight)
    assert optimum.converged
    for factor in (0, 0.5, 0.99, 1.01, 2, 100):
        other = topics.stage2_loss(*setting, optimum.topic_weight * factor, mask_weight=mask_weight)
        assert other >= optimum.loss - 1e-15


@run(max_examples=25)
@given(settings())
def test_a_free_mask_weight_is_no_worse(setting):
    free = topics.stage2_optimum(*setting, mask_weight="free")
    for weight in (0.0, 0.3, 1.0, 4.0):
        assert free.loss <= topics.stage2_optimum(*setting, mask_weight=weight).loss + 1e-14


@run(max_examples=40)
@given(settings())
def test_nothing_kept_or_one_topic_means_uniform_attention(setting):
    model, masking = setting
    assume(model.topics_per_document > 1 and masking.kept > 0)
    assert topics.stage2_optimum(model, masking).topic_weight > 1
    blind = masking_of(masking.selected, 0.0, masking.randomized)
    single = model_of(model.n_topics, model.words_per_topic, 1)
    for uniform in ((model, blind), (single, masking)):
        for options in ({}, {"bias": "none"}, {"mask_weight": "free"}, {"keys": "unselected"}):
            optimum = topics.stage2_optimum(*uniform, **options)
            assert (optimum.topic_weight, optimum.residual) == (1, 0)


def test_small_share_kept_is_linear():
    excess = [topics.stage2_optimum(MODEL, Masking(kept=kept)).topic_weight - 1 for kept in (1e-8, 2e-8)]
    assert excess[1] == pytest.approx(2 * excess[0], rel=1e-6)


def test_everything_kept_has_no_finite_optimum():
    everything = masking_of(0.3, 1.0, 0.0)
    for mask_weight in (1.0, 0.5, "free"):
        optimum = topics.stage2_optimum(MODEL, everything, mask_weight=mask_weight)
        assert optimum.topic_weight == math.inf
        assert optimum.loss == pytest.approx(topics.stage2_loss(MODEL, everything, 1e9), abs=1e-8)


def test_unmasked_selection_ignores_the_mask_weight():
    whole = masking_of(0.3, 0.4, 0.6)
    weights = [topics.stage2_optimum(MODEL, whole, mask_weight=w).topic_weight for w in (0.0, 1.0, 7.0, "free")]
    assert weights == pytest.approx(np.full(4, weights[1]), rel=1e-9)


def test_optimum_carries_its_evidence():
    """A root of a quartic takes no iterations; with a free mask weight Newton's steps are counted."""
    pytest.importorskip("pandas")
    at, free = topics.stage2_optimum(MODEL, STANDARD), topics.stage2_optimum(MODEL, STANDARD, mask_weight="free")
    assert at.iterations is None
    assert 1 <= free.iterations <= 40
    for found in (at, free):
        assert found.converged
        assert found.residual < 1e-9
        assert found.to_frame()["topic_weight"].tolist() == [found.topic_weight]
        assert "topic_weight=" in repr(found)


def test_unverified_optimum_is_an_error():
    case = stage2.Setting(MODEL, STANDARD)
    found = stage2.Stage2Optimum(2.0, 1.0, 0.9, residual=1e-3, iterations=None, converged=False)
    with pytest.raises(ConvergenceError, match="unverified, residual") as failure:
        stage2._checked(case, found)
    assert failure.value.solution.residual == 1e-3


MIXTURE = TopicMixture(n_topics=4, words_per_topic=2, proportion_variance=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: topics.stage2_loss(model_of(3, 2, 1), masking_of(0.3, 0.5, 0), 0, mask_weight=0),
            "must leave a key to every query",
        ),
        (lambda: topics.stage2_loss(MODEL, STANDARD, -1), "same_topic_weight must lie in"),
        (lambda: topics.stage2_loss(MODEL, STANDARD, 1, math.nan), "same_word_weight must be finite, got nan"),
        (lambda: topics.stage2_loss(MODEL, STANDARD, 1, mask_weight=-1), "mask_weight must lie in"),
        (lambda: topics.stage2_loss(MODEL, STANDARD, 1, mask_query_weight=-1), "mask_query_weight must lie in"),
        (lambda: topics.stage2_loss(MODEL, STANDARD, 1, bias="some"), "bias must be one of 'free', 'none', 'decayed'"),
        (lambda: topics.stage2_optimum(MODEL, STANDARD, keys="some"), "keys must be one of 'all', 'unselected'"),
        (
            lambda: topics.stage2_optimum(MODEL, STANDARD, mask_weight="best"),
            "or one of 'free', got 'best'",
        ),
        (lambda: topics.stage2_optimum(MODEL, STANDARD, mask_weight=-2.0), "mask_weight must lie in"),
        (lambda: topics.stage2_optimum(model_of(3, 2, 3), STANDARD), "for a gap"),
        (lambda: topics.stage2_optimum(MIXTURE, STANDARD), r"model must be a record .*TopicModel"),
        (lambda: topics.stage2_optimum(MODEL, None), "masking must be a record"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("kept", np.linspace(0, 0.99, 34))
def test_a_minimum_where_the_loss_is_almost_zero(kept):
    """Of the squares only rounding is left, so that the slope is judged by its own slope."""
    model = TopicModel(n_topics=2, words_per_topic=1, topics_per_document=1)
    masking = Masking(selected=0.15, kept=float(kept), randomized=0.001)
    found = topics.stage2_optimum(model, masking, mask_weight=0)
    assert found.converged
    assert 0 < found.topic_weight < math.inf
    nearby = [topics.stage2_loss(model, masking, found.topic_weight * c, mask_weight=0) for c in (0.99, 1.01)]
    assert found.loss < min(nearby)
