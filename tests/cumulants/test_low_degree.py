"""Low-degree norm: reference values, exact fractions, the sum over all Hermite multi-indices, and its limits."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import cumulants
from theory.models import AtomicLatent, SpikedCumulant

SKEWED = AtomicLatent((-0.5, 2.0), (0.8, 0.2))
LATENTS = [AtomicLatent.signs(), AtomicLatent.diluted_signs(0.25), SKEWED]
EXACT = {  # atoms and probabilities as fractions
    LATENTS[0]: [(Fraction(-1), Fraction(1, 2)), (Fraction(1), Fraction(1, 2))],
    LATENTS[1]: [(Fraction(-2), Fraction(1, 8)), (Fraction(0), Fraction(3, 4)), (Fraction(2), Fraction(1, 8))],
    LATENTS[2]: [(Fraction(-1, 2), Fraction(4, 5)), (Fraction(2), Fraction(1, 5))],
}


def hermite_moments(latent, degree):
    """E He_k(g) as fractions."""
    polynomials = [[Fraction(1)] * len(EXACT[latent]), [g for g, _ in EXACT[latent]]]
    for k in range(1, degree):
        following = [
            g * a - k * b for (g, _), a, b in zip(EXACT[latent], polynomials[k], polynomials[k - 1], strict=True)
        ]
        polynomials.append(following)
    return [sum(p * h for (_, p), h in zip(EXACT[latent], one, strict=True)) for one in polynomials]


def power_by_multiplication(a, n):
    """The coefficients of the n-th power of a truncated series, one multiplication after the other."""
    found = [Fraction(1)] + [Fraction(0)] * (len(a) - 1)
    for _ in range(n):
        found = [sum(found[j] * a[m - j] for j in range(m + 1)) for m in range(len(a))]
    return found


def overlap_moment(prior, d, m):
    if prior == "sphere":
        odd, even = (math.prod(range(start, start + m, 2)) for start in (1, d))
        return Fraction(odd, even) if m % 2 == 0 else Fraction(0)
    return sum(Fraction(math.comb(d, k) * (2 * k - d) ** m, 2**d * d**m) for k in range(d + 1))


def exact_terms(latent, prior, d, n, r, degree):
    h = hermite_moments(latent, degree)
    a = [r**k * h[k] ** 2 / math.factorial(k) for k in range(degree + 1)]
    b = power_by_multiplication(a, n)
    return [b[m] * overlap_moment(prior, d, m) for m in range(degree + 1)]


def test_reference_values():
    model = SpikedCumulant(d=50, beta=10.0)
    assert cumulants.low_degree_norm(model, 2500, 4).norm == pytest.approx(1.33695330465, abs=6e-12)
    assert cumulants.low_degree_norm(model, 2500, 8).norm == pytest.approx(2.02974592012, abs=6e-12)


@pytest.mark.parametrize("latent", LATENTS)
@pytest.mark.parametrize("prior", ["signs", "sphere"])
@pytest.mark.parametrize(("d", "n", "degree"), [(2, 1, 14), (3, 2, 16), (5, 7, 14), (30, 40, 12)])
def test_every_degree_against_exact_fractions(latent, prior, d, n, degree):
    """n = 1 and 2 take the route by squaring, the others the recursion; beta = 3 makes r = 3/4 exact."""
    found = cumulants.low_degree_norm(SpikedCumulant(d, 3.0, prior, latent), n, degree)
    exact = exact_terms(latent, prior, d, n, Fraction(3, 4), degree)
    np.testing.assert_allclose(np.exp(found.log_contributions), [float(one) for one in exact], rtol=1e-11, atol=1e-300)
    assert found.excess == pytest.approx(float(sum(exact[1:])), rel=1e-11)
    assert found.log_norm == pytest.approx(math.log1p(float(sum(exact[1:]))), rel=1e-11)


def test_large_n_against_python_integers():
    """The recursion m b_m = sum ((n + 1) k - m) a_k b_(m-k) in fractions, at an n that floats cannot hold."""
    n, degree = 10**17 + 1, 24
    h = hermite_moments(LATENTS[0], degree)
    a = [Fraction(3, 4) ** k * h[k] ** 2 / math.factorial(k) for k in range(degree + 1)]
    b = [Fraction(1)]
    for m in range(1, degree + 1):
        b.append(sum(((n + 1) * k - m) * a[k] * b[m - k] for k in range(1, m + 1)) / m)
    exact = [b[m] * overlap_moment("sphere", 1000, m) for m in range(degree + 1)]
    found = cumulants.low_degree_norm(SpikedCumulant(1000, 3.0, "sphere"), n, degree)
    np.testing.assert_allclose(np.exp(found.log_contributions), [float(one) for one in exact], rtol=1e-11)


def test_degree_8_as_a_sum_over_all_hermite_multi_indices():
    """The sum over indices alpha of (E_u prod_mu h_|alpha_mu| r^(|alpha_mu|/2) u^alpha)^2/alpha!, at d = 3, n = 2."""
    d, n, r, D = 3, 2, 2 / 3, 8
    h = [float(one) for one in hermite_moments(LATENTS[0], D)]
    spikes = np.array(list(itertools.product([-1, 1], repeat=d))) / math.sqrt(d)
    total = 0.0
    for alpha in itertools.product(range(D + 1), repeat=n * d):
        if sum(alpha) > D:
            continue
        rows = np.array(alpha).reshape(n, d)
        degrees = rows.sum(axis=1)
        size = math.prod(h[k] * r ** (k / 2) for k in degrees)
        if size:
            mean = np.mean(np.prod(spikes ** rows.sum(axis=0), axis=1))
            total += (size * mean) ** 2 / math.prod(map(math.factorial, alpha))
    assert cumulants.low_degree_norm(SpikedCumulant(d, 2.0), n, D).norm == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("prior", ["signs", "sphere"])
def test_high_degrees_reach_the_full_norm(prior):
    model = SpikedCumulant(d=20, beta=1.0, prior=prior)
    low, full = cumulants.low_degree_norm(model, 50, 60), cumulants.likelihood_ratio_norm(model, 50)
    assert low.norm == pytest.approx(full.norm, abs=2e-14)


@settings(max_examples=25)
@given(st.sampled_from(LATENTS), st.sampled_from(["signs", "sphere"]), st.integers(2, 50), st.integers(1, 80))
def test_the_norm_grows_with_the_degree_towards_the_full_one(latent, prior, d, n):
    model = SpikedCumulant(d, 1.0, prior, latent)
    norms = [cumulants.low_degree_norm(model, n, degree).excess for degree in (2, 4, 8, 16)]
    assert norms[0] == 0
    assert norms == sorted(norms)
    assert norms[-1] <= cumulants.likelihood_ratio_norm(model, n).excess * (1 + 1e-9)


def test_first_terms_of_signs_at_n_of_order_d_squared():
    """kappa r^4/2 at degree 4 and (105/72) kappa^2 r^8 at degree 8, up to corrections in 1/d."""
    d, kappa, r = 10**6, 2.0, 0.5
    terms = np.exp(cumulants.low_degree_norm(SpikedCumulant(d, 1.0), round(kappa * d**2), 8).log_contributions)
    assert terms[4] == pytest.approx(kappa * r**4 / 2, rel=1e-5)
    assert terms[8] == pytest.approx(105 / 72 * kappa**2 * r**8, rel=1e-4)


def test_without_a_fourth_cumulant_the_scale_is_the_third_power_of_d():
    latent, d = AtomicLatent.diluted_signs(1 / 3), 10**4
    contributions = cumulants.low_degree_norm(SpikedCumulant(d, 1.0, "sphere", latent), d**2, 8).log_contributions
    assert contributions[4] == -math.inf
    assert math.exp(contributions[6]) < 1e-3
    assert (
        math.exp(cumulants.low_degree_norm(SpikedCumulant(d, 1.0, "sphere", latent), d**3, 6).log_contributions[6])
        > 0.01
    )


def test_large_arguments():
    found = cumulants.low_degree_norm(SpikedCumulant(10**9, 3.0), 2**62, 1000)
    assert found.norm == math.inf
    assert math.isfinite(found.log_norm)
    assert cumulants.low_degree_norm(SpikedCumulant(5, 3.0), 10, 0).norm == 1
