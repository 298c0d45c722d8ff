"""One factorization against d separate regressions."""

import numpy as np
import pytest

from simulate.masked import fit
from theory.models import AR1, Empirical

SHAPES = [(30, 8), (9, 8), (8, 8), (7, 8), (5, 8), (3, 8), (1, 4), (1, 1), (6, 1), (2, 2)]


def least_squares(Z, y, penalty):
    """argmin |y - Z a|^2 + penalty |a|^2 by numpy's lstsq on the augmented system; minimum norm at penalty 0."""
    augmented = np.vstack([Z, np.sqrt(penalty) * np.eye(Z.shape[1])]) if penalty else Z
    return np.linalg.lstsq(augmented, np.append(y, np.zeros(len(augmented) - len(y))), rcond=None)[0]


def loop(X, lam):
    """Predictor, train and GCV errors and leave-one-out residuals, one coordinate and one row at a time."""
    n, d = X.shape
    predictor, train, gcv, loo = np.zeros((d, d)), np.zeros(d), np.zeros(d), X.copy()
    for k in range(d):
        others = np.arange(d) != k
        Z, y = X[:, others], X[:, k]
        predictor[k, others] = least_squares(Z, y, n * lam)
        train[k] = np.mean((y - X @ predictor[k]) ** 2)
        hat = Z @ np.linalg.solve(Z.T @ Z / n + lam * np.eye(d - 1), Z.T) / n
        gcv[k] = train[k] / (1 - np.trace(hat) / n) ** 2
        for i in range(n if n > 1 else 0):
            kept = np.arange(n) != i
            loo[i, k] = y[i] - Z[i] @ least_squares(Z[kept], y[kept], n * lam)
    return predictor, train, gcv, loo


@pytest.mark.parametrize("lam", [3.0, 0.1, 1e-3])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_every_field_equals_a_loop_over_coordinates(n, d, lam):
    X = np.random.default_rng([n, d]).standard_normal((n, d)) * np.linspace(0.5, 2, d)
    result, (predictor, train, gcv, loo) = fit(X, lam), loop(X, lam)
    np.testing.assert_allclose(result.predictor, predictor, rtol=1e-9, atol=1e-12 * max(1, abs(predictor).max()))
    np.testing.assert_allclose(result.train_error, train, rtol=1e-9)
    np.testing.assert_allclose(result.gcv_error, gcv, rtol=1e-9)
    np.testing.assert_allclose(result.loo_residuals, loo, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(result.loo_error, (loo**2).mean(axis=0), rtol=1e-9)


def test_to_twelve_digits_where_nothing_is_ill_conditioned():
    X = np.random.default_rng(0).standard_normal((40, 10))
    result, (predictor, train, gcv, loo) = fit(X, 0.1), loop(X, 0.1)
    for found, exact in [
        (result.predictor, predictor),
        (result.train_error, train),
        (result.gcv_error, gcv),
        (result.loo_residuals, loo),
    ]:
        np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("n", "d"), [(30, 8), (8, 8), (5, 12)])
def test_effective_ridge_and_shrinkage_from_their_definitions(n, d):
    X, lam = np.random.default_rng(1).standard_normal((n, d)), 0.05
    result = fit(X, lam)
    assert result.effective_ridge == pytest.approx(
        n / np.trace(np.linalg.inv(X @ X.T / n + lam * np.eye(n))), rel=1e-11
    )
    Q = np.linalg.inv(X.T @ X / n + lam * np.eye(d))
    np.testing.assert_allclose(result.shrinkage, lam * np.diag(Q), rtol=1e-11)
    assert np.trace(result.predictor) == 0


@pytest.mark.parametrize(("n", "method"), [(40, "primal"), (16, "primal"), (8, "dual")])
def test_routes_agree_with_the_singular_values(n, method):
    from simulate.masked import row_blocks
    from simulate.masked.spectral import spectral

    X = np.random.default_rng(2).standard_normal((n, 20))
    fast, safe = fit(X, 0.02), spectral(row_blocks(X), 0.02)
    assert fast.method == method
    np.testing.assert_allclose(fast.predictor, safe.predictor, atol=1e-11)
    np.testing.assert_allclose(fast.loo_residuals, np.concatenate([loo for _, loo in safe.leave_one_out()]), atol=1e-10)
    np.testing.assert_allclose(fast.gcv_error, safe.gcv_error, rtol=1e-10)
    assert fast.effective_ridge == pytest.approx(safe.effective_ridge, rel=1e-10)


def test_large_matrices_pass_the_blocked_triangle():
    X = np.random.default_rng(3).standard_normal((400, 300))
    Q = np.linalg.inv(X.T @ X / 400 + 0.1 * np.eye(300))
    exact = np.eye(300) - Q / np.diag(Q)[:, None]
    np.testing.assert_allclose(fit(X, 0.1).predictor, exact, atol=1e-12)
    Q = np.linalg.inv(X[:100].T @ X[:100] / 100 + 0.1 * np.eye(300))
    np.testing.assert_allclose(fit(X[:100], 0.1).predictor, np.eye(300) - Q / np.diag(Q)[:, None], atol=1e-12)


def test_test_error_on_a_population_and_on_rows():
    covariance, rng = AR1(12, 0.7), np.random.default_rng(4)
    X, rows = rng.standard_normal((20, 12)), rng.standard_normal((12, 12))
    result = fit(X, 0.1)
    residual = np.eye(12) - result.predictor
    np.testing.assert_allclose(result.test_error(covariance), np.diag(residual @ covariance.matrix @ residual.T))
    np.testing.assert_allclose(result.test_error(rows), np.mean((rows @ residual.T) ** 2, axis=0))  # square, yet rows
    assert result.mean_test_error(covariance) == pytest.approx(result.test_error(covariance).mean())
    # the training rows as a population, or as test rows, give back the training error
    np.testing.assert_allclose(result.test_error(Empirical.from_data(X, center=False)), result.train_error, rtol=1e-11)
    np.testing.assert_allclose(result.test_error(X), result.train_error, rtol=1e-11)


def test_the_record_prints_tabulates_and_cannot_be_changed():
    X = np.random.default_rng(5).standard_normal((20, 6))
    given = X.copy()
    result = fit(X, 0.1)
    X[:] = 0  # the record keeps its own copy
    np.testing.assert_array_equal(result.loo_error, fit(given, 0.1).loo_error)
    assert repr(result).startswith("MaskedFit(n=20, d=6, lam=0.1, method='primal', mean_train_error=0.")
    frame = result.to_frame()
    assert list(frame.columns) == ["coordinate", "train_error", "gcv_error", "loo_error"]
    assert len(frame) == 6
    with pytest.raises(ValueError, match="read-only"):
        result.predictor[0, 1] = 1.0


@pytest.mark.parametrize(
    "convert", [lambda X: X.astype(np.float32), lambda X: np.rint(9 * X).astype(int), np.asfortranarray]
)
def test_other_number_types_and_layouts(convert):
    X = convert(np.random.default_rng(6).standard_normal((15, 5)))
    np.testing.assert_array_equal(fit(X, 0.1).predictor, fit(np.array(X, dtype=float, order="C"), 0.1).predictor)
    np.testing.assert_array_equal(fit(X.tolist(), 0.1).predictor, fit(X, 0.1).predictor)
