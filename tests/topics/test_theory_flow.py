"""Stage 1 in time against the full D x D equations, steps of gradient descent, and full minimization."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.special import softmax

from tests.topics.routes import MODEL, SMALL, STANDARD, masking_of, model_of, small, visible_law, word_frequencies
from theory import topics
from theory.models import TopicMixture

CASES = [SMALL[0], SMALL[2], ((3, 2, 2), (0.3, 0.2, 0.8))]
TIMES = [0.0, 1.0, 10.0, 60.0]


def full_gradient(model, masking, kind, extended):
    """(W, with a last column b) -> gradient of the population loss, as a sum over topic sets."""
    mu = word_frequencies(model)
    X = np.array([visible_law(masking, row) for row in mu])
    inputs = np.c_[X, np.ones(len(X))] if extended else X

    def gradient(W):
        f = inputs @ W.T
        errors = 2 * (f - mu) if kind == "squared" else softmax(f, axis=1) - mu
        return errors.T @ inputs / len(mu)

    return gradient, (model.n_tokens, inputs.shape[1])


def integrated(model, masking, kind, times, extended=False):
    gradient, shape = full_gradient(model, masking, kind, extended)
    solved = solve_ivp(
        lambda _, w: -gradient(w.reshape(shape)).ravel(),
        (0, max(times)),
        np.zeros(np.prod(shape)),
        t_eval=times,
        method="DOP853",
        rtol=1e-11,
        atol=1e-13,
    )
    return solved.y.T.reshape(len(times), *shape)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bias", ["none", "trained"])
def test_squared_flow_against_the_full_equations(case, bias):
    model, masking = small(case)
    flow = topics.stage1_flow(model, masking, TIMES, bias=bias)
    for k, W in enumerate(integrated(model, masking, "squared", TIMES, bias == "trained")):
        assert flow.matrices[k].matrix == pytest.approx(W[:, : model.n_tokens], abs=1e-10)
        assert flow.matrices[k].bias == pytest.approx(W[:, -1] if bias == "trained" else 0 * W[0], abs=1e-9)
        assert flow.loss[k] == pytest.approx(
            topics.population_loss_uniform(model, masking, flow.matrices[k]), abs=1e-13
        )
        assert flow.gap[k] == pytest.approx(flow.matrices[k].gap, abs=1e-15)


@pytest.mark.parametrize("case", CASES)
def test_cross_entropy_flow_against_the_full_equations(case):
    model, masking = small(case)
    times = [5.0, 50.0, 200.0]
    flow = topics.stage1_flow(model, masking, times, loss="cross_entropy")
    for k, W in enumerate(integrated(model, masking, "cross_entropy", times)):
        assert flow.matrices[k].matrix == pytest.approx(W, abs=1e-8)
        loss = topics.population_loss_uniform(model, masking, W, loss="cross_entropy")
        assert flow.loss[k] == pytest.approx(loss, abs=1e-9)


def test_times_in_any_order_and_repeated():
    times = [50.0, 0.0, 5.0, 50.0]
    for loss in ("squared", "cross_entropy"):
        flow = topics.stage1_flow(MODEL, STANDARD, times, loss=loss)
        assert flow.gap[0] == flow.gap[3] > flow.gap[2] > flow.gap[1] == 0
    start = topics.stage1_flow(MODEL, STANDARD, 0.0, loss="cross_entropy")
    assert start.loss == pytest.approx(np.log(101))


@pytest.mark.parametrize("bias", ["none", "trained"])
def test_gradient_descent_step_by_step(bias):
    model, masking, step = model_of(4, 3, 2), masking_of(0.3, 0.2, 0.2), 0.4
    gradient, shape = full_gradient(model, masking, "squared", bias == "trained")
    W = np.zeros(shape)
    for _ in range(25):
        W -= step * gradient(W)
    flow = topics.stage1_flow(model, masking, [25], step=step, bias=bias)
    assert flow.matrices[0].matrix == pytest.approx(W[:, : model.n_tokens], abs=1e-14)
    assert flow.loss[0] == pytest.approx(topics.population_loss_uniform(model, masking, flow.matrices[0]), abs=1e-14)


def test_steps_at_the_stability_limit():
    model, masking = model_of(4, 3, 2), masking_of(0.3, 0.2, 0.2)
    for bias in ("none", "trained"):
        limit = topics.stability_limit(model, masking, bias=bias)
        gradient, shape = full_gradient(model, masking, "squared", bias == "trained")
        for factor, grows in ((0.99, False), (1.01, True)):
            W, sizes = np.zeros(shape), []
            for _ in range(200):
                W -= factor * limit * gradient(W)
                sizes.append(np.linalg.norm(gradient(W)))
            assert (sizes[-1] > sizes[0]) == grows
        with pytest.raises(ValueError, match="to be stable"):
            topics.stage1_flow(model, masking, [3], step=limit, bias=bias)


def test_reference_values():
    assert topics.stage1_flow(MODEL, STANDARD, 40.0).loss[0] == pytest.approx(0.973784739202, abs=1e-12)
    flow = topics.stage1_flow(MODEL, STANDARD, [100.0], loss="cross_entropy")
    assert flow.gap[0] == pytest.approx(0.0383810053593, abs=1e-12)
    assert flow.loss[0] == pytest.approx(4.60164805029, abs=1e-10)
    descent = topics.stage1_flow(model_of(5, 3, 2), STANDARD, [200], step=3.0)
    assert descent.gap[0] == pytest.approx(0.385356454703, abs=1e-12)


@pytest.mark.parametrize(("bias", "limit"), [("none", "none"), ("trained", "decayed")])
def test_the_flow_ends_at_the_least_norm_minimizer(bias, limit):
    end = topics.stage1_flow(MODEL, STANDARD, [1e5], bias=bias).matrices[0]
    optimum = topics.optimal_value_matrix(MODEL, STANDARD, bias=limit)
    assert end.matrix == pytest.approx(optimum.matrix, abs=1e-14)
    assert end.bias == pytest.approx(optimum.bias, abs=1e-14)


def test_small_steps_are_the_flow():
    flow = topics.stage1_flow(MODEL, STANDARD, [100.0])
    descent = topics.stage1_flow(MODEL, STANDARD, [100_000], step=1e-3)
    assert descent.gap == pytest.approx(flow.gap, rel=1e-4)


def test_mixtures_depend_on_their_second_moments_only():
    same = TopicMixture(n_topics=10, words_per_topic=10, proportion_variance=MODEL.topic_variance * 10 * 0.9)
    one, other = (topics.stage1_flow(model, STANDARD, TIMES) for model in (MODEL, same))
    assert one.loss == pytest.approx(other.loss, rel=1e-13)
    assert one.gap == pytest.approx(other.gap, rel=1e-13, abs=1e-16)


@pytest.mark.parametrize("lam", [1e-2, 1e-3, 1e-4])
def test_regularized_cross_entropy_against_full_minimization(lam):
    model = model_of(5, 3, 2)
    gradient, shape = full_gradient(model, STANDARD, "cross_entropy", False)

    def objective(w):
        W = w.reshape(shape)
        loss = topics.population_loss_uniform(model, STANDARD, W, loss="cross_entropy")
        return loss + lam / 2 * w @ w, (gradient(W) + lam * W).ravel()

    found = minimize(
        objective,
        np.zeros(np.prod(shape)),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 0, "gtol": 1e-9, "maxiter": 5000},
    )
    optimum = topics.cross_entropy_optimum(model, STANDARD, lam)
    assert objective(optimum.matrix.ravel())[0] == pytest.approx(found.fun, rel=1e-11)
    assert np.abs(objective(optimum.matrix.ravel())[1]).max() < 1e-12
    assert optimum.gap == pytest.approx({1e-2: 0.642681, 1e-3: 3.272725, 1e-4: 7.324953}[lam], abs=1e-6)


def test_table():
    frame = topics.stage1_flow(MODEL, STANDARD, TIMES).to_frame()
    assert list(frame) == ["time", "gap", "loss"]
    assert len(frame) == 4


MIXTURE = TopicMixture(n_topics=4, words_per_topic=2, proportion_variance=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topics.stage1_flow(MODEL, STANDARD, [-1.0]), "times must be >= 0, got -1"),
        (lambda: topics.stage1_flow(MODEL, STANDARD, []), "times must be a non-empty array"),
        (
            lambda: topics.stage1_flow(MODEL, STANDARD, [1], loss="l1"),
            "loss must be one of 'squared',",
        ),
        (
            lambda: topics.stage1_flow(MODEL, STANDARD, [1], bias="free"),
            "one of 'none', 'trained', got 'free'",
        ),
        (lambda: topics.stage1_flow(MODEL, STANDARD, [1], step=100.0), r"step must lie in \(0, 45.159\) to be stable"),
        (lambda: topics.stage1_flow(MODEL, STANDARD, [1], step=-1.0), "to be stable, got -1.0"),
        (lambda: topics.stage1_flow(MODEL, STANDARD, [1.5], step=1.0), "whole numbers of steps, got 1.5"),
        (lambda: topics.stage1_flow(MODEL, STANDARD, [1], loss="cross_entropy", step=1.0), "neither step nor bias"),
        (
            lambda: topics.stage1_flow(MIXTURE, STANDARD, [1], loss="cross_entropy"),
            r"model must be a record .*TopicModel",
        ),
        (lambda: topics.stage1_flow(model_of(3, 2, 3), STANDARD, [1]), "for a gap"),
        (lambda: topics.cross_entropy_optimum(MODEL, STANDARD, 0.0), "lam must lie in"),
        (lambda: topics.cross_entropy_optimum(model_of(2, 2, 2), STANDARD, 0.1), "for a gap"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_long_flows_under_cross_entropy_are_those_of_short_steps():
    """Beyond 1e6 another integrator: both give the same path, and the gap goes on like the logarithm of time."""
    times = [1e3, 1e6]
    short = topics.stage1_flow(MODEL, STANDARD, times, loss="cross_entropy")
    long = topics.stage1_flow(MODEL, STANDARD, [*times, 1e8, 1e10, 1e12], loss="cross_entropy")
    assert long.gap[:2] == pytest.approx(short.gap, rel=1e-8)
    assert long.loss[:2] == pytest.approx(short.loss, rel=1e-8)
    growth = np.diff(long.gap[2:])
    assert growth[1] == pytest.approx(growth[0], rel=0.05)
    with pytest.raises(ValueError, match="times must be at most 1e\\+12 under cross-entropy"):
        topics.stage1_flow(MODEL, STANDARD, [1e13], loss="cross_entropy")
