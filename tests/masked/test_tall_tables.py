"""Tables with many more rows than columns: few passes over them, and the digits and refusals of any other table."""

from fractions import Fraction

import numpy as np
import pytest

from simulate.masked import fit, fit_path, fit_training_path, moments, row_blocks

N, D = 70, 5


def table(mean=0.0, spread=1.0):
    return np.random.default_rng(3).standard_normal((N, D)) * spread + mean


def with_cell(value):
    X = table()
    X[41, 3] = value
    return X


FITS = {
    "fit": lambda X: fit(X, 0.1),
    "fit_path": lambda X: fit_path(X, [0.1]),
    "fit_training_path": lambda X: fit_training_path(X, [1.0]),
}


@pytest.mark.parametrize("function", FITS.values(), ids=FITS)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (with_cell(np.nan), "X must be finite, got nan at row 41, column 3"),
        (with_cell(-np.inf), "X must be finite, got -inf at row 41, column 3"),
        (with_cell(1e200), r"X must have columns of size 1e-50 to 1e\+50, or zero, got 1e\+200 in column 3"),
        (table() * [1, 1, 1e-100, 1, 1], "X must have columns of size .* in column 2: rescale it"),
    ],
)
def test_entries_that_the_second_moments_show(function, X, message):
    with pytest.raises(ValueError, match=message):
        function(X)


def test_a_column_of_zeros_is_fitted():
    assert fit(table() * [1, 1, 0, 1, 1], 0.1).train_error[2] == 0


def test_the_table_is_kept_as_it_was_given():
    X = table()
    found, known = fit(X, 0.1), fit(X.copy(), 0.1)
    X[:] = 0
    np.testing.assert_array_equal(found.loo_residuals, known.loo_residuals)


@pytest.mark.parametrize("rows", [N, 4 * D - 1])  # tall, and just not
@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_the_fit_is_the_regression_of_each_column(rows, lam):
    X = table(mean=0.3)[:rows]
    found = fit(X, lam)
    for k in range(D):
        others = np.delete(X, k, axis=1)
        # Rows sqrt(n lam) below the table turn least squares into ridge regression.
        below, zeros = np.sqrt(rows * lam) * np.eye(D - 1), np.zeros(D - 1)
        weights = np.linalg.lstsq(np.vstack([others, below]), np.append(X[:, k], zeros), rcond=None)[0]
        np.testing.assert_allclose(np.delete(found.predictor[k], k), weights, rtol=1e-11, atol=1e-13)
        assert found.train_error[k] == pytest.approx(np.mean((X[:, k] - others @ weights) ** 2), rel=1e-11)


def exact_moments(X):
    """Return means, scatter, and ends of the columns by fractions, which have no rounding."""
    rows = [[Fraction(float(entry)) for entry in row] for row in X]
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    shifted = [[entry - own for entry, own in zip(row, mean, strict=True)] for row in rows]
    scatter = [[sum(row[i] * row[j] for row in shifted) for j in range(D)] for i in range(D)]
    return np.array(mean, dtype=float), np.array(scatter, dtype=float)


@pytest.mark.parametrize("chunk", [1, 3 * D, 33 * D, 1000 * D])
@pytest.mark.parametrize(("mean", "spread", "rtol"), [(0.0, 1.0, 1e-13), (1e6, 1e-2, 1e-6), (-1e9, 1.0, 1e-5)])
def test_moments_keep_their_digits_where_means_are_large(monkeypatch, chunk, mean, spread, rtol):
    """Squares of 1e6 beside a variance of 1e-4 have 16 digits before it: X'X - n mean mean' would keep none."""
    monkeypatch.setattr(moments, "CHUNK_NUMBERS", chunk)
    X = table(mean, spread)
    found = row_blocks(X).moments
    exact_mean, exact_scatter = exact_moments(X)
    np.testing.assert_allclose(found.mean, exact_mean, rtol=1e-14)
    size = np.sqrt(np.outer(np.diag(exact_scatter), np.diag(exact_scatter)))
    assert (abs(np.tril(found.scatter) - np.tril(exact_scatter)) <= rtol * size).all()
    np.testing.assert_array_equal(found.lowest, X.min(axis=0))
    np.testing.assert_array_equal(found.highest, X.max(axis=0))


@pytest.mark.parametrize("rows", [N, 16, 15, 3])
@pytest.mark.parametrize("standardize", [False, True])
def test_rows_in_memory_about_their_mean(rows, standardize):
    X = table(mean=7.0)[:rows]
    by_hand = X - X.mean(axis=0)
    if standardize:
        by_hand /= by_hand.std(axis=0)
    found = row_blocks(X).centered(standardize)
    np.testing.assert_allclose(found.all_rows(), by_hand, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(fit(found, 0.1).loo_error, fit(by_hand, 0.1).loo_error, rtol=1e-11)
