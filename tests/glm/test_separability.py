"""Separability thresholds, and universality of random labels."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import stream
from tests.glm.settings import teacher_problem
from theory import ConvergenceError, glm
from theory.glm import separability
from theory.glm.separability import problem_threshold
from theory.models import (
    AR1,
    Cluster,
    DenseModes,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)


@pytest.mark.parametrize(("alignment", "value"), [(0.0, 2.0), (0.5, 2.254868), (0.9, 4.240713)])
def test_thresholds(alignment, value):
    assert glm.separability_threshold(alignment) == pytest.approx(value, abs=1e-6)


def test_threshold_by_monte_carlo_of_the_cone():
    """1/alpha_c = min_t E (g - t y u)_+^2 with labels drawn at random."""
    rng, zeta, n = np.random.default_rng(0), 0.7, 100_000
    g, u, noise = rng.standard_normal((3, n))
    yu = np.sign(zeta * u + math.sqrt(1 - zeta**2) * noise) * u
    least = min(np.mean(np.maximum(g - t * yu, 0) ** 2) for t in np.linspace(0, 2, 41))
    assert 1 / least == pytest.approx(glm.separability_threshold(zeta), rel=0.02)


@given(st.floats(0, 0.99), st.floats(0, 0.99))
@settings(max_examples=30)
def test_threshold_rises_with_the_signal(one, other):
    low, high = sorted((one, other))
    assert 2 - 1e-9 <= glm.separability_threshold(low) <= glm.separability_threshold(high) + 1e-9


def test_separable_labels_have_no_threshold():
    assert glm.separability_threshold(1.0) == math.inf
    assert glm.is_separable(teacher_problem(40.0, 0.1))
    assert glm.teacher_alignment(teacher_problem(1.0, 0.1)) == pytest.approx(1)


def test_the_solver_sees_the_threshold():
    """zeta = 1/2: label noise of three times the teacher's variance."""
    critical = glm.separability_threshold(0.5)
    options = {"lam": 1e-7, "loss": "hinge", "noise": 3.0, "eigenvalues": [1.0]}
    below, above = (glm.solve(teacher_problem(side * critical, **options)) for side in (0.95, 1.05))
    assert glm.teacher_alignment(below.problem) == pytest.approx(0.5)
    assert glm.is_separable(below.problem)
    assert not glm.is_separable(above.problem)
    assert below.train_loss < 1e-4
    assert above.train_loss > 0.1


def test_random_features_interpolate_beyond_their_threshold():
    threshold = glm.random_features_threshold(RandomFeatures(samples_per_input=3.0, features_per_input=1, lam=1e-4))
    assert threshold / 3 == pytest.approx(0.367731, abs=1e-6)
    few, many = (glm.solve(RandomFeatures(samples_per_input=3.0, features_per_input=p, lam=1e-6)) for p in (0.9, 1.35))
    assert few.train_loss > 0.02
    assert many.train_loss < 1e-3


def test_bad_input():
    with pytest.raises(ValueError, match=r"alignment must lie in \[0, 1\]"):
        glm.separability_threshold(1.5)
    with pytest.raises(ValueError, match="one cluster with sign labels"):
        glm.teacher_alignment(GaussianMixture.opposite(alpha=1.0, lam=0.1))
    with pytest.raises(ValueError, match="alpha must lie in"):
        glm.random_labels_limit(-1.0)
    with pytest.raises(ValueError, match="rank must lie in"):
        glm.random_labels_limit(1.0, rank=1.5)
    with pytest.raises(ConvergenceError, match="too near its threshold"):
        glm.random_labels_limit(2.0000001, "logistic")


def test_random_labels_below_the_threshold_cost_nothing():
    for loss, alpha in (("square", 1.0), ("hinge", 2.0), ("logistic", 1.5)):
        assert glm.random_labels_limit(alpha, loss).train_loss == 0


