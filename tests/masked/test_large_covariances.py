"""Masked regression with large covariances: every solver against its dense route, and against simulation."""

import numpy as np
import pytest
from scipy.sparse import diags_array

from simulate.core import replicate_estimate
from simulate.masked import mean_test_error
from theory import masked, random_matrix
from theory.models import (
    AR1,
    DiagonalPlusLowRank,
    Empirical,
    MaskedRegression,
    MaskedRidge,
    PointScales,
    Scaled,
    SparsePrecision,
)
from theory.models.row_scales import GAUSSIAN

R = 0.7
TWO = PointScales([0.2, 3.4], [0.75, 0.25])
FIELDS = ("effective_ridge", "df1", "df2", "test_error", "train_error", "gcv_error")


def autoregression(d, r=R):
    diagonal = np.full(d, (1 + r * r) / (1 - r * r))
    diagonal[[0, -1]] = 1 / (1 - r * r)
    return SparsePrecision(
        diags_array([-r / (1 - r * r), diagonal, -r / (1 - r * r)], offsets=[-1, 0, 1], shape=(d, d))
    )


def random_band(d, b):
    L = np.tril(np.triu(np.random.default_rng(0).standard_normal((d, d)), -b))
    return SparsePrecision(L @ L.T + 0.5 * np.eye(d))


def random_factors(d, r):
    rng = np.random.default_rng(1)
    return DiagonalPlusLowRank(rng.uniform(0.3, 3, d), rng.standard_normal((d, r)))


PAIRS = {
    "autoregression": (autoregression(60), AR1(60, R)),
    "random band": (random_band(50, 4), Empirical(random_band(50, 4).matrix)),
    "random factors": (random_factors(45, 3), Empirical(random_factors(45, 3).matrix)),
}
POINTS = [(2.0, 0.01), (0.5, 1e-3), (1.0, 1e-8), (0.03, 10.0), (40.0, 1e3)]


@pytest.fixture(params=PAIRS)
def pair(request):
    return PAIRS[request.param]


def assert_equal_results(found, expected, names=FIELDS, rtol=1e-10):
    for name in names:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol, err_msg=name)
    assert found.converged


@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_solutions_are_those_of_the_dense_route(pair, alpha, lam):
    large, dense = (masked.solve(MaskedRidge(one, alpha, lam)) for one in pair)
    assert_equal_results(large, dense)
    assert large.mean_test_error == pytest.approx(dense.mean_test_error, rel=1e-10)


def test_rows_of_different_scale(pair):
    for alpha, lam in ((0.5, 0.01), (2.0, 0.1)):
        large, dense = (masked.solve(MaskedRidge(one, alpha, lam, row_scales=TWO)) for one in pair)
        assert_equal_results(large, dense)


def test_learning_curves(pair):
    large, dense = (masked.learning_curve(one, [0.3, 1.0, 3.0], [1e-4, 0.1]) for one in pair)
    names = ("mean_test_error", "mean_train_error", "mean_gcv_error")
    assert_equal_results(large, dense, FIELDS + names)
    assert large.test_error.shape == (2, 3, pair[0].d)


@pytest.mark.parametrize("rows", [GAUSSIAN, TWO], ids=["Gaussian rows", "unlike rows"])
def test_the_ridges_of_a_long_curve_are_guessed_from_few(monkeypatch, rows):
    large, asked = autoregression(60), []
    computed = SparsePrecision.resolvent_diagonals

    def counted(self, kappa):
        asked.append(kappa)
        return computed(self, kappa)

    monkeypatch.setattr(SparsePrecision, "resolvent_diagonals", counted)
    alphas, lams = np.geomspace(0.2, 4, 40), [1e-3, 0.01, 0.1]
    curve = masked.learning_curve(large, alphas, lams, row_scales=rows)
    assert len(set(asked)) < 2.6 * curve.effective_ridge.size
    dense = masked.learning_curve(AR1(60, R), alphas, lams, row_scales=rows)
    assert_equal_results(curve, dense)
    for i, j in ((0, 0), (1, 17), (2, 39)):
        alone = masked.solve(MaskedRidge(large, alphas[j], lams[i], row_scales=rows))
        assert curve.effective_ridge[i, j] == pytest.approx(alone.effective_ridge, rel=1e-13)
        assert curve.mean_test_error[i, j] == pytest.approx(alone.mean_test_error, rel=1e-12)


