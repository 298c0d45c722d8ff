"""The effective-ridge equation: against arbitrary precision, its limits and symmetries, and how it fails."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.families import FINITE, LIMITS, REGULAR, SINGULAR
from tests.masked import high_precision
from theory import ConvergenceError, random_matrix
from theory.models import AR1, Diagonal, Empirical, Isotropic, PowerLaw, Wishart
from theory.random_matrix import (
    RidgeMoments,
    degrees_of_freedom,
    effective_ridge,
    ridge_moments,
    solve_effective_ridge,
    solve_ridge_equation,
)

ALPHAS = (0.05, 0.97, 1.0, 3.0, 40.0)
LAMS = (1e-20, 1e-12, 1e-6, 1e-2, 10.0)
spectra = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)
ratios = st.floats(0.02, 50)
ridges = st.floats(-12, 2).map(lambda exponent: 10.0**exponent)


@pytest.mark.parametrize("name", FINITE)
def test_equals_the_arbitrary_precision_root(name):
    spectrum = FINITE[name].spectrum
    for alpha in ALPHAS:
        for lam in LAMS:
            found = effective_ridge(FINITE[name], alpha, lam)
            exact = high_precision.effective_ridge(spectrum.eigenvalues, spectrum.weights, alpha, lam, digits=20)
            assert found.value == pytest.approx(float(exact), rel=1e-12), (alpha, lam)
            assert found.converged
            assert found.residual <= 1e-12


@pytest.mark.parametrize("name", ["AR1", "blocks", "isotropic"])
@pytest.mark.parametrize("kappa", [1e-10, 0.3, 1e6])
def test_degrees_of_freedom_equal_arbitrary_precision(name, kappa):
    spectrum = FINITE[name].spectrum
    exact = high_precision.degrees_of_freedom(spectrum.eigenvalues, spectrum.weights, kappa, digits=20)
    np.testing.assert_allclose(degrees_of_freedom(FINITE[name], kappa), [float(x) for x in exact], rtol=1e-13)


@pytest.mark.parametrize("name", FINITE)
def test_degrees_of_freedom_are_traces(name):
    sigma, d = FINITE[name].matrix, FINITE[name].size
    smoother = sigma @ np.linalg.inv(sigma + 0.3 * np.eye(d))
    expected = (np.trace(smoother) / d, np.trace(smoother @ smoother) / d)
    np.testing.assert_allclose(degrees_of_freedom(FINITE[name], 0.3), expected, rtol=1e-11)


@given(spectra, ratios, ridges)
@settings(max_examples=100)
def test_solves_its_equation_in_plain_arithmetic(spectrum, alpha, lam):
    found = effective_ridge(Diagonal(spectrum), alpha, lam)
    df1, df2 = degrees_of_freedom(Diagonal(spectrum), found.value)
    assert found.value >= lam
    assert 0 <= df2 <= df1 <= 1
    assert df2 <= alpha
    assert lam / found.value == pytest.approx(1 - df1 / alpha, abs=1e-10)


@given(spectra, ratios, ridges, st.floats(-6, 6).map(lambda exponent: 10.0**exponent))
def test_units(spectrum, alpha, lam, unit):
    """Sigma -> c Sigma and lam -> c lam give kappa -> c kappa."""
    scaled = effective_ridge(Diagonal(np.multiply(spectrum, unit)), alpha, lam * unit).value
    assert scaled == pytest.approx(unit * effective_ridge(Diagonal(spectrum), alpha, lam).value, rel=1e-9)


@given(spectra, ratios, ridges, st.floats(1.01, 10))
def test_monotone_in_lam_and_alpha(spectrum, alpha, lam, factor):
    kappa = effective_ridge(Diagonal(spectrum), alpha, lam).value
    raised = effective_ridge(Diagonal(spectrum), alpha, lam * factor).value
    assert raised >= kappa * (1 - 1e-14) + 0.99 * (factor - 1) * lam  # d kappa / d lam >= 1, up to rounding
    assert effective_ridge(Diagonal(spectrum), alpha * factor, lam).value < kappa


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_blind_to_rotations(seed):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.standard_normal((36, 36)))[0]
    for name in ("scaled", "AR1", "Wishart"):
        rotated = Empirical(rotation @ FINITE[name].matrix @ rotation.T)
        for alpha, lam in ((0.5, 1e-3), (1.0, 1e-2), (2.0, 1.0)):
            expected = effective_ridge(FINITE[name], alpha, lam).value
            assert effective_ridge(rotated, alpha, lam).value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", REGULAR)
def test_ridgeless_limit_below_and_above_interpolation(name):
    covariance = REGULAR[name]
    below = effective_ridge(covariance, 0.6, 0.0).value
    assert degrees_of_freedom(covariance, below)[0] == pytest.approx(0.6, rel=1e-12)
    assert effective_ridge(covariance, 0.6, 1e-13).value == pytest.approx(below, rel=1e-9)
    assert effective_ridge(covariance, 1.5, 0.0).value == effective_ridge(covariance, 1.0, 0.0).value == 0
    assert effective_ridge(covariance, 1.5, 1e-14).value == pytest.approx(3e-14, rel=1e-9)


@pytest.mark.parametrize("name", SINGULAR)
def test_ridgeless_limit_counts_the_rank(name):
    rank = np.count_nonzero(SINGULAR[name].eigenvalues) / 36
    assert effective_ridge(SINGULAR[name], rank + 0.01, 0.0).value == 0
    assert effective_ridge(SINGULAR[name], rank - 0.01, 0.0).value > 1e-6


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("lam", LAMS)
def test_infinite_systems_converge_everywhere(name, lam):
    for alpha in ALPHAS:
        found = effective_ridge(LIMITS[name], alpha, lam)
        df1, _ = degrees_of_freedom(LIMITS[name], found.value)
        assert found.converged
        assert lam / found.value == pytest.approx(1 - df1 / alpha, abs=1e-9)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 3.0])
def test_power_laws_without_a_mean(exponent):
    """df1 of the law of u^-exponent by its hypergeometric form; kappa exists although tr Sigma does not."""
    from scipy.special import hyp2f1

    for alpha, lam in ((0.3, 1e-3), (1.0, 1e-6), (3.0, 0.1)):
        kappa = effective_ridge(PowerLaw(math.inf, exponent), alpha, lam).value
        df1 = hyp2f1(1, 1 / exponent, 1 + 1 / exponent, -kappa)
        assert lam / kappa == pytest.approx(1 - df1 / alpha, rel=1e-6)


def test_many_points_at_once_are_the_points_one_by_one():
    spectrum = AR1(50, 0.7).spectrum
    alpha, lam = np.meshgrid(np.geomspace(0.1, 10, 7), np.geomspace(1e-12, 10, 5))
    together = solve_effective_ridge(spectrum, alpha, lam).value
    single = [effective_ridge(AR1(50, 0.7), a, b).value for a, b in zip(alpha.ravel(), lam.ravel(), strict=True)]
    np.testing.assert_allclose(together.ravel(), single, rtol=1e-12)


def test_few_iterations_everywhere():
    alpha, lam = np.meshgrid(np.geomspace(0.01, 100, 41), np.geomspace(1e-20, 1e3, 47))
    for name in ("AR1", "power law", "Wishart", "singular Wishart", "free field 2D"):
        assert solve_effective_ridge(LIMITS[name].spectrum, alpha, lam).iterations <= 15


def test_a_failure_is_raised_or_returned_as_such():
    spectrum, point = AR1(50, 0.7).spectrum, (np.array([1.0]), np.array([1e-6]))
    with pytest.raises(
        ConvergenceError, match=r"effective ridge for alpha in \[1, 1\], .* max_iter after 1"
    ) as failure:
        solve_effective_ridge(spectrum, *point, max_iter=1)
    assert failure.value.solution.residual > 1e-6
    returned = solve_effective_ridge(spectrum, *point, max_iter=1, check=False)
    assert not returned.converged
    assert returned.residual == failure.value.solution.residual


def test_any_positive_start_leads_to_the_same_root():
    def solved(start):
        spectrum = AR1(10, 0.7).spectrum
        alpha, lam = np.array([0.5, 2.0]), np.array([0.1, 1e-6])
        return solve_ridge_equation(lambda kappa: ridge_moments(spectrum, kappa), alpha, lam, 1.0, start=start)

    expected = solved(None)
    for start in ([1e-12, 1e-12], [1e9, 3.0], expected.value):
        np.testing.assert_allclose(solved(np.asarray(start)).value, expected.value, rtol=1e-13)
    assert solved(expected.value).iterations == 1
    for start in ([1.0], [1.0, 0.0]):
        with pytest.raises(ValueError, match=r"start must be positive, of shape \(2,\), got"):
            solved(np.array(start))


def test_nan_is_never_converged():
    nan = np.full(1, np.nan)
    with pytest.raises(ConvergenceError, match="diverged"):
        solve_ridge_equation(lambda kappa: RidgeMoments(nan, nan, nan, nan), np.array([1.0]), np.array([0.1]), 1.0)
    with pytest.raises(ValueError, match="weights must be finite"):
        dataclasses.replace(AR1(10, 0.7).spectrum, weights=np.full(10, np.nan))


@pytest.mark.parametrize(
    ("alpha", "lam", "message"),
    [
        (0.0, 0.1, "alpha must lie in"),
        (math.nan, 0.1, "alpha must be finite, got nan"),
        (1.0, -0.1, r"lam must lie in \[0, inf\), got -0.1"),
        (1.0, math.inf, "lam must be finite"),
    ],
)
def test_bad_arguments_are_refused(alpha, lam, message):
    with pytest.raises(ValueError, match=message):
        effective_ridge(AR1(10, 0.7), alpha, lam)


def test_degrees_of_freedom_at_the_ends():
    assert degrees_of_freedom(AR1(10, 0.7), 0.0) == pytest.approx((1, 1))
    assert degrees_of_freedom(Wishart(36, 0.5), 0.0) == pytest.approx((0.5, 0.5))
    assert max(degrees_of_freedom(AR1(10, 0.7), 1e300)) < 1e-299
    with pytest.raises(ValueError, match="effective_ridge must lie in"):
        degrees_of_freedom(AR1(10, 0.7), -1.0)


def test_prints_and_counts_as_a_number():
    found = random_matrix.effective_ridge(Isotropic(5), 1.0, 0.1)
    assert float(found) == found.value == pytest.approx(0.370156211872, rel=1e-11)
    assert "residual" in repr(found)


def test_iterations_are_the_steps_that_were_taken():
    """The moments are asked for at the start and after each step."""
    spectrum, asked = AR1(math.inf, 0.5).spectrum, []

    def moments(kappa):
        asked.append(kappa)
        return ridge_moments(spectrum, kappa)

    found = solve_ridge_equation(moments, np.array([2.0]), np.array([0.1]), 1.0)
    assert found.iterations == len(asked) - 1 > 2
    one = effective_ridge(AR1(math.inf, 0.5), 2.0, 0.1)
    assert one.iterations == solve_effective_ridge(spectrum, 2.0, 0.1).iterations > 2
