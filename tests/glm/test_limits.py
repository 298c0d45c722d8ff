"""Limits of the ridge and of the number of samples."""

from dataclasses import replace

import numpy as np
import pytest

from tests.glm.settings import teacher_problem
from theory import glm
from theory.models import (
    AR1,
    Cluster,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    RandomLabels,
    TeacherMixture,
)

LOSSES = ("square", "logistic", "hinge")
GROUPS = {"group_fraction": 0.3, "lam": 0.1, "teacher_overlap": 0.5, "mean_overlaps": (0.3, 0.1)}


@pytest.mark.parametrize("loss", LOSSES)
def test_no_samples(loss):
    """alpha -> 0: nothing is learned, the response is that of the ridge alone."""
    point = glm.solve(teacher_problem(1e-5, 0.5, loss))
    assert point.test_error == pytest.approx(0.5, abs=2e-3)
    assert point.V[0] == pytest.approx(point.problem.modes.covariances.mean() / 0.5, rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_many_samples(loss):
    """alpha -> infinity: the teacher is found, but for label noise; the error falls to arccos of what noise leaves."""
    point = glm.solve(teacher_problem(1e4, 0.1, loss, noise=0.1, eigenvalues=[1.0]))
    floor = np.arccos(1 / np.sqrt(1.1)) / np.pi
    assert floor < point.test_error < floor * 1.002


@pytest.mark.parametrize("loss", LOSSES)
def test_infinite_ridge(loss):
    """lam -> infinity: the weights are the mean of y x over lam; train loss that of h = 0; the error has a limit."""
    point, alpha = glm.solve(teacher_problem(2.0, 1e7, loss, eigenvalues=[1.0])), 2.0
    assert point.train_loss == pytest.approx({"square": 0.5, "logistic": np.log(2), "hinge": 1.0}[loss], rel=1e-5)
    cosine = np.sqrt(2 / np.pi) / np.sqrt(2 / np.pi + 1 / alpha)  # of the Hebb rule
    assert point.test_error == pytest.approx(np.arccos(cosine) / np.pi, rel=1e-5)


def test_vanishing_ridge_is_the_minimum_norm_solution():
    for alpha in (0.5, 2.0):
        problem = teacher_problem(alpha, 1e-9, "square", 0.1, "linear")
        limit = glm.ridge_regression(problem, lam=0.0)
        assert glm.solve(problem).test_error == pytest.approx(limit.test_error, rel=1e-6)
        assert (limit.train_loss < 1e-12) == (alpha < 1)


@pytest.mark.parametrize("alpha", [1.3, 2.0, 5.0])
def test_response_without_a_ridge_is_that_of_least_squares(alpha):
    """V = tr Omega (X'X/p)^-1/p = E tr of an inverse Wishart matrix: 1/(alpha - 1) whatever the covariance."""
    problem = teacher_problem(alpha, 1e-3, "square", 0.1, "linear")
    assert pytest.approx(1 / (alpha - 1), rel=1e-12) == glm.ridge_regression(problem, lam=0.0).V
    small = glm.ridge_regression(problem, lam=1e-9)
    assert pytest.approx(1 / (alpha - 1), rel=1e-5) == small.V
    assert glm.solve(problem).V[0] == pytest.approx(glm.ridge_regression(problem).V, rel=1e-9)


def test_response_without_a_ridge_is_infinite_where_data_are_interpolated():
    for alpha in (0.5, 1.0):
        assert np.inf == glm.ridge_regression(teacher_problem(alpha, 1.0, "square", 0.1, "linear"), lam=0.0).V


def test_response_without_a_ridge_counts_the_directions_that_the_inputs_have():
    """A third of the directions empty: V = rank/(alpha - rank), rank over p."""
    modes = Modes([1 / 3, 2 / 3], [[0.0, 1.0]], np.array([0.0, 0.5])[None, None])
    teacher = Cluster(labels="linear", teacher_signal=0, noise=0.1)
    problem = GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=1.0, loss="square", lam=1e-9)
    exact = glm.ridge_regression(problem, lam=0.0)
    assert pytest.approx(2.0, rel=1e-12) == exact.V
    assert glm.solve(problem).V[0] == pytest.approx(2.0, rel=1e-5)


