"""Limits of symbols with one pole: Jacobi's function against mpmath, and means against closed forms."""

import math

import mpmath as mp
import numpy as np
import pytest

from theory.models import AR1, GaussianFreeField, TridiagonalPrecision
from theory.models.one_pole import _periods, delta_amplitude

SHARES = np.array([0.001, 0.2, 0.5, 0.77, 0.999])


@pytest.mark.parametrize("complement", [1e-12, 1e-5, 0.01, 0.3, 0.7, 0.72, 0.9, 0.999, 1 - 1e-9])
def test_the_delta_amplitude_has_all_its_digits(complement):
    periods = _periods(complement, math.sqrt((1 - complement) * (1 + complement)))
    with mp.workdps(50):
        m = 1 - mp.mpf(complement) ** 2
        exact = mp.ellipk(m), mp.ellipk(1 - m)
        assert periods == pytest.approx([float(one) for one in exact], rel=1e-15)
        expected = [float(mp.ellipfun("dn", mp.mpf(float(share)) * exact[0], m=m)) for share in SHARES]
    assert delta_amplitude(SHARES, *periods) == pytest.approx(expected, rel=2e-14)


@pytest.mark.parametrize("r", [0.0, 1e-9, -0.6, 0.88, 0.95, 0.999, 1 - 2.0**-20])
def test_means_of_chains(r):
    """E s^k and E s/(s + kappa) are contour integrals with one pole in the circle."""
    law = AR1(math.inf, r).spectrum
    s, power = law.eigenvalues, (1 + r * r) / ((1 - r) * (1 + r))
    assert law.mean(s) == pytest.approx(1, rel=1e-13)
    assert law.mean(s**2) == pytest.approx(power, rel=1e-13)
    assert law.mean(1 / s) == pytest.approx(power, rel=1e-13)
    for kappa in (1e-12, 0.01, 1.0, 1e12):
        c = (1 - r) * (1 + r) / kappa
        root = math.sqrt(((1 - r) ** 2 + c) * ((1 + r) ** 2 + c))
        assert law.mean(s / (s + kappa)) == pytest.approx(c / root, rel=1e-13)
    assert len(s) < 400  # equidistant angles were as many as 1/(1 - r)


def test_other_symbols_of_one_pole():
    for mass in (1e-150, 1e-3, 1.0, 1e150):
        law = GaussianFreeField(math.inf, mass).spectrum
        assert law.mean(law.eigenvalues) == pytest.approx(1 / mass / math.hypot(mass, 2), rel=1e-12)
    law = TridiagonalPrecision(math.inf, 2.0, -0.8).spectrum
    assert law.mean(law.eigenvalues) == pytest.approx(1 / math.sqrt(4 - 4 * 0.64), rel=1e-14)
    assert law.mean(1 / law.eigenvalues) == pytest.approx(2.0, rel=1e-14)
