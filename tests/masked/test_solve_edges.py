"""Corners where naive code breaks: one and two coordinates, extreme ratios, singular covariances, a million."""

import math
import time

import numpy as np
import pytest

from tests.families import SINGULAR
from theory import masked
from theory.models import (
    AR1,
    Blocks,
    Diagonal,
    Empirical,
    Equicorrelated,
    GaussianFreeField,
    Isotropic,
    MaskedRidge,
    PowerLaw,
    Scaled,
    TwoLevel,
)


def test_one_coordinate_has_nothing_to_be_predicted_from():
    for covariance in (Isotropic(1, 2.0), AR1(1, 0.5), Diagonal([2.0]), Empirical([[2.0]])):
        model = MaskedRidge(covariance, 3.0, 0.1)
        point = masked.solve(model)
        assert point.test_error.shape == (1,)
        assert point.test_error[0] >= covariance.variances[0]
        np.testing.assert_array_equal(masked.predictor(model), [[0.0]])
        with pytest.raises(ValueError, match="exact_size needs d of at least 2, got 1"):
            masked.solve(model, exact_size=True)


@pytest.mark.parametrize("covariance", [AR1(2, 0.5), Equicorrelated(2, 0.5), Blocks(2, 2, 0.5)])
def test_two_coordinates_are_one_regression(covariance):
    """One unknown, n = 2 alpha: kappa and the error in closed form."""
    alpha, lam, r = 2.0, 0.1, 0.5
    n = 2 * alpha
    b = 1 - 1 / n - lam
    kappa = (-b + math.sqrt(b * b + 4 * lam)) / 2  # lam = kappa (1 - 1/(n (1 + kappa)))
    shrink = 1 / (1 + kappa)
    error = (1 - 2 * r * r * shrink + r * r * shrink**2) / (1 - shrink**2 / n)
    point = masked.solve(MaskedRidge(covariance, alpha, lam), exact_size=True)
    np.testing.assert_allclose(point.effective_ridge, kappa, rtol=1e-12)
    np.testing.assert_allclose(point.test_error, error, rtol=1e-12)
    np.testing.assert_allclose(point.test_error, masked.replica(MaskedRidge(covariance, alpha, lam)).test_error)


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("lam", [1e-20, 1e-6, 1e6])
def test_extreme_ratios(alpha, lam):
    for covariance in (AR1(math.inf, 0.7), AR1(30, 0.7), Scaled(AR1(30, 0.7), np.linspace(1, 2, 30))):
        point = masked.solve(MaskedRidge(covariance, alpha, lam))
        bound = np.asarray(covariance.variances)
        assert np.all(np.isfinite(point.test_error))
        if alpha < 1:  # nothing seen, nothing learned
            np.testing.assert_allclose(point.test_error, np.broadcast_to(bound, point.test_error.shape), rtol=1e-5)
        else:
            assert np.all(point.test_error <= bound * (1 + 1e-5))


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_covariances_are_known_exactly_once_their_rank_is_seen(name):
    covariance = SINGULAR[name]
    np.testing.assert_array_equal(masked.conditional_variances(covariance), np.zeros(36))
    assert masked.ridgeless(covariance, 0.9).mean_test_error == 0
    assert masked.ridgeless(covariance, 0.3).mean_test_error > 0.1
    for exact_size in (False, True):
        assert masked.solve(MaskedRidge(covariance, 0.9, 1e-12), exact_size=exact_size).mean_test_error < 1e-20
    rank = np.count_nonzero(covariance.eigenvalues) / 36
    with pytest.raises(ValueError, match=r"alpha must differ from rank\(Sigma\)/d"):
        masked.ridgeless(covariance, rank)


def test_a_twin_coordinate_is_known_exactly():
    """Two equal coordinates and an independent third: a singular Sigma with a part that stays unknown."""
    covariance = Empirical([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    np.testing.assert_allclose(masked.conditional_variances(covariance), [0, 0, 2], atol=1e-15)
    np.testing.assert_allclose(masked.ridgeless(covariance, 2.0).test_error, [0, 0, 3], atol=1e-14)


@pytest.mark.parametrize(
    "covariance",
    [
        Isotropic(10**6),
        Diagonal(np.linspace(0.5, 2, 10**6)),
        TwoLevel(10**6),
        PowerLaw(10**6, 0.8),
        Equicorrelated(10**6, 0.4),
        Blocks(10**6, 5, 0.5),
        GaussianFreeField(10**6, 0.5),
        GaussianFreeField(10**6, 0.5, 2),
    ],
    ids=lambda covariance: type(covariance).__name__,
)
def test_a_million_coordinates(covariance):
    start = time.process_time()
    point = masked.solve(MaskedRidge(covariance, 1.0, 0.01))
    assert point.converged
    assert point.test_error.shape == (10**6,)
    assert masked.ridgeless(covariance, 0.5).converged
    assert len(masked.learning_curve(covariance, [0.5, 2.0], [0.01]).mean_test_error[0]) == 2
    assert np.isfinite(point.total_test_error)
    assert time.process_time() - start < 20  # a dense matrix of this size would not even fit


@pytest.mark.parametrize("lam", [0.0, -0.1])
def test_a_ridge_of_zero_points_to_the_ridgeless_limit(lam):
    with pytest.raises(ValueError, match=r"lam must be positive, got .*theory\.masked\.ridgeless"):
        masked.solve(MaskedRidge(AR1(10, 0.7), 1.0, lam))


def test_a_sweep_of_n_through_d_at_a_tiny_ridge_is_finite_everywhere():
    alphas = np.concatenate([np.linspace(0.1, 3, 59), [1 - 1e-9, 1.0, 1 + 1e-9]])
    for covariance in (AR1(50, 0.7), AR1(math.inf, 0.7), TwoLevel(50), *SINGULAR.values()):
        curve = masked.learning_curve(covariance, alphas, [1e-8, 1e-14])
        assert np.all(np.isfinite(curve.mean_test_error))
        assert np.all(np.isfinite(curve.test_error))
        assert np.all(curve.mean_test_error >= 0)
        assert curve.converged
