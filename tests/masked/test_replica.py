"""The replica saddle point: its equations written out, the scalar form, and every failure."""

import math

import numpy as np
import pytest

from tests.families import FINITE, LIMITS, REGULAR, SINGULAR, D
from tests.masked import high_precision
from theory import ConvergenceError, masked
from theory.models import AR1, Blocks, GOEPrecision, Isotropic, MaskedRidge, PowerLaw, TwoLevel

INF = math.inf
ALPHAS = (0.2, 0.97, 1.0, 3.0)
LAMS = (1e-12, 1e-6, 1e-2, 10.0)


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("coordinate", [0, 5])
def test_equals_the_scalar_form_of_the_same_regression(name, coordinate):
    for alpha in ALPHAS:
        for lam in LAMS:
            model = MaskedRidge(REGULAR[name], alpha, lam)
            saddle, scalar = masked.replica(model, coordinate=coordinate), masked.solve(model, exact_size=True)
            assert saddle.test_error == pytest.approx(scalar.test_error[coordinate], rel=1e-8), (alpha, lam)
            assert saddle.train_error == pytest.approx(scalar.train_error[coordinate], rel=1e-8), (alpha, lam)
            assert saddle.effective_ridge == pytest.approx(scalar.effective_ridge[coordinate], rel=1e-8), (alpha, lam)
            assert saddle.iterations <= 15
            assert saddle.converged


@pytest.mark.parametrize("name", SINGULAR)
def test_equals_the_scalar_form_of_singular_covariances(name):
    """To the rounding of the variances, which is all that is left of a coordinate known exactly."""
    for alpha in ALPHAS:
        for lam in LAMS:
            model = MaskedRidge(SINGULAR[name], alpha, lam)
            saddle, scalar = masked.replica(model, coordinate=5), masked.solve(model, exact_size=True)
            assert saddle.test_error == pytest.approx(scalar.test_error[5], rel=1e-8, abs=1e-12), (alpha, lam)
            assert saddle.iterations <= 15


@pytest.mark.parametrize("name", LIMITS)
def test_equals_the_all_coordinates_formula_in_the_limit(name):
    for coordinate in range(2 if name == "two level" else 1):
        for alpha in ALPHAS:
            for lam in LAMS:
                model = MaskedRidge(LIMITS[name], alpha, lam)
                saddle, scalar = masked.replica(model, coordinate=coordinate), masked.solve(model)
                expected = scalar.test_error[coordinate]
                # where Sigma is singular or strongly ridged the signal is what a difference of variances leaves
                assert saddle.test_error == pytest.approx(expected, rel=1e-8, abs=1e-12), (alpha, lam)
                assert saddle.effective_ridge == pytest.approx(scalar.effective_ridge, rel=1e-8)
                assert saddle.iterations <= 15


@pytest.mark.parametrize("name", ["AR1", "two level", "blocks", "free field"])
def test_differs_from_the_all_coordinates_formula_by_one_over_d(name):
    def gap(d):
        model = MaskedRidge(REGULAR[name].resized(d), 1.5, 0.05)
        return masked.replica(model, coordinate=d // 2).test_error - masked.solve(model).test_error[d // 2]

    assert gap(400) / gap(200) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("name", ["AR1", "scaled", "GOE precision", "blocks"])
@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 0.1), (1.0, 0.01), (2.0, 1.0)])
def test_solves_the_saddle_point_equations_written_out(name, alpha, lam):
    """Matrices instead of modes: every equation, its conjugates, the objective as a stationary value, the norm."""
    k, sigma = 7, FINITE[name].matrix
    x = masked.replica(MaskedRidge(FINITE[name], alpha, lam), coordinate=k)
    others = np.delete(np.arange(D), k)
    S, cross = sigma[np.ix_(others, others)], sigma[others, k]
    a, d = np.linalg.solve(S, cross), D - 1
    samples = alpha * D / d
    L, rho = samples * lam, a @ S @ a
    noise = sigma[k, k] - rho
    G = np.linalg.inv(L * np.eye(d) + x.Vhat * S)
    error = rho + noise - 2 * x.m + x.q
    assert x.Vhat == pytest.approx(samples / (1 + x.V), rel=1e-9)
    assert x.mhat == pytest.approx(x.Vhat, rel=1e-12)
    assert x.qhat == pytest.approx(samples * error / (1 + x.V) ** 2, rel=1e-9)
    np.testing.assert_allclose(x.V, np.trace(S @ G) / d, rtol=1e-9)
    assert x.m == pytest.approx(x.mhat * a @ S @ G @ S @ a, rel=1e-9)
    q = x.qhat * np.trace(S @ G @ S @ G) / d + x.mhat**2 * a @ S @ G @ S @ G @ S @ a
    assert x.q == pytest.approx(q, rel=1e-9)
    assert x.test_error == pytest.approx(error, rel=1e-9)
    assert x.train_error == pytest.approx(error / (1 + x.V) ** 2, rel=1e-9)
    phi = (x.qhat * x.V - x.Vhat * x.q) / 2 + x.mhat * x.m + samples * error / (2 * (1 + x.V))
    phi -= (x.qhat * np.trace(S @ G) / d + x.mhat**2 * a @ S @ G @ S @ a) / 2
    assert x.objective == pytest.approx(2 * phi / samples, rel=1e-8)  # per sample, without a factor 1/2
    assert x.squared_norm == pytest.approx((x.objective - x.train_error) / lam, rel=1e-8)


