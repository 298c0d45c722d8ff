"""The optimal ridge: reference values, a plain minimizer, neighbors, and optima at the ends."""

import importlib
import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from tests.families import FINITE, LIMITS, SINGULAR
from theory import masked
from theory.models import AR1, Blocks, Diagonal, Empirical, GOEPrecision, Isotropic, MaskedRidge, PowerLaw

INF = math.inf
CORRELATED = [name for name in FINITE if name not in ("isotropic", "diagonal", "two level", "power law")]
CORRELATED = [name for name in CORRELATED if name not in SINGULAR]


def mean_error(covariance, alpha, lam):
    return masked.solve(MaskedRidge(covariance, alpha, lam)).mean_test_error


@pytest.mark.parametrize(
    ("covariance", "penalty", "halved"),
    [
        (AR1(INF, 0.6), 0.829049, 0.345071979147),
        (GOEPrecision(INF), 2.394445, 0.187145726823),
        (Blocks(INF, 5, 0.5), 1.363692, 0.378847754328),
    ],
)
def test_reference_values(covariance, penalty, halved):
    optimum = masked.optimal_ridge(covariance, 1.0)
    assert optimum.lam == pytest.approx(penalty, abs=1e-6)  # at alpha = 1 both conventions have the same ridge
    assert optimum.mean_test_error / 2 == pytest.approx(halved, rel=1e-11)


@pytest.mark.parametrize(("alpha", "penalty"), [(0.5, 0.767), (1.0, 0.831), (2.0, 0.970)])
def test_reference_values_at_other_ratios(alpha, penalty):
    """AR(1) .6 at d = 401 or so: L = alpha lam depends on alpha, and is not sigma^2/|a|^2 = 1.209."""
    assert alpha * masked.optimal_ridge(AR1(INF, 0.6), alpha).lam == pytest.approx(penalty, abs=0.003)


@pytest.mark.parametrize("name", CORRELATED)
@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
def test_a_plain_minimizer_finds_the_same(name, alpha):
    covariance, optimum = FINITE[name], masked.optimal_ridge(FINITE[name], alpha)
    assert optimum.converged
    assert optimum.residual < 1e-10
    assert optimum.bracket[0] < optimum.effective_ridge < optimum.bracket[1]
    plain = minimize_scalar(
        lambda log_lam: mean_error(covariance, alpha, math.exp(log_lam)),
        bracket=(math.log(optimum.lam) - 3, math.log(optimum.lam) + 2.5),
        tol=1e-10,
    )
    assert optimum.mean_test_error == pytest.approx(plain.fun, rel=1e-11)
    assert optimum.lam == pytest.approx(math.exp(plain.x), rel=1e-4)  # the minimum is flat
    assert optimum.mean_test_error == pytest.approx(mean_error(covariance, alpha, optimum.lam), rel=1e-11)
    for factor in (0.5, 0.97, 1.03, 2.0):
        assert mean_error(covariance, alpha, factor * optimum.lam) > optimum.mean_test_error


@pytest.mark.parametrize("name", ["AR1", "blocks", "free field", "Wishart", "GOE precision", "equicorrelated"])
def test_optimum_of_the_limit_beats_a_grid(name):
    if name == "equicorrelated":  # d -> infinity leaves it isotropic
        assert masked.optimal_ridge(LIMITS[name], 1.0).lam == INF
        return
    optimum = masked.optimal_ridge(LIMITS[name], 0.8)
    grid = masked.learning_curve(LIMITS[name], 0.8, np.geomspace(1e-8, 1e4, 400)).mean_test_error
    assert optimum.mean_test_error <= grid.min()
    assert grid.min() == pytest.approx(optimum.mean_test_error, rel=1e-3)


@pytest.mark.parametrize("name", ["AR1", "blocks", "GOE precision", "free field 2D"])
def test_optimally_regularized_error_falls_with_the_samples(name):
    errors = [masked.optimal_ridge(LIMITS[name], alpha).mean_test_error for alpha in np.geomspace(0.1, 10, 25)]
    assert np.all(np.diff(errors) < 0)


@pytest.mark.parametrize("covariance", [Isotropic(INF), Isotropic(20, 3.0), Diagonal([1.0, 2.0])])
def test_nothing_to_learn_wants_an_infinite_ridge(covariance):
    optimum = masked.optimal_ridge(covariance, 0.7)
    assert optimum.lam == optimum.effective_ridge == INF
    assert optimum.mean_test_error == pytest.approx(np.mean(covariance.variances))
    assert optimum.converged
    assert mean_error(covariance, 0.7, 1e6) >= optimum.mean_test_error


@pytest.mark.parametrize("name", SINGULAR)
def test_everything_to_learn_wants_no_ridge(name):
    optimum = masked.optimal_ridge(SINGULAR[name], 0.8)
    assert optimum.lam == optimum.mean_test_error == 0
    assert optimum.effective_ridge == masked.ridgeless(SINGULAR[name], 0.8).effective_ridge


