"""The least error of K classes: other integrals, the authors' form for equal shares, exact posteriors, limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from simulate.core import Estimate, stream
from simulate.glm import posterior_error
from theory import glm
from theory.models import Modes, MulticlassMixture


def by_one_integral(K, eta):
    """Return P(1 + eta z_c is not above all eta z_k) of K numbers of one spread eta, as the authors' code has it."""

    def right(z):
        return norm.pdf(z) * norm.cdf(z + 1 / eta) ** (K - 1)

    return 1 - quad(right, -9, 9, epsabs=1e-13)[0]


@pytest.mark.parametrize("K", [2, 3, 5, 8])
def test_equal_shares_have_the_form_of_the_authors(K):
    """Their spread is eta = sqrt(Delta (1 + Delta/(rho alpha))), of scores 1 in the own class and 0 in the others."""
    alpha, Delta = 2.5, 0.4
    eta = math.sqrt(Delta * (1 + Delta * K / alpha))
    found = glm.bayes_optimal_classes(alpha, Delta, [1 / K] * K)
    assert found.test_error == pytest.approx(by_one_integral(K, eta), rel=1e-9)
    assert found.confusion.sum(axis=1) == pytest.approx(np.ones(K), abs=1e-9)
    assert found.test_error_uncertainty < 1e-10


def test_two_classes_are_one_error_function():
    """The difference of both scores is normal: +-(q_1 + q_2)/2 + log of the odds, with the variance q_1 + q_2."""
    alpha, Delta, share = 1.5, 0.3, 0.2
    q = [rho * alpha / (rho * alpha + Delta) for rho in (share, 1 - share)]
    size, odds = math.sqrt(sum(q) / Delta), math.log(share / (1 - share))
    exact = share * norm.cdf(-size / 2 - odds / size) + (1 - share) * norm.cdf(-size / 2 + odds / size)
    found = glm.bayes_optimal_classes(alpha, Delta, (share, 1 - share))
    assert found.test_error == pytest.approx(float(exact), rel=1e-10)
    assert found.q == pytest.approx(q)


@pytest.mark.parametrize("shares", [(0.6, 0.3, 0.1), (0.7, 0.1, 0.1, 0.1)])
def test_unequal_shares_against_exact_posteriors(shares, agrees):
    """Normal densities of a new sample given the training set, at a finite size, know nothing of the limit."""
    found = [posterior_error(0.5, 0.1, shares, 400, stream(0, "posterior", len(shares), k)) for k in range(48)]
    # Centers that are shifted by half of their squared distance err a third more.
    agrees(Estimate.of(found), glm.bayes_optimal_classes(0.5, 0.1, shares).test_error, resolves=0.3, bias=0.001)


@pytest.mark.parametrize("loss", ["square", "softmax"])
def test_no_trained_rule_is_better(loss):
    """Of softmax and square loss the better ridge comes near: equal classes leave one thing to choose."""
    best = glm.bayes_optimal_classes(3.0, 0.5, (1 / 3,) * 3).test_error

    def trained(lam):
        modes = Modes([1.0], [[0.5]], np.eye(3)[:, :, None])
        return MulticlassMixture(modes=modes, probabilities=(1 / 3,) * 3, alpha=3.0, lam=lam, loss=loss)

    errors = [glm.solve(trained(lam)).test_error for lam in (0.1, 3.0, 1e4)]
    assert min(errors) >= best - 1e-7
    assert errors[-1] == pytest.approx(best, rel=1e-3)  # a large ridge points along the averages of the classes


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.1, 10), st.integers(2, 5))
def test_units_and_bounds(alpha, variance, power, K):
    rho = np.arange(1.0, K + 1) / (K * (K + 1) / 2)
    found = glm.bayes_optimal_classes(alpha, variance, rho, power)
    scaled = glm.bayes_optimal_classes(alpha, variance / power, rho)
    assert found.test_error == pytest.approx(scaled.test_error, rel=1e-9, abs=1e-14)
    assert -1e-12 <= found.test_error <= (1 - rho.max()) * (1 + 1e-9)
    assert np.all((found.q > 0) & (found.q <= power))


def test_the_ends_of_the_training_set():
    rho = (0.5, 0.3, 0.2)
    assert glm.bayes_optimal_classes(1e-12, 1.0, rho).test_error == pytest.approx(0.5)
    assert glm.bayes_optimal_classes(1e-300, 1e20, rho).test_error == 0.5  # distances below the least number
    known = glm.bayes_optimal_classes(1e12, 0.5, (1 / 3,) * 3).test_error
    assert known == pytest.approx(by_one_integral(3, math.sqrt(0.5)), rel=1e-6)


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.6), (1.2, -0.2), (0.0, 1.0), (1e308, 1e308)])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match="shares must be at least two positive numbers"):
        glm.bayes_optimal_classes(1.0, 1.0, shares)
    with pytest.raises(ValueError, match="shares must be at least two positive numbers"):
        posterior_error(1.0, 1.0, shares, 10, stream(0))


def test_fewer_samples_than_classes_are_refused():
    with pytest.raises(ValueError, match="alpha must give at least 3 samples"):
        posterior_error(0.1, 1.0, (0.4, 0.3, 0.3), 10, stream(0))
