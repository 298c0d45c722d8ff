"""Rows of different scale at the ends of what numbers hold, and what must be so for every law of the scales."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.masked import fit_path
from theory import masked
from theory.models import (
    AR1,
    Diagonal,
    Empirical,
    GammaScales,
    Isotropic,
    MaskedRegression,
    MaskedRidge,
    PointScales,
    StudentTScales,
    TwoLevel,
)
from theory.random_matrix import effective_ridge

TWO = PointScales([0.2, 3.4], [0.75, 0.25])
ABSENT = PointScales([0.0, 2.0])
LAWS = st.lists(st.floats(0.05, 20), min_size=2, max_size=5).map(PointScales.rescaled)
NOISE = TwoLevel(np.inf)


@pytest.mark.parametrize("law", [TWO, ABSENT, StudentTScales(5.0), GammaScales(0.1)], ids=repr)
@pytest.mark.parametrize("lam", [1e17, 1e60, 1e150, 1e290])
def test_under_a_very_large_ridge_nothing_is_learned(law, lam):
    """The rows' share of the equation is then below rounding, and the mean error is the mean variance."""
    point = masked.solve(MaskedRidge(AR1(np.inf, 0.5), 0.4, lam, law))
    assert point.effective_ridge == pytest.approx(lam, rel=1e-10)
    assert point.mean_test_error == pytest.approx(1.0, rel=1e-10)
    assert point.mean_gcv_error == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize("lam", [1e-60, 1e-195, 1e-290])
def test_cross_validation_at_weights_whose_squares_underflow(lam):
    noise = Empirical(np.diag([0.0] * 9 + [0.9] * 11))
    for law in (TWO, GammaScales(3.0)):
        point = masked.solve(MaskedRidge(noise, 0.3, lam, law))
        assert point.mean_gcv_error == pytest.approx(point.mean_test_error / law.mean_inverse, rel=1e-10)


@pytest.mark.parametrize("law", [TWO, ABSENT, StudentTScales(2.1)], ids=repr)
def test_data_without_variance_are_predicted_without_error(law):
    """Also one coordinate beside which the other has no variance, so that its regression has nothing to learn from."""
    model = MaskedRidge(Empirical(np.zeros((2, 2))), 2.0, 0.1, law)
    assert masked.solve(model).mean_test_error == masked.replica(model).test_error == 0
    half = MaskedRidge(Empirical(np.diag([1.0, 0.0])), 2.0, 0.1, law)
    assert masked.replica(half, 0).test_error == 1
    np.testing.assert_allclose(masked.solve(half, exact_size=True).test_error, [1.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "law"),
    [
        (0.15, PointScales.rescaled([1.0, 1.2, 0.02], [0.96, 0.03, 0.01])),
        (4e-4, PointScales.rescaled([0.0, 7.0, 0.01], [0.42, 0.15, 0.43])),
        (4e-4, ABSENT),
    ],
    ids=repr,
)
def test_the_best_ridge_where_the_grid_starts_within_rounding_of_interpolation(alpha, law):
    """The smallest variances are 1e-8 of the effective ridge at interpolation, whose gap then rounds to zero."""
    noise = Diagonal([2e4] * 8 + [4.5e-4] * 12)
    best = masked.optimal_ridge(MaskedRegression(noise, alpha, law))
    errors = masked.learning_curve(noise, [alpha], np.geomspace(1e-6, 1e12, 61), row_scales=law).mean_test_error
    assert best.mean_test_error <= errors.min() * (1 + 1e-12)


def test_rows_that_are_rarely_present_are_counted_exactly():
    assert PointScales([0.0, 2.0**40], [1 - 2.0**-40, 2.0**-40]).present == 2.0**-40
    assert PointScales([0.0, 1e15], [1 - 1e-15, 1e-15]).present == pytest.approx(1e-15, rel=1e-14, abs=0)