def test_strong_correlations_and_many_samples():
    optimum = masked.optimal_ridge(AR1(100, 0.999), 20.0)
    assert optimum.residual < 1e-10
    assert mean_error(AR1(100, 0.999), 20.0, optimum.lam * 1.1) > optimum.mean_test_error
    assert mean_error(AR1(100, 0.999), 20.0, optimum.lam / 1.1) > optimum.mean_test_error


def test_groups_that_ask_for_ridges_of_their_own():
    """A strongly correlated group of small variance beside a weakly correlated one of variance one."""
    groups = np.zeros((40, 40))
    groups[:20, :20] = 1e-4 * (0.05 * np.eye(20) + 0.95)
    groups[20:, 20:] = 0.9 * np.eye(20) + 0.1
    covariance = Empirical(groups)
    for alpha in (0.3, 1.0, 3.0):
        optimum = masked.optimal_ridge(covariance, alpha)
        grid = masked.learning_curve(covariance, alpha, np.geomspace(1e-10, 1e4, 600)).mean_test_error
        assert optimum.mean_test_error <= grid.min() * (1 + 1e-12)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="alpha must lie in"):
        masked.optimal_ridge(AR1(10, 0.7), -1.0)
    for exponent in (1.0, 2.0):
        with pytest.raises(ValueError, match="covariance must have a finite mean variance"):
            masked.optimal_ridge(PowerLaw(INF, exponent), 1.0)


@pytest.mark.parametrize("exponent", [0.9, 1.0, 2.0, 4.0])
def test_optimum_of_a_rotated_power_law_without_a_mean(exponent):
    covariance = PowerLaw(INF, exponent, rotation=0)
    optimum = masked.optimal_ridge(covariance, 1.0)
    grid = masked.learning_curve(covariance, 1.0, np.geomspace(1e-8, 1e4, 400)).mean_test_error
    assert 0 < optimum.lam < INF
    assert grid.min() * 0.999 < optimum.mean_test_error <= grid.min()


@pytest.mark.parametrize("name", ["AR1", "scaled", "blocks"])
@pytest.mark.parametrize("off", [-0.3, 0.2])
def test_the_residual_is_the_slope_where_the_search_stopped(name, off, monkeypatch):
    """A search that stops beside the root: its residual is the slope of log E there, by finite differences."""
    module, covariance, alpha = importlib.import_module("theory.masked.optimal_ridge"), FINITE[name], 0.8

    def beside(function, *bracket, **options):
        root, report = brentq(function, *bracket, **options)
        return root + off, report

    monkeypatch.setattr(module, "brentq", beside)
    stopped = masked.optimal_ridge(covariance, alpha)
    points = [masked.solve(MaskedRidge(covariance, alpha, stopped.lam * math.exp(step))) for step in (-1e-4, 1e-4)]
    rise = math.log(points[1].mean_test_error / points[0].mean_test_error)
    slope = rise / math.log(points[1].effective_ridge / points[0].effective_ridge)
    assert stopped.residual == pytest.approx(abs(slope), rel=1e-6)
    assert stopped.residual > 1e-4


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
def test_the_residual_at_an_infinite_ridge(alpha):
    """Isotropic: E = 1/(1 - 1/(alpha (1 + kappa)^2)), whose slope is -2/(alpha kappa^2) far out."""
    optimum = masked.optimal_ridge(Isotropic(INF), alpha)
    assert optimum.lam == INF
    assert optimum.residual == pytest.approx(2 / (alpha * optimum.bracket[0] ** 2), rel=1e-4)


@pytest.mark.parametrize("alpha", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("exponent", [0.3, 0.5, 0.9])
def test_variances_without_an_upper_bound(exponent, alpha):
    """Far out the error is flat, and the sign of its computed slope is that of rounding."""
    rotated = masked.optimal_ridge(PowerLaw(INF, exponent, rotation=0), alpha)
    assert rotated.converged
    assert rotated.bracket[0] < rotated.effective_ridge < rotated.bracket[1] < 1e4 * rotated.effective_ridge
    grid = masked.learning_curve(PowerLaw(INF, exponent, rotation=0), alpha, np.geomspace(1e-8, 1e4, 200))
    assert rotated.mean_test_error <= grid.mean_test_error.min()
    independent = masked.optimal_ridge(PowerLaw(INF, exponent), alpha)  # there is nothing to learn
    assert independent.lam == INF
    assert independent.mean_test_error == pytest.approx(1 / (1 - exponent), rel=1e-9)


@pytest.mark.parametrize("covariance", [Isotropic(5, 1e-300), Isotropic(INF), PowerLaw(40, 5.0), PowerLaw(INF, 0.7)])
def test_an_error_that_is_flat_everywhere(covariance):
    """Nothing to learn, and so many samples that no ridge does harm."""
    optimum = masked.optimal_ridge(covariance, 1e100)
    assert optimum.lam == INF
    assert optimum.mean_test_error == pytest.approx(np.mean(covariance.spectrum.mean(covariance.spectrum.eigenvalues)))
