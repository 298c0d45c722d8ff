"""Message passing towards the posterior mean follows the equations of the Bayes point, from both starts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.glm import posterior_message_passing
from simulate.glm.posterior_passing import _Prior, _scores
from tests.glm.test_label_channels import LAPLACE, ORDINAL, problem
from tests.glm.test_label_channels_simulation import WINDOW
from theory import glm
from theory.glm.bayes_optimal_signal import _Equation
from theory.models import (
    BernoulliGauss,
    Cluster,
    Flips,
    GeneralizedLinearModel,
    LabelChannel,
    Logit,
    Modes,
    Poisson,
    Probit,
)

SPARSE = BernoulliGauss(0.25)
THREE = [-1.5, 0.0, 1.0]  # as often as their weights say: of mean 0


def law_of(labels, alpha, signals, **options):
    return replace(problem(labels, alpha, 0.1, "square", **options), signals=signals)


def three_values(labels, alpha, noise=0.0):
    """Entries -3/2, 0 and 1 for inputs of variance 1, of which the rule knows the shares .2, .5 and .3."""
    weights, values = np.array([0.2, 0.5, 0.3]), np.array(THREE)
    cluster = Cluster(labels=labels, teacher_signal=0, teacher_variance=float(weights @ values**2), noise=noise)
    modes = Modes(weights, np.ones((1, 3)), (weights * values**2)[None, None])
    return GeneralizedLinearModel(
        modes=modes, clusters=[cluster], alpha=alpha, loss="square", lam=0.1, signals=values[None]
    )


MODELS = {
    "logistic, sparse": law_of(Logit(0.3), 2.0, SPARSE),
    "logistic, signs": law_of(Logit(0.3), 1.5, "signs"),
    "logistic, given": three_values(Logit(0.3), 2.0),
    "probit, sparse on two levels": law_of(Probit(0.2), 2.0, SPARSE, two_levels=True),
    "flips, signs": law_of(Flips(0.1, 0.2), 1.5, "signs", teacher_mean=0.3),
    "counts, sparse": law_of(Poisson(), 2.0, SPARSE, variance=0.5),
    "counts, signs": law_of(Poisson(), 1.0, "signs", variance=0.3),
    "Laplace noise, signs": law_of(LAPLACE, 1.0, "signs"),
    "Laplace noise, sparse": law_of(LAPLACE, 2.0, SPARSE),
    "a window, normal": law_of(WINDOW, 6.0, "gaussian"),
    "ordinal, sparse": law_of(ORDINAL, 2.0, SPARSE),
    "linear, sparse": law_of("linear", 1.0, SPARSE, noise=0.1),
    "linear, given": three_values("linear", 1.0, 0.1),
}
SETS = 24
WIDER = {"linear, sparse": 2.5, "linear, given": 2.5, "a window, normal": 1.5}  # what is left of these fluctuates more


def but_slow(*quick):
    """All models, of which only some are tried in each run of the suite."""
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in quick)) for name in MODELS]


@pytest.mark.parametrize("name", but_slow("counts, sparse"))
def test_it_ends_at_the_bayes_point(name, agrees):
    """At two sizes: what is unknown, what is known, and the error on fresh samples."""
    model, wider = MODELS[name], WIDER.get(name, 1.0)
    point = glm.bayes_optimal_signal(model).uninformed
    runs = [
        [posterior_message_passing(model, p, stream(0, "posterior", name, p, r)) for r in range(SETS)]
        for p in (150, 300)
    ]
    small, large = (Estimate.of([run.V[-1] for run in some]) for some in runs)
    agrees(large, point.V, resolves=0.3 * wider)
    agrees(extrapolate(small, large), point.V, resolves=0.9 * wider)
    agrees(Estimate.of([run.test_error for run in runs[1]]), point.test_error, resolves=0.15 * wider)
    agrees(Estimate.of([run.r[-1] for run in runs[1]]), point.q, resolves=0.3)


@pytest.mark.parametrize("name", but_slow("logistic, signs", "linear, given"))
def test_it_follows_the_map(name):
    """With p = 400 each set fluctuates by some percent, so that a map that is wrong by as much would show."""
    model, sets = MODELS[name], 16
    equation = _Equation.of(model)
    V, wanted = equation.unknown, []
    for _ in range(6):
        V = equation.averages(equation.qhat(V))[0]
        wanted.append(V)
    runs = [posterior_message_passing(model, 400, stream(0, "map", name, r, 1), steps=6).V for r in range(sets)]
    error = np.std(runs, axis=0, ddof=1) / math.sqrt(sets)
    gap = abs(np.mean(runs, axis=0) - wanted)[[0, 1, 5]]
    assert np.all(gap <= 4.5 * error[[0, 1, 5]])
    assert np.all(error < 0.06 * np.array(wanted))


@pytest.mark.slow
def test_both_starts_end_at_their_points(agrees):
    """In the hard phase of binary weights who begins at the teacher stays there, and who knows nothing is led away."""
    model = law_of(Flips(0.05, 0.05), 2.0, "signs", noise=0.003)
    found = glm.bayes_optimal_signal(model)
    assert len(found.points) == 2
    assert found.informed.V < 1e-3 < 0.2 < found.uninformed.V
    for start, point in (("uninformed", found.uninformed), ("informed", found.informed)):
        runs = [posterior_message_passing(model, 600, stream(0, "hard", start, r, 1), start=start) for r in range(14)]
        agrees(Estimate.of([run.r[-1] for run in runs]), point.q, resolves=0.25)
        agrees(Estimate.of([run.test_error for run in runs]), point.test_error, resolves=0.35)


def test_scores_are_those_of_a_sum():
    """Signs in closed form against the grid, through a channel that is the same law written as a function."""
    y, center = np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.3, 0.8, -1.1, -0.2])
    shifts = np.array([-0.05, 0.0, 0.02, 0.04])
    probit = Cluster(labels=Probit(0.3), teacher_signal=0)
    table = Cluster(labels=LabelChannel(Probit(0.3).probability), teacher_signal=0)
    flips, written = (
        Cluster(labels=law, teacher_signal=0, noise=noise)
        for law, noise in (
            (Flips(0.1, 0.2), 0.3),
            (LabelChannel(lambda y, nu: 0.15 + 0.05 * y + 0.7 * Probit(0.3).probability(y, nu)), 0.0),
        )
    )
    for closed, summed in ((probit, table), (flips, written)):
        pairs = zip(*(_scores(one, y, center, 0.5, shifts) for one in (closed, summed)), strict=True)
        assert all(first == pytest.approx(second, rel=1e-9) for first, second in pairs)


@pytest.mark.parametrize("name", ["logistic, sparse", "logistic, given", "logistic, signs"])
def test_posteriors_of_entries_by_a_sum(name):
    """Mean and variance of an entry by Bayes' rule on a fine grid, where zeros are narrow normal numbers."""
    prior = _Prior.of(MODELS[name], np.ones(10))
    A, B = np.full(10, 2.0), np.linspace(-3, 3, 10)
    mean, var = prior.posterior(A, B)
    x = np.linspace(-12, 12, 480_001)
    narrow = 2e-4
    masses = {
        "logistic, sparse": [(0.75, 0.0, narrow), (0.25, 0.0, 2.0)],
        "logistic, given": [(0.2, -1.5, narrow), (0.5, 0.0, narrow), (0.3, 1.0, narrow)],
        "logistic, signs": [(0.5, 1.0, narrow), (0.5, -1.0, narrow)],
    }[name]
    density = sum(w / s * np.exp(-0.5 * ((x - m) / s) ** 2) for w, m, s in masses)
    for k in range(10):
        weights = density * np.exp(B[k] * x - 0.5 * A[k] * x * x)
        weights /= weights.sum()
        assert mean[k] == pytest.approx(weights @ x, abs=1e-6)
        assert var[k] == pytest.approx(weights @ x**2 - (weights @ x) ** 2, abs=1e-6)


def test_what_it_does_not_serve_is_refused():
    rng, model = stream(0), MODELS["logistic, signs"]
    with pytest.raises(ValueError, match="give signals, got None"):
        posterior_message_passing(replace(model, signals=None), 20, rng)
    random = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]]), clusters=[Cluster(labels="random")], alpha=1.0, loss="square", lam=0.1
    )
    half = replace(model.clusters[0], probability=0.5)
    with pytest.raises(ValueError, match="a teacher of the labels"):
        posterior_message_passing(random, 20, rng)
    with pytest.raises(ValueError, match="one cluster"):
        posterior_message_passing(replace(model, clusters=[half, half]), 20, rng)
    with pytest.raises(ValueError, match="start must be"):
        posterior_message_passing(model, 20, rng, start="hot")
