"""Symmetries, bounds and limits of the masked errors, on random covariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.families import FINITE, REGULAR
from theory import masked
from theory.models import AR1, Empirical, MaskedRidge

ratios = st.floats(0.05, 20)
ridges = st.floats(-6, 1).map(lambda exponent: 10.0**exponent)
sizes, seeds = st.integers(2, 9), st.integers(0, 10**6)


def random_matrix(d, seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((d, 2 * d)) * rng.uniform(0.3, 3, (d, 1))
    return factor @ factor.T / (2 * d)


@given(sizes, seeds, ratios, ridges)
@settings(max_examples=40)
def test_permuting_coordinates_permutes_errors(d, seed, alpha, lam):
    matrix, order = random_matrix(d, seed), np.random.default_rng(seed).permutation(d)
    for exact_size in (False, True):
        plain = masked.solve(MaskedRidge(Empirical(matrix), alpha, lam), exact_size=exact_size)
        permuted = masked.solve(MaskedRidge(Empirical(matrix[np.ix_(order, order)]), alpha, lam), exact_size=exact_size)
        np.testing.assert_allclose(permuted.test_error, plain.test_error[order], rtol=1e-8)
        np.testing.assert_allclose(permuted.train_error, plain.train_error[order], rtol=1e-8)


@given(sizes, seeds, ratios, ridges, st.floats(-4, 4).map(lambda exponent: 10.0**exponent))
@settings(max_examples=40)
def test_units(d, seed, alpha, lam, unit):
    """Sigma -> c Sigma and lam -> c lam give E -> c E and leave the predictor alone."""
    matrix = random_matrix(d, seed)
    plain = MaskedRidge(Empirical(matrix), alpha, lam)
    scaled = MaskedRidge(Empirical(unit * matrix), alpha, unit * lam)
    for exact_size in (False, True):
        expected = unit * masked.solve(plain, exact_size=exact_size).test_error
        np.testing.assert_allclose(masked.solve(scaled, exact_size=exact_size).test_error, expected, rtol=1e-8)
    np.testing.assert_allclose(masked.predictor(scaled), masked.predictor(plain), atol=1e-9)


@given(sizes, seeds, ratios, ridges)
@settings(max_examples=40)
def test_bounds(d, seed, alpha, lam):
    covariance = Empirical(random_matrix(d, seed))
    floor = masked.conditional_variances(covariance)
    for exact_size in (False, True):
        point = masked.solve(MaskedRidge(covariance, alpha, lam), exact_size=exact_size)
        df1, df2, kappa = (np.asarray(x) for x in (point.df1, point.df2, point.effective_ridge))
        assert np.all(point.test_error >= floor * (1 - 1e-9))
        assert np.all(point.train_error <= point.test_error)
        assert np.all((df2 >= 0) & (df2 <= df1) & (df1 <= 1))
        assert np.all(kappa >= lam * (1 - 1e-12))


@given(sizes, seeds, ratios)
@settings(max_examples=40)
def test_train_error_stays_below_the_conditional_variance_without_ridge(d, seed, alpha):
    covariance = Empirical(random_matrix(d, seed))
    train = masked.solve(MaskedRidge(covariance, alpha, 1e-9)).train_error
    assert np.all(train <= masked.conditional_variances(covariance) * (1 + 1e-5))


@pytest.mark.parametrize("name", REGULAR)
def test_conditional_variances_by_inversion(name):
    expected = 1 / np.diagonal(np.linalg.inv(REGULAR[name].matrix))
    np.testing.assert_allclose(masked.conditional_variances(REGULAR[name]), expected, rtol=1e-10)


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("exact_size", [False, True])
def test_no_ridge_matters_at_infinite_strength(name, exact_size):
    """lam -> infinity: nothing is learned, every coordinate keeps its variance in test and train."""
    point = masked.solve(MaskedRidge(FINITE[name], 0.7, 1e9), exact_size=exact_size)
    np.testing.assert_allclose(point.test_error, FINITE[name].variances, rtol=1e-6)
    np.testing.assert_allclose(point.train_error, FINITE[name].variances, rtol=1e-6)


@pytest.mark.parametrize("name", FINITE)
def test_infinitely_many_samples_leave_the_population_predictor(name):
    """alpha -> infinity: kappa = lam and the error of the population ridge predictor."""
    sigma, lam, d = FINITE[name].matrix, 0.2, FINITE[name].size
    point = masked.solve(MaskedRidge(FINITE[name], 1e9, lam))
    R = np.linalg.inv(sigma + lam * np.eye(d))
    expected = np.diagonal(R @ sigma @ R) / np.diagonal(R) ** 2
    assert point.effective_ridge == pytest.approx(lam, rel=1e-8)
    np.testing.assert_allclose(point.test_error, expected, rtol=1e-8)
    np.testing.assert_allclose(point.train_error, expected, rtol=1e-8)


@pytest.mark.parametrize("name", REGULAR)
def test_infinitely_many_samples_and_no_ridge_leave_the_conditional_variance(name):
    point = masked.solve(MaskedRidge(REGULAR[name], 1e9, 1e-9))
    np.testing.assert_allclose(point.test_error, masked.conditional_variances(REGULAR[name]), rtol=1e-6)


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("alpha", [0.3, 0.9, 1.1, 4.0])
def test_a_vanishing_ridge_joins_the_ridgeless_limit_on_both_sides(name, alpha):
    limit = masked.ridgeless(REGULAR[name], alpha)
    point = masked.solve(MaskedRidge(REGULAR[name], alpha, 1e-12))
    np.testing.assert_allclose(point.test_error, limit.test_error, rtol=1e-7)
    np.testing.assert_allclose(point.train_error, limit.train_error, rtol=1e-7, atol=1e-15)
    assert point.effective_ridge == pytest.approx(limit.effective_ridge, rel=1e-7, abs=1e-10)


@given(st.floats(-0.95, 0.95), ratios, ridges)
@settings(max_examples=40)
def test_reflecting_a_correlation_changes_nothing(correlation, alpha, lam):
    """x_k -> (-1)^k x_k turns r into -r."""
    plain = masked.solve(MaskedRidge(AR1(12, correlation), alpha, lam))
    reflected = masked.solve(MaskedRidge(AR1(12, -correlation), alpha, lam))
    np.testing.assert_allclose(reflected.test_error, plain.test_error, rtol=1e-9)
