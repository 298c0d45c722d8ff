"""Overlap function and likelihood-ratio norm: reference values, mpmath, enumeration of spikes, limits."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import cumulants
from theory.cumulants.overlap import log_overlap, log_overlap_slope
from theory.models import AtomicLatent, SpikedCumulant
from theory.numerics import ConvergenceError

SKEWED = AtomicLatent((-0.5, 2.0), (0.8, 0.2))
LATENTS = [AtomicLatent.signs(), AtomicLatent.diluted_signs(0.1), AtomicLatent.diluted_signs(1 / 3), SKEWED]
latents = st.sampled_from(LATENTS)


def series(model, overlap, terms=400):
    """The Hermite series of f with 30 digits, moments from mpmath's own polynomials."""
    with mp.workdps(30):
        x = mp.mpf(model.beta) / (1 + mp.mpf(model.beta)) * mp.mpf(overlap)
        g, p = map(mp.mpf, model.latent.atoms), model.latent.probabilities
        pairs = [(a, mp.mpf(b)) for a, b in zip(g, p, strict=True)]
        before, now, total, size = [mp.mpf(0)] * len(pairs), [mp.mpf(1)] * len(pairs), mp.mpf(0), mp.mpf(1)
        for k in range(terms):
            moment = sum(b * h for (_, b), h in zip(pairs, now, strict=True))
            total += size * moment**2
            following = [a * h - k * e for (a, _), h, e in zip(pairs, now, before, strict=True)]
            before, now, size = now, following, size * x / (k + 1)
        return float(total)


@pytest.mark.parametrize(("beta", "overlap", "value"), [(2, 0.3, 1.000290571594), (3, 0.6, 1.010677933811)])
def test_reference_values_of_the_overlap_function(beta, overlap, value):
    found = cumulants.overlap_function(SpikedCumulant(d=10, beta=beta), overlap)
    assert found == pytest.approx(value, abs=6e-13)


def test_closed_form_of_signs():
    x = 0.75 * np.linspace(-1, 1, 41)
    closed = (1 - x**2) ** -0.5 * np.exp(-(x**2) / (1 - x**2)) * np.cosh(x / (1 - x**2))
    found = cumulants.overlap_function(SpikedCumulant(d=10, beta=3.0), np.linspace(-1, 1, 41))
    np.testing.assert_allclose(found, closed, rtol=1e-14)


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize("overlap", [-0.95, -0.35, 0.05, 0.399999, 0.400001, 0.9])
def test_overlap_function_equals_its_hermite_series(latent, overlap):
    """The two forms meet at x = 0.3, that is at the overlap 0.4 for beta = 3."""
    model = SpikedCumulant(d=10, beta=3.0, latent=latent)
    exact = series(model, overlap)
    assert float(cumulants.overlap_function(model, overlap)) == pytest.approx(exact, rel=1e-13)
    sign = np.sign(overlap)
    assert float(log_overlap(model, 1 - abs(overlap), sign)) == pytest.approx(math.log(exact), rel=1e-7, abs=1e-14)


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize("gap", [1e-9, 0.1, 0.65, 0.9])
def test_slope_of_the_overlap_function(latent, gap):
    model, h = SpikedCumulant(d=10, beta=3.0, latent=latent), 1e-4 * min(gap, 1 - gap)
    difference = (log_overlap(model, gap - h) - log_overlap(model, gap + h)) / (2 * h)
    assert log_overlap_slope(model, gap) == pytest.approx(difference, rel=1e-3 if gap < 1e-6 else 1e-6)


@settings(max_examples=25)
@given(latents, st.floats(1e-3, 1e3), st.floats(0, 1))
def test_the_overlap_function_is_largest_at_positive_overlaps(latent, beta, overlap):
    plus, minus = cumulants.overlap_function(SpikedCumulant(d=5, beta=beta, latent=latent), [overlap, -overlap])
    assert plus >= 1
    assert plus >= minus * (1 - 1e-12)
    if latent.is_symmetric:
        assert plus == pytest.approx(minus, rel=1e-12)


def test_reference_norms():
    signs, sphere = (SpikedCumulant(d=20, beta=1.0, prior=prior) for prior in ("signs", "sphere"))
    assert cumulants.likelihood_ratio_norm(signs, 50).norm == pytest.approx(1.0044119319, abs=6e-11)
    assert cumulants.likelihood_ratio_norm(sphere, 50).norm == pytest.approx(1.0040552753, abs=6e-11)


