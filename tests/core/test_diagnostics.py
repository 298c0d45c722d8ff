"""Autocorrelation times, effective sizes and R-hat against exact values of autoregressive series and plain sums."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import binom

from simulate.core import Estimate, stream
from simulate.core.diagnostics import (
    agreement,
    autocorrelation_time,
    autocorrelations,
    diagnose,
    effective_sample_size,
    memory_time,
    split_r_hat,
    thinned_variance,
    verdict,
)


def autoregressive(r, n_chains, n_steps, rng):
    """x_t = r x_{t-1} + noise, stationary with variance 1: rho(t) = r^t."""
    noise = rng.standard_normal((n_chains, n_steps)) * np.sqrt(1 - r**2)
    noise[:, 0] /= np.sqrt(1 - r**2)
    return lfilter([1], [1, -r], noise, axis=1)


def sums(chains):
    """The pooled autocorrelations from their definition."""
    x = chains - chains.mean()
    n = x.shape[1]
    covariance = [np.mean(x[:, : n - t] * x[:, t:]) for t in range(n)]
    return np.array(covariance) / covariance[0]


def test_autocorrelations_are_the_plain_sums():
    chains = autoregressive(0.7, 3, 57, stream(0, "sums"))
    np.testing.assert_allclose(autocorrelations(chains), sums(chains), atol=1e-13)
    np.testing.assert_allclose(autocorrelations(chains[0]), sums(chains[:1]), atol=1e-13)


@pytest.mark.parametrize("r", [0.0, 0.6, 0.9])
def test_time_of_an_autoregressive_series(agrees, r):
    exact = float(mpmath.mpf(1) / 2 + mpmath.nsum(lambda t: mpmath.mpf(r) ** t, [1, mpmath.inf]))  # (1+r)/(2(1-r))
    times = [autocorrelation_time(autoregressive(r, 10, 20000, stream(1, r, k))) for k in range(30)]
    truncated = math.exp(-6)  # of tau lies beyond the window
    agrees(Estimate.of(times), exact, resolves=0.05 if r < 0.9 else 0.07, bias=2 * truncated * exact)


def test_window_is_the_smallest_that_fits():
    chains = autoregressive(0.8, 4, 2000, stream(2))
    rho = sums(chains)
    w = next(w for w in range(1, 1000) if w >= 6 * (0.5 + rho[1 : w + 1].sum()))
    assert autocorrelation_time(chains) == pytest.approx(0.5 + rho[1 : w + 1].sum(), rel=1e-10)


def test_anticorrelated_counts_as_independent():
    series = autoregressive(-0.5, 1, 4000, stream(3))
    assert autocorrelation_time(series) == 0.5
    assert effective_sample_size(series) == 4000


@pytest.mark.parametrize("r", [-0.8, 0.8])
def test_memory_time_is_that_of_the_decay_whatever_its_sign(agrees, r):
    """(1 + |r|)/(2 (1 - |r|)) for rho(t) = r^t: samples must be that far apart to be independent."""
    times = [memory_time(autoregressive(r, 10, 5000, stream(11, r, k))) for k in range(30)]
    agrees(Estimate.of(times), 4.5, resolves=0.1, bias=9 * math.exp(-6))


@pytest.mark.parametrize("r", [-0.8, 0.9])
@pytest.mark.parametrize("every", [2, 5, 8])
def test_variance_of_a_thinned_series(agrees, r, every):
    """(1 + r^k)/(1 - r^k) of every k-th step, at least one."""
    exact = max(1.0, (1 + r**every) / (1 - r**every))
    found = [thinned_variance(autoregressive(r, 20, 5000, stream(12, r, every, k)), every) for k in range(20)]
    agrees(Estimate.of(found), exact, resolves=0.1, bias=2 * math.exp(-6) * exact + 0.01 * (exact == 1.0))


def test_chains_of_one_law_disagree_as_rarely_as_promised():
    level, runs = 0.02, 300
    alarms = sum(agreement(autoregressive(0.6, 8, 1500, stream(13, k))) < level for k in range(runs))
    assert binom.isf(1 - 1e-6, runs, level) <= alarms <= binom.isf(1e-6, runs, 1.5 * level)  # tau has an error, too


def test_differences_that_r_hat_lets_pass_are_seen_in_long_runs():
    """A tenth of a standard deviation between two groups of chains."""
    shift = 0.1 * (-1.0) ** np.arange(8)[:, None]
    chains = autoregressive(0.5, 8, 20_000, stream(14)) + shift
    assert split_r_hat(chains) < 1.01
    assert "the chains disagree in their means" in diagnose(chains).reason
    assert diagnose(chains - shift).reason == ""
    assert agreement(chains[0]) == 1.0


def test_short_or_frozen_series_have_no_time():
    assert autocorrelation_time(np.arange(20.0)) == math.inf
    assert autocorrelation_time(np.full((3, 50), 0.1)) == math.inf
    assert effective_sample_size(np.full((3, 50), 0.1)) == 0
    assert autocorrelation_time([1.0]) == math.inf
    stuck = np.repeat([[0.0], [1.0]], 500, axis=1) + 1e-3 * stream(4).standard_normal((2, 500))
    assert autocorrelation_time(stuck) > 80 * autocorrelation_time(stuck[:1])


def test_r_hat_in_plain_words():
    chains = stream(5).standard_normal((3, 11)) + np.array([[0.0], [0.5], [2.0]])
    halves = [half for chain in chains for half in (chain[1:6], chain[6:])]  # odd: the first is left out
    B = 5 * np.var([h.mean() for h in halves], ddof=1)
    W = np.mean([np.var(h, ddof=1) for h in halves])
    assert split_r_hat(chains) == pytest.approx(math.sqrt((4 / 5 * W + B / 5) / W), rel=1e-14)


def test_r_hat_of_a_hand_computed_case():
    assert split_r_hat([0.0, 2.0, 4.0, 6.0]) == pytest.approx(math.sqrt((1 / 2 * 2 + 8) / 2), rel=1e-15)


def test_r_hat_sees_stuck_and_drifting_chains():
    mixed = stream(6).standard_normal((8, 2000))
    assert split_r_hat(mixed) < 1.003
    assert split_r_hat(mixed + np.arange(8)[:, None]) > 1.5
    assert split_r_hat(mixed + np.linspace(0, 3, 2000)) > 1.1
    assert split_r_hat([[1.0] * 8, [2.0] * 8]) == math.inf
    assert math.isnan(split_r_hat(np.full((2, 8), 0.3)))


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.permutations(range(4)))
def test_units_origin_and_order_of_chains_do_not_matter(shift, scale, order):
    chains = autoregressive(0.5, 4, 300, stream(7))
    changed = scale * chains[order] + shift
    assert autocorrelation_time(changed) == pytest.approx(autocorrelation_time(chains), rel=1e-6)
    assert split_r_hat(changed) == pytest.approx(split_r_hat(chains), rel=1e-6)


def test_error_of_the_mean_covers_it():
    z = []
    for k in range(300):
        found = diagnose(autoregressive(0.8, 4, 1000, stream(8, k)))
        z.append(found.mean / found.stderr)
    assert 0.85 < np.std(z) < 1.15


def test_diagnosis_counts_sweeps_and_gives_reasons():
    chains = autoregressive(0.8, 8, 5000, stream(9))
    one, ten = diagnose(chains), diagnose(chains, stride=10)
    assert ten.autocorrelation_time == 10 * one.autocorrelation_time
    assert ten.effective_sample_size == one.effective_sample_size
    assert one.reason == ""
    assert "R-hat 1.0" in str(one)
    assert "constant" in diagnose(np.ones((2, 10))).reason
    assert "disagree" in diagnose(chains[:, :50] + 5 * np.arange(8)[:, None]).reason


def test_verdict_names_what_is_wrong():
    good, bad, still = (
        diagnose(stream(10).standard_normal((8, 2000)) + shift * np.arange(8)[:, None]) for shift in (0, 1, 0)
    )
    still = diagnose(np.ones((8, 100)))
    assert verdict({"score": good}) == ""
    assert verdict({"score": still, "projection": good}) == ""
    assert verdict({"score": still}) == "frozen: no observable ever changed"
    assert verdict({"score": good, "projection": bad}).startswith("projection: R-hat")


@pytest.mark.parametrize("series", [[], np.zeros((2, 2, 2)), np.zeros((3, 0))])
def test_wrong_shapes(series):
    with pytest.raises(ValueError, match="series must have shape"):
        autocorrelation_time(series)


def test_wrong_values():
    with pytest.raises(ValueError, match="series must be finite, got nan"):
        split_r_hat([1.0, math.nan, 2.0, 3.0])
    with pytest.raises(ValueError, match="at least 4 steps"):
        split_r_hat([1.0, 2.0, 3.0])


def test_four_steps_are_enough_for_r_hat_and_three_are_not():
    series = np.random.default_rng(6).standard_normal((8, 4))
    assert diagnose(series).r_hat == split_r_hat(series) < math.inf
    assert diagnose(series[:, :3]).r_hat == math.inf


@pytest.mark.parametrize(("n", "every"), [(100, 3), (100, 36), (400, 2)])
def test_the_variance_of_a_thinned_series_is_the_plain_sum_over_six_memory_times(n, every):
    series = lfilter([1.0], [1.0, -0.85], np.random.default_rng(5).standard_normal((9, n + 50)))[:, 50:]
    rho, last = autocorrelations(series), math.ceil(6 * memory_time(series))
    expected = 1 + 2 * sum(rho[lag] for lag in range(every, last + 1, every))
    assert thinned_variance(series, every) == pytest.approx(max(1, expected), rel=1e-12)
