"""The degree-4 norm test: moments by an independent route, powers of the note, low-degree norm, and the oracle."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from theory import cumulants
from theory.cumulants import oracle
from theory.cumulants.norm_statistic import _upper_tail
from theory.models import AtomicLatent, SpikedCumulant

LATENTS = [AtomicLatent.signs(), AtomicLatent.diluted_signs(0.2), AtomicLatent((-0.5, 2.0), (0.8, 0.2))]


def raw_moments(model, spiked):
    """E R^k for k = 0 to 6 with R = Q + y^2, from the moments of chi^2 and of y."""
    d, r, rest = model.size, model.latent_share, model.noise_share
    chi = [math.prod(d - spiked + 2.0 * i for i in range(k)) for k in range(7)]
    if not spiked:
        return np.array(chi)
    normal = [math.prod(range(1, k, 2)) if k % 2 == 0 else 0 for k in range(13)]
    y = [
        sum(
            p * math.comb(k, j) * (math.sqrt(r) * g) ** (k - j) * rest ** (j / 2) * normal[j]
            for g, p in zip(model.latent.atoms, model.latent.probabilities, strict=True)
            for j in range(k + 1)
        )
        for k in range(13)
    ]
    return np.array([sum(math.comb(k, j) * chi[k - j] * y[2 * j] for j in range(k + 1)) for k in range(7)])


def moments_of_one_sample(model, spiked):
    """Mean, deviation and skewness of 3 R^2/(d (d + 2)) - 6 R/d + 3, expanding its powers."""
    d, R = model.size, raw_moments(model, spiked)
    t = np.polynomial.Polynomial([3.0, -6 / d, 3 / (d * (d + 2))])
    first, second, third = ((t**k).coef @ R[: 2 * k + 1] for k in (1, 2, 3))
    deviation = math.sqrt(second - first**2)
    return first, deviation, (third - 3 * second * first + 2 * first**3) / deviation**3


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize(("d", "beta"), [(2, 0.5), (5, 10.0), (20, 3.0)])
def test_moments_by_expanding_the_powers(latent, d, beta):
    model, n = SpikedCumulant(d, beta, latent=latent), 7
    found = cumulants.norm_test(model, n)
    _, deviation, skewness = moments_of_one_sample(model, spiked=False)
    assert found.deviation == pytest.approx(math.sqrt(n) * deviation, rel=1e-9)
    assert found.skewness == pytest.approx(skewness / math.sqrt(n), rel=1e-9)
    mean, deviation, skewness = moments_of_one_sample(model, spiked=True)
    assert found.mean == pytest.approx(n * mean, rel=1e-8, abs=1e-12)
    assert found.spiked_deviation == pytest.approx(math.sqrt(n) * deviation, rel=1e-8)
    assert found.spiked_skewness == pytest.approx(skewness / math.sqrt(n), rel=1e-7)
    assert found.snr == pytest.approx(abs(found.mean) / found.deviation, rel=1e-12)


@pytest.mark.parametrize(("d", "kappa", "mean", "power"), [(20, 1, -0.557, 0.138), (20, 4, -1.114, 0.298),
                         (20, 16, -2.229, 0.720), (40, 4, -1.141, 0.307), (40, 16, -2.281, 0.738)])  # fmt: skip
def test_predicted_powers_of_signs(d, kappa, mean, power):
    found = cumulants.norm_test(SpikedCumulant(d, 10.0, "sphere"), kappa * d**2)
    assert found.mean / found.deviation == pytest.approx(mean, abs=6e-4)
    assert found.power() == pytest.approx(power, abs=6e-4)


@settings(max_examples=25)
@given(st.sampled_from(LATENTS), st.floats(0.1, 50), st.integers(2, 200), st.integers(1, 10**6))
def test_squared_signal_to_noise_is_what_degree_4_adds_to_the_norm(latent, beta, d, n):
    model = SpikedCumulant(d, beta, "sphere", latent)
    added = math.exp(cumulants.low_degree_norm(model, n, 4).log_contributions[4])
    assert cumulants.norm_test(model, n).snr ** 2 == pytest.approx(added, rel=1e-11)


@settings(max_examples=25)
@given(st.floats(0.5, 50), st.integers(2, 200), st.floats(0.1, 0.99), st.floats(1e-3, 0.09))
def test_number_of_samples_is_the_inverse_of_the_power(beta, d, power, level):
    model = SpikedCumulant(d, beta)
    n = math.ceil(cumulants.norm_test_samples(model, power, level))
    assert cumulants.norm_test(model, n).power(level) >= power * (1 - 1e-12)
    if n > 1:
        assert cumulants.norm_test(model, n - 1).power(level) < power


def test_limits_of_the_test():
    d, kappa = 10**6, 3
    found = cumulants.norm_test(SpikedCumulant(d, 10.0), kappa * d**2)
    assert found.snr**2 == pytest.approx(kappa * (10 / 11) ** 4 / 2, rel=1e-5)
    assert found.corrected_power() == pytest.approx(found.power(), abs=1e-5)
    assert found.corrected_level() == pytest.approx(0.05, abs=1e-5)
    no_fourth_cumulant = SpikedCumulant(20, 10.0, latent=AtomicLatent.diluted_signs(1 / 3))
    assert cumulants.norm_test(no_fourth_cumulant, 1000).power() == pytest.approx(0.05)
    assert cumulants.norm_test_samples(no_fourth_cumulant, 0.5) == math.inf


@pytest.mark.parametrize("threshold", [-2.5, -0.5, 0.0, 1.645, 3.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_correction_for_skewness_against_a_gamma_law(threshold, sign):
    """A standardized gamma law of shape 4000 has the skewness 2/sqrt(4000); the next order is 1/4000 of O(1)."""
    shape = 4000
    law = stats.gamma(shape, loc=-math.sqrt(shape), scale=1 / math.sqrt(shape))
    exact = law.sf(threshold) if sign == 1 else law.cdf(-threshold)
    skewness = sign * 2 / math.sqrt(shape)
    assert _upper_tail(threshold, skewness) == pytest.approx(exact, abs=5e-5)


def test_powers_need_a_level_between_zero_and_one():
    model = SpikedCumulant(20, 10.0)
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 1"):
        cumulants.norm_test(model, 10).power(1.0)
    with pytest.raises(ValueError, match=r"power must be larger than level = 0.05, got 0.01"):
        cumulants.norm_test_samples(model, 0.01)


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize("beta", [0.3, 10.0, 300.0])
def test_accuracy_of_the_oracle_by_quadrature(latent, beta):
    model = SpikedCumulant(16, beta, latent=latent)
    centers, width = math.sqrt(model.latent_share) * np.array(latent.atoms), math.sqrt(model.noise_share)

    def larger(y):
        spiked = np.sum(np.array(latent.probabilities) * stats.norm.pdf(y, centers, width))
        return max(spiked, stats.norm.pdf(y)) / 2

    # The larger of the two densities is what the best rule gets right.
    cuts = np.unique(
        np.concatenate([[-12, 12], np.linspace(-6, 6, 25), *(centers + s * width for s in (-4, -2, 0, 2, 4))])
    )
    total = sum(integrate.quad(larger, a, b, limit=200)[0] for a, b in itertools.pairwise(cuts))
    assert cumulants.oracle_accuracy(model) == pytest.approx(total, abs=1e-7)


def test_accuracy_of_the_oracle_at_the_network_experiment():
    assert cumulants.oracle_accuracy(SpikedCumulant(16, 10.0)) == pytest.approx(0.715, abs=5e-4)
    assert cumulants.oracle_accuracy(SpikedCumulant(16, 1e-4)) == pytest.approx(0.5, abs=1e-6)
    weak = [cumulants.oracle_accuracy(SpikedCumulant(16, beta)) for beta in (1e-4, 1e-6)]
    assert weak[1] - 0.5 == pytest.approx((weak[0] - 0.5) * (1e-6 / 1e-4 * 1.0001 / 1.000001) ** 2, rel=1e-2)
    with pytest.raises(ValueError, match=r"model must have beta <= 1e\+06"):
        cumulants.oracle_accuracy(SpikedCumulant(16, 1e7))


def test_no_zeros_are_searched_where_rounding_decides(monkeypatch):
    """At beta = 1e-9 the two densities agree to rounding, which makes thousands of zeros."""
    searched = []
    monkeypatch.setattr(oracle, "brentq", lambda *args, **kwargs: searched.append(args) or args[1])
    assert cumulants.oracle_accuracy(SpikedCumulant(16, 1e-9)) == pytest.approx(0.5, abs=1e-13)
    assert not searched
