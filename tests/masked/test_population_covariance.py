"""The covariance without the noise of the sample: errors computed from it, units, limits, refusals."""

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.masked import population_covariance, sample
from theory import masked
from theory.models import AR1, Empirical


def factor_model(d):
    loadings = np.random.default_rng(5).standard_normal((d, 4))
    return Empirical((loadings @ loadings.T / 2 + 0.7 * np.eye(d)) * np.outer(np.arange(1, d + 1), np.arange(1, d + 1)))


@pytest.mark.parametrize(
    ("covariance", "bias"), [(AR1(30, 0.7), 0.02), (factor_model(30), 0.07)], ids=["ar1", "factor"]
)
def test_errors_of_regressions_are_those_of_the_true_covariance(agrees, covariance, bias):
    """By theory; the sample covariance gives a quarter less. The sample's eigenvectors cost the factor model 5 %."""
    found, raw = [], []
    for replicate in range(40):
        X = sample(covariance, 110, stream(4, "population", replicate)) + 10
        unit = np.sqrt(np.diagonal(covariance.matrix))
        corrected, direct = population_covariance(X).matrix, np.cov(X.T)
        numbers = []
        for matrix in (corrected, direct):
            scaled = Empirical(matrix / unit[:, None] / unit)
            limit = np.mean(masked.conditional_variances(scaled))
            numbers.append([masked.optimal_ridge(scaled, n / 30).mean_test_error for n in (110, 440)] + [limit])
        found.append(numbers[0]), raw.append(numbers[1])
    true = Empirical(covariance.matrix / unit[:, None] / unit)
    expected = [masked.optimal_ridge(true, n / 30).mean_test_error for n in (110, 440)]
    expected.append(float(np.mean(masked.conditional_variances(true))))
    for values, other, right in zip(np.transpose(found), np.transpose(raw), expected, strict=True):
        agrees(Estimate.of(values), right, resolves=0.13, bias=bias * right)
        assert other.mean() < 0.85 * right


def test_the_true_eigenvalues_are_found_where_the_sample_has_others():
    """White noise: all ones, where the sample's are spread from 0.1 to 2.8."""
    X = stream(0, "white").standard_normal((200, 100))
    found = np.linalg.eigvalsh(population_covariance(X).matrix)
    assert found.min() > 0.6
    assert found.max() < 1.5
    spread = np.linalg.eigvalsh(np.cov(X.T))
    assert spread.min() < 0.15
    assert spread.max() > 2.5


def test_many_rows_leave_the_sample_covariance():
    X = sample(AR1(6, 0.6), 20_000, stream(0, "many"))
    np.testing.assert_allclose(population_covariance(X).matrix, np.cov(X.T), atol=0.03)


def test_units_and_shifts_follow_the_columns():
    X = sample(AR1(8, 0.6), 60, stream(0, "units"))
    unit = np.geomspace(1e-3, 1e3, 8)
    expected = population_covariance(X).matrix * unit[:, None] * unit
    np.testing.assert_allclose(population_covariance(X * unit + unit).matrix, expected, rtol=1e-5, atol=1e-12)


def test_fewer_rows_than_columns_give_a_positive_definite_matrix():
    X = sample(AR1(40, 0.7), 25, stream(0, "few"))
    assert np.linalg.eigvalsh(population_covariance(X).matrix).min() > 0


def test_bad_input():
    X = np.random.default_rng(0).standard_normal((10, 3))
    with pytest.raises(ValueError, match="at least 3 rows, got 2"):
        population_covariance(X[:2])
    with pytest.raises(ValueError, match="got one value in column 1"):
        population_covariance(np.where(np.arange(3) == 1, 5.0, X))
    with pytest.raises(ValueError, match="X"):
        population_covariance(np.where(X > 1, np.nan, X))
    with pytest.raises(ValueError, match="X"):
        population_covariance("table")
