"""Label channels by simulation: fits at two sizes, labels as they are drawn, and message passing step by step."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, kstest

from simulate.core import Estimate, extrapolate, stream
from simulate.glm import FitError, fit, measure, message_passing
from simulate.glm.channel_labels import draw_labels, draw_noise, mean_error
from tests.glm.test_label_channels import HUBER, LAPLACE, ORDINAL, clusters_together, problem
from theory import glm
from theory.glm.averages import loss_and_error
from theory.glm.equations import Equations
from theory.glm.field import Field
from theory.glm.losses import LOSSES
from theory.glm.overlaps import Overlaps
from theory.models import Cluster, Flips, GeneralizedLinearModel, LabelChannel, Logit, Modes, Poisson, Probit

WINDOW = LabelChannel(lambda y, nu: np.where((abs(nu - 0.3) < 0.8) == (y > 0), 0.85, 0.15))
MODELS = {
    "logistic teacher": problem(Logit(0.5), 1.0, 0.1),
    "logistic teacher on two levels": problem(Logit(1.0), 2.0, 0.1, two_levels=True),
    "probit teacher": problem(Probit(0.5), 1.5, 0.1),
    "flips": problem(Flips(0.05, 0.25), 3.0, 0.3, bias=True),
    "counts": problem(Poisson(), 3.0, 0.1, "poisson", 0.5),
    "Laplace noise": problem(LAPLACE, 2.0, 0.3, "square", bias=True, teacher_mean=0.3),
    "Laplace noise and Huber loss": problem(LAPLACE, 2.0, 0.1, HUBER),
    "a function": problem(WINDOW, 3.0, 0.3, bias=True),
    "three counts": problem(ORDINAL, 2.0, 0.5, "poisson", bias=True),
    "clusters of signs": clusters_together((Logit(0.4), Flips(0.1, 0.2)), "logistic"),
    "clusters of counts": clusters_together((Poisson(), Poisson()), "poisson", 0.15),
    "clusters of real labels": clusters_together((LAPLACE, "linear"), "square"),
}  # fmt: skip
RESOLVED = {"counts": 0.3, "three counts": 0.12, "clusters of counts": 0.3}


SLOW = ("Laplace noise and Huber loss", "a function", "three counts", "clusters of counts", "probit teacher")


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow if one in SLOW else ()) for one in MODELS])
def test_fits_at_two_sizes(name, agrees):
    """Corrections of order 1/p are removed by the second size; the test error and the norm of the weights agree."""
    model, small = MODELS[name], 60
    point = glm.solve(model)
    measured = [[measure(model, p, stream(0, name, p, r)) for r in range(48)] for p in (small, 2 * small)]
    for number, wanted in (("test_error", point.test_error), ("squared_norm", float(point.squared_norm[0]))):
        sizes = [Estimate.of([float(np.ravel(getattr(one, number))[0]) for one in some]) for some in measured]
        resolves = RESOLVED.get(name, 0.2 if number == "squared_norm" else 0.12)
        agrees(sizes[1], wanted, resolves=resolves, bias=0.0)
        agrees(extrapolate(sizes[0], sizes[1]), wanted, resolves=3 * resolves)


def steps_of_theory(model, steps):
    """The undamped map of the equations from V = 1 and weights zero: (steps, numbers)."""
    update, modes = Equations(model), model.modes
    at = Overlaps(np.ones(modes.n_covariances), np.full(modes.n_covariances, 1e-30), np.zeros(modes.n_signals))
    path = []
    for _ in range(steps):
        at = update.image(at)
        path.append(np.concatenate((at.V, at.q, at.r, update.bias)))
    return np.array(path)


def test_the_map_from_zero_is_as_stored():
    found = steps_of_theory(problem(Logit(1.0), 2.0, 0.1), 60)
    for step, values in {
        1: (2.051827, 1.816892, 0.680115),
        2: (2.761702, 2.634692, 0.804624),
        4: (3.209559, 2.956224, 0.83373),
        8: (3.270466, 2.94409, 0.83122),
    }.items():
        assert found[step - 1, :3] == pytest.approx(values, abs=6e-7)
    assert found[59, :3] == pytest.approx((3.27012089, 2.94189694, 0.83100321), abs=6e-9)


def followed(model, stream_of, sets=16):
    """Assert that `sets` runs follow the map within 4.5 standard errors after 1, 2 and 6 steps.

    Return the map and the errors, (steps, numbers). `stream_of` gives the generator of each set.
    """
    steps = 6
    wanted = steps_of_theory(model, steps)
    runs = [message_passing(model, 400, stream_of(r), steps=steps) for r in range(sets)]
    found = np.array([np.concatenate((run.V, run.q, run.r, run.bias[:, None]), axis=1) for run in runs])
    error = found.std(axis=0, ddof=1) / math.sqrt(sets)
    for step in (0, 1, 5):
        gap = abs(found.mean(axis=0) - wanted)[step]
        assert np.all(gap <= 4.5 * error[step] + 1e-9), (step, gap / error[step])
    return wanted, error


@pytest.mark.parametrize("name", MODELS)
def test_message_passing_follows_the_map(name):
    """With p = 400 each set fluctuates by some percent, so that a map that is wrong by as much would show."""
    model = MODELS[name]
    wanted, error = followed(model, lambda r: stream(0, "steps", name, r))
    size = abs(wanted[-1, : 2 * model.modes.n_covariances])
    assert np.all(error[-1, : len(size)] < 0.06 * size)


def test_message_passing_ends_at_the_minimum():
    """The weights solve the ridge problem of the drawn samples, whatever the theory says."""
    model = problem(Logit(1.0), 2.0, 0.1)
    found = message_passing(model, 300, stream(0, "minimum"), steps=60)
    assert found.converged
    wanted = measure(model, 300, stream(0, "minimum"))  # the same samples
    assert np.mean(found.weights**2) == pytest.approx(float(wanted.squared_norm[0]), rel=1e-5)
    point = glm.solve(model)
    assert found.q[-1, 0] == pytest.approx(float(point.q[0]), rel=0.15)


def test_message_passing_takes_another_step_of_weights():
    """Soft thresholds make a lasso: weights of a ridge where the threshold is zero, fewer where it is not."""

    def soft(threshold):
        def step(A, B):
            active = abs(B) > threshold
            return np.sign(B) * np.maximum(abs(B) - threshold, 0) / (A + 0.1), active / (A + 0.1)

        return step

    model = problem("linear", 2.0, 0.1, "square")
    ridge = message_passing(model, 200, stream(0, "step"), steps=30)
    same = message_passing(model, 200, stream(0, "step"), steps=30, weight_step=soft(0.0))
    fewer = message_passing(model, 200, stream(0, "step"), steps=30, weight_step=soft(0.5))
    np.testing.assert_allclose(same.weights, ridge.weights)
    assert np.mean(fewer.weights == 0) > 0.2
    assert fewer.converged


def test_labels_are_drawn_as_the_channel_says():
    rng, n = stream(0, "labels"), 20_000
    for nu in (-0.7, 0.4):
        fields = np.full(n, nu)
        for channel in (Logit(0.4), Probit(0.3), Probit(0.0), Flips(0.1, 0.3), WINDOW, ORDINAL, Poisson()):
            y = draw_labels(channel, fields, 0.0, rng)
            for value in channel.values or (0, 1, 2, 3):
                wanted = float(channel.probability(value, np.array([nu]))[0])
                assert binomtest(int(np.sum(y == value)), n, wanted).pvalue > 1e-5
    signs = draw_labels(Flips(0.1, 0.3), np.full(n, 0.4), 0.25, rng)  # flips of the sign of a noisy field
    plus = Probit(0.25).probability(1, np.array([0.4]))[0]
    assert binomtest(int(np.sum(signs > 0)), n, 0.9 * plus + 0.3 * (1 - plus)).pvalue > 1e-5


def test_noise_is_drawn_from_its_density():
    e = draw_noise(LAPLACE, 20_000, stream(0, "noise"))
    assert kstest(e, lambda x: np.where(x < 0, np.exp(2 * np.minimum(x, 0)) / 2, 1 - np.exp(-2 * x) / 2)).pvalue > 1e-4


@pytest.mark.parametrize("labels", [Logit(0.3), WINDOW, ORDINAL, Poisson()])
@pytest.mark.parametrize("loss", ["square", "poisson"])
def test_errors_for_given_weights_by_two_routes(labels, loss):
    """The simulation averages over nu first, the theory over h first."""
    if loss == "poisson" and labels.kind == "signs":
        pytest.skip("signs are no counts")
    cluster = Cluster(labels=labels, teacher_signal=0, teacher_variance=0.5, teacher_mean=0.2)
    wanted = loss_and_error(cluster, LOSSES[loss], Field(1.0, 0.8, 0.1, 0.4))[1]
    assert mean_error(labels, 0.1, 0.8, 0.2, 0.5, 0.4, loss == "poisson") == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("n", "p"), [(40, 10), (15, 30)])
def test_the_poisson_fit_has_the_least_risk(n, p, bias):
    rng = stream(0, "poisson fit", n, bias)
    X, weights = rng.standard_normal((n, p)), rng.uniform(0.5, 2, n)
    y = rng.poisson(np.exp(X[:, 0])).astype(float)
    found = fit(X, y, "poisson", 0.3, bias=bias, sample_weights=weights)

    def risk(x):
        h = X @ x[:p] / math.sqrt(p) + (x[p] if bias else 0.0)
        pull = weights * (np.exp(h) - y)
        return (
            weights @ (np.exp(h) - y * h) + 0.15 * x[:p] @ x[:p],
            np.append(X.T @ pull / math.sqrt(p) + 0.3 * x[:p], [pull.sum()] if bias else []),
        )

    solved = minimize(risk, np.zeros(p + bias), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    assert found.weights[0] == pytest.approx(solved.x[:p], abs=1e-6)
    assert found.converged
    assert found.residual < 1e-9
    assert found.train_loss == pytest.approx((solved.fun - 0.15 * solved.x[:p] @ solved.x[:p]) / n, rel=1e-7)


def test_what_cannot_be_fitted_or_passed_is_refused():
    X = stream(0, "refused").standard_normal((12, 3))
    with pytest.raises(ValueError, match=r"y must be counts 0, 1, 2, ... for loss='poisson', got -1"):
        fit(X, np.where(X[:, 0] > 0, 1.0, -1.0), "poisson", 0.1)
    with pytest.raises(ValueError, match=r"y must be counts .* got 0.5"):
        fit(X, np.full(12, 0.5), "poisson", 0.1)
    with pytest.raises(ValueError, match="y must have a count above 0"):
        fit(X, np.zeros(12), "poisson", 0.1, bias=True)
    with pytest.raises(FitError):
        fit(1e8 * X, np.full(12, 1e9), "poisson", 1e-300)
    coupled = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0], [1.0]]),
        clusters=[Cluster(labels="random", covariance=c, learner=c, probability=0.5) for c in (0, 1)],
        alpha=1.0,
        loss="square",
        lam=0.1,
        n_learners=2,
    )
    with pytest.raises(ValueError, match="problem must have one learner and commuting modes"):
        message_passing(coupled, 20, stream(0, "refused"))