def test_no_ridge_on_both_sides_of_interpolation(pair):
    for alpha in (0.4, 0.98, 1.02, 3.0):
        large, dense = (masked.ridgeless(one, alpha) for one in pair)
        assert_equal_results(large, dense, rtol=1e-9)
    large, dense = (masked.ridgeless(MaskedRegression(one, 0.5, row_scales=TWO)) for one in pair)
    assert_equal_results(large, dense)
    with pytest.raises(ValueError, match=r"alpha must differ from rank\(Sigma\)/d = 1"):
        masked.ridgeless(pair[0], 1.0)


def test_conditional_variances_and_the_peak(pair):
    large, dense = pair
    np.testing.assert_allclose(masked.conditional_variances(large), masked.conditional_variances(dense), rtol=1e-10)
    found, expected = (masked.peak_height(one, 1e-6) for one in pair)
    assert_equal_results(found, expected, ("effective_ridge", "test_error", "mean_test_error"))
    scales = np.linspace(0.5, 2, large.d)
    both = (masked.conditional_variances(Scaled(one, scales)) for one in pair)
    np.testing.assert_allclose(*both, rtol=1e-10)


def test_effective_ridges_and_degrees_of_freedom(pair):
    for alpha, lam in (*POINTS, (0.5, 0.0), (2.0, 0.0)):
        large, dense = (random_matrix.effective_ridge(one, alpha, lam) for one in pair)
        assert large.value == pytest.approx(dense.value, rel=1e-10)
    for kappa in (0.0, 1e-9, 0.3, 1e4):
        large, dense = (random_matrix.degrees_of_freedom(one, kappa) for one in pair)
        assert large == pytest.approx(dense, rel=1e-10)


def test_functions_that_need_modes_take_small_ones(pair):
    large, dense = (masked.optimal_ridge(one, alpha=1.0) for one in pair)
    assert large.lam == pytest.approx(dense.lam, rel=1e-6)
    large, dense = (masked.solve(MaskedRidge(one, 1.0, 0.1), exact_size=True) for one in pair)
    assert_equal_results(large, dense)


def test_a_million_coordinates_have_the_limit_of_infinitely_many():
    large = masked.solve(MaskedRidge(autoregression(10**6), alpha=2.0, lam=0.01))
    limit = masked.solve(MaskedRidge(AR1(np.inf, R), alpha=2.0, lam=0.01))
    assert large.test_error[500_000] == pytest.approx(limit.mean_test_error, rel=2e-6)  # the ends change kappa
    assert large.mean_test_error == pytest.approx(limit.mean_test_error, rel=5e-6)
    assert large.test_error[0] > 1.2 * large.test_error[500_000]  # a coordinate at an end has one neighbor


def test_factors_of_a_hundred_thousand_coordinates():
    """Where all factors and variances repeat, so do the errors; a factor of few coordinates changes only those."""
    d = 100_000
    common = np.ones((d, 1)) / np.sqrt(d)
    local = np.zeros((d, 1))
    local[:10] = 2.0
    large = masked.solve(MaskedRidge(DiagonalPlusLowRank(np.ones(d), np.hstack([common, local])), 1.0, 0.1))
    np.testing.assert_allclose(large.test_error[10:], large.test_error[10], rtol=1e-12)
    assert large.test_error[0] < 2.0 * large.test_error[10]  # of a variance of 5, of which the other nine tell most
    dense = masked.solve(MaskedRidge(AR1(np.inf, 0.0), 1.0, 0.1))  # independent coordinates but for a vanishing share
    assert large.test_error[10] == pytest.approx(dense.mean_test_error, rel=1e-4)


@pytest.mark.parametrize("covariance", [random_band(60, 2), random_factors(60, 2)], ids=["band", "factors"])
def test_theory_against_simulation(agrees, covariance):
    model = MaskedRidge(covariance, alpha=2.0, lam=0.1)
    estimate = replicate_estimate(mean_test_error, model, 60, 160, seed=3)
    predicted = masked.solve(model, exact_size=True).mean_test_error
    agrees(estimate, predicted, resolves=0.03, bias=0.15 / 60 * predicted)
    # The correction for the size is small, and it is the plain formula that the large ones have.
    assert masked.solve(model).mean_test_error == pytest.approx(predicted, rel=0.02)
