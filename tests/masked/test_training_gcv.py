"""Generalized cross-validation late in training of few rows, where it is a ratio of two numbers that both vanish."""

import math

import mpmath
import numpy as np
import pytest

from theory import masked
from theory.models import AR1, Flow, GivenSpectrum, MaskedTraining
from theory.models.row_scales import PointScales

VARIANCES, SHARES = (1, 10), (0.5, 0.5)
NODES = 40


def talbot():
    """Nodes z and weights g in the upper half plane, with e^-x = 2 Re sum g/(z + x) to 30 digits for x >= 0."""
    for k in range(NODES // 2, NODES):
        angle = -mpmath.pi + (k + mpmath.mpf(1) / 2) * 2 * mpmath.pi / NODES
        turn, slope = mpmath.mpf("0.6407") * angle, mpmath.mpc(0, "0.2645")
        z = NODES * (mpmath.mpf("0.5017") * angle * mpmath.cot(turn) - mpmath.mpf("0.6122") + slope * angle)
        tangent = mpmath.cot(turn) - turn / mpmath.sin(turn) ** 2
        yield z, mpmath.e**z * (mpmath.mpf("0.5017") * tangent + slope) / mpmath.mpc(0, 1)


def effective_ridge(ridge, alpha):
    """The root in the upper half plane of kappa (1 - mean of s/(s + kappa)/alpha) = ridge, which is cubic for two s."""
    (a, b), (p, q) = VARIANCES, SHARES
    cubic = [1, a + b - ridge - (p * a + q * b) / alpha, a * b - ridge * (a + b) - a * b / alpha, -ridge * a * b]
    return max(mpmath.polyroots(cubic, maxsteps=200, extraprec=200), key=lambda root: root.imag)


def exact_gcv(time, alpha):
    """GCV along gradient flow, as the double sum over ridges with all conjugates, at 40 digits."""
    with mpmath.workdps(40):
        alpha, ridges = mpmath.mpf(alpha), []
        for z, g in talbot():
            ridge = z / time
            kappa = effective_ridge(ridge, alpha)
            own = sum(p / (s + kappa) for p, s in zip(SHARES, VARIANCES, strict=True))
            excess = sum(p * s / (s + kappa) for p, s in zip(SHARES, VARIANCES, strict=True)) / own
            squared = sum(p * s / (s + kappa) ** 2 for p, s in zip(SHARES, VARIANCES, strict=True)) / own**2
            slope = 1 - sum(p * s**2 / (s + kappa) ** 2 for p, s in zip(SHARES, VARIANCES, strict=True)) / alpha
            one = (ridge, g / z, kappa, excess, squared / slope)
            ridges += [one, tuple(mpmath.conj(each) for each in one)]
        train = mpmath.mpf(0)
        for i, (at, weight, kappa, excess, same) in enumerate(ridges):
            for j, (other, weight_2, kappa_2, excess_2, _) in enumerate(ridges):
                pair = same if i == j else (kappa * excess_2 - kappa_2 * excess) / (at - other)
                train += weight * weight_2 * pair * at * other / (kappa * kappa_2)
        left = 1 - sum(weight * (1 - at / kappa) for at, weight, kappa, *_ in ridges)
        return float((train / left**2).real)


@pytest.mark.parametrize(("alpha", "time"), [(0.5, 1.0), (0.5, 7.0), (0.5, 10.0), (0.9, 30.0), (2.0, 10.0)])
def test_it_has_six_digits_where_it_is_given(alpha, time):
    found = masked.solve(MaskedTraining(GivenSpectrum(VARIANCES, SHARES), alpha, Flow(time)))
    assert found.mean_gcv_error == pytest.approx(exact_gcv(time, alpha), rel=1e-6)


@pytest.mark.parametrize("rows", [{}, {"row_scales": PointScales([0.2, 1.8], [0.5, 0.5])}])
@pytest.mark.parametrize("time", [30.0, 100.0, 300.0, 1e3])
def test_it_is_nan_where_rounding_is_all_that_is_left(time, rows):
    found = masked.solve(MaskedTraining(GivenSpectrum(VARIANCES, SHARES), 0.2, Flow(time), **rows))
    assert np.isnan(found.mean_gcv_error)
    assert found.mean_test_error > 0
    assert 0 <= found.mean_train_error < 1e-11


@pytest.mark.parametrize("alpha", np.geomspace(0.05, 0.9, 7))
def test_the_best_time_needs_none(alpha):
    """Its search goes to times at which 1 - tr phi(C) C/n vanishes exactly on some processors, and not on others."""
    for covariance in (GivenSpectrum([1.0, 100.0], [0.98, 0.02]), AR1(math.inf, 0.95)):
        assert 0 < masked.best_time(covariance, float(alpha)).time < math.inf
