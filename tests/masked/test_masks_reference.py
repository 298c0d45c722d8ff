"""Random masks: reference numbers, and each formula by a slow second route."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from tests.families import FINITE, REGULAR, D
from theory import masked
from theory.models import AR1, Blocks, Isotropic, MaskedRidge, RandomMasks

# finite d, deterministic equivalents written out with dense matrices for every coordinate
ALL_MASKS = [(0.15, 1, 1e-3, 0.902749), (0.5, 2, 0.1, 0.755026), (0.15, 0.5, 0.1, 0.943714)]
SOME_MASKS = [
    (0.3, 2, 0.01, {1: 1.534, 2: 1.989, 4: 1.057, 16: 0.7825, 64: 0.7404, None: 0.7279}),
    (0.15, 1, 0.05, {1: 1.004, 2: 1.044, 4: 1.172, 16: 0.992, 64: 0.876, None: 0.846}),
]
SETTINGS = [(0.3, 1, 0.6, 0.1), (0.15, 5, 1.3, 0.05), (0.7, 3, 2.0, 0.5)]  # mask_rate, n_masks, alpha, lam


@pytest.mark.parametrize(("rate", "alpha", "lam", "error"), ALL_MASKS)
def test_infinitely_many_masks(rate, alpha, lam, error):
    assert masked.solve(RandomMasks(AR1(300, 0.6), alpha, lam, rate)).mean_test_error == pytest.approx(
        error, abs=5.1e-7
    )


@pytest.mark.parametrize(("rate", "alpha", "lam", "errors"), SOME_MASKS)
def test_a_few_masks(rate, alpha, lam, errors):
    for n_masks, error in errors.items():
        found = masked.solve(RandomMasks(AR1(80, 0.6), alpha, lam, rate, n_masks)).mean_test_error
        assert found == pytest.approx(error, abs=5.1e-4 if error > 0.8 else 5.1e-5)


def by_hand(sigma, alpha, lam, rate, n_masks):
    """Errors (2, d), test and train, by plain iteration, all classes of rows, and one augmented matrix a coordinate."""
    d = len(sigma)
    delta, a, b = np.diag(np.diag(sigma)), (1 - rate) ** 2, rate * (1 - rate)
    pairs = alpha * d * n_masks * rate
    j = np.arange(1, n_masks + 1)
    share = alpha * d * binom.pmf(j, n_masks, rate) / pairs
    j, share = np.append(j, 0), np.append(share, 1 - share.sum())
    T = j[:, None, None] * a * sigma + b * delta
    K = np.ones(len(j))
    for _ in range(3000):
        Q = np.linalg.inv(np.tensordot(share / K, T, 1) + lam * np.eye(d))
        previous, K = K, 1 + np.einsum("cij,ji->c", T, Q) / pairs
        if np.allclose(K, previous, rtol=1e-14, atol=0):
            break
    products = T @ Q
    v = share / K**2

    def augmented(k, weights):
        """Sum over classes of the covariance of (response of k, masked inputs)."""
        x, y = weights @ j, weights.sum()
        M = x * a * sigma + y * b * delta
        M[k] = M[:, k] = x * (1 - rate) * sigma[k]
        M[k, k] = x * sigma[k, k]
        return M

    G = np.einsum("aij,bji->ab", products, products) / pairs
    errors = np.empty((2, d))
    test = np.zeros(len(j))
    test[0], test[-1] = 1.0, 0.0  # one row of J = 1 is a new pair
    for row, B in enumerate((test, v)):
        direct = np.einsum("cij,ji->c", products, np.tensordot(B, T, 1) @ Q) / pairs
        tau = v * np.linalg.solve(np.eye(len(j)) - G * v, direct)
        for k in range(d):
            q = np.linalg.inv(augmented(k, share / K) + lam * np.eye(d))[k]
            errors[row, k] = q @ augmented(k, B + tau) @ q / q[k] ** 2
    return errors


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("rate", "n_masks", "alpha", "lam"), SETTINGS)
def test_two_unknowns_replace_all_classes_and_one_inverse_all_coordinates(name, rate, n_masks, alpha, lam):
    covariance = FINITE[name]
    found = masked.solve(RandomMasks(covariance, alpha, lam, rate, n_masks))
    test, train = by_hand(covariance.matrix, alpha, lam, rate, n_masks)
    np.testing.assert_allclose(found.test_error, test, rtol=1e-9)
    np.testing.assert_allclose(found.train_error, train, rtol=1e-9)
    assert found.mean_test_error == pytest.approx(test.mean(), rel=1e-9)
    assert found.mean_train_error == pytest.approx(train.mean(), rel=1e-9)
    assert found.converged
    assert found.residual <= 1e-12


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("rate", "alpha", "lam"), [(0.15, 0.6, 0.05), (0.5, 2.0, 0.3)])
def test_all_masks_are_a_diagonal_ridge(name, rate, alpha, lam):
    sigma, d, odds = FINITE[name].matrix, D, rate / (1 - rate)
    delta = np.diag(np.diag(sigma))
    fixed, n, K = odds * delta + lam / (1 - rate) ** 2 * np.eye(d), alpha * d, 1.0
    for _ in range(3000):
        Q = np.linalg.inv(sigma / K + fixed)
        previous, K = K, 1 + np.trace(sigma @ Q) / n
        if abs(K - previous) < 1e-14 * K:
            break
    m = np.trace(sigma @ Q @ sigma @ Q) / (n * K**2)

    def equivalent(B):
        return np.diag(Q @ (B + sigma * np.trace(sigma @ Q @ B @ Q) / (n * K**2) / (1 - m)) @ Q)

    own, noise = np.diag(Q), odds * np.diag(sigma)
    found = masked.solve(RandomMasks(FINITE[name], alpha, lam, rate))
    np.testing.assert_allclose(found.test_error, equivalent(sigma + odds * delta) / own**2 - noise, rtol=1e-9)
    # 1/Q_kk minus the penalty lam |a|^2
    train = 1 / own - lam / (1 - rate) ** 2 * equivalent(np.eye(d)) / own**2 - noise
    np.testing.assert_allclose(found.train_error, train, rtol=1e-8)
    rows = np.eye(d) - Q / own[:, None]
    np.testing.assert_allclose(found.predictor * (1 - rate), rows, atol=1e-9)
    assert found.effective_ridge == pytest.approx(K * lam / (1 - rate) ** 2, rel=1e-10)
    assert found.diagonal_ridge == pytest.approx(K * odds, rel=1e-10)


def scalar_twin(n_masks, alpha, lam, rate, digits=40):
    """Isotropic, d -> infinity: only K_c, one scalar Q, and no predictor; test error 1 + the noise of the fit."""
    with mpmath.workdps(digits):
        p, alpha, lam = mpmath.mpf(rate), mpmath.mpf(alpha), mpmath.mpf(lam)
        a, b, pairs = (1 - p) ** 2, p * (1 - p), n_masks * p
        j = [mpmath.mpf(i) for i in range(1, n_masks + 1)]
        f = [mpmath.binomial(n_masks, i) * p**i * (1 - p) ** (n_masks - i) / pairs for i in j]
        j.append(mpmath.mpf(0))
        f.append(1 - mpmath.fsum(f))
        T = [i * a + b for i in j]

        def gap(Q):
            return (
                mpmath.fsum(w * t * Q / (1 + t * Q / (alpha * pairs)) for w, t in zip(f, T, strict=True)) + lam * Q - 1
            )

        Q = mpmath.findroot(gap, (mpmath.mpf(10) ** -30, 1 / lam), solver="anderson", tol=mpmath.mpf(10) ** -60)
        v = [w / (1 + t * Q / (alpha * pairs)) ** 2 for w, t in zip(f, T, strict=True)]
        m = mpmath.fsum(w * t * t for w, t in zip(v, T, strict=True)) * Q * Q / (alpha * pairs)
        u = [t * (a + b) * Q * Q / (alpha * pairs) / (1 - m) for t in T]
        return 1 + mpmath.fsum(w * x * i for w, x, i in zip(v, u, j, strict=True))


@pytest.mark.parametrize("lam", [1e-8, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize(("n_masks", "rate", "alpha"), [(1, 0.3, 0.7), (4, 0.25, 1.0), (7, 0.15, 1.0), (30, 0.15, 1.0)])
def test_isotropic_errors_in_forty_digits(n_masks, rate, alpha, lam):
    found = masked.solve(RandomMasks(Isotropic(math.inf), alpha, lam, rate, n_masks))
    twin = float(scalar_twin(n_masks, alpha, lam, rate))
    assert found.test_error.shape == (1,)
    assert found.mean_test_error == pytest.approx(twin, rel=1e-9)


@pytest.mark.parametrize(("rate", "alpha", "lam"), [(0.15, 1.0, 1e-6), (0.5, 0.4, 0.1), (0.9, 3.0, 1e-3)])
def test_one_equation_for_all_masks_in_forty_digits(rate, alpha, lam):
    """Two modes: K, then the error from the traces of both."""
    covariance = Blocks(math.inf, 4, 0.5)
    s, w = (list(map(mpmath.mpf, values)) for values in (covariance.spectrum.eigenvalues, covariance.spectrum.weights))
    with mpmath.workdps(40):
        odds, ridge = mpmath.mpf(rate) / (1 - mpmath.mpf(rate)), mpmath.mpf(lam) / (1 - mpmath.mpf(rate)) ** 2
        mean = lambda f: mpmath.fsum(x * f(y) for x, y in zip(w, s, strict=True))  # noqa: E731
        q = lambda K: lambda y: 1 / (y / K + odds + ridge)  # noqa: E731
        K = mpmath.findroot(
            lambda K: 1 + mean(lambda y: y * q(K)(y)) / alpha - K, (1, 1 + 1 / (alpha * ridge)), solver="anderson"
        )
        Q = q(K)
        m = mean(lambda y: (y * Q(y)) ** 2) / (alpha * K**2)
        c = mean(lambda y: y * (y + odds) * Q(y) ** 2) / (alpha * K**2) / (1 - m)
        error = mean(lambda y: ((1 + c) * y + odds) * Q(y) ** 2) / mean(Q) ** 2 - odds
    found = masked.solve(RandomMasks(covariance, alpha, lam, rate))
    assert found.mean_test_error == pytest.approx(float(error), rel=1e-10)


@pytest.mark.parametrize("name", REGULAR)
def test_without_masks_it_is_the_masked_regression_of_one_coordinate_at_a_time(name):
    plain, none = (
        masked.solve(MaskedRidge(REGULAR[name], 0.8, 0.05)),
        masked.solve(RandomMasks(REGULAR[name], 0.8, 0.05, 0)),
    )
    np.testing.assert_allclose(none.test_error, plain.test_error, rtol=1e-9)
    np.testing.assert_allclose(none.train_error, plain.train_error, rtol=1e-9)
    np.testing.assert_allclose(none.predictor, masked.predictor(MaskedRidge(REGULAR[name], 0.8, 0.05)), atol=1e-9)
    few = masked.solve(RandomMasks(REGULAR[name], 0.8, 0.05, 1e-8))
    np.testing.assert_allclose(few.test_error, plain.test_error, rtol=1e-5)