@pytest.mark.parametrize("method", ["plain", "anderson", "newton"])
@pytest.mark.parametrize("covariance", [AR1(30, 0.6), AR1(INF, 0.6), TwoLevel(30)])
def test_methods_of_the_core_find_the_same_point(method, covariance):
    from theory.masked.regression import limit, minor
    from theory.masked.replica import _admissible, _update
    from theory.numerics import solve_fixed_point

    model = MaskedRidge(covariance, 1.0, 0.05)
    regression = (minor if covariance.is_finite else limit)(model, 0)
    solution = solve_fixed_point(
        lambda x: _update(regression, x),
        np.array([0.0, regression.explained, 1.0]),
        admissible=lambda x: _admissible(regression, x),
        method=method,
        max_iter=5000,
    )
    found = masked.replica(model)
    np.testing.assert_allclose(solution.value, [found.m, found.q, found.V], rtol=1e-8, atol=1e-10)


def test_reference_point():
    x = masked.replica(MaskedRidge(Blocks(INF, 5, 0.5), 0.8, 0.05 / 0.8))
    values = (x.V, x.m, x.q, x.test_error / 2)
    np.testing.assert_allclose(values, (4.48412983194, 0.351771047597, 1.0599036417, 0.678180773252), rtol=1e-11)


@pytest.mark.parametrize("lam", [10.0**exponent for exponent in range(-12, 2)])
def test_few_iterations_and_ten_digits_at_every_ridge(lam):
    """Isotropic and blocks against mpmath, AR(1) against its scalar form, which test_high_precision.py checks."""
    for alpha in (0.3, 0.999, 1.0, 1.001, 5.0):
        spectrum = Blocks(INF, 5, 0.5).spectrum
        exact = high_precision.modes(spectrum.eigenvalues, spectrum.weights, alpha, lam, digits=20)
        found = masked.replica(MaskedRidge(Blocks(INF, 5, 0.5), alpha, lam))
        assert found.test_error == pytest.approx(float(exact.test_error), rel=1e-10)
        assert found.train_error == pytest.approx(float(exact.train_error), rel=1e-10)
        assert found.effective_ridge == pytest.approx(float(exact.effective_ridge), rel=1e-10)
        exact = high_precision.modes([1.0], [1.0], alpha, lam, digits=20)
        isotropic = masked.replica(MaskedRidge(Isotropic(INF), alpha, lam))
        assert isotropic.test_error == pytest.approx(float(exact.test_error), rel=1e-10)
        model = MaskedRidge(AR1(INF, 0.7), alpha, lam)
        autoregression = masked.replica(model)
        assert autoregression.test_error == pytest.approx(masked.solve(model).mean_test_error, rel=1e-10)
        assert max(found.iterations, isotropic.iterations, autoregression.iterations) <= 15


def test_three_iterations_are_an_error_or_said_not_to_have_converged():
    model = MaskedRidge(AR1(INF, 0.9), 0.3, 1e-12)
    with pytest.raises(ConvergenceError, match=r"replica saddle point of coordinate 0 of .* max_iter after 3") as e:
        masked.replica(model, max_iter=3)
    assert e.value.solution.residual > e.value.solution.tol
    returned = masked.replica(model, max_iter=3, check=False)
    assert not returned.converged
    assert returned.residual == e.value.solution.residual


def test_the_response_is_never_the_negative_root():
    """At alpha = 1, lam = 1e-4 the isotropic V is 99.5; V = -100.5 solves the same equation."""
    x = masked.replica(MaskedRidge(Isotropic(INF), 1.0, 1e-4))
    np.testing.assert_allclose(x.V, (math.sqrt(1 + 4e4) - 1) / 2, rtol=1e-11)


@pytest.mark.parametrize(
    ("covariance", "coordinate", "message"),
    [
        (AR1(10, 0.7), 10, r"coordinate must lie in 0..9 .*, got 10"),
        (AR1(10, 0.7), -1, "got -1"),
        (AR1(INF, 0.7), 1, r"coordinate must lie in 0..0, one a class of coordinates at d = inf, got 1"),
        (Isotropic(1), 0, "d be at least 2"),
    ],
)
def test_coordinates_that_do_not_exist(covariance, coordinate, message):
    with pytest.raises(ValueError, match=message):
        masked.replica(MaskedRidge(covariance, 1.0, 0.1), coordinate=coordinate)


def test_disorder_average_of_a_drawn_precision_approaches_its_limit():
    limit = masked.replica(MaskedRidge(GOEPrecision(INF), 2.0, 0.15)).test_error
    draws = [masked.solve(MaskedRidge(GOEPrecision(300, seed=seed), 2.0, 0.15)).mean_test_error for seed in range(3)]
    assert np.mean(draws) == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("name", [name for name in LIMITS if "power law" not in name])  # these lack a second moment
def test_strong_ridges_lose_no_digits(name):
    """m and q fall as 1/lam and 1/lam^2, by formulas in which nothing cancels."""
    weak, strong = (masked.replica(MaskedRidge(LIMITS[name], 2.0, lam)) for lam in (1e7, 1e9))
    assert strong.m == pytest.approx(weak.m / 100, rel=1e-5)
    assert strong.q == pytest.approx(weak.q / 10_000, rel=1e-5)


def test_a_coordinate_without_a_variance_is_refused():
    with pytest.raises(ValueError, match="replica needs coordinates of finite variance, got PowerLaw"):
        masked.replica(MaskedRidge(PowerLaw(INF, 1.5, rotation=0), 1.0, 0.1))
