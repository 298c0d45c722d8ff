"""A path in lam against one fit for each lam."""

import numpy as np
import pytest

from simulate.masked import fit, fit_path
from theory.models import AR1

LAMS = [1e-8, 0.3, 0.0, 1e-3, 40.0]  # in no order


@pytest.mark.parametrize("n", [25, 11, 10, 9, 7, 4, 1])
def test_every_point_equals_a_fit(n):
    X, covariance = np.random.default_rng(n).standard_normal((n, 10)), AR1(10, 0.6)
    path = fit_path(X, LAMS)
    assert path.train_error.shape == path.gcv_error.shape == path.diagonal.shape == (5, 10)
    for i, lam in enumerate(LAMS):
        one = fit(X, lam)
        np.testing.assert_allclose(path.predictor(i), one.predictor, atol=1e-9)
        np.testing.assert_allclose(path.train_error[i], one.train_error, rtol=1e-8, atol=1e-30)
        np.testing.assert_allclose(path.gcv_error[i], one.gcv_error, rtol=1e-8)
        np.testing.assert_allclose(path.test_error(i, covariance), one.test_error(covariance), rtol=1e-8)
        np.testing.assert_allclose(path.test_error(i, X), one.test_error(X), rtol=1e-6, atol=1e-15)
        assert path.effective_ridge[i] == pytest.approx(one.effective_ridge, rel=1e-8, abs=1e-15)
        if lam:
            np.testing.assert_allclose(lam * path.diagonal[i], one.shrinkage, rtol=1e-8)


def test_the_diagonal_is_infinite_where_lam_zero_does_not_determine_it():
    X = np.random.default_rng(0).standard_normal((12, 4))
    X = np.column_stack([X, X[:, 0]])
    diagonal = fit_path(X, [0.0]).diagonal[0]
    np.testing.assert_array_equal(np.isinf(diagonal), [True, False, False, False, True])
    assert diagonal[1] == pytest.approx(np.linalg.pinv(X.T @ X / 12)[1, 1])


def test_best_minimizes_the_mean_gcv_error():
    X = np.random.default_rng(1).standard_normal((30, 12)) @ AR1(12, 0.8).matrix
    path = fit_path(X, np.logspace(-5, 2, 30))
    means = [fit(X, lam).mean_gcv_error for lam in path.lams]
    assert path.best() == int(np.argmin(means))
    np.testing.assert_allclose(
        path.mean_test_errors(AR1(12, 0.8)), [fit(X, lam).mean_test_error(AR1(12, 0.8)) for lam in path.lams]
    )


def test_prints_and_tabulates():
    path = fit_path(np.random.default_rng(2).standard_normal((20, 5)), [0.01, 0.1])
    assert repr(path).startswith("MaskedPath(n=20, d=5, 2 lams in [0.01, 0.1], best lam=")
    assert list(path.to_frame()["lam"]) == [0.01, 0.1]


def test_a_tiny_ridge_beside_large_ones_costs_them_no_digits():
    X = np.random.default_rng(3).standard_normal((9, 10))
    together, alone = fit_path(X, [1e-14, 1.0]), fit_path(X, [1.0])
    np.testing.assert_allclose(together.gcv_error[1], alone.gcv_error[0], rtol=1e-11)