@pytest.mark.parametrize(
    ("d", "ratio", "value"),
    [
        *((100, 0.5, 1.0025), (100, 0.9, 1.0066), (100, 1.1, 2.30e3)),
        *((400, 0.5, 1.0006), (400, 0.9, 1.0011), (400, 1.1, 2.42e12)),
    ],
)
def test_norms_on_both_sides_of_the_threshold(d, ratio, value):
    n = round(ratio * 1.9333145905 * d)
    norm = cumulants.likelihood_ratio_norm(SpikedCumulant(d=d, beta=5.0), n).norm
    assert norm == pytest.approx(value, rel=3e-3 if norm > 2 else 6e-5)


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize(("d", "n"), [(2, 3), (7, 40), (6, 1000)])
def test_sum_over_signs_against_all_pairs_of_spikes(latent, d, n):
    """All spikes, each with the first: the mean over both is the same by symmetry."""
    model = SpikedCumulant(d=d, beta=2.0, latent=latent)
    spikes = np.array(list(itertools.product([-1, 1], repeat=d)))
    f = cumulants.overlap_function(model, spikes.sum(axis=1) / d)
    found = cumulants.likelihood_ratio_norm(model, n)
    assert found.log_norm == pytest.approx(math.log(np.mean(f**n)), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize(
    ("latent", "d", "n"), [(LATENTS[0], 2, 3), (LATENTS[0], 60, 700), (LATENTS[1], 3, 200), (SKEWED, 5, 40)]
)
def test_integral_over_the_sphere_against_mpmath(latent, d, n):
    model = SpikedCumulant(d=d, beta=2.0, prior="sphere", latent=latent)
    g, p = latent.atoms, latent.probabilities

    def power(angle):
        x = mp.mpf(2) / 3 * mp.cos(angle)
        total = sum(
            q * w * mp.exp((2 * x * a * b - x**2 * (a**2 + b**2)) / (2 * (1 - x**2)))
            for (a, q), (b, w) in itertools.product(zip(g, p, strict=True), repeat=2)
        )
        return mp.sin(angle) ** (d - 2) * ((total / mp.sqrt(1 - x**2)) ** n - 1)

    with mp.workdps(18):
        cuts = [mp.pi * k / 8 for k in range(9)]
        mass = mp.sqrt(mp.pi) * mp.gamma(mp.mpf(d - 1) / 2) / mp.gamma(mp.mpf(d) / 2)
        excess = mp.quad(power, cuts, maxdegree=5) / mass
        log_norm = float(mp.log1p(excess))
    found = cumulants.likelihood_ratio_norm(model, n)
    assert found.log_norm == pytest.approx(log_norm, rel=1e-9)
    assert found.excess == pytest.approx(float(excess), rel=1e-8)
    assert found.residual < 1e-9


@settings(max_examples=25)
@given(latents, st.sampled_from(["signs", "sphere"]), st.floats(0.01, 50), st.integers(2, 60), st.integers(1, 500))
def test_the_norm_grows_with_samples_and_signal(latent, prior, beta, d, n):
    def log_norm(n=n, beta=beta):
        return cumulants.likelihood_ratio_norm(SpikedCumulant(d, beta, prior, latent), n).log_norm

    assert 0 <= log_norm() <= log_norm(n=2 * n) * (1 + 1e-9)
    assert log_norm() <= log_norm(beta=1.3 * beta) * (1 + 1e-9)


def test_norms_beyond_all_floating_point_numbers():
    for prior in ("signs", "sphere"):
        model = SpikedCumulant(d=50, beta=5.0, prior=prior)
        found = cumulants.likelihood_ratio_norm(model, 10**12)
        assert found.norm == math.inf
        # All samples favor the same spike: log ||L||^2 = n log f(1), less a logarithm for the law of the overlap.
        assert found.log_norm == pytest.approx(1e12 * float(log_overlap(model, 0.0)), rel=1e-8)


def test_infinite_and_too_large_dimensions_are_refused():
    with pytest.raises(ValueError, match="model must have a finite d"):
        cumulants.likelihood_ratio_norm(SpikedCumulant(math.inf, 1.0), 10)
    with pytest.raises(ValueError, match="model must have d <= 1000000 for the sum"):
        cumulants.likelihood_ratio_norm(SpikedCumulant(10**7, 1.0), 10)
    with pytest.raises(ValueError, match=r"model must have d <= 1e\+12"):
        cumulants.likelihood_ratio_norm(SpikedCumulant(10**13, 1.0, "sphere"), 10)


def test_an_integral_that_is_not_verified_is_refused(monkeypatch):
    from theory.cumulants import likelihood_ratio

    monkeypatch.setattr(likelihood_ratio, "_edges", lambda model, n, d: np.array([0.0, 1.0, math.pi / 2]))
    with pytest.raises(ConvergenceError, match="two quadratures differ"):
        cumulants.likelihood_ratio_norm(SpikedCumulant(10_000, 5.0, "sphere"), 10)


def test_a_sum_over_many_signs_keeps_its_digits():
    """For a weak spike the norm is n E (f - 1), and f - 1 = r^4 lambda^4/6 + 16 r^6 lambda^6/45 + ..."""
    d, n, r = 10**6, 1000, 1e-3 / 1.001
    found = cumulants.likelihood_ratio_norm(SpikedCumulant(d=d, beta=1e-3), n).excess
    assert found == pytest.approx(n * (r**4 / 6 * (3 * d - 2) / d**3 + 16 * r**6 / 45 * 15 / d**3), rel=2e-10, abs=0)