@pytest.mark.parametrize("loss", ["square", "hinge", "logistic"])
def test_rank_rescales_alpha(loss):
    """A third of the directions empty: alpha counts the others."""
    modes = Modes([1 / 3, 2 / 3], [[0.0, 1.0]])
    problem = GeneralizedLinearModel(modes=modes, clusters=[Cluster(labels="random")], alpha=2.0, loss=loss, lam=1e-8)
    limit = glm.random_labels_limit(2.0, loss, rank=2 / 3)
    assert glm.solve(problem).train_loss == pytest.approx(limit.train_loss, rel=1e-6)


@pytest.mark.parametrize("zeta", [0.3, 0.5, 0.9])
def test_threshold_of_a_problem_is_that_of_its_alignment(zeta):
    """The convex problem over directions and biases, against the scalar one of the alignment."""
    problem = teacher_problem(1.0, 1.0, noise=(1 / zeta**2 - 1) * np.mean([1.0, 0.3]), eigenvalues=[1.0, 0.3])
    assert problem_threshold(problem) == pytest.approx(glm.separability_threshold(zeta), rel=1e-9)
    assert problem_threshold(replace(problem, bias=True)) == pytest.approx(glm.separability_threshold(zeta), rel=1e-9)


def test_threshold_of_a_problem_knows_ranks_learners_and_weights():
    modes = Modes([1 / 3, 2 / 3], [[0.0, 1.0]])
    random = GeneralizedLinearModel(modes=modes, clusters=[Cluster(labels="random")], alpha=1, loss="hinge", lam=1)
    assert problem_threshold(random) == pytest.approx(4 / 3)  # two for each direction that the inputs have
    noiseless = teacher_problem(1.0, 1.0)
    assert problem_threshold(noiseless) == math.inf
    one_label = Cluster(labels="random", loss_weights=(1.0, 0.0))
    assert problem_threshold(replace(random, clusters=[one_label])) == pytest.approx(8 / 3)  # half of the samples count
    groups = {"group_fraction": 0.3, "alpha": 1.0, "lam": 1.0}
    one, two = (TeacherMixture(**groups, teacher_overlap=-1.0, coupling=coupling) for coupling in (None, 0.5))
    assert problem_threshold(glm.as_problem(two)) == math.inf  # each group has a teacher of its own
    assert 2.0 < problem_threshold(glm.as_problem(one)) < 4.0
    blocks = GaussianMixture.opposite(variances=[[0.3, 1], [0.8, 0.2]], alpha=1.0, lam=1.0)
    assert problem_threshold(glm.as_problem(blocks)) is None
    with pytest.raises(ValueError, match="model must have one covariance"):
        glm.mixture_separability_threshold(blocks)


def test_threshold_of_dense_covariances_is_that_of_their_modes():
    rng = stream(0, "dense threshold")
    A, means = rng.standard_normal((4, 4)), rng.standard_normal((2, 4))
    Omega = A @ A.T + np.eye(4)
    options = {"probabilities": (0.4, 0.6), "alpha": 1.0, "lam": 1.0}
    dense = GaussianMixture(modes=DenseModes([Omega], means), **options)
    modes = GaussianMixture(modes=Modes.of_matrix(Omega, means), **options)
    found = glm.mixture_separability_threshold(modes)
    assert glm.mixture_separability_threshold(dense) == pytest.approx(found, rel=1e-9)
    scaled = GaussianMixture(modes=DenseModes([4 * Omega], 2 * means), **options)
    assert glm.mixture_separability_threshold(scaled) == pytest.approx(found, rel=1e-9)


