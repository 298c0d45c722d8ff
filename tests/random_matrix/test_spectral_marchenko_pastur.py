"""Isotropic laws against the closed Marchenko-Pastur formulas, inside, at the edges, at zero, and off the real line."""

import math

import numpy as np
import pytest

from theory.models import Isotropic, MaskedRidge
from theory.random_matrix import correlation_law, covariance_law, effective_ridge, predictor_law

ALPHAS = [0.2, 0.5, 0.999, 1.0, 1.001, 2.0, 100.0]
VARIANCE = 2.5


def closed_edges(alpha):
    return VARIANCE * (1 - alpha**-0.5) ** 2, VARIANCE * (1 + alpha**-0.5) ** 2


def closed_density(x, alpha):
    """n = alpha d: alpha sqrt((high - x)(x - low))/(2 pi variance x), atom 1 - alpha at 0 not included."""
    low, high = closed_edges(alpha)
    return alpha * np.sqrt(np.maximum((high - x) * (x - low), 0)) / (2 * np.pi * VARIANCE * x)


def closed_stieltjes(z, alpha):
    low, high = closed_edges(alpha)
    root = np.sqrt(z - low) * np.sqrt(z - high)
    return alpha * (VARIANCE * (1 - 1 / alpha) - z + root) / (2 * VARIANCE * z)


@pytest.fixture(params=ALPHAS, ids=str)
def alpha(request):
    return request.param


@pytest.fixture
def law(alpha):
    return covariance_law(Isotropic(math.inf, VARIANCE), alpha)


def test_density(law, alpha):
    low, high = closed_edges(alpha)
    x = low + (high - low) * np.linspace(0.001, 0.999, 500)
    np.testing.assert_allclose(law.density(x), closed_density(x, alpha), rtol=1e-10)


def test_edges_mass_and_evidence(law, alpha):
    np.testing.assert_allclose(law.edges, [closed_edges(alpha)], rtol=1e-12, atol=1e-15)
    assert law.total_mass == pytest.approx(1, abs=1e-12)
    assert law.converged
    assert law.residual < 1e-11
    assert law.mean() == pytest.approx(VARIANCE, rel=1e-12)
    assert law.mean(2) == pytest.approx(VARIANCE**2 * (1 + 1 / alpha), rel=1e-12)


def test_exactly_at_edges_and_outside(law, alpha):
    """Square-root edges have density 0; the hard edge of alpha = 1 at 0 has an infinite one."""
    ((low, high),) = law.edges
    assert law.density(high) == 0
    assert law.density(low) == (math.inf if alpha == 1 else 0)
    assert law.density(0.0) == (math.inf if alpha == 1 else 0)
    assert law.density([-1.0, high + 1]).tolist() == [0, 0]


def test_atom_at_zero(law, alpha):
    if alpha < 1:
        np.testing.assert_allclose(law.atoms, [[0, 1 - alpha]], rtol=1e-12)
        assert law.cumulative(0.0) == pytest.approx(1 - alpha)
        assert law.cumulative(-1e-9) == 0
        assert law.quantiles((1 - alpha) / 2) == 0
    else:
        assert law.atoms.shape == (0, 2)


def test_square_root_edges(law, alpha):
    """The exponent of the density, measured over a factor of ten close to the edge: 1/2, and -1/2 at the hard edge."""
    ((low, high),) = law.edges
    near = 1e-4 * min(high - low, low or math.inf)
    for edge, sign, exponent in ((high, -1, 0.5), (low, 1, -0.5 if alpha == 1 else 0.5)):
        values = law.density(edge + sign * near * np.array([0.1, 1.0]))
        assert np.log10(values[1] / values[0]) == pytest.approx(exponent, abs=1e-3)


@pytest.mark.parametrize("quadrant", [1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j])
@pytest.mark.parametrize("size", [1e-3, 0.3, 1.0, 7.0, 1e6])
def test_stieltjes_in_all_quadrants(law, alpha, quadrant, size):
    z = size * quadrant / abs(quadrant)
    g = law.stieltjes(z)
    assert g == pytest.approx(closed_stieltjes(z, alpha), rel=1e-9)
    assert np.sign(g.imag) == np.sign(z.imag)
    assert law.stieltjes(np.conj(z)) == np.conj(g)
    if size == 1e6:
        assert g * z == pytest.approx(-1, abs=1e-5)


def test_stieltjes_on_the_real_line(law, alpha):
    ((low, high),) = law.edges
    middle = (low + high) / 2
    assert law.stieltjes(middle).imag / np.pi == pytest.approx(law.density(middle), rel=1e-12)
    for z in (-1.0, high + 0.5):
        assert law.stieltjes(z) == pytest.approx(closed_stieltjes(z + 0j, alpha), rel=1e-10)


def test_cumulative_against_integration(law, alpha):
    from scipy.integrate import quad

    ((low, high),) = law.edges
    x = low + 0.6 * (high - low)
    above, _ = quad(closed_density, x, high, args=(alpha,), epsabs=1e-12)
    assert law.cumulative(x) == pytest.approx(1 - above, abs=1e-10)


def test_quantiles_invert_the_cumulative(law, alpha):
    floor = max(0.0, 1 - alpha)
    p = floor + (1 - floor) * np.linspace(0.001, 0.999, 60)
    np.testing.assert_allclose(law.cumulative(law.quantiles(p)), p, atol=1e-12)
    np.testing.assert_allclose(law.quantiles([1.0]), law.edges[0, 1:], rtol=1e-7)


def test_predictor_of_independent_coordinates(alpha):
    """a = 1 - 1/nu, nu = D (s + lam): the atom for n < d sits at -1/kappa, and the trace vanishes."""
    lam = 0.3
    law = predictor_law(MaskedRidge(Isotropic(math.inf), alpha, lam))
    kappa = effective_ridge(Isotropic(math.inf), alpha, lam).value
    scale = kappa / (lam * (1 + kappa))
    low, high = (1 - alpha**-0.5) ** 2, (1 + alpha**-0.5) ** 2
    np.testing.assert_allclose(law.edges, [[1 - 1 / (scale * (s + lam)) for s in (low, high)]], atol=1e-12)
    assert law.mean() == pytest.approx(0, abs=1e-10)
    assert law.stieltjes(1e6j) * 1e6j == pytest.approx(-1, abs=1e-5)
    if alpha < 1:
        np.testing.assert_allclose(law.atoms, [[-1 / kappa, 1 - alpha]], rtol=1e-10)


def test_correlation_of_independent_coordinates(alpha):
    law = correlation_law(Isotropic(math.inf, VARIANCE), alpha)
    np.testing.assert_allclose(law.edges[0] * VARIANCE, closed_edges(alpha), rtol=1e-12, atol=1e-15)
