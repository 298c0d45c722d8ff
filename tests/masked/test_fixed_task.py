"""Training with random masks for a task at another mask rate: errors by simulation, limits, the best rate."""

import math

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.masked import sample
from simulate.masked.masks.random_masks import fit_expected_masks, fit_masks, masked_test_error
from theory import masked
from theory.masked.masks.fixed_task import task_errors
from theory.masked.masks.population import DensePopulation, population
from theory.models import AR1, Diagonal, Empirical, MaskedRidge, RandomMasks

CHAIN = AR1(np.inf, 0.6)


def unequal(d):
    """Return a covariance whose variances differ by a factor of 16."""
    factors = np.random.default_rng(0).standard_normal((d, d))
    scales = np.geomspace(0.5, 2, d)
    return Empirical((factors @ factors.T / d + 0.3 * np.eye(d)) * scales[:, None] * scales)


def measured(covariance, alpha, lam, rate, task_rate, n_masks, rescaled, name, replicates):
    d, found = covariance.d, []
    for replicate in range(replicates):
        rng = stream(0, "fixed task", name, d, replicate)
        X = sample(covariance, round(alpha * d), rng)
        if n_masks is None:
            fitted = fit_expected_masks(X, lam, rate)
        else:
            fitted = fit_masks(X, rng.random((n_masks, *X.shape)) < rate, lam, rate)
        gain = (1 - rate) / (1 - task_rate) if rescaled else 1.0
        found.append(masked_test_error(gain * fitted.predictor, covariance, task_rate).mean())
    return np.array(found)


@pytest.mark.parametrize("rescaled", [True, False])
@pytest.mark.parametrize(
    ("rate", "task_rate", "n_masks"), [(0.2, 0.0, None), (0.1, 0.4, None), (0.3, 0.0, 5), (0.3, 0.5, 4)]
)
@pytest.mark.parametrize("covariance", [AR1(50, 0.6), unequal(50)], ids=["equal", "unequal"])
def test_errors_on_the_task_are_those_of_fits(agrees, covariance, rate, task_rate, n_masks, rescaled):
    of = population(covariance)
    expected = task_errors(of, 1.5, 0.1, rate, task_rate, n_masks, rescaled=rescaled).mean()
    name = f"{rate} {task_rate} {n_masks}"
    found = measured(covariance, 1.5, 0.1, rate, task_rate, n_masks, rescaled, name, 24)
    agrees(Estimate.of(found), float(expected), resolves=0.08, bias=1.0 * float(expected) / covariance.d)


def test_the_best_rate_is_a_minimum_of_measured_errors(agrees):
    """Markers on both sides of it: 0, half of it, itself and more, on shared samples."""
    covariance, alpha, lam = unequal(50), 1.2, 0.02
    best = masked.optimal_mask_rate(covariance, alpha, lam)
    assert 0.2 < best.mask_rate < 0.8
    of, values = population(covariance), []
    for rate in (0.0, best.mask_rate / 3, best.mask_rate, (2 + best.mask_rate) / 3):
        values.append(measured(covariance, alpha, lam, rate, 0.0, None, True, "minimum", 60))
        expected = float(task_errors(of, alpha, lam, rate, 0.0, None, rescaled=True).mean())
        agrees(Estimate.of(values[-1]), expected, resolves=0.15, bias=1.5 * expected / covariance.d)
        assert expected >= best.mean_test_error * (1 - 1e-9)
    for other in (0, 1, 3):
        apart = Estimate.of(values[other] - values[2])
        assert apart.mean > 4 * apart.stderr


@pytest.mark.parametrize("covariance", [CHAIN, AR1(20, 0.6), unequal(20)], ids=["limit", "chain", "unequal"])
@pytest.mark.parametrize("n_masks", [None, 3])
def test_a_task_at_the_rate_of_training_is_that_of_solve(covariance, n_masks):
    of, solved = population(covariance), masked.solve(RandomMasks(covariance, 1.3, 0.1, 0.25, n_masks))
    for rescaled in (True, False):
        errors = task_errors(of, 1.3, 0.1, 0.25, 0.25, n_masks, rescaled=rescaled)
        assert errors.mean() == pytest.approx(solved.mean_test_error, rel=1e-10)


