"""Separability thresholds, and universality of random labels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.glm.settings import teacher_problem
from theory import ConvergenceError, glm
from theory.models import Cluster, GaussianMixture, GeneralizedLinearModel, Modes, RandomFeatures


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
