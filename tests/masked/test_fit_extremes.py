"""Ridges from zero to huge, ranks that are not full, and the sweep of n through d."""

import mpmath
import numpy as np
import pytest

from simulate.masked import fit, fit_path


def fifty_digits(X, lam):
    """Predictor, train and GCV errors, leave-one-out residuals, effective ridge: definitions in 50-digit arithmetic."""
    n, d = X.shape
    with mpmath.workdps(50):
        M, lam = mpmath.matrix(X.tolist()), mpmath.mpf(lam)
        C, K = M.T * M / n, M * M.T / n
        Q, G = (C + lam * mpmath.eye(d)) ** -1, (K + lam * mpmath.eye(n)) ** -1
        energy, solved, trace = Q * C * Q, M * Q, sum(G[i, i] for i in range(n))
        predictor = [[-Q[k, j] / Q[k, k] if j != k else 0 for j in range(d)] for k in range(d)]
        train = [energy[k, k] / Q[k, k] ** 2 for k in range(d)]
        # n - df_k = lam tr G_k, with G_k the resolvent of the other coordinates
        gcv = [train[k] * n**2 / (lam * (trace + energy[k, k] / (lam * Q[k, k]))) ** 2 for k in range(d)]
        loo = [[solved[i, k] / (lam * Q[k, k] * G[i, i] + solved[i, k] ** 2 / n) for k in range(d)] for i in range(n)]
        return *(np.array(values, dtype=float) for values in (predictor, train, gcv, loo)), n / trace


def close(found, exact, digits=9):
    np.testing.assert_allclose(found, exact, rtol=10.0**-digits, atol=10.0**-digits * abs(exact).max() * 1e-2)


@pytest.mark.parametrize("lam", [1e6, 1e-3, 1e-6, 1e-8, 1e-12])
@pytest.mark.parametrize("n", [4, 7, 9, 10, 11, 20])
def test_nine_digits_at_every_ridge_and_ratio(n, lam):
    X = np.random.default_rng(n).standard_normal((n, 10))
    result, (predictor, train, gcv, loo, effective_ridge) = fit(X, lam), fifty_digits(X, lam)
    for found, exact in [
        (result.predictor, predictor),
        (result.train_error, train),
        (result.gcv_error, gcv),
        (result.loo_residuals, loo),
    ]:
        close(found, exact)
    assert result.effective_ridge == pytest.approx(float(effective_ridge), rel=1e-9)
    path = fit_path(X, [lam])
    close(path.predictor(0), predictor)
    close(path.train_error[0], train)
    close(path.gcv_error[0], gcv)


def awkward(name):
    """Data whose rank is not min(n, d), or that leave a coordinate alone."""
    # short binary fractions: sums of columns are exact
    X = np.rint(2**10 * np.random.default_rng(0).standard_normal((12, 5))) / 2**10
    wide = np.rint(2**10 * np.random.default_rng(1).standard_normal((4, 8))) / 2**10
    return {
        "duplicated column": np.column_stack([X, X[:, 0]]),
        "zero column": np.column_stack([X, np.zeros(12)]),
        "sum of columns": np.column_stack([X, X[:, :3].sum(axis=1)]),
        "duplicated row": np.vstack([wide, wide[:1]]),
        "wide, duplicated columns": np.column_stack([wide[:, :3], wide[:, :1], wide[:, :1], np.zeros(4)]),
        "a coordinate in the row space": np.column_stack([np.repeat(wide[:, :1], 6, axis=1), wide[:, 1]]),
        "zero": np.zeros((3, 4)),
        "identity": np.eye(4),
        "half an identity": np.eye(6)[:3],
        "one row": wide[:1],
        "one zero column": np.zeros((3, 1)),
    }[name]


AWKWARD = [
    "duplicated column",
    "zero column",
    "sum of columns",
    "duplicated row",
    "wide, duplicated columns",
    "a coordinate in the row space",
    "zero",
    "identity",
    "half an identity",
    "one row",
    "one zero column",
]


def minimum_norm(X):
    """Predictor by lstsq, a coordinate at a time."""
    d = X.shape[1]
    predictor = np.zeros((d, d))
    for k in range(d):
        others = np.arange(d) != k
        if d > 1:
            predictor[k, others] = np.linalg.lstsq(X[:, others], X[:, k], rcond=None)[0]
    return predictor


@pytest.mark.parametrize("name", AWKWARD)
def test_ridgeless_is_minimum_norm_least_squares_at_any_rank(name):
    X = awkward(name)
    n, predictor, result = len(X), minimum_norm(awkward(name)), fit(awkward(name), 0.0)
    np.testing.assert_allclose(result.predictor, predictor, atol=1e-11)
    np.testing.assert_allclose(result.train_error, np.mean((X - X @ predictor.T) ** 2, axis=0), atol=1e-12)
    assert np.isfinite(result.gcv_error).all()
    for i in range(n if n > 1 else 0):  # really leave rows out
        rest = minimum_norm(np.delete(X, i, axis=0))
        np.testing.assert_allclose(result.loo_residuals[i], X[i] - rest @ X[i], atol=1e-9)
    path = fit_path(X, [0.0])
    np.testing.assert_allclose(path.predictor(0), predictor, atol=1e-11)


@pytest.mark.parametrize("lam", [1e-3, 1e-7, 1e-11])
@pytest.mark.parametrize("name", [name for name in AWKWARD if name not in ("zero", "one zero column")])
def test_tiny_ridge_at_any_rank(name, lam):
    X = awkward(name)
    result, (predictor, train, gcv, loo, _) = fit(X, lam), fifty_digits(X, lam)
    np.testing.assert_allclose(result.predictor, predictor, atol=1e-9)
    close(result.train_error, train)
    close(result.gcv_error, gcv)
    np.testing.assert_allclose(result.loo_residuals, loo, atol=1e-9)


@pytest.mark.parametrize("n", [4, 9, 10, 11, 20])
def test_ridgeless_is_the_limit_of_small_ridges(n):
    X = np.random.default_rng(n).standard_normal((n, 10))
    limit, near = fit(X, 0.0), fit(X, 1e-13)
    np.testing.assert_allclose(limit.predictor, near.predictor, atol=1e-7)
    np.testing.assert_allclose(limit.gcv_error, near.gcv_error, rtol=1e-5)
    np.testing.assert_allclose(limit.loo_error, near.loo_error, rtol=1e-5)
    assert limit.effective_ridge == pytest.approx(near.effective_ridge, rel=1e-6, abs=1e-11)
    if n < 10:
        np.testing.assert_array_equal(limit.train_error, 0)


def test_sweep_of_n_through_d_at_lam_1e_minus_8_is_finite_and_right():
    d, lam = 14, 1e-8
    X = np.random.default_rng(7).standard_normal((18, d))
    for n in range(1, 19):
        result, (predictor, train, gcv, loo, _) = fit(X[:n], lam), fifty_digits(X[:n], lam)
        for found, exact in [
            (result.predictor, predictor),
            (result.train_error, train),
            (result.gcv_error, gcv),
            (result.loo_residuals, loo),
        ]:
            assert np.isfinite(found).all()
            close(found, exact, digits=8)


def test_badly_scaled_columns_do_not_leave_the_fast_route():
    X = np.random.default_rng(8).standard_normal((40, 6)) * 10.0 ** np.arange(-3, 3)
    result, exact = fit(X, 1e-9), fifty_digits(X, 1e-9)
    assert result.method == "primal"
    np.testing.assert_allclose(result.train_error, exact[1], rtol=1e-9)