def test_two_groups_are_separable_up_to_the_threshold_of_linear_programs():
    """Feasibility of random samples at p = 60: the share of separable ones passes 1/2 at alpha_c.

    At 0.75 and 1.3 alpha_c the shares are above 0.9 and below 0.1; 40 draws then leave less than 20 successes, or more,
    with a probability below 1e-8 by the binomial law.
    """
    from scipy.optimize import linprog

    model = TeacherMixture(group_fraction=0.5, alpha=1.0, lam=1.0, variances=(0.4, 1.2), teacher_overlap=-0.6)
    critical, p = problem_threshold(glm.as_problem(model)), 60
    for side, many in ((0.75, True), (1.3, False)):
        found = 0
        for draw in range(40):
            rng = stream(0, "groups", side, draw)
            n = round(side * critical * p)
            plus = np.arange(n) % 2 == 0
            v, first, fresh = np.linalg.qr(rng.standard_normal((p, 3)))[0].T * np.sqrt(p)
            teachers = np.stack([-0.6 * first + 0.8 * fresh, first])[plus.astype(int)]
            noise = np.sqrt(np.where(plus, 0.4, 1.2))[:, None] * rng.standard_normal((n, p))
            x = np.where(plus, 1.0, -1.0)[:, None] * v / np.sqrt(p) + noise
            y = np.sign(np.sum(x * teachers, axis=1))
            rows = -y[:, None] * np.hstack((x, np.ones((n, 1))))
            found += linprog(np.zeros(p + 1), rows, -np.ones(n), bounds=(None, None)).status == 0
        assert (found > 20) == many, (side, found)


@pytest.mark.parametrize("kind", ["random", "noise", "mixture", "groups"])
def test_a_hard_margin_is_refused_at_once_above_its_threshold(kind):
    models = {
        "random": RandomLabels(covariance=AR1(10, 0.5), alpha=2.5, lam=1.0, loss="hard_margin"),
        "noise": teacher_problem(5.0, 1.0, "hard_margin", noise=1.0),
        "mixture": GaussianMixture.opposite(alpha=20.0, lam=1.0, loss="hard_margin"),
        "groups": TeacherMixture(group_fraction=0.4, alpha=20.0, lam=1.0, loss="hard_margin", teacher_overlap=0.2),
    }
    problem = glm.as_problem(models[kind])
    with pytest.raises(ValueError, match=r"alpha must lie below [0-9.]+ for loss='hard_margin', got") as refused:
        glm.solve(models[kind])
    threshold = float(str(refused.value).split("below ")[1].split()[0])
    assert threshold == pytest.approx(problem_threshold(problem), rel=1e-5)
    assert glm.solve(replace(problem, alpha=0.9 * threshold)).converged


@pytest.mark.parametrize("share", [0.97, 0.99])
def test_a_hard_margin_is_found_just_below_its_threshold(share):
    """Overlaps diverge as (1 - alpha/alpha_c)^-2 there; continuation goes in 1 - alpha/alpha_c."""
    model = GaussianMixture.opposite(mean_power=0.5, probability=0.3, alpha=1.0, lam=1.0, loss="hard_margin")
    threshold = glm.mixture_separability_threshold(model)
    point = glm.solve(replace(model, alpha=share * threshold))
    assert point.residual <= 1e-11
    assert point.q[0] * (1 - share) ** 2 == pytest.approx(3.15, rel=0.05)  # 3.15 at 0.995, 3.13 at 0.99, 3.05 at 0.97


def test_a_hard_margin_of_a_noiseless_teacher_is_found_with_many_samples():
    point = glm.solve(teacher_problem(40.0, 1.0, "hard_margin"))
    assert point.test_error * 40 == pytest.approx(0.5, rel=0.02)  # the error of a hard margin falls as 1/2 over alpha


def test_newton_and_bfgs_find_the_same_threshold(monkeypatch):
    """With noise the least value is at some place, without it along a ray that is seen at once."""
    models = (
        teacher_problem(1.0, 0.1, "logistic", noise=0.2),
        replace(teacher_problem(1.0, 0.1, "logistic", noise=0.01), bias=True),
        glm.as_problem(GaussianMixture.opposite(mean_power=2.0, probability=0.3, alpha=1.0, lam=1.0)),
        teacher_problem(1.0, 0.1, "logistic"),
    )
    found = [problem_threshold(model) for model in models]
    monkeypatch.setattr(separability, "_by_newton", lambda total, x: None)
    monkeypatch.setattr(separability, "RAY", 1.0)
    assert found == pytest.approx([problem_threshold(model) for model in models], rel=1e-9)
    assert found[-1] == math.inf
