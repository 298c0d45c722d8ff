"""Limits d -> infinity: against large matrices, and against integrals done another way."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from tests.families import LIMITS
from theory.models import (
    AR1,
    Diagonal,
    Empirical,
    Equicorrelated,
    GaussianFreeField,
    GOEPrecision,
    PowerLaw,
    Toeplitz,
    TridiagonalPrecision,
    Wishart,
)

# size of the large matrix and relative allowance: exponential for periodic lattices and blocks, 1/d at open ends,
# fluctuations of order 1/d for random matrices
SIZES = {
    "isotropic": (4, 1e-14),
    "two level": (50, 1e-14),
    "AR1": (500, 3e-3),
    "AR1 alternating": (500, 3e-3),
    "Toeplitz": (500, 3e-3),
    "tridiagonal precision": (500, 3e-3),
    "GOE precision": (500, 5e-3),
    "equicorrelated": (1000, 2e-3),
    "blocks": (40, 1e-14),
    "power law": (10_000, 2e-3),
    "rotated power law": (500, 3e-2),
    "free field": (200, 1e-12),
    "free field 2D": (60**2, 1e-12),
    "Wishart": (500, 5e-3),
    "given spectrum": (40, 1e-14),
    "spectral density": (500, 5e-6),
    "singular Wishart": (500, 5e-3),
}


def moments(spectrum, kappa=0.3):
    p = spectrum.eigenvalues / (spectrum.eigenvalues + kappa)
    return np.array([spectrum.mean(p), spectrum.mean(p * p), spectrum.mean(p * (1 - p))])


@pytest.mark.parametrize("name", SIZES)
def test_large_matrices_approach_the_limit(name):
    d, allowance = SIZES[name]
    finite = LIMITS[name].resized(d)
    np.testing.assert_allclose(moments(finite.spectrum), moments(LIMITS[name].spectrum), rtol=allowance)


@pytest.mark.parametrize("name", ["AR1", "Toeplitz", "tridiagonal precision", "equicorrelated"])
def test_open_ends_cost_one_over_d(name):
    def gap(d):
        return abs(moments(LIMITS[name].resized(d).spectrum) - moments(LIMITS[name].spectrum))

    np.testing.assert_allclose(gap(200) / gap(400), 2, rtol=0.02)


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.3, 0.999])
def test_autoregression_is_a_toeplitz_family_and_a_tridiagonal_precision(correlation):
    r = correlation
    by_symbol = Toeplitz(math.inf, lambda t: (1 - r * r) / (1 - 2 * r * np.cos(t) + r * r))
    np.testing.assert_allclose(moments(AR1(math.inf, r).spectrum), moments(by_symbol.spectrum), rtol=1e-11)


def by_quad(density, s, kappa=0.3, powers=(1, 2)):
    """Integrals of (s/(s + kappa))^k over an angle in (0, pi), with adaptive quadrature."""
    return [quad(lambda t, k=k: density(t) * (s(t) / (s(t) + kappa)) ** k, 0, np.pi, epsabs=1e-13)[0] for k in powers]


@pytest.mark.parametrize("nu", [2.001, 3.0, 10.0])
def test_goe_precision_has_the_semicircle(nu):
    def density(t):
        return 2 / np.pi * np.sin(t) ** 2

    expected = by_quad(density, lambda t: 1 / (nu + 2 * np.cos(t)))
    np.testing.assert_allclose(moments(GOEPrecision(math.inf, nu).spectrum)[:2], expected, rtol=1e-9)


@pytest.mark.parametrize("aspect", [0.2, 0.5, 1.0, 1.01, 2.0, 50.0])
def test_wishart_has_the_law_of_marchenko_and_pastur(aspect):
    ratio, spectrum = 1 / aspect, Wishart(math.inf, aspect).spectrum

    def s(t):
        return 1 + ratio + 2 * np.sqrt(ratio) * np.cos(t)

    expected = by_quad(lambda t: 2 * np.sin(t) ** 2 / (np.pi * s(t)), s)
    np.testing.assert_allclose(moments(spectrum)[:2], expected, rtol=1e-8)
    assert spectrum.mean(spectrum.eigenvalues) == pytest.approx(1, rel=1e-6)
    assert spectrum.weights @ (spectrum.eigenvalues == 0) == pytest.approx(max(0, 1 - aspect), abs=1e-12)


@pytest.mark.parametrize("mass", [1e-3, 0.1, 1.0, 10.0])
def test_free_field_in_two_dimensions_by_its_inner_integral(mass):
    """The second momentum integrated in closed form: 1/(A - 2 cos k) has the mean 1/sqrt(A^2 - 4)."""
    spectrum, kappa = GaussianFreeField(math.inf, mass, 2).spectrum, 0.3

    def mean_resolved(k):
        A = 1 / kappa + mass**2 + 4 - 2 * np.cos(k)
        return 1 / (kappa * np.sqrt(A * A - 4))

    expected = quad(mean_resolved, 0, np.pi, epsabs=1e-14)[0] / np.pi
    assert moments(spectrum, kappa)[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 0.95, 1.0, 1.5, 4.0])
def test_power_law_is_the_law_of_a_power_of_a_uniform_number(exponent):
    expected = [quad(lambda u, k=k: (1 / (1 + 0.3 * u**exponent)) ** k, 0, 1, epsabs=1e-13)[0] for k in (1, 2)]
    np.testing.assert_allclose(moments(PowerLaw(math.inf, exponent).spectrum)[:2], expected, rtol=1e-10)


@pytest.mark.parametrize("exponent", [0.2, 0.5, 0.8])
def test_power_law_below_one_has_the_mean_of_its_law(exponent):
    spectrum = PowerLaw(math.inf, exponent).spectrum
    assert spectrum.mean(spectrum.eigenvalues) == pytest.approx(1 / (1 - exponent), rel=1e-9)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-10, 1e-15])
@pytest.mark.parametrize("sign", [1, -1])
def test_autoregression_near_its_unit_root(gap, sign):
    """df1 = a/sqrt((a + kappa (1-r)^2)(a + kappa (1+r)^2)), a = 1 - r^2, and a mean variance of 1."""
    covariance = AR1(math.inf, sign * (1 - gap))
    assert covariance.variances[0] == pytest.approx(1, rel=1e-11)
    gap = 1 - abs(covariance.correlation)
    a = gap * (2 - gap)
    for kappa in (1e-12, 1e-6, 1e-2, 1.0, 1e4):
        expected = a / math.sqrt((a + kappa * gap**2) * (a + kappa * (2 - gap) ** 2))
        assert moments(covariance.spectrum, kappa)[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("mass", [0.06, 0.04, 1e-3, 1e-5, 1e-8, 1e-100])
def test_free_field_of_a_small_mass_in_one_dimension(mass):
    """The mean of 1/(A - 2 cos k) is 1/sqrt(A^2 - 4); the same field as a tridiagonal precision."""
    covariance = GaussianFreeField(math.inf, mass)
    assert covariance.variances[0] == pytest.approx(1 / (mass * math.sqrt(mass**2 + 4)), rel=1e-11)
    for kappa in (1e-6, 0.3, 1e6):
        e = mass**2 + 1 / kappa
        expected = 1 / (kappa * math.sqrt(e * (e + 4)))
        assert moments(covariance.spectrum, kappa)[0] == pytest.approx(expected, rel=1e-11)


def test_tridiagonal_precision_near_its_unit_root():
    covariance = TridiagonalPrecision(math.inf, 2 + 2**-40, -1.0)
    e = 2**-40
    assert covariance.variances[0] == pytest.approx(1 / math.sqrt(e * (e + 4)), rel=1e-11)


def test_equicorrelated_coordinates_keep_their_variance_in_the_limit():
    covariance = Equicorrelated(math.inf, 0.4)
    np.testing.assert_array_equal(covariance.variances, [1.0])
    np.testing.assert_array_equal(covariance.resized(5).variances, np.ones(5))
    assert "common factor" in (Equicorrelated.__doc__ or "")
    assert covariance.spectrum.mean(covariance.spectrum.eigenvalues) == 0.6


def test_the_geometric_mean_of_a_spectrum():
    """In closed form: (1 - r^2) for AR(1) by Jensen's formula, and over the eigenvalues that are not zero."""
    assert AR1(math.inf, 0.6).spectrum.geometric_mean == pytest.approx(1 - 0.36, rel=1e-9)
    assert Empirical(np.diag([0.0, 2.0, 4.0, 8.0])).spectrum.geometric_mean == pytest.approx(4.0, rel=1e-13)
    assert Diagonal([1.0, 4.0]).spectrum.geometric_mean == pytest.approx(2.0, rel=1e-13)
