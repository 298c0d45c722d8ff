"""Random masks: limits, symmetries, and the fast paths beside the dense one."""

import math

import numpy as np
import pytest

from tests.families import LIMITS, REGULAR, D
from theory import masked
from theory.masked.masks.classes import AllMasks, row_classes
from theory.masked.masks.equations import all_masks, finite_masks
from theory.masked.masks.population import CommutingPopulation, DensePopulation, population
from theory.models import (
    AR1,
    Diagonal,
    Empirical,
    Equicorrelated,
    MaskedRidge,
    PowerLaw,
    RandomMasks,
    Scaled,
    SpanMask,
    TwoLevel,
)

COUNTS = [None, 1, 4, 50]
COMMUTING = ["isotropic", "diagonal", "two level", "AR1", "equicorrelated", "blocks", "power law", "free field 2D"]


@pytest.mark.parametrize("name", COMMUTING)
@pytest.mark.parametrize("n_masks", COUNTS)
def test_modes_and_dense_matrices_agree(name, n_masks):
    fast, dense = population(REGULAR[name]), DensePopulation(REGULAR[name].matrix)
    assert isinstance(fast, CommutingPopulation)
    if n_masks is None:
        one, two = (all_masks(of, np.array([0.8]), 0.05, 0.2)[0] for of in (fast, dense))
    else:
        one, two = (finite_masks(of, 0.8, 0.05, 0.2, row_classes(n_masks, 0.2)) for of in (fast, dense))
    np.testing.assert_allclose(one.first, two.first, rtol=1e-10)
    for quantity in ("test_error", "train_error"):
        np.testing.assert_allclose(
            np.broadcast_to(getattr(one, quantity), D), getattr(two, quantity), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("name", ["scaled", "GOE precision", "empirical"])
def test_unequal_variances_are_dense(name):
    assert isinstance(population(REGULAR[name]), DensePopulation)


@pytest.mark.parametrize("name", ["AR1", "scaled", "two level"])
@pytest.mark.parametrize(("alpha", "rate"), [(0.5, 0.3), (1.0, 0.05), (3.0, 0.8)])
def test_the_effective_ridge_and_newton_agree_on_all_masks(name, alpha, rate):
    of = population(REGULAR[name])
    one, two = all_masks(of, np.array([alpha]), 0.01, rate)[0], finite_masks(of, alpha, 0.01, rate, AllMasks())
    np.testing.assert_allclose(one.first, two.first, rtol=1e-10)
    np.testing.assert_allclose(one.test_error, two.test_error, rtol=1e-10)
    np.testing.assert_allclose(one.train_error, two.train_error, rtol=1e-10)


@pytest.mark.parametrize("name", ["AR1", "scaled", "two level"])
def test_many_masks_approach_all_of_them_like_their_inverse_number(name):
    limit = masked.solve(RandomMasks(REGULAR[name], 1.0, 0.05, 0.15))

    def gaps(n_masks):
        found = masked.solve(RandomMasks(REGULAR[name], 1.0, 0.05, 0.15, n_masks))
        return n_masks * np.array(
            [found.mean_test_error - limit.mean_test_error, found.mean_train_error - limit.mean_train_error]
        )

    np.testing.assert_allclose(gaps(10**4), gaps(10**5), rtol=5e-3)
    assert gaps(10**5)[0] > 0.1
    huge = masked.solve(RandomMasks(REGULAR[name], 1.0, 0.05, 0.15, 10**9))
    np.testing.assert_allclose(huge.test_error, limit.test_error, rtol=1e-7)
    assert huge.diagonal_ridge == pytest.approx(limit.diagonal_ridge, rel=1e-7)


@pytest.mark.parametrize("n_masks", [1, 7, 10**6])
@pytest.mark.parametrize("rate", [1e-9, 0.3, 0.999])
def test_classes_of_rows_share_out_all_pairs(n_masks, rate):
    classes = row_classes(n_masks, rate)
    assert classes.pairs == pytest.approx(n_masks * rate, rel=1e-9)
    assert classes.share.min() >= 0
    assert classes.share.sum() == pytest.approx(1, rel=1e-12)
    # the signal of all rows of a sample: sum over classes of n_j j = n E J
    assert classes.share @ classes.signal == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("n_masks", COUNTS)
def test_permuted_coordinates_have_permuted_errors(n_masks):
    sigma, order = REGULAR["scaled"].matrix, np.random.default_rng(0).permutation(D)
    plain = masked.solve(RandomMasks(Empirical(sigma), 0.8, 0.05, 0.2, n_masks))
    permuted = masked.solve(RandomMasks(Empirical(sigma[np.ix_(order, order)]), 0.8, 0.05, 0.2, n_masks))
    np.testing.assert_allclose(permuted.test_error, plain.test_error[order], rtol=1e-10)
    np.testing.assert_allclose(permuted.train_error, plain.train_error[order], rtol=1e-10)
    np.testing.assert_allclose(permuted.predictor, plain.predictor[np.ix_(order, order)], atol=1e-11)


@pytest.mark.parametrize("n_masks", COUNTS)
def test_units_of_the_data(n_masks):
    """Sigma and lam in other units: errors follow."""
    one = masked.solve(RandomMasks(Scaled(AR1(20, 0.5), np.linspace(1, 2, 20)), 0.8, 0.05, 0.2, n_masks))
    two = masked.solve(RandomMasks(Scaled(AR1(20, 0.5), 1e3 * np.linspace(1, 2, 20)), 0.8, 0.05e6, 0.2, n_masks))
    np.testing.assert_allclose(two.test_error, 1e6 * one.test_error, rtol=1e-9)


@pytest.mark.parametrize("n_masks", COUNTS)
@pytest.mark.parametrize("name", sorted(set(LIMITS) - {"power law"}))
def test_large_systems_approach_the_infinite_one(name, n_masks):
    d = {"free field 2D": 900, "equicorrelated": 2000}.get(name, 400)
    limit = masked.solve(RandomMasks(LIMITS[name], 1.2, 0.1, 0.2, n_masks))
    large = masked.solve(RandomMasks(LIMITS[name].resized(d), 1.2, 0.1, 0.2, n_masks))
    allowance = 0.05 if "power law" in name or "Wishart" in name else 0.01
    assert large.mean_test_error == pytest.approx(limit.mean_test_error, rel=allowance)
    assert large.mean_train_error == pytest.approx(limit.mean_train_error, rel=allowance)
    assert limit.total_test_error == math.inf


def test_a_common_factor_counts_in_the_variance():
    """Masks hide its share too: not the isotropic problem that is left without masks."""
    error = masked.solve(RandomMasks(Equicorrelated(math.inf, 0.4), 1.0, 0.1, 0.3)).mean_test_error
    finite = masked.solve(RandomMasks(Equicorrelated(10**6, 0.4), 1.0, 0.1, 0.3)).mean_test_error
    assert error == pytest.approx(finite, rel=1e-4)


@pytest.mark.parametrize("lam", [1e-3, 1e-5, 1e-8])
def test_the_peak_is_where_pairs_equal_unknowns(lam):
    """n R p = d exactly at R = 8: there, and only there, the error diverges, like lam^-1/2."""

    def errors(ridge):
        return [
            masked.solve(RandomMasks(AR1(math.inf, 0.6), 1.0, ridge, 0.125, R)).mean_test_error
            for R in (1, 7, 8, 9, 40)
        ]

    larger, smaller = errors(lam), errors(lam / 100)
    assert int(np.argmax(smaller)) == 2
    if lam < 1e-4:
        assert smaller[2] / larger[2] == pytest.approx(10, rel=0.05)
        assert max(smaller[1] / larger[1], smaller[3] / larger[3]) < 1.05
    assert max(smaller[0], smaller[4]) < 1.1


@pytest.mark.parametrize("lam", [1e-12, 1e-4, 1e6])
@pytest.mark.parametrize("rate", [1e-6, 0.15, 1 - 1e-6])
@pytest.mark.parametrize("name", ["AR1", "scaled", "two level", "singular"])
def test_extremes_are_finite(name, rate, lam):
    covariance = Empirical(np.ones((12, 12))) if name == "singular" else REGULAR[name]
    variances = covariance.variances
    for n_masks in (None, 1, 7, 10**5):
        for alpha in (1e-3, 1.0, 1e4):
            found = masked.solve(RandomMasks(covariance, alpha, lam, rate, n_masks))
            assert found.converged
            assert np.all(np.isfinite(found.test_error))
            assert np.all(found.test_error > -1e-9 * variances)
            assert np.all(found.train_error > -1e-9 * variances)
            assert np.all(found.train_error < variances * (1 + 1e-9))


def test_hiding_nearly_everything_leaves_the_variance():
    found = masked.solve(RandomMasks(REGULAR["scaled"], 2.0, 0.1, 1 - 1e-7))
    np.testing.assert_allclose(found.test_error, REGULAR["scaled"].variances, rtol=1e-5)


def test_independent_coordinates_are_only_raised():
    for n_masks in COUNTS:
        found = masked.solve(RandomMasks(Diagonal([1.0, 2.0, 5.0]), 2.0, 0.3, 0.2, n_masks))
        ratio = found.test_error / np.array([1.0, 2.0, 5.0])
        assert np.ptp(ratio) < 1e-12
        assert ratio[0] > 1


def test_a_curve_repeats_the_points():
    for covariance in (AR1(math.inf, 0.6), REGULAR["scaled"], TwoLevel(math.inf), PowerLaw(math.inf, 1.2)):
        for n_masks in (None, 3):
            curve = masked.mask_curve(covariance, [0.5, 1.5], 0.05, [0.1, 0.4, 0.6], n_masks)
            assert curve.mean_test_error.shape == curve.mean_train_error.shape == (3, 2)
            for i, rate in enumerate(curve.mask_rates):
                for j, alpha in enumerate(curve.alphas):
                    point = masked.solve(RandomMasks(covariance, alpha, 0.05, rate, n_masks))
                    assert curve.mean_test_error[i, j] == pytest.approx(point.mean_test_error, rel=1e-10)
                    assert curve.mean_train_error[i, j] == pytest.approx(point.mean_train_error, rel=1e-10)
            assert curve.converged
    frame = masked.mask_curve(AR1(9, 0.5), [0.5, 1.5], 0.05, [0.0, 0.4]).to_frame()
    assert list(frame.columns) == ["mask_rate", "alpha", "mean_test_error", "mean_train_error"]
    assert frame.mean_test_error[0] == pytest.approx(masked.solve(MaskedRidge(AR1(9, 0.5), 0.5, 0.05)).mean_test_error)


def test_rows_per_coordinate():
    assert masked.solve(RandomMasks(AR1(9, 0.5), 2.0, 0.1, 0.25, 4)).rows_per_coordinate == 2.0
    assert masked.solve(RandomMasks(AR1(9, 0.5), 2.0, 0.1, 0.25)).rows_per_coordinate == math.inf
    assert repr(masked.solve(RandomMasks(AR1(9, 0.5), 2.0, 0.1, 0.25, 4))).startswith(
        "RandomMasksSolution(alpha=2, lam=0.1"
    )


@pytest.mark.parametrize("n_masks", [3, None])
def test_the_total_is_the_sum_over_coordinates(n_masks):
    covariance = Scaled(AR1(9, 0.5), np.linspace(0.5, 2, 9))
    point = masked.solve(RandomMasks(covariance, 2.0, 0.1, 0.25, n_masks))
    assert point.total_test_error == pytest.approx(point.test_error.sum(), rel=1e-13)
    assert point.mean_test_error == pytest.approx(point.test_error.sum() / 9, rel=1e-13)
    assert point.mean_train_error == pytest.approx(point.train_error.sum() / 9, rel=1e-13)
    assert masked.solve(RandomMasks(AR1(math.inf, 0.5), 2.0, 0.1, 0.25, n_masks)).total_test_error == math.inf


def test_solutions_as_tables():
    random, span = (
        masked.solve(RandomMasks(AR1(5, 0.5), 1.0, 0.1, 0.2, 3)),
        masked.solve(SpanMask(AR1(5, 0.5), 1.0, 0.1, [3, 1])),
    )
    for point, coordinates in ((random, range(5)), (span, [3, 1])):
        frame = point.to_frame()
        assert list(frame.coordinate) == list(coordinates)
        assert frame.test_error.to_numpy() == pytest.approx(point.test_error)
        assert frame.train_error.to_numpy() == pytest.approx(point.train_error)
