"""The least error for teachers of any law through any channel: two codes, other arithmetic, symmetries, both starts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tests.glm.test_label_channels import LAPLACE, ORDINAL
from tests.glm.test_label_channels_simulation import WINDOW
from tests.glm.test_posterior_passing import SPARSE, law_of, three_values
from theory import glm
from theory.glm.label_information import least_loss
from theory.glm.scalar_posterior import Entry, knowledge
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
from theory.numerics import ConvergenceError

OUTER = LabelChannel(lambda y, nu: np.where((abs(nu) > 0.7) == (y > 0), 0.95, 0.05))  # sees only the size of a field
CHANNELS = {
    "sign": ("sign", {"noise": 0.2, "teacher_mean": 0.2}),
    "linear": ("linear", {"noise": 0.2}),
    "logit": (Logit(0.4), {"two_levels": True}),
    "probit": (Probit(0.5), {"teacher_mean": -0.3}),
    "flips": (Flips(0.05, 0.2), {}),
    "counts": (Poisson(), {"variance": 0.3}),
    "laplace": (LAPLACE, {"two_levels": True}),
    "ordinal": (ORDINAL, {"teacher_mean": 0.3}),
    "window": (WINDOW, {}),
    "outer": (OUTER, {}),
}


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("alpha", [0.3, *(pytest.param(one, marks=pytest.mark.slow) for one in (3.0, 12.0))])
def test_normal_entries_have_the_point_of_the_general_code(name, alpha):
    """That one searches in log odds from below and above; this one finds the roots of one function."""
    labels, options = CHANNELS[name]
    model = law_of(labels, alpha, "gaussian", **options)
    if name == "sign":  # of which the inputs do not see all
        model = replace(model, clusters=[replace(model.clusters[0], teacher_variance=1.4)])
    found, wanted = glm.bayes_optimal_signal(model), glm.bayes_optimal(model)
    (point,) = found.points
    assert pytest.approx(float(wanted.V[0]), rel=1e-11) == point.V
    assert point.q == pytest.approx(float(wanted.q[0]), rel=1e-11, abs=1e-13)
    assert point.test_error == pytest.approx(wanted.test_error, rel=1e-11)
    assert point.replicon == pytest.approx(wanted.replicon, abs=1e-10)
    assert point.residual < 1e-12
    assert 0 < point.replicon <= 1


def by_hermite(alpha, likelihoods, posterior_error, power):
    """Solve V = mmse(alpha E g^2) by iteration, with Gauss-Hermite sums over the known mean and the unknown rest."""
    z, weights = np.polynomial.hermite_e.hermegauss(100)
    weights = weights / weights.sum()
    V = power
    for _ in range(150):
        qhat = 0.0
        for likelihood in likelihoods:
            P = likelihood(math.sqrt(power - V) * z[:, None] + math.sqrt(V) * z)
            Z, D = P @ weights, P @ (weights * z) / math.sqrt(V)
            qhat += alpha * weights @ (D**2 / np.maximum(Z, 1e-300))
        V = posterior_error(qhat)
    return V


def sparse_error(share, variance):
    """Return the mean posterior variance of a Bernoulli-Gauss entry as its power less that of the posterior mean."""

    def error(A):
        y = np.linspace(-14, 14, 20001) * math.sqrt(A + A * A * variance)
        both = [s * np.exp(-y * y / (2 * v)) / math.sqrt(2 * math.pi * v)
                for s, v in ((1 - share, A), (share, A + A * A * variance))]  # fmt: skip
        mean = both[1] / (both[0] + both[1]) * variance * y / (1 + A * variance)
        return share * variance - (y[1] - y[0]) * np.sum((both[0] + both[1]) * mean**2)

    return error


def sign_error(A):
    z = np.linspace(-12, 12, 20001)
    left = 1 - np.tanh(A + math.sqrt(A) * z)
    return (z[1] - z[0]) * np.sum(np.exp(-z * z / 2) * left) / math.sqrt(2 * math.pi)


def test_a_logistic_teacher_of_sparse_entries_by_other_sums():
    both = [lambda nu, y=y: expit(y * nu / 0.5) for y in (1, -1)]
    V = by_hermite(2.0, both, sparse_error(0.25, 4.0), 1.0)
    assert pytest.approx(V, rel=1e-8) == glm.bayes_optimal_signal(law_of(Logit(0.5), 2.0, SPARSE)).optimal.V


def test_counts_of_binary_entries_by_other_sums():
    counts = [lambda nu, y=y: np.exp(y * nu - np.exp(nu) - math.lgamma(y + 1)) for y in range(40)]
    size = math.sqrt(0.3)
    V = by_hermite(1.0, counts, lambda A: 0.3 * sign_error(0.3 * A), size**2)
    found = glm.bayes_optimal_signal(law_of(Poisson(), 1.0, "signs", variance=0.3))
    assert pytest.approx(V, rel=1e-8) == found.optimal.V


@pytest.mark.parametrize("labels", [Logit(0.3), LAPLACE, Flips(0.1, 0.1)])
def test_given_entries_of_two_values_are_signs(labels):
    signs = law_of(labels, 0.8, "signs")
    modes = Modes([0.5, 0.5], [[1.0, 1.0]], [[[0.5, 0.5]]])
    entries = replace(signs, modes=modes, signals=[[1.0, -1.0]])
    found, wanted = glm.bayes_optimal_signal(entries), glm.bayes_optimal_signal(signs)
    assert len(found.points) == len(wanted.points)
    for one, other in zip(found.points, wanted.points, strict=True):
        assert (one.V, one.information) == pytest.approx((other.V, other.information), rel=1e-10)


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=6, unique=True), st.floats(0.01, 60))
@settings(max_examples=15)
def test_an_entry_of_some_values_by_a_fine_sum(values, A):
    mu, shares = np.array(values), np.arange(1.0, len(values) + 1)
    shares /= shares.sum()
    found = knowledge(Entry(shares, mu, 0 * mu), A)
    y = np.linspace(A * mu.min() - 14 * math.sqrt(A), A * mu.max() + 14 * math.sqrt(A), 60_001)
    joint = shares[:, None] * np.exp(-((y - A * mu[:, None]) ** 2) / (2 * A)) / math.sqrt(2 * math.pi * A)
    density = joint.sum(axis=0)
    seen = density > 1e-280
    mean = np.divide(mu @ joint, density, out=np.zeros_like(y), where=seen)
    left = np.divide(mu**2 @ joint, density, out=np.zeros_like(y), where=seen) - mean**2
    step = y[1] - y[0]
    assert found.variance == pytest.approx(step * np.sum(density * left), rel=1e-7, abs=1e-10)
    assert found.squared_variance == pytest.approx(step * np.sum(density * left**2), rel=1e-7, abs=1e-10)
    entropy = -step * np.sum(density[seen] * np.log(density[seen]))
    assert found.information == pytest.approx(entropy - 0.5 * math.log(2 * math.pi * math.e * A), abs=1e-8)


def test_values_with_a_mean_are_half_known_at_once():
    """Entries 0 or 2: the mean of one is known, and what is left are signs."""
    labels = Logit(0.4)
    modes = Modes([0.5, 0.5], [[1.0, 1.0]], [[[2.0, 0.0]]])
    cluster = Cluster(labels=labels, teacher_signal=0, teacher_variance=2.0)
    model = GeneralizedLinearModel(
        modes=modes, clusters=[cluster], alpha=1e-9, loss="logistic", lam=1, signals=[[2, 0]]
    )
    nothing = glm.bayes_optimal_signal(model).optimal
    assert (nothing.V, nothing.q) == pytest.approx((1.0, 1.0), rel=1e-8)
    more = glm.bayes_optimal_signal(replace(model, alpha=1.0)).optimal
    assert 1 < more.q < 2
    assert more.information > 0


@pytest.mark.slow
def test_many_values_of_the_normal_law_are_nearly_normal():
    z, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    cluster = Cluster(labels=Logit(0.4), teacher_signal=0)
    modes = Modes(weights, np.ones((1, 40)), (weights * z**2)[None, None])
    model = GeneralizedLinearModel(
        modes=modes, clusters=[cluster], alpha=2.0, loss="logistic", lam=1.0, signals=z[None]
    )
    wanted = glm.bayes_optimal_signal(law_of(Logit(0.4), 2.0, "gaussian"))
    assert glm.bayes_optimal_signal(model).test_error == pytest.approx(wanted.test_error, rel=1e-6)


@pytest.mark.parametrize(
    "signals", ["signs", *(pytest.param(one, marks=pytest.mark.slow) for one in ("gaussian", BernoulliGauss(0.2)))]
)
def test_labels_that_see_the_size_of_a_field_tell_nothing_up_to_a_threshold(signals):
    """Nothing is known where a little knowledge does not grow, and there is no other first solution beyond."""
    growth = 1 - glm.bayes_optimal_signal(law_of(OUTER, 0.1, signals)).uninformed.replicon
    threshold = 0.1 / growth  # the squared variance of an entry of mean zero is the same in all three laws
    below, above = (glm.bayes_optimal_signal(law_of(OUTER, f * threshold, signals)) for f in (0.97, 1.03))
    assert below.uninformed.q == pytest.approx(0.0, abs=1e-12)
    assert below.uninformed.replicon == pytest.approx(0.03, abs=1e-6)
    assert above.uninformed.q > 1e-3


@pytest.mark.parametrize(
    "model", [law_of(Logit(0.3), 0.9, SPARSE), law_of(LAPLACE, 0.7, "signs"), three_values(ORDINAL, 0.8)]
)
def test_information_is_mutual_and_grows_as_labels_tell(model):
    """It lies between zero and what labels tell of their fields, and grows with samples by what one more tells."""
    step = 1e-4
    above, at, below = (
        glm.bayes_optimal_signal(replace(model, alpha=model.alpha + s * step)).uninformed for s in (1, 0, -1)
    )
    cluster, total = model.clusters[0], model.clusters[0].teacher_variance
    told = least_loss(cluster, at.q, at.V) - least_loss(cluster, total, 0.0)
    assert (above.information - below.information) / (2 * step) == pytest.approx(told, rel=1e-5)
    assert 0 < at.information < model.alpha * (least_loss(cluster, 0.0, total) - least_loss(cluster, total, 0.0))


def test_the_hard_phase_of_flipped_signs():
    """Between the two ends of coexistence there are two points, and the informed one wins from some alpha on."""
    found = {
        alpha: glm.bayes_optimal_signal(law_of(Flips(0.02, 0.02), alpha, "signs")) for alpha in (1.3, 1.5, 1.7, 2.2)
    }
    assert [len(one.points) for one in found.values()] == [2, 2, 2, 1]
    assert [one.hard for one in found.values()] == [False, True, True, False]
    assert found[1.3].informed.V < 1e-9
    assert found[1.3].informed.test_error == pytest.approx(0.02, abs=1e-9)
    assert found[1.3].informed.information == pytest.approx(math.log(2), rel=1e-6)
    assert all(point.replicon > 0 for one in found.values() for point in one.points)


def test_what_is_not_resolved_is_not_returned():
    """With a million samples of a weight less is unknown of the field than tables of a jump hold."""
    with pytest.raises(ConvergenceError, match="take a less extreme alpha or noise"):
        glm.bayes_optimal_signal(law_of(WINDOW, 1e6, "gaussian"))
    smooth = glm.bayes_optimal_signal(law_of(Logit(0.3), 1e8, "gaussian")).optimal
    z, weights = np.polynomial.hermite_e.hermegauss(300)
    P = expit(z / 0.3)
    fisher = weights @ (P * (1 - P)) / weights.sum() / 0.3**2
    assert smooth.V * 1e8 * fisher == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (replace(three_values(Logit(), 1.0), signals=None), "got None"),
        (
            GeneralizedLinearModel(
                modes=Modes([0.5, 0.5], [[1.0, 2.0]], [[[0.5, 2.0]]]),
                clusters=[Cluster(labels=Logit(), teacher_signal=0, teacher_variance=1.5)],
                alpha=1.0,
                loss="logistic",
                lam=1.0,
                signals=[[1.0, 2.0]],
            ),
            "entries that their input variances tell",
        ),
        (
            GeneralizedLinearModel(
                modes=Modes(np.full(65, 1 / 65), np.ones((1, 65)), (np.arange(65.0) ** 2 / 65)[None, None]),
                clusters=[Cluster(labels=Logit(), teacher_signal=0, teacher_variance=64 * 129 / 6)],
                alpha=1.0,
                loss="logistic",
                lam=1.0,
                signals=np.arange(65.0)[None],
            ),
            "at most 64 values",
        ),
        (
            replace(law_of(Logit(), 1.0, "signs"), clusters=[Cluster(labels=Logit(), teacher_signal=0, mean_signal=0)]),
            "without a mean_signal",
        ),
    ],
)
def test_models_of_other_kinds_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        glm.bayes_optimal_signal(model)
