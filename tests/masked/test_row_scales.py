"""Rows of different scale: reference values, a second arithmetic, limits, and what interpolation does not see."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.masked import high_precision
from theory import masked
from theory.models import (
    AR1,
    EqualScales,
    GammaScales,
    Isotropic,
    LogNormalScales,
    MaskedRegression,
    MaskedRidge,
    PointScales,
    StudentTScales,
    TwoLevel,
)
from theory.random_matrix import population_errors

TWO = PointScales([0.2, 3.4], [0.75, 0.25])
ONE_COORDINATE = Isotropic(np.inf)
CHAIN = AR1(150, 0.6)
LAWS = [
    TWO,
    StudentTScales(2.1),
    StudentTScales(5.0),
    GammaScales(0.3),
    GammaScales(40.0),
    LogNormalScales(1.5),
    LogNormalScales(0.01),
    PointScales([0.0, 2.0], [0.5, 0.5]),
]


@pytest.mark.parametrize(
    ("alpha", "lam", "kappa", "test", "train", "gcv"),
    [
        (0.5, 0.01, 1.07310193175, 1.87102949158, 0.000608484320533, 0.489365104267),
        (1.0, 0.01, 0.208648208833, 3.25352820788, 0.0253922800889, 0.85206397498),
        (2.0, 0.1, 0.370330081901, 1.6810020059, 0.201929172899, 0.500589182323),
        (1.0, 1.0, 2.66076106806, 1.16115386259, 0.214678455463, 0.406367975654),
        (3.0, 0.001, 0.00330509036047, 2.17171476272, 0.301391873804, 0.675903319814),
    ],
)
def test_two_scales_and_independent_coordinates(alpha, lam, kappa, test, train, gcv):
    point = masked.solve(MaskedRidge(ONE_COORDINATE, alpha, lam, TWO))
    found = (point.effective_ridge, point.mean_test_error, point.mean_train_error, point.mean_gcv_error)
    np.testing.assert_allclose(found, (kappa, test, train, gcv), rtol=5e-12)
    np.testing.assert_array_equal(point.leave_one_out_error, point.test_error)


@pytest.mark.parametrize(
    ("alpha", "lam", "test", "train", "gcv", "kappa"),
    [
        (0.5, 0.05, 0.953032742493, 0.008565021536, 0.249654179412, 0.967087800935),
        (1.0, 0.01, 1.281023910131, 0.017425845091, 0.335962352896, 0.154262779207),
        (2.0, 0.3, 0.724287847922, 0.162625062869, 0.279734685059, 0.696422317295),
    ],
)
def test_two_scales_and_a_chain(alpha, lam, test, train, gcv, kappa):
    point = masked.solve(MaskedRidge(CHAIN, alpha, lam, TWO))
    found = (point.mean_test_error, point.mean_train_error, point.mean_gcv_error, point.effective_ridge)
    np.testing.assert_allclose(found, (test, train, gcv, kappa), rtol=1e-10)
    curve = masked.learning_curve(CHAIN, [alpha], [lam], row_scales=TWO)
    assert curve.mean_test_error[0, 0] == pytest.approx(point.mean_test_error, rel=1e-13)
    np.testing.assert_allclose(curve.gcv_error[0, 0], point.gcv_error, rtol=1e-12)
    np.testing.assert_allclose(curve.train_error[0, 0], point.train_error, rtol=1e-12)
    assert curve.mean_gcv_error[0, 0] == pytest.approx(point.mean_gcv_error, rel=1e-12)


@pytest.mark.parametrize(
    ("alpha", "test", "gaussian"),
    [
        (0.5, 1.238251050661, 1.238251050661),
        (1.25, 2.534882073778, 2.364235294118),
        (2.0, 1.213656027453, 0.945694117647),
        (4.0, 0.927237537282, 0.630462745098),
    ],
)
def test_without_a_ridge(alpha, test, gaussian):
    assert masked.ridgeless(MaskedRegression(CHAIN, alpha, TWO)).mean_test_error == pytest.approx(test, rel=1e-11)
    assert masked.ridgeless(MaskedRegression(CHAIN, alpha)).mean_test_error == pytest.approx(gaussian, rel=1e-11)


def gamma_mean(shape):
    from mpmath import exp, gamma, inf, mpf, quad

    a = mpf(shape)

    def mean(f):
        places = [0, 1e-6, 1e-3, 0.03, 0.3, 1, 3, 10, 40, 150, inf]
        return quad(lambda tau: tau ** (a - 1) * exp(-a * tau) * f(tau), places) * a**a / gamma(a)

    return mean


def student_mean(nu):
    inverse = gamma_mean(nu / 2)  # chi^2_nu/nu has a gamma law of mean 1
    return lambda f: inverse(lambda share: f((nu - 2) / (nu * share)))


def test_against_arithmetic_with_30_digits():
    """The laws with a density by adaptive quadrature: an exponential law, and Student-t rows of six degrees."""
    from mpmath import mpf

    points = lambda f: mpf("0.75") * f(mpf("0.2")) + mpf("0.25") * f(mpf("3.4"))  # noqa: E731
    noise = TwoLevel(np.inf)
    s, w = noise.spectrum.eigenvalues, noise.spectrum.weights
    cases = [
        (TWO, points, 0.7, 1e-4), (TWO, points, 1.0, 1e-9), (TWO, points, 5.0, 30.0),
        (GammaScales(), gamma_mean(1), 1.0, 0.01), (StudentTScales(6.0), student_mean(6), 1.5, 0.05),
    ]  # fmt: skip
    for law, mean, alpha, lam in cases:
        # Traces are those of the two levels; the error of one class of coordinates would need its diagonal.
        exact = high_precision.elliptical(s, w, alpha, lam, mean, digits=20)
        found = masked.solve(MaskedRidge(noise, alpha, lam, law))
        assert found.effective_ridge == pytest.approx(float(exact.effective_ridge), rel=1e-12)
        np.testing.assert_allclose((found.df1, found.df2), (float(exact.df1), float(exact.df2)), rtol=1e-11)
        alike = high_precision.elliptical([1], [1], alpha, lam, mean, digits=20)
        point = masked.solve(MaskedRidge(ONE_COORDINATE, alpha, lam, law))
        expected = [float(value) for value in (alike.test_error, alike.train_error, alike.gcv_error)]
        measured = (point.mean_test_error, point.mean_train_error, point.mean_gcv_error)
        np.testing.assert_allclose(measured, expected, rtol=1e-10)


def test_one_scale_for_all_is_the_gaussian_theory():
    """Also through the averages over a law: a point mass at 1 in two halves is not told to be one scale."""
    halves = PointScales([1.0 - 1e-6, 1.0 + 1e-6], [0.5, 0.5])
    assert not halves.alike
    assert PointScales([1.0, 1.0], [0.5, 0.5]).alike
    for alpha, lam in ((0.5, 0.01), (1.0, 1e-6), (3.0, 2.0)):
        one, two = (masked.solve(MaskedRidge(CHAIN, alpha, lam, law)) for law in (EqualScales(), halves))
        np.testing.assert_allclose(two.test_error, one.test_error, rtol=1e-9)
        np.testing.assert_allclose(two.train_error, one.train_error, rtol=1e-9)
        np.testing.assert_allclose(two.gcv_error, two.test_error, rtol=1e-8)
        np.testing.assert_array_equal(one.gcv_error, one.test_error)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_grid_of_extreme_problems_is_solved(law):
    curve = masked.learning_curve(
        AR1(np.inf, 0.7), np.geomspace(1e-2, 1e3, 9), np.geomspace(1e-12, 1e6, 7), row_scales=law
    )
    assert curve.residual < 1e-13
    assert curve.iterations <= 30
    assert np.all(curve.mean_gcv_error <= curve.mean_test_error * (1 + 1e-12))
    assert np.all(curve.mean_train_error <= curve.mean_gcv_error * (1 + 1e-12))


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("covariance", [AR1(np.inf, 0.6), TwoLevel(np.inf), AR1(12, 0.6)], ids=repr)
def test_the_saddle_point_is_the_random_matrix_theory(law, covariance):
    for alpha, lam in ((0.6, 1e-6), (1.0, 0.05), (2.5, 3.0)):
        model = MaskedRidge(covariance, alpha, lam, law)
        saddle = masked.replica(model, 1 if covariance.is_finite else 0)
        point = masked.solve(model, exact_size=covariance.is_finite)
        k = 1 if covariance.is_finite else 0
        kappa = np.broadcast_to(point.effective_ridge, point.test_error.shape)[k]
        found = (saddle.test_error, saddle.train_error, saddle.effective_ridge)
        np.testing.assert_allclose(found, (point.test_error[k], point.train_error[k], kappa), rtol=1e-10)
        if not covariance.is_finite:  # the factor by which a sample raises the error is one over 1 - c2 df2/alpha
            population = population_errors(covariance.spectrum, np.array([kappa]))[0, k]
            assert saddle.replicon == pytest.approx(population / point.test_error[k], rel=1e-9)
        assert saddle.objective == pytest.approx(saddle.train_error + lam * saddle.squared_norm, rel=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_best_ridge_beats_its_neighbors(law):
    for alpha in (0.5, 1.0, 4.0):
        best = masked.optimal_ridge(MaskedRegression(AR1(np.inf, 0.6), alpha, law))
        errors = masked.learning_curve(
            AR1(np.inf, 0.6), [alpha], best.lam * np.array([0.9, 1.0, 1.1]), row_scales=law
        ).mean_test_error[:, 0]
        assert best.residual < 1e-10
        assert errors[1] == pytest.approx(best.mean_test_error, rel=1e-12)
        assert errors[1] < min(errors[0], errors[2])


@pytest.mark.parametrize("law", LAWS[:-1], ids=repr)
def test_interpolation_is_blind_to_the_scales(law):
    for covariance in (AR1(np.inf, 0.6), TwoLevel(30)):
        blind, plain = (masked.ridgeless(MaskedRegression(covariance, 0.5, one)) for one in (law, EqualScales()))
        np.testing.assert_allclose(blind.test_error, plain.test_error, rtol=1e-12)
        near = masked.solve(MaskedRidge(covariance, 0.5, 1e-13, law))
        np.testing.assert_allclose(near.test_error, plain.test_error, rtol=1e-3)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_least_squares_is_the_limit_of_a_small_ridge_and_dearer_than_gaussian(law):
    for alpha in (2.5, 8.0):
        limit = masked.ridgeless(MaskedRegression(CHAIN, alpha, law))
        near = masked.solve(MaskedRidge(CHAIN, alpha, 1e-10, law))
        for name in ("mean_test_error", "mean_train_error", "mean_gcv_error"):
            assert getattr(near, name) == pytest.approx(getattr(limit, name), rel=1e-5)
        gaussian = masked.ridgeless(MaskedRegression(CHAIN, alpha))
        assert limit.mean_test_error >= gaussian.mean_test_error * (1 - 1e-12)


def test_rows_of_scale_zero_are_not_there():
    """Half of the rows hold nothing: the other half, twice as large, is a sample of half the size at half the ridge."""
    absent = PointScales([0.0, 2.0], [0.5, 0.5])
    for alpha, lam in ((1.0, 0.02), (6.0, 0.5)):
        found = masked.solve(MaskedRidge(CHAIN, alpha, lam, absent))
        halved = masked.solve(MaskedRidge(CHAIN, alpha / 2, lam))  # (1/n) X'X = (2/n) X_present'X_present
        np.testing.assert_allclose(found.test_error, halved.test_error, rtol=1e-11)
    assert masked.ridgeless(MaskedRegression(CHAIN, 1.5, absent)).mean_test_error == pytest.approx(
        masked.ridgeless(MaskedRegression(CHAIN, 0.75)).mean_test_error, rel=1e-12
    )
    with pytest.raises(ValueError, match="alpha must differ from rank"):
        masked.ridgeless(MaskedRegression(CHAIN, 2.0, absent))


def test_cross_validation_under_a_vanishing_ridge():
    """For n < d its limit is the test error over E[1/tau], the limit of a ratio of two numbers that vanish."""
    for law in (TWO, GammaScales(3.0), StudentTScales(8.0)):
        limit = masked.ridgeless(MaskedRegression(CHAIN, 0.5, law))
        assert limit.mean_gcv_error == pytest.approx(limit.mean_test_error / law.mean_inverse, rel=1e-13)
        near = masked.solve(MaskedRidge(CHAIN, 0.5, 1e-10, law))
        assert near.mean_gcv_error == pytest.approx(limit.mean_gcv_error, rel=1e-3)


@given(
    values=st.lists(st.floats(0.05, 20), min_size=2, max_size=6),
    alpha=st.floats(0.1, 10),
    lam=st.floats(1e-6, 10),
    factor=st.floats(0.1, 10),
)
@settings(max_examples=40)
def test_units_order_and_splits_do_not_matter(values, alpha, lam, factor):
    """Sigma -> c Sigma with lam -> c lam multiplies errors by c; a law is a set of values with probabilities."""
    law = PointScales.rescaled(values)
    split = PointScales(np.repeat(law.nodes[::-1], 2), np.repeat(law.probabilities[::-1] / 2, 2))
    noise = TwoLevel(np.inf)
    stretched = TwoLevel(np.inf, low=noise.low * factor, high=noise.high * factor, high_fraction=noise.high_fraction)
    one = masked.solve(MaskedRidge(noise, alpha, lam, law))
    two = masked.solve(MaskedRidge(stretched, alpha, factor * lam, split))
    np.testing.assert_allclose(two.test_error, factor * one.test_error, rtol=1e-10)
    np.testing.assert_allclose(two.gcv_error, factor * one.gcv_error, rtol=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_averages_of_a_law(law):
    tau, p = law.nodes, law.probabilities
    assert p.sum() == pytest.approx(1, rel=1e-13)
    assert p @ tau == pytest.approx(1, rel=1e-9)
    if math.isfinite(law.heterogeneity) and law.heterogeneity < 50:
        assert p @ tau**2 == pytest.approx(law.heterogeneity, rel=1e-6)
    if math.isfinite(law.mean_inverse) and law.mean_inverse < 50:
        assert p @ (1 / tau) == pytest.approx(law.mean_inverse, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PointScales([-1.0, 3.0]), "values must not be empty or negative"),
        (lambda: PointScales([]), "values"),
        (lambda: PointScales([1.0, np.nan]), "values"),
        (lambda: PointScales([0.5, 1.5], [0.5, 0.6]), "weights must be probabilities that sum to 1, got a sum of 1.1"),
        (lambda: PointScales([0.5, 1.5], [1.5, -0.5]), "weights must be probabilities"),
        (lambda: PointScales([0.5, 1.5], [1.0]), "weights must have the shape"),
        (lambda: PointScales([1.0, 3.0]), "values must have the mean 1, got 2; PointScales.rescaled"),
        (lambda: PointScales.rescaled([0.0, 0.0]), "values must not be negative, nor all zero"),
        (lambda: StudentTScales(2.0), "degrees_of_freedom"),
        (lambda: GammaScales(0.0), "shape"),
        (lambda: LogNormalScales(-1.0), "log_std"),
        (lambda: MaskedRidge(CHAIN, 1.0, 0.1, [1.0, 1.0]), "row_scales must be a record of theory.models"),
        (lambda: MaskedRegression(CHAIN, 1.0, 2.0), "row_scales must be a record of theory.models"),
    ],
)
def test_laws_that_are_none_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
