"""Data with an unknown mean."""

import numpy as np
import pytest

from simulate.masked import contrasts, fit


@pytest.mark.parametrize("n", [2, 3, 40])
def test_second_moments_are_those_of_centered_data_whatever_the_mean(n):
    X = np.random.default_rng(n).standard_normal((n, 5))
    rows, centered = contrasts(X + 1e6 * np.arange(5)), X - X.mean(axis=0)
    assert rows.shape == (n - 1, 5)
    np.testing.assert_allclose(rows.T @ rows, centered.T @ centered, rtol=1e-8, atol=1e-8)


def test_contrasts_of_independent_rows_are_orthonormal_combinations():
    combinations = contrasts(np.eye(7))
    np.testing.assert_allclose(combinations @ combinations.T, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(combinations @ np.ones(7), 0, atol=1e-14)


def test_gcv_of_interpolated_data_needs_contrasts():
    X = 3.0 + np.random.default_rng(0).standard_normal((30, 60))
    centered, rows = fit(X - X.mean(axis=0), 1e-6), fit(contrasts(X), 1e-6)
    np.testing.assert_allclose(centered.predictor, rows.predictor, atol=1e-4)
    assert centered.mean_gcv_error < 1e-3  # the free row pretends that the fit is perfect
    assert 1 < rows.mean_gcv_error < 4


def test_a_single_row_has_none():
    with pytest.raises(ValueError, match="X must have at least 2 rows to have contrasts, got 1"):
        contrasts(np.ones((1, 3)))
