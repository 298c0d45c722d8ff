"""The spiked Wishart model: exact fractions, quadrature, the published limit, and measured likelihood ratios."""

import math
from fractions import Fraction

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.cumulants import draw_spike, enumerated_wishart_norm, sample_wishart
from theory import cumulants
from theory.models import SpikedCumulant, SpikedWishart


def overlap_moment(prior, d, m):
    if prior == "sphere":
        odd, even = (math.prod(range(start, start + m, 2)) for start in (1, d))
        return Fraction(odd, even)
    return sum(Fraction(math.comb(d, k) * (2 * k - d) ** m, 2**d * d**m) for k in range(d + 1))


@pytest.mark.parametrize("prior", ["signs", "sphere"])
@pytest.mark.parametrize(("d", "n", "beta"), [(5, 3, Fraction(1, 2)), (8, 1, Fraction(3)), (20, 40, Fraction(7, 5))])
def test_against_exact_fractions(prior, d, n, beta):
    """The binomial series of (1 - beta^2 lambda^2)^(-n/2), its coefficients one factor after the other."""
    terms, coefficient = [], Fraction(1)
    for k in range(7):
        terms.append(coefficient * beta ** (2 * k) * overlap_moment(prior, d, 2 * k))
        coefficient *= Fraction(n + 2 * k, 2 * (k + 1))
    model = SpikedWishart(d, float(beta), prior)
    for degree in range(13):
        found = cumulants.wishart_low_degree_norm(model, n, degree)
        assert found.excess == pytest.approx(float(sum(terms[1 : degree // 2 + 1])), rel=1e-13)
    assert (found.log_contributions[1::2] == -np.inf).all()
    np.testing.assert_allclose(np.exp(found.log_contributions[::2]), [float(term) for term in terms], rtol=1e-12)


def test_one_sample_and_two_spikes_by_quadrature():
    """E_H0 of the product of two ratios of densities is (1 - beta^2 lambda^2)^(-1/2), on a grid in two dimensions."""
    beta, overlap = 0.6, 0.7
    h = np.linspace(-14, 14, 1401)
    x, y = np.meshgrid(h, h)
    density = np.exp(-(x**2 + y**2) / 2) / (2 * np.pi) * (h[1] - h[0]) ** 2
    ratios = [
        np.exp(beta / (1 + beta) * along**2 / 2) / np.sqrt(1 + beta)
        for along in (x, overlap * x + np.sqrt(1 - overlap**2) * y)
    ]
    exact = float((density * ratios[0] * ratios[1]).sum())
    # Two samples in d = 2 with spikes of signs, whose overlaps are 0 and +-1: the same function at other overlaps.
    assert exact == pytest.approx((1 - (beta * overlap) ** 2) ** -0.5, rel=1e-9)
    whole = cumulants.wishart_low_degree_norm(SpikedWishart(2, beta), 3, 1000).norm
    assert whole == pytest.approx(0.5 + 0.5 * (1 - beta**2) ** -1.5, rel=1e-12)


@pytest.mark.parametrize(("beta", "gamma"), [(0.5, 2.0), (1.0, 1.0), (3.0, 0.25)])
def test_the_published_limit_in_double_factorials(beta, gamma):
    def double(m):
        return math.prod(range(m, 0, -2))

    for degree in (0, 1, 2, 5, 8, 20):
        exact = sum(
            Fraction(double(2 * k - 1), double(2 * k)) * Fraction(beta * beta * gamma) ** k
            for k in range(degree // 2 + 1)
        )
        assert cumulants.wishart_low_degree_limit(beta, gamma, degree).norm == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("prior", ["signs", "sphere"])
def test_large_dimensions_approach_the_limit(prior):
    limit = cumulants.wishart_low_degree_limit(0.8, 1.5, 12).norm
    gaps = [
        cumulants.wishart_low_degree_norm(SpikedWishart(d, 0.8, prior), round(1.5 * d), 12).norm - limit
        for d in (2_000, 4_000, 8_000)
    ]
    assert abs(gaps[2]) < 2e-3
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.03)
    assert gaps[1] / gaps[2] == pytest.approx(2, rel=0.03)


def test_the_norm_of_all_degrees_is_bounded_up_to_the_published_threshold():
    gamma = 0.25
    threshold = gamma**-0.5  # beta = sqrt(d/n)
    below, above = (
        [cumulants.wishart_low_degree_limit(k * threshold, gamma, degree).norm for degree in (100, 400, 1000)]
        for k in (0.9, 1.02)
    )
    assert below == pytest.approx([(1 - 0.81) ** -0.5] * 3, rel=1e-5)
    assert above[0] < above[1] < above[2] / 10


@pytest.mark.parametrize(("d", "n", "beta"), [(4, 4, 0.3), (6, 8, 0.4), (5, 1, 0.7)])
def test_measured_likelihood_ratios(agrees, d, n, beta):
    model = SpikedWishart(d, beta)
    found = enumerated_wishart_norm(model, n, 100_000, stream(0, "wishart norm", d, n))
    exact = cumulants.wishart_low_degree_norm(model, n, 600).norm
    agrees(Estimate(found.mean - 1, found.stderr, found.n), exact - 1, resolves=0.25)


def test_the_part_of_degree_two_by_its_polynomial(agrees):
    """Its projection is 1 + beta/2 sum (|x|^2/d - 1); the mean of that under H1 is the norm of degree 2."""
    d, n, beta = 6, 10, 1.5
    model, rng = SpikedWishart(d, beta), stream(0, "degree two")
    spike = draw_spike(SpikedCumulant(d, beta), rng)
    x = sample_wishart(model, spike, n * 8000, rng).reshape(8000, n, d)
    parts = beta / 2 * ((x**2).sum(axis=2) / d - 1).sum(axis=1)
    agrees(Estimate.of(parts), cumulants.wishart_low_degree_norm(model, n, 3).excess, resolves=0.1)


def test_samples_have_the_covariance_of_the_record():
    spike = np.array([0.6, -0.8, 0.0])
    x = sample_wishart(SpikedWishart(3, 2.0), spike, 200_000, stream(0, "wishart samples"))
    exact = np.eye(3) + 2 * np.outer(spike, spike)
    assert abs(x.T @ x / len(x) - exact).max() < 5 * np.sqrt(2 * 9 / len(x))
    along = x @ spike
    assert np.mean(along**4) == pytest.approx(3 * 9, abs=5 * np.sqrt(96 * 81 / len(x)))  # Gaussian


def test_published_threshold_of_cumulants_at_as_many_samples_as_dimensions():
    """arXiv:2312.14922, Fig. 7: "about 10.7" at n = d, by f(beta, 1) = 2; the minimum over overlaps is nearby."""
    model = SpikedCumulant(math.inf, 1.0)
    beta = cumulants.likelihood_ratio_beta(model, 1.0)
    assert beta == pytest.approx(10.7826, abs=5e-5)
    sufficient = 10.7830724983
    f = cumulants.overlap_function(SpikedCumulant(math.inf, sufficient), 1.0)
    assert float(f) == pytest.approx(2, rel=1e-9)
    found = cumulants.likelihood_ratio_threshold(SpikedCumulant(math.inf, sufficient)).gamma
    assert found == pytest.approx(0.99997, abs=6e-6)
    assert found < 1


@pytest.mark.parametrize(("prior", "gamma"), [("signs", 0.05), ("signs", 700.0), ("sphere", 1.1), ("sphere", 20.0)])
def test_the_inverse_of_the_threshold(prior, gamma):
    model = SpikedCumulant(math.inf, 1.0, prior)
    beta = cumulants.likelihood_ratio_beta(model, gamma)
    back = cumulants.likelihood_ratio_threshold(SpikedCumulant(math.inf, beta, prior)).gamma
    assert back == pytest.approx(gamma, rel=1e-9)


def test_values_without_an_answer_are_refused():
    with pytest.raises(ValueError, match=r"gamma must lie in \[0\.\d+, .*\], got 1e-05"):
        cumulants.likelihood_ratio_beta(SpikedCumulant(math.inf, 1.0), 1e-5)
    rng = np.random.default_rng(0)
    for model, message in (
        (SpikedWishart(4, 0.5, "sphere"), "model must have the prior 'signs'"),
        (SpikedWishart(17, 0.5), "model must have d <= 16 and beta < 1"),
        (SpikedWishart(4, 1.0), "model must have d <= 16 and beta < 1"),
    ):
        with pytest.raises(ValueError, match=message):
            enumerated_wishart_norm(model, 3, 5, rng)
    with pytest.raises(ValueError, match="model must have a finite d"):
        cumulants.wishart_low_degree_norm(SpikedWishart(math.inf, 0.5), 3, 4)
    with pytest.raises(ValueError, match="degree must be at most 1000"):
        cumulants.wishart_low_degree_limit(0.5, 1.0, 1001)
