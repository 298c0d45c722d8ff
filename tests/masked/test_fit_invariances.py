"""Symmetries of the masked regressions, and inequalities that no data can break."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.masked import fit

RIDGES = st.sampled_from([0.0, 1e-6, 0.01, 1.0, 100.0])
CASES = st.tuples(st.integers(1, 12), st.integers(1, 8), RIDGES, st.integers(0, 10**6))


def data(n, d, seed):
    return np.random.default_rng(seed).standard_normal((n, d))


def same(first, second, atol=1e-7):
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=atol)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(CASES)
def test_permuting_coordinates_permutes_everything(case):
    n, d, lam, seed = case
    X, order = data(n, d, seed), np.random.default_rng(seed + 1).permutation(d)
    plain, permuted = fit(X, lam), fit(X[:, order], lam)
    same(permuted.predictor, plain.predictor[np.ix_(order, order)])
    same(permuted.gcv_error, plain.gcv_error[order])
    same(permuted.loo_residuals, plain.loo_residuals[:, order])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(CASES)
def test_the_order_and_the_signs_of_the_rows_do_not_matter(case):
    n, d, lam, seed = case
    X, order = data(n, d, seed), np.random.default_rng(seed + 1).permutation(n)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    plain, permuted = fit(X, lam), fit(signs * X[order], lam)
    same(permuted.predictor, plain.predictor)
    same(permuted.train_error, plain.train_error)
    same(permuted.loo_residuals, signs * plain.loo_residuals[order])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(CASES, st.floats(-4, 4))
def test_scaling_the_data_scales_the_ridge_by_its_square(case, exponent):
    n, d, lam, seed = case
    X, c = data(n, d, seed), 10.0**exponent
    plain, scaled = fit(X, lam), fit(c * X, c * c * lam)
    same(scaled.predictor, plain.predictor)
    same(scaled.train_error / c**2, plain.train_error)
    same(scaled.gcv_error / c**2, plain.gcv_error)
    same(scaled.effective_ridge / c**2, plain.effective_ridge)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(CASES)
def test_inequalities(case):
    n, d, lam, seed = case
    X = data(n, d, seed)
    result = fit(X, lam)
    slack = 1 + 1e-8
    assert np.all(result.train_error <= result.gcv_error * slack)
    assert np.all(result.train_error <= np.mean(X**2, axis=0) * slack)
    assert np.all(abs(result.loo_residuals) * slack + 1e-12 >= abs(X - X @ result.predictor.T))
    assert np.all((result.shrinkage >= 0) & (result.shrinkage <= slack))
    assert result.effective_ridge * slack >= lam


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.integers(2, 12), st.integers(2, 8), st.integers(0, 10**6))
def test_a_weaker_ridge_fits_the_rows_better(n, d, seed):
    errors = np.array([fit(data(n, d, seed), lam).train_error for lam in (0.0, 1e-3, 0.1, 10.0)])
    assert np.all(np.diff(errors, axis=0) >= -1e-12)
