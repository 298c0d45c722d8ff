"""The statistical scale of both priors: reference values, a brute search, and the norm that it is about."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr

from theory import cumulants
from theory.models import AtomicLatent, SpikedCumulant
from theory.numerics import ConvergenceError

LATENTS = [AtomicLatent.signs(), AtomicLatent.diluted_signs(0.02), AtomicLatent((-0.5, 2.0), (0.8, 0.2))]


def model(beta, prior="signs", latent=LATENTS[0], d=math.inf):
    return SpikedCumulant(d, beta, prior, latent)


def brute_force(prior, latent, beta):
    """The least ratio s/log f over a fine grid of overlaps."""
    overlap = np.concatenate([np.linspace(1e-3, 0.99, 40_000), 1 - np.geomspace(1e-12, 0.01, 40_000)])
    if prior == "sphere":
        cost = -0.5 * np.log1p(-(overlap**2))
    else:
        cost = math.log(2) - entr((1 + overlap) / 2) - entr((1 - overlap) / 2)
    return np.min(cost / np.log(cumulants.overlap_function(model(beta, prior, latent), overlap)))


def test_reference_values():
    assert cumulants.likelihood_ratio_threshold(model(5.0)).gamma == pytest.approx(1.9333145905, abs=6e-11)
    assert cumulants.likelihood_ratio_threshold(model(5.0, "sphere")).gamma == pytest.approx(4.4917642665, abs=6e-11)


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize("prior", ["signs", "sphere"])
@pytest.mark.parametrize("beta", [0.5, 5.0, 50.0])
def test_against_a_fine_grid(prior, latent, beta):
    found = cumulants.likelihood_ratio_threshold(model(beta, prior, latent))
    assert found.gamma == pytest.approx(brute_force(prior, latent, beta), rel=1e-6)
    assert found.residual < 1e-9
    assert 0 < found.overlap <= 1


def test_best_overlaps_of_sign_spikes_are_within_a_thousandth_of_one():
    gaps = [cumulants.likelihood_ratio_threshold(model(beta)).gap for beta in (2.0, 5.0, 10.0)]
    assert 1e-6 < gaps[2] < gaps[1] < gaps[0] < 1e-3


def test_strong_signals_of_sign_spikes_reach_the_overlap_one():
    found = cumulants.likelihood_ratio_threshold(model(1e6))
    log_f = float(np.log(cumulants.overlap_function(model(1e6), 1.0)))
    assert found.gamma == pytest.approx(math.log(2) / log_f, rel=1e-12)


@pytest.mark.parametrize("prior", ["signs", "sphere"])
def test_the_norm_is_bounded_below_and_diverges_above(prior):
    gamma = cumulants.likelihood_ratio_threshold(model(5.0, prior)).gamma
    below, above = (
        [cumulants.likelihood_ratio_norm(model(5.0, prior, d=d), round(k * gamma * d)).norm for d in (200, 400, 800)]
        for k in (0.9, 1.1)
    )
    assert 1 < below[2] < below[1] < below[0] < 1.01
    assert above[2] > above[1] ** 1.5 > above[0] > 10


@settings(max_examples=25)
@given(st.sampled_from(LATENTS), st.sampled_from(["signs", "sphere"]), st.floats(0.05, 100))
def test_more_signal_needs_fewer_samples(latent, prior, beta):
    weak, strong = (cumulants.likelihood_ratio_threshold(model(b, prior, latent)).gamma for b in (beta, 1.1 * beta))
    assert strong < weak
    assert cumulants.likelihood_ratio_rate(model(beta, prior, latent), 0.999 * weak).rate == 0
    assert cumulants.likelihood_ratio_rate(model(beta, prior, latent), 1.001 * weak).rate > 0


@pytest.mark.parametrize("prior", ["signs", "sphere"])
@pytest.mark.parametrize("latent", LATENTS)
def test_the_rate_is_the_limit_of_the_norm(prior, latent):
    gamma = 1.5 * cumulants.likelihood_ratio_threshold(model(3.0, prior, latent)).gamma
    rate = cumulants.likelihood_ratio_rate(model(3.0, prior, latent), gamma).rate
    # What is left of the logarithm of the norm beside d times the rate grows like log d.
    left = [cumulants.likelihood_ratio_norm(model(3.0, prior, latent, d), round(gamma * d)).log_norm - rate * d
            for d in (20_000, 40_000)]  # fmt: skip
    assert rate > 0.05
    assert max(map(abs, left)) < 10


def test_the_rate_has_the_slope_of_the_best_overlap():
    """By the envelope theorem d rate/d gamma = log f at the dominating overlap."""
    for prior in ("signs", "sphere"):
        at, h = cumulants.likelihood_ratio_rate(model(5.0, prior), 6.0), 1e-5
        up, down = (cumulants.likelihood_ratio_rate(model(5.0, prior), 6.0 + s * h).rate for s in (1, -1))
        slope = float(np.log(cumulants.overlap_function(model(5.0, prior), at.overlap)))
        assert (up - down) / (2 * h) == pytest.approx(slope, rel=1e-7)


def test_a_signal_beyond_floating_point_numbers_is_refused():
    with pytest.raises(ConvergenceError, match="take a larger beta"):
        cumulants.likelihood_ratio_threshold(model(1e-90))
