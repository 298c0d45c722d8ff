"""The formulas at the ends of double precision: huge and tiny ridges, ratios and variances, and none at all."""

import math

import numpy as np
import pytest

from theory import ConvergenceError, masked
from theory.models import AR1, Diagonal, Empirical, Isotropic, MaskedRidge, Wishart
from theory.random_matrix import effective_ridge, minor_moments, ridge_moments, solve_ridge_equation

ZERO = [Empirical(np.zeros((3, 3))), Empirical.from_data(np.ones((1, 3)))]


def all_routes(model, coordinate=1):
    """Test errors of one coordinate by the three solvers."""
    yield masked.solve(model).test_error[coordinate]
    yield masked.solve(model, exact_size=True).test_error[coordinate]
    yield masked.replica(model, coordinate=coordinate).test_error


@pytest.mark.parametrize("lam", [1e100, 1e155, 1e200, 1e300])
@pytest.mark.parametrize("covariance", [AR1(20, 0.5), Isotropic(20), Diagonal(np.linspace(1, 2, 20))])
def test_a_huge_ridge_leaves_the_variance(covariance, lam):
    np.testing.assert_allclose(list(all_routes(MaskedRidge(covariance, 1.0, lam))), covariance.variances[1], rtol=1e-13)
    assert masked.solve(MaskedRidge(AR1(math.inf, 0.5), 1.0, lam)).mean_test_error == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_of_the_variances_does_not_matter(scale):
    small, large = (masked.solve(MaskedRidge(Isotropic(20, s), 1.0, 0.1 * s)) for s in (1.0, scale))
    assert large.mean_test_error == pytest.approx(small.mean_test_error * scale, rel=1e-12)
    assert large.effective_ridge == pytest.approx(small.effective_ridge * scale, rel=1e-12)


@pytest.mark.parametrize("covariance", ZERO)
def test_nothing_varies(covariance):
    for lam in (1e-3, 0.1, 10.0):
        assert list(all_routes(MaskedRidge(covariance, 1.0, lam))) == [0, 0, 0]
        assert effective_ridge(covariance, 1.0, lam).value == lam
    with pytest.raises(ValueError, match="covariance must have a positive variance"):
        masked.optimal_ridge(covariance, 1.0)


def test_ratios_of_all_orders():
    plenty, nothing = (list(all_routes(MaskedRidge(AR1(20, 0.5), alpha, 0.1))) for alpha in (1e300, 1e-300))
    population = masked.replica(MaskedRidge(AR1(20, 0.5), 1e12, 0.1), coordinate=1).test_error
    np.testing.assert_allclose(plenty, population, rtol=1e-10)
    np.testing.assert_allclose(nothing, 1, rtol=1e-12)


@pytest.mark.parametrize("lam", [1e-15, 1e-20, 1e-40, 1e-100, 1e-300])
def test_exact_size_at_the_smallest_ridges(lam):
    """d - 1 = 19 unknowns and 20 samples: sigma^2/(1 - 19/20) for every coordinate."""
    covariance = AR1(20, 0.5)
    point = masked.solve(MaskedRidge(covariance, 1.0, lam), exact_size=True)
    np.testing.assert_allclose(point.test_error, 20 * masked.conditional_variances(covariance), rtol=1e-11)
    np.testing.assert_allclose(point.effective_ridge, 20 * lam, rtol=1e-11)
    assert masked.solve(MaskedRidge(Wishart(20, 0.5), 0.7, lam), exact_size=True).converged


@pytest.mark.parametrize("kappa", [1e-250, 1e-100, 1e-12, 1e-3, 0.7, 1e3, 1e12, 1e100, 1e250])
def test_moments_of_minors_at_every_ridge(kappa):
    covariance, k = AR1(12, 0.5), 4
    minor = Empirical(np.delete(np.delete(covariance.matrix, k, 0), k, 1))
    found = minor_moments(covariance.spectrum, 12, np.full(12, kappa))
    expected = ridge_moments(minor.spectrum, np.array([kappa]))
    for name in ("df1", "left", "spread"):
        np.testing.assert_allclose(getattr(found, name)[k], getattr(expected, name)[0], rtol=1e-11, err_msg=name)


@pytest.mark.parametrize("matrix", [np.diag([1.0, 0.0]), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0]]])
@pytest.mark.parametrize("alpha", [0.4, 0.8, 2.0])
def test_a_coordinate_without_variance_has_no_error_and_disturbs_no_other(matrix, alpha):
    covariance = Empirical(matrix)
    d = covariance.d
    model = MaskedRidge(covariance, alpha, 0.1)
    assert list(all_routes(model, d - 1)) == [0, 0, 0]
    assert masked.replica(model).test_error == pytest.approx(masked.solve(model, exact_size=True).test_error[0])
    if d > 2:  # the same samples and ridge, without it
        smaller = Empirical(covariance.matrix[:-1, :-1])
        found = masked.optimal_ridge(covariance, alpha)
        alone = masked.optimal_ridge(smaller, alpha * d / (d - 1))
        assert (found.lam, d * found.mean_test_error) == pytest.approx((alone.lam, (d - 1) * alone.mean_test_error))
    else:
        assert masked.optimal_ridge(covariance, alpha).mean_test_error == 0.5


def test_a_failure_advises_what_its_caller_can_do():
    with pytest.raises(ConvergenceError, match="take a less extreme alpha") as failure:
        solve_ridge_equation(
            lambda kappa: ridge_moments(AR1(20, 0.5).spectrum, kappa), np.array(0.5), np.array(1e-3), 1.0, max_iter=1
        )
    assert "method" not in str(failure.value)
    assert "max_iter" not in str(failure.value).split(";")[1]
    with pytest.raises(ConvergenceError) as failure:
        masked.replica(MaskedRidge(AR1(20, 0.9), 0.3, 1e-12), max_iter=2)
    assert "method" not in str(failure.value)


def test_a_last_step_that_rounding_spoils_is_taken_back():
    """Moments that turn into noise once the equation holds."""
    spectrum, calls = AR1(20, 0.5).spectrum, []

    def noisy(kappa):
        calls.append(kappa.copy())
        return ridge_moments(spectrum, kappa * (2 if spoiled(kappa) else 1))

    def spoiled(kappa):
        return len(calls) > clean.iterations

    clean = solve_ridge_equation(lambda kappa: ridge_moments(spectrum, kappa), np.array(0.7), np.array(0.1), 1.0)
    found = solve_ridge_equation(noisy, np.array(0.7), np.array(0.1), 1.0)
    assert found.converged
    assert float(found.value) == pytest.approx(float(clean.value), rel=1e-11)
