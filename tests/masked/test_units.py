"""Columns in different units: everything keeps its digits, and limits without a ridge change by the units alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from theory import masked
from theory.models import AR1, Blocks, Empirical, MaskedRidge, Scaled, Spiked, Wishart
from theory.random_matrix import effective_ridge

units = st.lists(st.floats(-8, 8), min_size=7, max_size=7).map(lambda powers: 10.0 ** np.array(powers))


def correlation(seed=0, d=7, rank=21):
    factor = np.random.default_rng(seed).standard_normal((d, rank))
    matrix = factor @ factor.T
    scales = np.sqrt(np.diagonal(matrix))
    return matrix / scales / scales[:, None]


def exact(matrix, alpha, lam):
    """kappa, test errors, predictor and bounds on its coefficients for a matrix as written, in 200-digit arithmetic."""
    with mp.workdps(200):
        S, d = mp.matrix(np.asarray(matrix).tolist()), len(matrix)
        s = [max(value, 0) for value in mp.eigsy(S, eigvals_only=True)]
        df = lambda kappa, k: sum((x / (x + kappa)) ** k for x in s) / d  # noqa: E731
        low, high = mp.mpf(lam), lam + sum(s) / d / alpha
        while high / low > 1 + mp.mpf(10) ** -60:
            kappa = mp.sqrt(low * high)
            low, high = (kappa, high) if 1 - df(kappa, 1) / alpha < lam / kappa else (low, kappa)
        R = mp.inverse(S + kappa * mp.eye(d))
        product = R * S * R
        errors = [float(product[k, k] / R[k, k] ** 2 / (1 - df(kappa, 2) / alpha)) for k in range(d)]
        rows = [[0.0 if i == j else float(-R[i, j] / R[i, i]) for j in range(d)] for i in range(d)]
        # |R_ij| is at most the geometric mean of R_ii and R_jj: the size of coefficients beside which errors count
        bounds = [[float(mp.sqrt(R[j, j] / R[i, i])) for j in range(d)] for i in range(d)]
        return float(kappa), np.array(errors), np.array(rows), np.array(bounds)


@pytest.mark.parametrize("scales", [[1e-5, 1.0, 1e3], [1e-8, 1.0, 1e8]])
def test_three_equal_correlations_in_three_units(scales):
    """Correlations .5: a conditional variance of 2/3, of which alpha = 2 makes 4/3."""
    scales = np.array(scales)
    covariance = Empirical((0.5 + 0.5 * np.eye(3)) * scales * scales[:, None])
    np.testing.assert_allclose(masked.conditional_variances(covariance), 2 / 3 * scales**2, rtol=1e-14)
    point = masked.ridgeless(covariance, 2.0)
    np.testing.assert_allclose(point.test_error, 4 / 3 * scales**2, rtol=1e-14)
    assert point.df1 == 1


@given(units, st.integers(0, 20))
def test_without_a_ridge_values_change_by_the_units_alone(scales, seed):
    plain, scaled = Empirical(correlation(seed)), Empirical(correlation(seed) * scales * scales[:, None])
    for covariance in (scaled, Scaled(plain, scales)):
        expected = masked.conditional_variances(plain) * scales**2
        np.testing.assert_allclose(masked.conditional_variances(covariance), expected, rtol=1e-11)
        expected = masked.ridgeless(plain, 1.7).test_error * scales**2
        np.testing.assert_allclose(masked.ridgeless(covariance, 1.7).test_error, expected, rtol=1e-11)


@given(units, st.integers(1, 6), st.integers(0, 20))
def test_the_rank_does_not_depend_on_units(scales, rank, seed):
    """Also the coordinates that the others determine do not: here all of them."""
    matrix = correlation(seed, rank=rank)
    for covariance in (Empirical(matrix * scales * scales[:, None]), Scaled(Empirical(matrix), scales)):
        assert np.count_nonzero(covariance.eigenvalues) == rank
        np.testing.assert_array_equal(masked.conditional_variances(covariance), np.zeros(7))
        with pytest.raises(ValueError, match=r"alpha must differ from rank\(Sigma\)/d"):
            masked.ridgeless(covariance, rank / 7)


@pytest.mark.parametrize("spread", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("lam", [1e-12, 1e-3, 1e6])
@pytest.mark.parametrize("rank", [21, 4])
def test_every_digit_is_kept_at_a_ridge(spread, lam, rank):
    """7 x 7 predictor, errors and effective ridge against 200-digit arithmetic on the same entries."""
    scales = spread ** np.random.default_rng(1).uniform(-1, 1, 7)
    factor = np.random.default_rng(0).integers(-9, 10, (7, rank)).astype(float)
    scales = 2.0 ** np.round(np.log2(scales))  # so that the entries of a singular matrix are exact
    matrix = (factor @ factor.T) * scales * scales[:, None]
    kappa, errors, rows, bounds = exact(matrix, 1.5, lam)
    model = MaskedRidge(Empirical(matrix), 1.5, lam)
    assert effective_ridge(model.covariance, 1.5, lam).value == pytest.approx(kappa, rel=1e-11)
    np.testing.assert_allclose(masked.solve(model).test_error, errors, rtol=1e-9)
    assert np.max(abs(masked.predictor(model) - rows) / bounds) < 1e-10


def test_a_base_that_knows_its_small_eigenvalues_keeps_them():
    """Near a unit root the entries of the matrix have lost the conditional variance, which the family knows."""
    base, scales = AR1(8, 1 - 1e-13), np.geomspace(1e-6, 1e6, 8)
    expected = masked.conditional_variances(base) * scales**2
    np.testing.assert_allclose(masked.conditional_variances(Scaled(base, scales)), expected, rtol=1e-12)
    np.testing.assert_allclose(masked.ridgeless(Scaled(base, scales), 2.0).test_error, 2 * expected, rtol=1e-12)
    values = Scaled(base, scales).eigenvalues
    # the product of the eigenvalues is a determinant
    determinant = np.log(base.eigenvalues).sum() + 2 * np.log(scales).sum()
    assert np.log(values).sum() == pytest.approx(determinant, abs=1e-9)


def test_a_spike_on_coordinates_of_different_units():
    scales = np.geomspace(1e-4, 1e4, 6)
    direction = np.full(6, 1 / math.sqrt(6))
    covariance = Spiked(Scaled(Blocks(6, 2, 0.5), scales), direction, 3.0)
    with mp.workdps(100):
        inverse = mp.inverse(mp.matrix(covariance.matrix.tolist()))
        expected = [float(1 / inverse[k, k]) for k in range(6)]
    # the smallest column is the spike to 9 digits: as many are gone
    np.testing.assert_allclose(masked.conditional_variances(covariance), expected, rtol=1e-7)


def test_what_rounding_has_swallowed_is_refused():
    small = 1 - 2e-15
    covariance = Empirical([[1.0, small, 0.0], [small, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match=r"covariance must tell .* coordinate 0 from rounding.*use lam > 0"):
        masked.conditional_variances(covariance)
    with pytest.raises(ValueError, match="covariance must tell"):
        masked.ridgeless(covariance, 2.0)
    assert masked.solve(MaskedRidge(covariance, 2.0, 1e-3)).converged
    # with a hundred times as much there are digits to return
    small = 1 - 2e-13
    covariance = Empirical([[1.0, small, 0.0], [small, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(masked.conditional_variances(covariance), [4e-13, 4e-13, 1], rtol=1e-2)


def test_a_matrix_that_is_indefinite_in_small_units_is_refused():
    """A correlation of 2 between two columns whose variances are 1e-10 of the largest."""
    with pytest.raises(ValueError, match="positive semi-definite, got an eigenvalue -1 of its correlations"):
        Empirical([[1e-10, 2e-10, 0.0], [2e-10, 1e-10, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match=r"symmetric, got 5e-09 and 6e-09 at \(0, 1\)"):
        Empirical([[1e-8, 5e-9, 0.0], [6e-9, 1e-8, 0.0], [0.0, 0.0, 1.0]])
    # rounding of the largest entry is no violation: this column is zero to rounding
    assert np.count_nonzero(Empirical([[1e-30, 3e-15], [3e-15, 1.0]]).eigenvalues) == 1


def test_a_constant_column_has_no_variance():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[:, 1] = 0.1
    covariance = Empirical.from_data(X)
    assert covariance.variances[1] == 0
    assert masked.conditional_variances(covariance)[1] == 0


def test_a_singular_wishart_in_units():
    scales = np.geomspace(1e-6, 1e6, 30)
    covariance = Scaled(Wishart(30, 0.5), scales)
    assert np.count_nonzero(covariance.eigenvalues) == 15
    assert masked.ridgeless(covariance, 0.8).mean_test_error == 0
    below = masked.ridgeless(covariance, 0.3)
    assert below.df1 == pytest.approx(0.3, rel=1e-11)
