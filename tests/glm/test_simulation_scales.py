"""Fits in other units, the steps that they count, and moments of what is drawn to one percent."""

from dataclasses import replace

import numpy as np
import pytest

import simulate.glm.hinge
import simulate.glm.multiclass
import simulate.glm.newton
from simulate.core import Estimate, stream
from simulate.glm import draw_task, fit, fit_coupled, fit_multiclass, random_inputs, random_network
from simulate.glm.random_labels import MEAN_NORM
from theory.models import AR1, HiddenManifold, Isotropic


def data(n=40, p=6):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = np.where(X @ rng.standard_normal(p) + 2 * rng.standard_normal(n) + 0.5 >= 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
def test_weights_and_ridge_in_another_unit_change_nothing(loss, bias, scale):
    """The risk is multiplied by the scale: its minimum stays, and so does every relative residual."""
    X, y, weights = data()
    one = fit(X, y, loss, 0.3, bias=bias, sample_weights=weights)
    other = fit(X, y, loss, 0.3 * scale, bias=bias, sample_weights=weights * scale)
    assert other.weights == pytest.approx(one.weights, abs=1e-7)
    assert other.bias == pytest.approx(one.bias, abs=1e-7)
    assert other.train_loss == pytest.approx(scale * one.train_loss, rel=1e-7)
    assert other.residual < 1e-9


def test_the_gradient_vanishes_where_weights_are_large():
    """Weights of 1e4 with the bias not penalized: the derivatives, written out, relative to their largest terms."""
    X, y, weights = data()
    found = fit(X, y, "logistic", 0.3, bias=True, sample_weights=1e4 * weights)
    pull = 1e4 * weights * y / (1 + np.exp(y * found.fields(X)))
    assert abs(pull.sum()) < 1e-9 * abs(pull).sum()
    terms = pull[:, None] * X / np.sqrt(6)
    assert np.all(abs(terms.sum(axis=0) - 0.3 * found.weights[0]) < 1e-9 * abs(terms).sum(axis=0))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("loss", ["square", "softmax"])
def test_classes_in_other_units_of_the_inputs(loss, scale):
    """Inputs times c need weights over c, whose ridge is c^2 times as large."""
    X, classes = data()[0], np.arange(40) % 3
    one = fit_multiclass(X, classes, 3, loss, 0.3)
    other = fit_multiclass(scale * X, classes, 3, loss, 0.3 * scale**2)
    assert scale * other.weights == pytest.approx(one.weights, abs=1e-6)
    assert other.bias == pytest.approx(one.bias, abs=1e-6)
    assert other.train_loss == pytest.approx(one.train_loss, rel=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "hard_margin"])
def test_iterations_are_the_newton_steps(monkeypatch, loss):
    """Each step factors one weighted ridge; that of the interior point serves a predictor and a corrector."""
    monkeypatch.setattr(simulate.glm.hinge, "hinge_by_kink", lambda *given: None)
    module = simulate.glm.newton if loss == "logistic" else simulate.glm.hinge
    name = "weighted_ridge" if loss == "logistic" else "ridge_multipliers"
    calls, ridge = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: calls.append(1) or ridge(*given))
    X, y, _ = data()
    y = np.sign(X[:, 0]) if loss == "hard_margin" else y
    assert fit(X, y, loss, 0.3, bias=True).iterations == len(calls) > 3


def test_iterations_of_softmax_are_those_of_the_minimizer(monkeypatch):
    """Newton steps are counted; where they end too early, those of the search that takes over."""
    descents, steps = [], []
    truncated, minimize = simulate.glm.multiclass.truncated_newton, simulate.glm.multiclass.minimize

    def descended(*given, **more):
        descents.append(truncated(*given, **more))
        return descents[-1]

    monkeypatch.setattr(simulate.glm.multiclass, "truncated_newton", descended)
    monkeypatch.setattr(
        simulate.glm.multiclass, "minimize", lambda *given, **more: minimize(*given, **more, callback=steps.append)
    )
    newton = fit_multiclass(data()[0], np.arange(40) % 3, 3, "softmax", 0.3)
    assert newton.iterations == descents[0].steps > 3
    assert steps == []
    monkeypatch.setattr(
        simulate.glm.multiclass, "truncated_newton", lambda *given, **more: replace(descents[0], residual=1.0)
    )
    searched = fit_multiclass(data()[0], np.arange(40) % 3, 3, "softmax", 0.3)
    assert searched.iterations == len(steps) > 3
    assert searched.weights == pytest.approx(newton.weights, abs=1e-7)


