"""The Bayes-optimal error: closed forms, other routes to them, a sampled posterior, and no trained rule beats it."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from simulate.core import Estimate, extrapolate, stream
from theory import glm
from theory.glm.bayes_optimal import bayes_optimal_linear, bayes_optimal_mixture, bayes_optimal_sign
from theory.glm.ridge import ridge_regression
from theory.models import Cluster, GeneralizedLinearModel, Modes

ALPHAS = st.floats(0.01, 100)
NOISES = st.just(0.0) | st.floats(1e-300, 10)
POWERS = st.floats(0.01, 100)


def isotropic(loss: str, alpha: float, lam: float, noise: float = 0.0, labels: str = "sign") -> GeneralizedLinearModel:
    teacher = Cluster(labels=labels, teacher_signal=0, noise=noise)
    return GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[1.0]]]), clusters=[teacher], alpha=alpha, loss=loss, lam=lam
    )


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_linear_is_ridge_at_the_noise(alpha):
    problem = isotropic("square", alpha, 0.3, noise=0.3, labels="linear")
    found = bayes_optimal_linear(alpha, 0.3)
    assert found.test_error == pytest.approx(ridge_regression(problem).test_error, rel=1e-12)
    assert found.test_error < min(ridge_regression(problem, lam).test_error for lam in (0.25, 0.36))


@given(ALPHAS, NOISES, POWERS)
def test_linear_solves_its_equations(alpha, noise, power):
    found = bayes_optimal_linear(alpha, noise, power)
    V = found.test_error - noise
    assert found.residual < 1e-10
    assert V * (noise + V) + V * alpha * power == pytest.approx(power * (noise + V), rel=1e-9, abs=1e-12 * power)
    assert found.q == pytest.approx(power - V, rel=1e-9, abs=1e-12 * power)


def test_noise_that_has_lost_its_digits_is_refused():
    with pytest.raises(ValueError, match="noise must be 0 or at least 1e-300"):
        bayes_optimal_linear(2.0, 1e-310)


def test_linear_without_noise_is_exact_from_one_sample_a_dimension_on():
    assert bayes_optimal_linear(2.0, 0.0).test_error == 0
    assert bayes_optimal_linear(0.25, 0.0, 4.0).test_error == pytest.approx(3.0)  # what was not seen of the power


def test_sign_by_adaptive_quadrature():
    """The two equations in q and qhat as they stand, the sum over labels written out."""
    alpha, noise, power = 1.5, 0.2, 2.0
    found = bayes_optimal_sign(alpha, noise, power)
    width = power - found.q + noise

    def told(z):
        omega = mpmath.sqrt(found.q) * z
        slope = mpmath.npdf(omega / mpmath.sqrt(width)) / mpmath.sqrt(width)
        return mpmath.npdf(z) * sum(slope**2 / mpmath.ncdf(y * omega / mpmath.sqrt(width)) for y in (1, -1))

    qhat = float(alpha * mpmath.quad(told, [-9, -3, 0, 3, 9]))
    assert found.q == pytest.approx(power**2 * qhat / (1 + power * qhat), rel=1e-10)
    assert found.test_error == pytest.approx(math.acos(math.sqrt(found.q / (power + noise))) / math.pi, rel=1e-9)


def test_sign_with_many_samples():
    """Without noise the error falls as 0.442/alpha, the Bayes rule of Opper and Haussler (1991).

    For V -> 0 the equations give qhat = alpha c/sqrt(V power), c = 2 int phi(u)^2/Phi(u) du/sqrt(2 pi), so that
    error = sqrt(V/power)/pi = 1/(pi alpha c).
    """
    c = (
        2
        * mpmath.quad(lambda u: mpmath.npdf(u) ** 2 / mpmath.ncdf(u), [-12, -3, 0, 3, 12])
        / mpmath.sqrt(2 * mpmath.pi)
    )
    constant = float(1 / (mpmath.pi * c))
    assert constant == pytest.approx(0.442, abs=5e-4)
    assert 1e4 * bayes_optimal_sign(1e4).test_error == pytest.approx(constant, rel=1e-3)
    assert 1e6 * bayes_optimal_sign(1e6, 0.0, 3.0).test_error == pytest.approx(constant, rel=1e-5)


@given(st.floats(0, 5), POWERS)
def test_sign_with_few_samples(noise, power):
    """At q = 0 a label tells 2/(pi (power + noise)): q = 2 alpha power^2/(pi (power + noise)) to first order."""
    alpha = 1e-7 * (power + noise) / power
    found = bayes_optimal_sign(alpha, noise, power)
    assert found.q == pytest.approx(2 * alpha * power**2 / (math.pi * (power + noise)), rel=1e-5)


@settings(max_examples=40)  # each solves three times
@given(ALPHAS, NOISES, POWERS)
def test_sign_knows_no_scale_and_is_monotone(alpha, noise, power):
    found = bayes_optimal_sign(alpha, noise, power)
    assert found.residual < 1e-10
    assert found.test_error == pytest.approx(bayes_optimal_sign(alpha, noise / power).test_error, rel=1e-9)
    assert bayes_optimal_sign(1.1 * alpha, noise, power).test_error < found.test_error
    assert found.test_error > math.atan(math.sqrt(noise / power)) / math.pi  # what the teacher's own noise costs


@pytest.mark.parametrize("alpha", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
def test_no_trained_rule_is_better(alpha, loss):
    least = bayes_optimal_sign(alpha, 0.1).test_error
    errors = [glm.solve(isotropic(loss, alpha, lam, 0.1)).test_error for lam in (0.01, 0.1, 1.0, 10.0)]
    assert min(errors) > least
    assert min(errors) < 1.07 * least


@pytest.mark.parametrize(("alpha", "variance", "power"), [(0.5, 0.5, 1.0), (3.0, 2.0, 1.7)])
def test_mixture_is_attained_by_an_infinite_ridge(alpha, variance, power):
    """Square loss with lam -> infinity points along the average of y x, the optimum for equal shares."""
    mixture = glm.gaussian_mixture(power, variance, alpha=alpha, lam=1e6, loss="square", bias=False)
    assert bayes_optimal_mixture(alpha, variance, power).test_error == pytest.approx(
        glm.solve(mixture).test_error, rel=1e-5
    )


@given(ALPHAS, st.floats(0.05, 20), POWERS, st.floats(0.01, 0.99))
def test_mixture_bounds_and_symmetry(alpha, variance, power, share):
    found = bayes_optimal_mixture(alpha, variance, power, share)
    assert 0 <= found.test_error <= min(share, 1 - share) * (1 + 1e-12)
    assert found.test_error == pytest.approx(bayes_optimal_mixture(alpha, variance, power, 1 - share).test_error)


def test_mixture_with_its_mean_known():
    """alpha -> infinity against the integral of the smaller of the two densities."""
    s, share = math.sqrt(0.8), 0.3

    def least(x):
        return min(share * mpmath.npdf(x, 1, s), (1 - share) * mpmath.npdf(x, -1, s))

    edge = 0.5 * s**2 * math.log((1 - share) / share)
    exact = float(mpmath.quad(least, [-8, edge, 8]))
    assert bayes_optimal_mixture(1e9, 0.8, 1.0, share).test_error == pytest.approx(exact, rel=1e-6)


def test_trained_mixtures_are_not_better():
    for loss in ("square", "logistic", "hinge"):
        mixture = glm.gaussian_mixture(1.0, 0.5, probability=0.25, alpha=2.0, lam=0.3, loss=loss)
        assert glm.solve(mixture).test_error > bayes_optimal_mixture(2.0, 0.5, 1.0, 0.25).test_error


def posterior_error(alpha: float, noise: float, p: int, rng: np.random.Generator, sweeps: int = 200) -> float:
    """Error of the posterior mean, by Gibbs sampling of the latent fields behind the labels."""
    n = round(alpha * p)
    X, theta = rng.standard_normal((n, p)) / math.sqrt(p), rng.standard_normal(p)
    y = np.sign(X @ theta + math.sqrt(noise) * rng.standard_normal(n))
    covariance = np.linalg.inv(np.eye(p) + X.T @ X / noise)
    root, gain = np.linalg.cholesky(covariance), covariance @ X.T / noise
    w, mean, discarded = np.zeros(p), np.zeros(p), sweeps // 5
    for sweep in range(sweeps):
        field = X @ w
        below = ndtr(-y * field / math.sqrt(noise))
        uniform = below + (1 - below) * np.clip(rng.random(n), 1e-12, 1 - 1e-12)
        latent = field + y * math.sqrt(noise) * ndtri(uniform)
        center = gain @ latent
        w = center + root @ rng.standard_normal(p)
        mean += center * (sweep >= discarded)  # the mean of w given the fields: less noise than w
    cosine = mean @ theta / math.sqrt((mean @ mean) * (theta @ theta + noise * p))
    return math.acos(cosine) / math.pi


def test_sampled_posterior(agrees):
    alpha, noise = 3.0, 0.5
    small, large = (
        Estimate.of([posterior_error(alpha, noise, p, stream(0, "posterior", p, r)) for r in range(100)])
        for p in (30, 60)
    )
    agrees(extrapolate(small, large), bayes_optimal_sign(alpha, noise).test_error, resolves=0.15)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: bayes_optimal_linear(0.0, 0.1), "alpha"),
        (lambda: bayes_optimal_linear(1.0, -0.1), "noise"),
        (lambda: bayes_optimal_sign(1.0, 0.1, 0.0), "power"),
        (lambda: bayes_optimal_sign(-1.0), "alpha"),
        (lambda: bayes_optimal_sign(1.0, -1.0), "noise"),
        (lambda: bayes_optimal_mixture(1.0, 0.0), "variance"),
        (lambda: bayes_optimal_mixture(1.0, 1.0, -1.0), "mean_power"),
        (lambda: bayes_optimal_mixture(1.0, 1.0, 1.0, 1.0), "probability"),
    ],
)
def test_bad_input(call, name):
    with pytest.raises(ValueError, match=name):
        call()
