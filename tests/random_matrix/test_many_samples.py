"""Laws for very many or few samples a dimension: narrow bulks against high precision, and what is refused."""

import math

import mpmath as mp
import numpy as np
import pytest

from theory.models import AR1, Diagonal, Isotropic, MaskedRidge, PointScales
from theory.random_matrix import covariance_law, predictor_law

ROWS = PointScales([0.5, 2.0], [2 / 3, 1 / 3])
RARE = PointScales.rescaled([1.0, 1e5], [1 - 1e-6, 1e-6])  # a millionth of the rows are large


def weight(delta, order=0):
    """g(delta) = E[tau/(1 + tau delta)] of ROWS for mpmath, or its derivative."""
    terms = [(mp.mpf(2) / 3, mp.mpf(1) / 2), (mp.mpf(1) / 3, mp.mpf(2))]
    if order:
        return -sum(p * (tau / (1 + tau * delta)) ** 2 for p, tau in terms)
    return sum(p * tau / (1 + tau * delta) for p, tau in terms)


@pytest.mark.parametrize("alpha", [1e6, 1e8, 4e9, 1e13, 1e19, 1e22])
def test_one_variance_against_high_precision(alpha):
    """At Sigma = 1 the equation gives nu = g(delta) - 1/(alpha delta), and the density is alpha Im delta/pi."""
    law = covariance_law(Isotropic(4), alpha, row_scales=ROWS)
    with mp.workdps(60):
        a, unit = mp.mpf(alpha), 1 / mp.sqrt(mp.mpf(alpha) * mp.mpf(ROWS.heterogeneity))  # of delta
        stationary = [mp.findroot(lambda x: a * (unit * x) ** 2 * weight(unit * x, 1) + 1, sign) for sign in (1, -1)]
        low, high = (weight(unit * x) - 1 / (a * unit * x) for x in stationary)
        # What is left out shifts and deforms the bulk by 3e-5 of its width at most, and rounding acts on the nu near 1.
        close = 3e-5 * float(high - low) if alpha > 1e9 else 1e-12
        np.testing.assert_allclose(law.edges[0], [float(low), float(high)], rtol=0, atol=close + 4e-16)
        if alpha > 1e15:  # the nu inside the bulk are a few floating-point numbers
            return
        for place in (0.2, 0.5, 0.9):
            nu = float(low + place * (high - low))  # rounded as the law's argument is
            x = mp.findroot(lambda x: a * unit * x * (weight(unit * x) - nu) - 1, mp.mpc(0.3, 1))  # noqa: B023
            assert float(law.density(nu)) == pytest.approx(float(a * unit * abs(mp.im(x)) / mp.pi), rel=2e-4)
    assert law.mean() == pytest.approx(1, rel=1e-12)


def test_many_variances_have_a_bulk_each():
    variances = np.linspace(0.5, 3, 20)
    law = covariance_law(Diagonal(variances), 1e19, row_scales=ROWS)
    np.testing.assert_allclose(law.masses, 0.05, rtol=1e-12)
    np.testing.assert_allclose(law.edges.mean(axis=1), variances, rtol=1e-12)
    expected = 4 * variances * math.sqrt(0.05 * ROWS.heterogeneity / 1e19)
    np.testing.assert_allclose(np.diff(law.edges, axis=1)[:, 0], expected, rtol=1e-5)


def test_ratios_that_rounding_hides_are_refused_at_once():
    with pytest.raises(ValueError, match=r"alpha must be at most 1e\+10, or at least 1.1\de\+15 for these row_scales"):
        covariance_law(Isotropic(4), 1e13, row_scales=RARE)
    with pytest.raises(ValueError, match="alpha must be at least 1e-10 for rows of different scale, got 1e-12"):
        covariance_law(AR1(math.inf, 0.5), 1e-12, row_scales=ROWS)
    with pytest.raises(ValueError, match=r"alpha must be at most 1e\+10, .* got 10000000001.0: the bulks"):
        covariance_law(Isotropic(4), 1e10 + 1, row_scales=RARE)  # the value is not rounded to what is allowed
    for rows in ({}, {"row_scales": ROWS}):
        with pytest.raises(ValueError, match=r"alpha must be at most 1e\+09, got 1e\+19"):
            predictor_law(MaskedRidge(Diagonal([0.5, 1.0, 3.0]), 1e19, 0.1, **rows))


def test_nodes_of_a_limit_are_no_bulks_for_unlike_rows_either():
    """At alpha = 30 equidistant angles gave seven bulks, which were the nodes of the integral over frequencies."""
    for alpha in (5.0, 30.0):
        assert len(covariance_law(AR1(math.inf, 0.6), alpha, row_scales=ROWS).edges) == 1
    with pytest.raises(ValueError, match=r"at alpha = 10000000000000\.0 the law resolves the quadrature"):
        covariance_law(AR1(math.inf, 0.6), 1e13, row_scales=ROWS)