def test_without_masks_it_is_masked_ridge_regression():
    for covariance in (CHAIN, unequal(20)):
        expected = masked.solve(MaskedRidge(covariance, 1.3, 0.1)).mean_test_error
        errors = task_errors(population(covariance), 1.3, 0.1, 0.0, 0.0, None, rescaled=True)
        assert errors.mean() == pytest.approx(expected, rel=1e-7)


def test_modes_and_dense_matrices_agree():
    chain = AR1(20, 0.6)
    for rate, task_rate in ((0.2, 0.0), (0.4, 0.1), (0.999, 0.5)):
        by_modes, dense = (
            task_errors(of, 0.8, 0.1, rate, task_rate, None, rescaled=False)
            for of in (population(chain), DensePopulation(chain.matrix))
        )
        np.testing.assert_allclose(by_modes, dense, rtol=1e-8)


def test_masks_of_equal_variances_do_what_the_best_ridge_does():
    best = masked.optimal_mask_rate(CHAIN, 1.0, 0.01)
    ridge = masked.optimal_ridge(CHAIN, 1.0)
    assert best.mean_test_error == pytest.approx(ridge.mean_test_error, rel=1e-9)
    odds = best.mask_rate / (1 - best.mask_rate)
    assert odds + 0.01 / (1 - best.mask_rate) ** 2 == pytest.approx(ridge.lam, rel=1e-4)
    assert not best.at_boundary
    assert best.error_at_task_rate == pytest.approx(masked.solve(MaskedRidge(CHAIN, 1.0, 0.01)).mean_test_error)
    both = masked.optimal_mask_rate(AR1(np.inf, 0.6), 1.0)
    assert both.at_boundary
    assert both.mask_rate == 0
    assert both.mean_test_error == pytest.approx(ridge.mean_test_error, rel=1e-9)


def test_masks_beat_every_plain_ridge_where_variances_differ():
    """They penalize each input by its own variance."""
    covariance = unequal(20)
    best = masked.optimal_mask_rate(covariance, 1.0)
    ridge = masked.optimal_ridge(covariance, 1.0)
    assert best.error_at_task_rate == pytest.approx(ridge.mean_test_error, rel=1e-6)
    assert best.mean_test_error < 0.98 * ridge.mean_test_error
    assert 0.2 < best.mask_rate < 0.8


def test_a_large_ridge_leaves_nothing_for_masks():
    best = masked.optimal_mask_rate(CHAIN, 1.0, 3.0)
    assert best.at_boundary
    assert best.mask_rate == 0
    assert best.mean_test_error == best.error_at_task_rate
    assert best.residual > 0.1


def test_independent_coordinates_have_nothing_to_gain():
    best = masked.optimal_mask_rate(Diagonal(np.array([1.0, 2.0, 4.0])), 1.0, 0.1)
    assert best.at_boundary
    assert best.mean_test_error == pytest.approx(7 / 3)


def test_a_rate_for_the_task_at_which_inputs_are_hidden():
    best = masked.optimal_mask_rate(CHAIN, 1.0, 0.1, task_rate=0.3, rescaled=False)
    rates = np.linspace(0.02, 0.98, 25)
    of = population(CHAIN)
    errors = [task_errors(of, 1.0, 0.1, float(rate), 0.3, None, rescaled=False).mean() for rate in rates]
    assert best.mean_test_error <= min(errors)
    assert best.mean_test_error < best.error_at_task_rate
    assert "mask_rate" in repr(best)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"lam": -1.0}, "lam"),
        ({"task_rate": 1.0}, "task_rate"),
        ({"task_rate": -0.1}, "task_rate"),
        ({"n_masks": 0}, "n_masks"),
        ({"rescaled": 2}, "rescaled"),
        ({"covariance": np.eye(3)}, "covariance"),
        ({"alpha": math.nan}, "alpha"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        masked.optimal_mask_rate(**({"covariance": CHAIN, "alpha": 1.0, "lam": 0.1} | arguments))
