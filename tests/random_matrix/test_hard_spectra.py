"""Spectra with wide ranges and many gaps: none is refused, masses are right, and independent arithmetic agrees."""

import math

import mpmath as mp
import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.masked import predictor_eigenvalues
from theory.models import AR1, Diagonal, Empirical, MaskedRidge
from theory.models.row_scales import PointScales
from theory.random_matrix import covariance_law, predictor_law

NAMED = [(12, 0.6, 0.3, 1e-3), (12, 0.6, 0.6, 1e-4), (24, 0.6, 0.34, 4.6e-4), (40, 0.6, 0.5, 1e-3)]


def problem(rng):
    """A diagonal covariance, alpha and a ridge over the whole range that is promised; a third has alpha d whole."""
    d = round(math.exp(rng.uniform(math.log(2), math.log(200))))
    variances = np.exp(rng.uniform(0, rng.uniform(0, math.log(1e12)), d))
    alpha = math.exp(rng.uniform(math.log(0.01), math.log(100)))
    if rng.random() < 1 / 3:
        alpha = max(1, round(alpha * d)) / d
    lam = 10.0 ** rng.uniform(-10, 1)
    return MaskedRidge(Diagonal(variances / variances.mean()), alpha, lam)


def solved(law):
    """Masses are exact; the residual compares panels of the density with them: 9 of 600 lie in 1e-8 to 7.2e-8."""
    assert law.converged
    assert law.residual < 1e-7
    assert abs(law.total_mass - 1) < 1e-8
    assert abs(law.masses.sum() + law.atoms[:, 1].sum() - 1) < 1e-8
    assert np.all(np.diff(law.edges.ravel()) >= 0)


@pytest.mark.parametrize(("d", "r", "alpha", "lam"), NAMED)
def test_short_chains_at_small_ridges(d, r, alpha, lam):
    law = predictor_law(MaskedRidge(AR1(d, r), alpha, lam))
    solved(law)
    assert abs(law.mean(1)) < 1e-9  # a joint predictor has no trace


def test_random_diagonal_problems():
    for number in range(25):
        solved(predictor_law(problem(stream(0, "hard spectra", number))))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_two_thousand_random_diagonal_problems(part):
    for number in range(100):
        solved(predictor_law(problem(stream(1, "hard spectra", part, number))))


@pytest.mark.parametrize("shift", [-1e-9, 0.0, 1e-9])
def test_alpha_next_to_a_level(shift):
    """12 of 40 variances are large: at alpha = 12/40 the gap below them closes from one side and opens from another."""
    variances = np.r_[np.geomspace(1, 3, 28), np.geomspace(1e4, 3e4, 12)]
    solved(covariance_law(Diagonal(variances), 0.3 + shift))
    solved(predictor_law(MaskedRidge(Diagonal(variances), 0.3 + shift, 0.01)))


@pytest.mark.parametrize("alpha", [0.4, 3.0])
def test_density_against_the_roots_of_the_polynomial(alpha):
    """With finitely many variances h solves a polynomial equation, all of whose roots are found to 60 digits.

    1/h = 1 + sum_i w_i s_i/(h s_i - nu)/alpha; the density is Im tr (S - nu)^-1/(pi d) at the root with Im h < 0.
    """
    variances = [mp.mpf(1), mp.mpf(30), mp.mpf(10) ** 6, mp.mpf(10) ** 11]
    law = covariance_law(Diagonal([float(s) for s in variances]), alpha)
    solved(law)
    levels = max(0.0, 1 - alpha) + min(1.0, alpha) * np.array([0.04, 0.3, 0.6, 0.9])
    for nu in law.quantiles(levels):
        with mp.workdps(60):
            nu_exact, a = mp.mpf(float(nu)), mp.mpf(alpha)

            def times(left, right):
                found = [mp.mpf(0)] * (len(left) + len(right) - 1)
                for i, x in enumerate(left):
                    for j, y in enumerate(right):
                        found[i + j] += x * y
                return found

            factors = [[s, -nu_exact] for s in variances]  # highest power first
            everything = [mp.mpf(1)]
            for factor in factors:
                everything = times(everything, factor)
            total = [mp.mpf(0)] * (len(variances) + 2)
            for k, coefficient in enumerate(everything):  # P - h P
                total[k + 1] += coefficient
                total[k] -= coefficient
            for i, s in enumerate(variances):  # - h sum_i s_i/4/alpha prod of the other factors
                others = [mp.mpf(1)]
                for j, factor in enumerate(factors):
                    others = times(others, factor) if j != i else others
                for k, coefficient in enumerate(others):
                    total[k + 1] -= s / 4 / a * coefficient
            roots = mp.polyroots(total, maxsteps=500, extraprec=400)
            inside = [h for h in roots if mp.im(h) < -(mp.mpf(10) ** -40)]
            assert len(inside) == 1
            trace = sum(1 / (inside[0] * s - nu_exact) for s in variances) / 4
        assert float(law.density(nu)) == pytest.approx(float(mp.im(trace) / mp.pi), rel=1e-8)


def test_levels_of_rows_of_different_scale_against_quadrature_of_the_density():
    """The integrated density of every bulk, by the density alone, and the moments by counting pairings."""
    rows = PointScales((0.5, 3.0), (0.8, 0.2))
    variances = np.array([0.01, 1.0, 1.1, 40.0])
    law = covariance_law(Diagonal(variances), 2.5, row_scales=rows)
    solved(law)
    for low, high in law.edges:
        x = low + (high - low) * (1 - np.cos(np.linspace(0, np.pi, 4001))) / 2
        f = law.density(x)
        by_density = float(np.sum((f[1:] + f[:-1]) / 2 * np.diff(x)))
        share = float(law.cumulative(high) - law.cumulative(low - 1e-12 * low))
        assert by_density == pytest.approx(share, rel=1e-4)
    assert law.mean(1) == pytest.approx(variances.mean(), rel=1e-9)


def test_simulated_predictors_of_short_chains(agrees):
    """25 independent chains of 12 sites have the law of one chain, which is not solved by following its edges."""
    d, r, alpha, lam = NAMED[0]
    law = predictor_law(MaskedRidge(AR1(d, r), alpha, lam))
    chain = r ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    model = MaskedRidge(Empirical(np.kron(np.eye(25), chain)), alpha, lam)
    drawn = np.array([predictor_eigenvalues(model, 25 * d, stream(0, "short chains", k)) for k in range(30)])
    agrees(Estimate.of((drawn**2).mean(axis=1)), law.mean(2), resolves=0.03, bias=0.01 * law.mean(2))
    middle = float(law.quantiles(0.8))
    agrees(Estimate.of((drawn < middle).mean(axis=1)), 0.8, resolves=0.03, bias=0.005)