def test_scales_near_the_ends_of_double_precision():
    np.testing.assert_array_equal(PointScales.rescaled([1e308] * 3).nodes, 1.0)
    np.testing.assert_allclose(PointScales.rescaled([2e-320, 4e-320]).nodes, [2 / 3, 4 / 3], rtol=1e-3)
    assert PointScales.rescaled([0.0, 1.0], [1.0, 1e-200]).heterogeneity == pytest.approx(1e200)
    assert PointScales.rescaled([1e-310, 1.0]).mean_inverse == math.inf


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([0.0, 2.0], [1.0, 0.0], "values must not be zero wherever weights are positive"),
        ([1.0, 2.0], [0.0, 0.0], "weights must be probabilities that sum to 1, got a sum of 0"),
        ([1.0, 2.0], [1e308, 1e308], "weights must be probabilities that sum to 1, got a sum of inf"),
        ([1.0, 2.0], [2.0, -1.0], "weights must be probabilities, which are not negative, got -1"),
        ([1.0, 2.0], [1.0], r"weights must have the shape \(2,\) of values"),
    ],
)
def test_weights_that_are_no_probabilities_are_refused_as_such(values, weights, message):
    with pytest.raises(ValueError, match=message):
        PointScales.rescaled(values, weights)


@given(law=LAWS, alpha=st.floats(0.05, 20), lam=st.floats(1e-8, 100))
@settings(max_examples=60)
def test_the_effective_ridge_lies_between_those_of_gaussian_rows(law, alpha, lam):
    """Above that of rows of one scale (Jensen), below that of rows that are all as small as the smallest."""
    found = float(effective_ridge(NOISE, alpha, lam, row_scales=law))
    alike, smallest = (float(effective_ridge(NOISE, alpha, ridge)) for ridge in (lam, lam / law.nodes.min()))
    assert alike * (1 - 1e-11) <= found <= smallest * (1 + 1e-11)
    assert float(effective_ridge(NOISE, alpha, 1.01 * lam, row_scales=law)) > found


@given(law=LAWS, alpha=st.floats(0.05, 20), lam=st.floats(1e-8, 100))
@settings(max_examples=60)
def test_cross_validation_lies_between_train_and_test_error(law, alpha, lam):
    point = masked.solve(MaskedRidge(NOISE, alpha, lam, law))
    assert np.all(point.train_error <= point.gcv_error * (1 + 1e-12))
    assert np.all(point.gcv_error <= point.test_error * (1 + 1e-12))


@given(law=LAWS, alpha=st.floats(1.05, 20))
@settings(max_examples=60)
def test_least_squares_never_gain_from_rows_of_different_scale(law, alpha):
    """With y = rank/n and E[tau/(g + tau y)] = 1, E[tau^2/(g + tau y)^2] is at least 1 by Cauchy and Schwarz."""
    unlike, alike = (masked.ridgeless(MaskedRegression(Isotropic(np.inf), alpha, *one)) for one in ([law], []))
    assert unlike.mean_test_error >= alike.mean_test_error * (1 - 1e-11)
    assert unlike.mean_train_error == pytest.approx(unlike.mean_gcv_error * (1 - 1 / alpha) ** 2, rel=1e-10)


@given(law=LAWS, alpha=st.floats(0.2, 8))
@settings(max_examples=25)
def test_the_slope_of_the_error_vanishes_at_the_best_ridge(law, alpha):
    """By differences of the errors themselves, of fourth order in steps of the logarithm of the ridge."""
    best = masked.optimal_ridge(MaskedRegression(AR1(np.inf, 0.6), alpha, law))
    step = 0.02
    lams = best.lam * np.exp(step * np.array([-2, -1, 0, 1, 2]))
    log_errors = np.log(masked.learning_curve(AR1(np.inf, 0.6), [alpha], lams, row_scales=law).mean_test_error[:, 0])
    slope = (log_errors @ [1, -8, 0, 8, -1]) / (12 * step)
    bend = (log_errors @ [-1, 16, -30, 16, -1]) / (12 * step**2)
    assert bend > 0
    assert abs(slope / bend) < 1e-5  # the distance of the minimum, in the logarithm of the ridge


def test_the_order_of_the_rows_does_not_choose_another_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12)) * rng.gamma(0.5, size=(40, 1))
    lams = np.geomspace(1e-3, 10, 13)
    assert fit_path(X, lams).best("loo") == fit_path(X[rng.permutation(40)], lams).best("loo")
