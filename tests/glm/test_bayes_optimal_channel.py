"""The Bayes-optimal point of label channels: stored values, older functions as its cases, a sampled posterior."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from simulate.core import Estimate, stream
from tests.glm.test_label_channels import LAPLACE, LEVELS, ORDINAL, POWERS, SHARES, clusters_together, problem
from theory import glm
from theory.models import (
    AR1,
    Additive,
    Cluster,
    DenseModes,
    Flips,
    GeneralizedLinearModel,
    LabelChannel,
    Logit,
    Modes,
    Poisson,
    Probit,
    RandomLabels,
)

# Overlap and least error, by equations in q that were iterated elsewhere.
STORED = {
    "T 1": (problem(Logit(1.0), 2.0, 0.1), 0.2634363535, 0.4142134210),
    "T .5": (problem(Logit(0.5), 1.0, 0.1), 0.2914173157, 0.3653969988),
    "T .3": (problem(Logit(0.3), 3.0, 0.1), 0.7049781117, 0.2328244861),
    "two levels": (problem(Logit(1.0), 2.0, 0.1, two_levels=True), 0.0685685916, 0.4523239628),
    "probit on two levels": (problem(Probit(0.5), 2.0, 0.1, two_levels=True), 0.1780843818, 0.3566563665),
    "counts": (problem(Poisson(), 3.0, 0.1, "poisson", 0.5), 0.2929786515, None),
}


@pytest.mark.parametrize("name", STORED)
def test_stored_values(name):
    model, q, error = STORED[name]
    found = glm.bayes_optimal(model)
    assert found.q[0] == pytest.approx(q, abs=6e-11)
    if error is not None:
        assert found.test_error == pytest.approx(error, abs=6e-11)
    assert found.converged
    assert 0 < found.replicon < 1
    informed = glm.bayes_optimal(model, "informed")
    assert informed.q == pytest.approx(found.q, rel=1e-9)


@given(st.floats(0.1, 20), st.floats(0.01, 5))
@settings(max_examples=10)
def test_older_functions_are_its_cases(alpha, noise):
    for labels, older, loss in (
        ("sign", glm.bayes_optimal_sign, "hinge"),
        ("linear", glm.bayes_optimal_linear, "square"),
    ):
        found, wanted = glm.bayes_optimal(problem(labels, alpha, 0.1, loss, noise=noise)), older(alpha, noise)
        assert found.q[0] == pytest.approx(wanted.q, rel=1e-9)
        assert found.test_error == pytest.approx(wanted.test_error, rel=1e-9)
        assert found.replicon == pytest.approx(wanted.replicon, rel=1e-6)


def test_other_routes_to_the_same_channel():
    probit, gauss = Probit(0.5), Additive(lambda e: np.exp(-(e**2)) / math.sqrt(math.pi))
    for first, second, loss in (
        (problem(probit, 2.0, 0.1), problem(LabelChannel(probit.probability), 2.0, 0.1), "logistic"),
        (problem(gauss, 2.0, 0.1, "square"), problem("linear", 2.0, 0.1, "square", noise=0.5), "square"),
        (problem(Flips(), 2.0, 0.1), problem("sign", 2.0, 0.1), "logistic"),
    ):
        found, wanted = (glm.bayes_optimal(replace(one, loss=loss)) for one in (first, second))
        assert found.q == pytest.approx(wanted.q, rel=1e-9)
        assert (found.test_error, found.test_loss) == pytest.approx((wanted.test_error, wanted.test_loss), rel=1e-9)


@pytest.mark.parametrize(
    ("labels", "loss", "lams"),
    [
        (Logit(0.3), "logistic", (0.05, 0.1261088, 0.4)),
        (Flips(0.1, 0.2), "logistic", (0.1, 0.5, 2.0)),
        (LAPLACE, "square", (0.2, 0.5, 1.0)),
        (ORDINAL, "square", (0.3, 1.0, 3.0)),
    ],
)
def test_no_trained_rule_is_better(labels, loss, lams):
    least = glm.bayes_optimal(problem(labels, 3.0, 0.1, loss))
    errors = [glm.solve(problem(labels, 3.0, lam, loss, bias=True)).test_error for lam in lams]
    assert least.test_error < min(errors) < 1.1 * least.test_error
    if labels == Logit(0.3):
        assert min(errors) == pytest.approx(0.2328258557, abs=1e-9)  # at the best ridge, .1 millionth above Bayes


def test_several_teachers_learn_from_each_other():
    """Independent teachers are problems of their own; one teacher seen by two clusters is one with all samples."""
    laws = (Logit(0.4), Flips(0.1, 0.2))
    modes = Modes([1.0], [[1.0], [1.0]], np.eye(2)[:, :, None])
    own = zip((0.3, 0.7), laws, (0, 1), strict=True)
    clusters = [Cluster(probability=p, labels=law, covariance=k, teacher_signal=k) for p, law, k in own]
    both = GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=2.0, loss="logistic", lam=0.1)
    alone = [glm.bayes_optimal(problem(law, 2.0 * p, 0.1)) for p, law in zip((0.3, 0.7), laws, strict=True)]
    found = glm.bayes_optimal(both)
    assert found.q == pytest.approx([float(one.q[0]) for one in alone], rel=1e-10)
    modes = Modes([1.0], [[1.0], [1.0]], np.ones((2, 2, 1)))
    same = replace(both, modes=modes, clusters=[replace(one, labels=Logit(0.4)) for one in clusters])
    together = glm.bayes_optimal(same)
    assert together.q == pytest.approx(np.full(2, glm.bayes_optimal(problem(Logit(0.4), 2.0, 0.1)).q[0]), rel=1e-10)
    dependent = glm.bayes_optimal(clusters_together(laws, "logistic"))
    assert np.all(dependent.replicon < 1)
    assert dependent.test_error < glm.solve(clusters_together(laws, "logistic")).test_error


def posterior_overlaps(p, alpha, rng, sweeps=400, dropped=100):
    """Sample a probit teacher on two levels by Gibbs steps of latent fields (Albert and Chib); no formula is shared."""
    om, s2 = (np.repeat(values, np.round(SHARES * p).astype(int)) for values in (LEVELS, POWERS))
    n, theta = round(alpha * p), np.sqrt(s2) * rng.standard_normal(p)
    X = rng.standard_normal((n, p)) * np.sqrt(om / p)
    y = np.where(X @ theta + math.sqrt(0.5) * rng.standard_normal(n) >= 0, 1.0, -1.0)
    covariance = np.linalg.inv(X.T @ X / 0.5 + np.diag(1 / s2))
    root, mean, now = np.linalg.cholesky(covariance), np.zeros(p), np.zeros(p)
    gain = covariance @ X.T / 0.5
    for sweep in range(sweeps):
        center = X @ now / math.sqrt(0.5)
        u = rng.random(n) * ndtr(y * center)  # of the normal law right of zero, mirrored for y = -1
        latent = center - y * ndtri(np.clip(u, 1e-300, 1.0))
        now = gain @ (latent * math.sqrt(0.5)) + root @ rng.standard_normal(p)
        if sweep >= dropped:
            mean += gain @ (latent * math.sqrt(0.5)) / (sweeps - dropped)
    return float(mean * om @ theta / p), float(mean * om @ mean / p)


def test_a_sampled_posterior_has_the_overlap(agrees):
    model, q, _ = STORED["probit on two levels"]
    found = np.array([posterior_overlaps(100, model.alpha, stream(0, "posterior", r)) for r in range(48)])
    agrees(Estimate.of(found[:, 0].tolist()), q, resolves=0.25)
    agrees(Estimate.of(found[:, 1].tolist()), q, resolves=0.15)


def test_an_even_channel_hides_its_teacher():
    """Labels that see only |nu| leave q = 0 as a solution, which is stable up to alpha = 1/sum_y Z_y''^2/Z_y."""
    cut = 0.7
    size = LabelChannel(lambda y, nu: np.where((abs(nu) < cut) == (y > 0), 1.0, 0.0))
    inside, bend = 2 * float(ndtr(cut)) - 1, 2 * cut * math.exp(-cut * cut / 2) / math.sqrt(2 * math.pi)
    threshold = 1 / (bend**2 / inside + bend**2 / (1 - inside))
    for start in ("uninformed", "informed"):
        blind, seeing = (
            glm.bayes_optimal(problem(size, alpha, 0.1), start) for alpha in (0.95 * threshold, 1.2 * threshold)
        )
        assert blind.q[0] == 0
        assert blind.test_error == pytest.approx(1 - max(inside, 1 - inside), rel=1e-9)
        assert blind.replicon == pytest.approx(0.05, rel=1e-3)
        assert seeing.q[0] > 0.2
        assert seeing.replicon > 0


def test_high_temperature_and_many_samples():
    hot = glm.bayes_optimal(problem(Logit(1e4), 2.0, 0.1))
    assert hot.q[0] == pytest.approx(2.0 / (4 * 1e8), rel=1e-3)  # a label tells 1/(4 T^2)
    many = [glm.bayes_optimal(problem(Logit(1.0), alpha, 0.1)) for alpha in (1e3, 1e4)]
    assert many[0].V[0] / many[1].V[0] == pytest.approx(10, rel=0.02)  # V = 1/(alpha E P(1 - P))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: glm.bayes_optimal(RandomLabels(covariance=AR1(5, 0.5), alpha=1.0, lam=0.1)), "labels of a teacher"),
        (lambda: glm.bayes_optimal(glm.gaussian_mixture(alpha=1.0, lam=0.1)), "must have labels of a teacher in each"),
        (lambda: glm.bayes_optimal(problem(Logit(), 1.0, 0.1), "hot"), "start must be"),
        (lambda: glm.bayes_optimal("logit"), "model must be a record of a generalized linear model"),
        (
            lambda: glm.bayes_optimal(
                GeneralizedLinearModel(
                    modes=DenseModes(np.eye(3)[None], np.ones((1, 3))),
                    clusters=[Cluster(teacher_signal=0)],
                    alpha=1.0,
                    loss="square",
                    lam=0.1,
                )
            ),
            "must have commuting modes",
        ),
        (
            lambda: glm.bayes_optimal(replace(problem("sign", 1.0, 0.1), modes=Modes([1.0], [[1.0]], [[[0.0]]]))),
            "a teacher of which the inputs see something",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