@pytest.mark.parametrize(("alpha", "error"), [(0.5, 0.3288497530), (1.0, 0.2657114699), (3.0, 0.1428356400)])
def test_hinge_tends_to_the_hard_margin(alpha, error):
    hard = glm.solve(teacher_problem(alpha, 1.0, "hard_margin", eigenvalues=[1.0]))
    soft = glm.solve(teacher_problem(alpha, 1e-3, "hinge", eigenvalues=[1.0]))
    assert hard.test_error == pytest.approx(error, rel=1e-8)
    assert soft.test_error == pytest.approx(hard.test_error, rel=1e-8)
    assert soft.V[0] * 1e-3 == pytest.approx(hard.V[0], rel=1e-7)


def test_logistic_tends_to_the_hard_margin_only_logarithmically():
    errors = [glm.solve(teacher_problem(3.0, lam, eigenvalues=[1.0])).test_error for lam in (1e-3, 1e-5, 1e-7)]
    assert errors == pytest.approx([0.1321, 0.1364, 0.1385], abs=5e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_random_labels_do_not_see_the_covariance_at_a_vanishing_ridge(loss, correlation):
    point = glm.solve(RandomLabels(covariance=AR1(30, correlation), alpha=2.5, lam=1e-8, loss=loss))
    assert point.train_loss == pytest.approx(glm.random_labels_limit(2.5, loss).train_loss, rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_uncoupled_groups_are_two_fits(loss):
    """Coupling 0: each group alone, with alpha times its fraction."""
    both = glm.solve(TeacherMixture(**GROUPS, alpha=2.0, loss=loss, coupling=0.0))
    whole = both.problem
    for c, share in enumerate((0.3, 0.7)):
        own = [2 * c, 2 * c + 1]  # the signals of this group
        modes = Modes([1.0], whole.modes.covariances[[c]], whole.modes.gram[np.ix_(own, own)])
        alone = replace(whole.clusters[c], probability=1.0, covariance=0, learner=0, mean_signal=0, teacher_signal=1)
        problem = GeneralizedLinearModel(
            modes=modes, clusters=[alone], alpha=2.0 * share, loss=loss, lam=0.1, bias=True
        )
        assert glm.solve(problem).test_error == pytest.approx(both.cluster_errors[c], rel=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_strongly_coupled_groups_share_their_weights(loss):
    """Coupling -> infinity: one vector with the ridge 2 lam (without biases: each group would keep its own)."""
    coupled = glm.as_problem(TeacherMixture(**GROUPS, alpha=2.0, loss=loss, coupling=1e6))
    one = glm.as_problem(TeacherMixture(**(GROUPS | {"lam": 0.2}), alpha=2.0, loss=loss))
    found, expected = (glm.solve(replace(problem, bias=False)) for problem in (coupled, one))
    assert found.cluster_errors == pytest.approx(expected.cluster_errors, rel=1e-6)
    assert found.train_loss == pytest.approx(expected.train_loss, rel=1e-5)


def test_a_symmetric_mixture_needs_no_bias():
    with_bias = glm.solve(GaussianMixture.opposite(variances=0.5, alpha=1.0, lam=0.1))
    without = glm.solve(GaussianMixture.opposite(variances=0.5, alpha=1.0, lam=0.1, bias=False))
    assert with_bias.bias[0] == pytest.approx(0, abs=1e-10)
    assert with_bias.test_error == pytest.approx(without.test_error, rel=1e-10)


@pytest.mark.parametrize("power", [1e-20, 1e-8, 1e12])
def test_real_labels_have_no_unit(power):
    """Labels of any size have errors in its square, even where that is below every absolute guard."""

    def solved(power):
        covariance, signal = np.diag([0.5, 1.0, 2.0]), np.sqrt(power) * np.array([0.3, -0.5, 0.4])
        options = {"power": power, "noise": 0.1 * power, "labels": "linear", "loss": "square", "alpha": 2.0, "lam": 0.1}
        return glm.solve(GaussianCovariateModel(covariance=covariance, signal=signal, **options))

    found, unit = solved(power), solved(1.0)
    for name in ("test_error", "train_loss", "q"):
        assert getattr(found, name) / power == pytest.approx(getattr(unit, name), rel=1e-9)
