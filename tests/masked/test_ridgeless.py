"""The limit lam -> 0 on both sides of interpolation, and the peak between them."""

import math

import numpy as np
import pytest

from tests.families import HOMOGENEOUS, LIMITS, REGULAR, SINGULAR
from theory import masked
from theory.models import AR1, Blocks, Diagonal, GOEPrecision, Isotropic, MaskedRidge, PowerLaw, TwoLevel, Wishart

INF = math.inf


@pytest.mark.parametrize(
    ("covariance", "halved"),
    [
        (AR1(INF, 0.6), 0.616464024933),
        (GOEPrecision(INF), 0.354248688935),
        (Blocks(INF, 5, 0.5), 0.686140661635),
    ],
)
def test_reference_values_below_interpolation(covariance, halved):
    point = masked.ridgeless(covariance, 0.5)
    assert point.mean_test_error / 2 == pytest.approx(halved, rel=1e-11)
    assert point.mean_train_error == point.total_train_error == 0


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("alpha", [1.05, 2.0, 30.0])
def test_above_interpolation_the_conditional_variance_is_raised_alike(name, alpha):
    floor = 1 / np.diagonal(np.linalg.inv(REGULAR[name].matrix))
    point = masked.ridgeless(REGULAR[name], alpha)
    np.testing.assert_allclose(point.test_error, floor * alpha / (alpha - 1), rtol=1e-9)
    np.testing.assert_allclose(point.train_error, floor * (alpha - 1) / alpha, rtol=1e-9)
    assert point.effective_ridge == 0
    assert point.df1 == point.df2 == pytest.approx(1)


@pytest.mark.parametrize("name", [name for name in HOMOGENEOUS if name != "singular Wishart"])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.99])
def test_below_interpolation_where_all_coordinates_are_alike(name, alpha):
    """E = kappa alpha/(1 - alpha)^2."""
    point = masked.ridgeless(HOMOGENEOUS[name], alpha)
    assert point.df1 == pytest.approx(alpha, rel=1e-11)
    assert point.mean_test_error == pytest.approx(point.effective_ridge * alpha / (1 - alpha) ** 2, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in LIMITS if name != "singular Wishart"])
@pytest.mark.parametrize("alpha", [0.3, 3.0])
def test_limits_join_a_vanishing_ridge(name, alpha):
    point, limit = masked.solve(MaskedRidge(LIMITS[name], alpha, 1e-12)), masked.ridgeless(LIMITS[name], alpha)
    assert point.mean_test_error == pytest.approx(limit.mean_test_error, rel=1e-8)
    assert limit.converged


@pytest.mark.parametrize("name", ["AR1", "GOE precision", "blocks", "free field 2D"])
def test_the_peak_has_the_same_height_on_both_sides(name):
    """E ~ sigma^2/|alpha - 1|."""
    variance = masked.conditional_variances(LIMITS[name])[0]
    for alpha in (1 - 1e-5, 1 + 1e-5):
        assert masked.ridgeless(LIMITS[name], alpha).mean_test_error * 1e-5 == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize("name", REGULAR)
def test_peak_law(name):
    """Relative error of order sqrt(lam): at 1e-10 and a hundredth of it."""
    gaps = []
    for lam in (1e-10, 1e-12):
        law, point = masked.peak_height(REGULAR[name], lam), masked.solve(MaskedRidge(REGULAR[name], 1.0, lam))
        np.testing.assert_allclose(law.test_error, point.test_error, rtol=3e-4)
        assert law.mean_test_error == pytest.approx(np.mean(law.test_error), rel=1e-12)
        gaps.append(point.effective_ridge / law.effective_ridge - 1)
    assert abs(gaps[0]) < 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("name", [name for name in LIMITS if "Wishart" not in name])
def test_peak_law_in_the_limit(name):
    law, point = masked.peak_height(LIMITS[name], 1e-12), masked.solve(MaskedRidge(LIMITS[name], 1.0, 1e-12))
    assert law.mean_test_error == pytest.approx(point.mean_test_error, rel=1e-4)
    tau = LIMITS[name].spectrum.mean(1 / LIMITS[name].spectrum.eigenvalues)
    assert law.effective_ridge == pytest.approx(math.sqrt(1e-12 / tau), rel=1e-12)


def test_the_peak_itself_is_refused_and_points_to_its_law():
    for covariance in (AR1(10, 0.7), AR1(INF, 0.7), Diagonal([1.0, 2.0])):
        with pytest.raises(ValueError, match=r"alpha must differ from rank\(Sigma\)/d = 1, .* see peak_height"):
            masked.ridgeless(covariance, 1.0)


@pytest.mark.parametrize("covariance", [*SINGULAR.values(), Wishart(INF, 0.5)])
def test_a_singular_covariance_has_no_peak_at_one(covariance):
    with pytest.raises(ValueError, match="covariance must be non-singular for the peak"):
        masked.peak_height(covariance, 1e-6)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="alpha must lie in"):
        masked.ridgeless(AR1(10, 0.7), 0.0)
    with pytest.raises(ValueError, match="lam must lie in"):
        masked.peak_height(AR1(10, 0.7), 0.0)


@pytest.mark.parametrize(
    "covariance",
    [Isotropic(math.inf, 100.0), AR1(math.inf, 0.95), TwoLevel(math.inf), PowerLaw(200, 1.2, rotation=0)],
    ids=lambda covariance: type(covariance).__name__,
)
@pytest.mark.parametrize("small", [1e-4, 1e-6])
def test_the_error_of_the_peak_law_is_as_said(covariance, small):
    """In units of lam tau: E is larger by 1 + rho sqrt(lam tau)."""
    s = covariance.spectrum.eigenvalues
    tau = covariance.spectrum.mean(1 / s)
    rho = covariance.spectrum.mean(s**-2.0) / tau**2
    peak = masked.peak_height(covariance, small / tau)
    exact = masked.solve(MaskedRidge(covariance, 1.0, small / tau))
    excess = exact.test_error / peak.test_error - 1
    np.testing.assert_allclose(excess, rho * math.sqrt(small), rtol=5 * math.sqrt(small) * rho**2)