def test_learners_that_are_not_coupled_are_fits_of_their_own():
    """Neither a coupling nor a number of learners need be given: by default there are two without one."""
    X, y, _ = data()
    own = np.arange(40) % 2
    found = fit_coupled(X, y, own, "logistic", 0.3)
    for learner in (0, 1):
        alone = fit(X[own == learner], y[own == learner], "logistic", 0.3, bias=True)
        assert found.weights[learner] == pytest.approx(alone.weights[0], abs=1e-8)
        assert found.bias[learner] == pytest.approx(alone.bias[0], abs=1e-8)


def test_the_clusters_of_random_labels_have_means_of_norm_two(agrees):
    """Of a covariance of a hundredth all that is left is |mu|^2 = 4, plus the trace."""
    rows = random_inputs(Isotropic(20, 0.01), 6000, stream(0, "means"), "mixture")
    agrees(Estimate.of(np.sum(rows**2, axis=1)), MEAN_NORM**2 + 0.2, resolves=0.01)
    assert MEAN_NORM == 2
    assert abs(np.mean(rows @ rows[0] > 0) - 0.5) < 5 / np.sqrt(4 * 6000)  # as many on either side


@pytest.mark.parametrize("law", ["gaussian", "rademacher", "features"])
def test_the_mean_power_of_inputs_is_the_trace(agrees, law):
    """Features differ from their Gaussian equivalent by terms of order 1/p: a percent at p = 200 is allowed for."""
    rows = random_inputs(AR1(200, 0.5), 6000, stream(0, "power", law), law)
    allowed = 0.01 if law == "features" else 0.0
    agrees(Estimate.of(np.mean(rows**2, axis=1)), 1.0, resolves=0.015 + allowed, bias=allowed)


def test_tasks_on_a_manifold_have_the_moments_of_their_inputs(agrees):
    """For x = erf(g) with Var g = v: E x^2 = (2/pi) arcsin(2v/(1 + 2v)), and the labels are fair."""
    task = HiddenManifold.random(30, 20, stream(0, "manifold"))
    variances = np.sum(task.input_map**2, axis=1)
    X, y = draw_task(task, 80_000, stream(1, "manifold"))
    exact = np.mean(2 / np.pi * np.arcsin(2 * variances / (1 + 2 * variances)))
    agrees(Estimate.of(np.mean(X**2, axis=1)), float(exact), resolves=0.01)
    assert abs(y.mean()) < 5 / np.sqrt(len(y))
    tasks = [HiddenManifold.random(100, 60, stream(r, "maps")) for r in range(300)]
    agrees(Estimate.of([np.sum(one.input_map**2) / 100 for one in tasks]), 1.0, resolves=0.015)


def test_untrained_networks_have_rows_of_unit_norm_and_fair_signs(agrees):
    drawn = [random_network(60, 100, stream(r, "network")) for r in range(300)]
    agrees(Estimate.of([np.mean(np.sum(one.first_layer**2, axis=1)) for one in drawn]), 1.0, resolves=0.01)
    signs = np.array([one.readout for one in drawn])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 5 / np.sqrt(signs.size)


@pytest.mark.parametrize(
    ("n", "seed", "bias"), [(95, 2, False), (80, 2, True), (105, 1, True), (120, 0, False), (150, 0, False)]
)
def test_hinge_at_small_ridges(n, seed, bias):
    """Samples on the margin keep the digits of their multipliers, whatever the ridge; the dual problem certifies it."""
    rng, p, lam = np.random.default_rng(seed), 100, 1e-4
    X = rng.standard_normal((n, p)) * np.linspace(0.01, 2, p)
    X = np.vstack([X, -X[:3]]) if seed == 2 else X
    y = rng.choice((-1.0, 1.0), len(X))
    found = fit(X, y, "hinge", lam, bias=bias)
    assert found.residual < 1e-9
    # By its own optimality conditions: u is a combination of the samples with multipliers in [0, 1], which are 1 inside
    # the margin and 0 beyond it.
    w = found.weights[0]
    margins = y * (X @ w / np.sqrt(p) + found.bias[0])
    free = abs(margins - 1) < 1e-5
    multipliers = np.where(margins < 1, 1.0, 0.0)
    # Each sample pulls at the weights, and at the bias where there is one.
    pulls = y[:, None] * np.hstack([X / np.sqrt(p), np.ones((len(y), 1)) * bias])
    balance = np.append(lam * w, 0.0)
    multipliers[free] = np.linalg.lstsq(pulls[free].T, balance - pulls[~free].T @ multipliers[~free], rcond=None)[0]
    assert multipliers.min() > -1e-4
    assert multipliers.max() < 1 + 1e-4
    np.testing.assert_allclose(pulls.T @ multipliers, balance, atol=1e-6)
