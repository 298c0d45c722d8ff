"""Errors of masked regression of Potts data: reference values, closed forms, dense linear algebra, limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from tests.potts.test_contrasts import enumerated, random_model
from theory import masked
from theory.models import AR1, MaskedRidge, SpanMask, ridge_per_sample
from theory.models.potts.one_hot_contrasts import ContrastPopulation
from theory.potts.contrasts import ring_contrasts, ring_correlation
from theory.potts.gaussian_equivalence import (
    contrast_regression,
    ridgeless_contrast_regression,
    ring_test_error,
)

RING = ring_contrasts(21, np.eye(3), 1.5)
STATES, WEIGHTS = enumerated(random_model())
SMALL = ContrastPopulation.from_states(STATES, 3, WEIGHTS)


@pytest.mark.parametrize(("alpha", "half_error"), [(0.4, 0.2972), (2.5, 0.2337)])
def test_reference_values(alpha, half_error):
    """((C-1)/C) eps_AR1 of the ring at C = 3, beta = 1.5, ridge 0.2 per unknown; simulated 0.2983(17), 0.2330(13)."""
    assert ring_test_error(3, 1.5, alpha, ridge_per_sample(0.2, alpha)) / 2 == pytest.approx(half_error, abs=5e-5)


@pytest.mark.parametrize("alpha", [0.3, 0.9, 1.0, 3.0])
@pytest.mark.parametrize(("n_colors", "beta", "lam"), [(2, 0.5, 0.01), (3, 1.5, 0.2), (6, 2.5, 1e-4)])
def test_infinite_ring_is_an_autoregression(n_colors, beta, lam, alpha):
    once = MaskedRidge(AR1(np.inf, ring_correlation(n_colors, beta)), alpha, n_colors * lam)
    expected = (1 - 1 / n_colors) * masked.solve(once).mean_test_error
    assert ring_test_error(n_colors, beta, alpha, lam) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.3, 0.9, 1.2, 3.0])
def test_infinite_ring_without_a_ridge(alpha):
    expected = 2 / 3 * masked.ridgeless(AR1(np.inf, ring_correlation(3, 1.5)), alpha).mean_test_error
    assert ring_test_error(3, 1.5, alpha, 0.0) == pytest.approx(expected, rel=1e-12)


def test_long_ring_tends_to_the_infinite_one():
    gaps = []
    for L in (40, 80):
        found = contrast_regression(ring_contrasts(L, np.eye(3), 1.5), 1.3, 0.05)
        assert np.ptp(found.test_error) < 1e-12
        gaps.append(found.mean_test_error / ring_test_error(3, 1.5, 1.3, 0.05) - 1)
    assert abs(gaps[1]) < 0.02
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.1)  # of order 1/L


@pytest.mark.parametrize(("alpha", "lam"), [(0.4, 0.5), (1.0, 1e-3), (2.0, 0.1)])
@pytest.mark.parametrize("name", ["ring", "small"])
def test_a_site_is_a_span_of_contrasts(name, alpha, lam):
    population = {"ring": RING, "small": SMALL}[name]
    found = contrast_regression(population, alpha, lam)
    for i in range(0, population.n_sites, 3):
        span = masked.solve(SpanMask(population.covariance, alpha, lam, [2 * i, 2 * i + 1]), exact_size=True)
        assert found.test_error[i] == pytest.approx(span.test_error.sum(), rel=1e-10)
        assert found.train_error[i] == pytest.approx(span.train_error.sum(), rel=1e-10)
        assert found.effective_ridge[i] == pytest.approx(span.effective_ridge, rel=1e-10)
    assert found.converged
    assert found.residual < 1e-12


@pytest.mark.parametrize(("alpha", "per_unknown"), [(0.5, 0.2), (1.0, 0.02), (2.5, 0.02)])
def test_replica_form_in_its_own_convention(alpha, per_unknown):
    """kappa (alpha_u - df1) = lam', eps = (noise + B)/(2 (1 - df2/alpha_u)), train eps (lam'/(alpha_u kappa))^2."""
    Sigma, own, others = SMALL.covariance.matrix, np.arange(2), np.arange(2, 8)
    inner, cross = Sigma[np.ix_(others, others)], Sigma[np.ix_(others, own)]
    samples = alpha * 8 / 6

    def resolvent(kappa):
        return np.linalg.inv(inner + kappa * np.eye(6))

    kappa = brentq(
        lambda k: k * (samples - np.trace(inner @ resolvent(k)) / 6) - per_unknown, 1e-3, 1e3, xtol=1e-15, rtol=1e-14
    )
    a = np.linalg.solve(inner, cross)
    noise = np.trace(Sigma[np.ix_(own, own)] - cross.T @ a)
    bias = kappa**2 * np.trace(a.T @ inner @ resolvent(kappa) @ resolvent(kappa) @ a)
    df2 = np.trace(inner @ resolvent(kappa) @ inner @ resolvent(kappa)) / 6
    half = (noise + bias) / 2 / (1 - df2 / samples)
    found = contrast_regression(SMALL, alpha, ridge_per_sample(per_unknown, alpha, 4))
    assert found.test_error[0] / 2 == pytest.approx(half, rel=1e-11)
    assert found.train_error[0] / 2 == pytest.approx(half * (per_unknown / samples / kappa) ** 2, rel=1e-11)
    assert found.noise[0] == pytest.approx(noise, rel=1e-12)
    assert found.explained[0] == pytest.approx(1 - noise / np.trace(Sigma[np.ix_(own, own)]), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.2, 0.7, 1.1, 4.0])
def test_ridgeless_is_the_limit(alpha):
    limit, near = ridgeless_contrast_regression(RING, alpha), contrast_regression(RING, alpha, 1e-11)
    np.testing.assert_allclose(limit.test_error, near.test_error, rtol=1e-7)
    np.testing.assert_allclose(limit.train_error, near.train_error, atol=1e-7)
    samples = alpha * 21 / 20
    if samples > 1:
        np.testing.assert_allclose(limit.test_error, limit.noise / (1 - 1 / samples), rtol=1e-12)
        np.testing.assert_allclose(limit.train_error, limit.noise * (1 - 1 / samples), rtol=1e-12)
        np.testing.assert_allclose(limit.noise, limit.variance * (1 - limit.explained), rtol=1e-12)
    else:
        assert np.all(limit.train_error == 0)


@pytest.mark.parametrize("n", [4, 20, 200])
def test_a_color_that_never_occurs_changes_nothing(n):
    states, weights = enumerated(random_model(5, 2))
    two, three = (ContrastPopulation.from_states(states, C, weights) for C in (2, 3))
    for a, b in (
        (contrast_regression(two, n / 5, 0.03), contrast_regression(three, n / 10, 0.03)),
        (ridgeless_contrast_regression(two, n / 5 + 0.1), ridgeless_contrast_regression(three, n / 10 + 0.05)),
    ):
        np.testing.assert_allclose(b.test_error, a.test_error, rtol=1e-9)
        np.testing.assert_allclose(b.train_error, a.train_error, rtol=1e-9)
        np.testing.assert_allclose(b.effective_ridge, a.effective_ridge, rtol=1e-9)


def test_a_color_that_is_missing_at_one_site_only():
    """The others of the sites then have different ranks."""
    states, weights = enumerated(random_model(4, 3))
    kept = states[:, 0] < 2
    population = ContrastPopulation.from_states(states[kept], 3, weights[kept])
    found = contrast_regression(population, 1.5, 0.02)
    limits = [ridgeless_contrast_regression(population, alpha) for alpha in (0.4, 5.3 / 8, 5.7 / 8, 2.0)]
    for i in range(4):
        span = masked.solve(SpanMask(population.covariance, 1.5, 0.02, [2 * i, 2 * i + 1]), exact_size=True)
        assert found.test_error[i] == pytest.approx(span.test_error.sum(), rel=1e-9)
        for limit in limits:
            near = contrast_regression(population, limit.alpha, 1e-11)
            assert limit.test_error[i] == pytest.approx(near.test_error[i], rel=1e-6)
    assert np.all(limits[2].train_error[1:] > 0)  # 5.7 samples: more than the rank of those, fewer than that of site 0
    assert limits[2].train_error[0] == 0


def test_colors_and_sites_may_be_renamed():
    colors, sites = np.array([2, 0, 1]), np.array([3, 1, 0, 2])
    renamed = ContrastPopulation.from_states(colors[STATES][:, sites], 3, WEIGHTS)
    before, after = (contrast_regression(p, 1.2, 0.05) for p in (SMALL, renamed))
    np.testing.assert_allclose(after.test_error, before.test_error[sites], rtol=1e-11)
    np.testing.assert_allclose(after.train_error, before.train_error[sites], rtol=1e-11)


@given(alpha=st.floats(0.05, 20), log_lam=st.floats(-10, 6))
def test_errors_lie_where_they_must(alpha, log_lam):
    found = contrast_regression(SMALL, alpha, 10.0**log_lam)
    assert np.all(found.test_error >= found.noise * (1 - 1e-12))
    assert np.all(found.train_error <= found.test_error)
    assert np.all(found.train_error <= found.variance * (1 + 1e-12))
    assert np.all((found.explained >= 0) & (found.explained <= 1))
    if log_lam > 5:
        np.testing.assert_allclose(found.test_error, found.variance, rtol=1e-3)


def test_table_of_sites():
    frame = contrast_regression(SMALL, 1.0, 0.1).to_frame()
    assert list(frame) == ["site", "test_error", "train_error", "noise", "explained"]
    assert len(frame) == 4
    assert frame["test_error"].mean() == pytest.approx(contrast_regression(SMALL, 1.0, 0.1).mean_test_error)
    assert frame["train_error"].mean() == pytest.approx(contrast_regression(SMALL, 1.0, 0.1).mean_train_error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: contrast_regression(SMALL, 1.0, 0.0), "lam must be positive, got 0.0; .* ridgeless_contrast"),
        (lambda: contrast_regression(SMALL, 1.0, -1.0), "lam must be positive, got -1.0"),
        (lambda: contrast_regression(SMALL, 1.0, np.nan), "lam must be finite, got nan"),
        (lambda: contrast_regression(SMALL, 0.0, 0.1), r"alpha must lie in \[1e-150, 1e\+150\], got 0.0"),
        (lambda: contrast_regression(AR1(4, 0.5), 1.0, 0.1), "population must be a record .*ContrastPopulation"),
        (lambda: ridgeless_contrast_regression(AR1(4, 0.5), 1.0), "population must be a record"),
        (lambda: ridgeless_contrast_regression(SMALL, 0.75), "alpha must differ from 6/8, where the error diverges"),
        (lambda: ridgeless_contrast_regression(SMALL, np.inf), "alpha must be finite"),
        (lambda: ring_test_error(1, 1.0, 1.0, 0.1), "n_colors must be an integer of at least 2"),
        (lambda: ring_test_error(3, -1.0, 1.0, 0.1), "beta must lie in"),
        (lambda: ring_test_error(3, 1.0, 1.0, -0.1), "lam must lie in"),
        (lambda: ring_test_error(3, 1.0, 1.0, 0.0), "alpha must differ from 1 at lam = 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
