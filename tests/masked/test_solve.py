"""Masked ridge errors: reference tables, dense linear algebra, one regression at a time."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.families import FINITE, LIMITS, REGULAR, D
from theory import masked
from theory.models import AR1, Blocks, Diagonal, GOEPrecision, Isotropic, MaskedRidge, PowerLaw, TwoLevel

INF = math.inf
TABLE = [  # 30-digit arithmetic, d -> infinity; also asserted to all its digits in test_high_precision.py
    (AR1(INF, 0.7), 0.5, 0.01, 0.499075945774, 0.913738840876, 0.000366850241435),
    (AR1(INF, 0.7), 1, 0.01, 0.0659279769413, 1.26712509555, 0.0291527812435),
    (AR1(INF, 0.7), 2, 0.01, 0.0190207403679, 0.623204042961, 0.17225642398),
    (AR1(INF, 0.7), 1, 1e-4, 0.00592278864133, 10.261181687, 0.00292512822039),
    (AR1(INF, 0.9), 0.5, 0.1, 0.351306418923, 0.224504075886, 0.018190810925),
    (AR1(INF, 0.9), 3, 0.1, 0.122288136698, 0.130183959197, 0.0870540178009),
    (AR1(INF, 0.3), 1.5, 0.05, 0.12023451444, 1.71811639613, 0.297121639855),
    (Isotropic(INF), 0.5, 0.1, 1.18442887702, 1.72157112967, 0.0122717640554),
    (Isotropic(INF), 1, 0.1, 0.370156211872, 2.13982449983, 0.156173761889),
    (Isotropic(INF), 2, 0.1, 0.174165738677, 1.56904496765, 0.517261241912),
    (Isotropic(INF), 1, 1e-4, 0.0100501249992, 50.5018749805, 0.00499993750117),
]
HALVED = [  # per-site objective (1/2)|...|^2 + (L d/2)|a|^2 with eps_g = E/2: L, alpha, eps_g, eps_train
    (AR1(INF, 0.6), 0.01, 1, 0.980868686716, 0.0171108381047),
    (GOEPrecision(INF), 0.01, 1, 0.579672604308, 0.0143891827174),
    (GOEPrecision(INF, variance=0.5), 0.01, 1, 0.574724348719, 0.0143852394146),
    (Blocks(INF, 5, 0.5), 0.01, 1, 1.34528440577, 0.0193185495331),
    (AR1(INF, 0.6), 0.3, 2, 0.325814902329, 0.137440728326),
    (GOEPrecision(INF), 0.3, 2, 0.209987270653, 0.10045743381),
    (Blocks(INF, 5, 0.5), 0.3, 2, 0.413305706301, 0.166948685453),
    (Blocks(INF, 5, 0.5), 0.05, 0.8, 0.678180773252, None),
]
POINTS = [(0.4, 1e-3), (1.0, 0.05), (3.0, 1.0)]


@pytest.mark.parametrize(("covariance", "alpha", "lam", "kappa", "test", "train"), TABLE)
def test_reference_table(covariance, alpha, lam, kappa, test, train):
    point = masked.solve(MaskedRidge(covariance, alpha, lam))
    assert point.test_error.shape == (1,)
    values = (point.effective_ridge, point.mean_test_error, point.mean_train_error)
    np.testing.assert_allclose(values, (kappa, test, train), rtol=1e-11)


@pytest.mark.parametrize(("covariance", "penalty", "alpha", "test", "train"), HALVED)
def test_reference_values_in_the_halved_convention(covariance, penalty, alpha, test, train):
    """L = alpha lam and eps_g = E/2."""
    point = masked.solve(MaskedRidge(covariance, alpha, penalty / alpha))
    assert point.mean_test_error / 2 == pytest.approx(test, rel=1e-11)
    assert train is None or point.mean_train_error / 2 == pytest.approx(train, rel=1e-11)


@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_the_two_conventions_are_one_regression(alpha, lam):
    """Minimizers of (1/n)|y - X a|^2 + lam |a|^2 and of (1/2)|y - X a|^2 + (alpha lam d/2)|a|^2, n = alpha d."""
    rng, d = np.random.default_rng(0), 10
    n = round(alpha * d)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    ours = np.linalg.solve(X.T @ X / n + lam * np.eye(d), X.T @ y / n)
    halved = np.linalg.solve(X.T @ X + (n / d) * lam * d * np.eye(d), X.T @ y)
    np.testing.assert_allclose(ours, halved, rtol=1e-12)


def plain_root(sigma, alpha, lam):
    """kappa by bisection from a dense matrix."""
    s = np.linalg.eigvalsh(sigma)
    return brentq(
        lambda k: 1 - np.mean(s / (s + k)) / alpha - lam / k, lam * (1 - 1e-9), lam + s.sum() / alpha, xtol=1e-15
    )


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_errors_are_those_of_population_regressions_raised_by_the_sample(name, alpha, lam):
    sigma = REGULAR[name].matrix
    point, model = masked.solve(MaskedRidge(REGULAR[name], alpha, lam)), MaskedRidge(REGULAR[name], alpha, lam)
    kappa = plain_root(sigma, alpha, lam)
    assert point.effective_ridge == pytest.approx(kappa, rel=1e-9)
    A = np.zeros((D, D))
    for k in range(D):
        others = np.delete(np.arange(D), k)
        A[k, others] = np.linalg.solve(sigma[np.ix_(others, others)] + kappa * np.eye(D - 1), sigma[others, k])
    np.testing.assert_allclose(masked.predictor(model), A, atol=1e-9)
    smoother = sigma @ np.linalg.inv(sigma + kappa * np.eye(D))
    df1, df2 = np.trace(smoother) / D, np.trace(smoother @ smoother) / D
    test = np.diagonal((np.eye(D) - A) @ sigma @ (np.eye(D) - A).T) / (1 - df2 / alpha)
    np.testing.assert_allclose(point.test_error, test, rtol=1e-8)
    np.testing.assert_allclose(point.train_error, test * (lam / kappa) ** 2, rtol=1e-8)
    np.testing.assert_allclose([point.df1, point.df2], [df1, df2], rtol=1e-8)
    assert point.mean_test_error == pytest.approx(test.mean(), rel=1e-8)
    assert point.total_test_error == pytest.approx(test.sum(), rel=1e-8)
    assert point.total_train_error == pytest.approx(D * point.mean_train_error)
    assert point.converged
    assert point.residual <= 1e-12


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_exact_size_takes_each_minor_as_it_is(name, alpha, lam):
    sigma = REGULAR[name].matrix
    point = masked.solve(MaskedRidge(REGULAR[name], alpha, lam), exact_size=True)
    for k in (0, 5, D - 1):
        others = np.delete(np.arange(D), k)
        minor, cross = sigma[np.ix_(others, others)], sigma[others, k]
        samples = alpha * D / (D - 1)
        kappa = plain_root(minor, samples, lam)
        row = np.linalg.solve(minor + kappa * np.eye(D - 1), cross)
        smoother = minor @ np.linalg.inv(minor + kappa * np.eye(D - 1))
        error = sigma[k, k] - 2 * row @ cross + row @ minor @ row
        error /= 1 - np.trace(smoother @ smoother) / (D - 1) / samples
        assert point.effective_ridge[k] == pytest.approx(kappa, rel=1e-8)
        assert point.df1[k] == pytest.approx(np.trace(smoother) / (D - 1), rel=1e-8)
        assert point.test_error[k] == pytest.approx(error, rel=1e-8)
        assert point.train_error[k] == pytest.approx(error * (lam / kappa) ** 2, rel=1e-8)


@pytest.mark.parametrize("name", ["AR1", "blocks", "two level", "free field"])
def test_exact_size_differs_by_one_over_d(name):
    def gap(d):
        model = MaskedRidge(REGULAR[name].resized(d), 1.5, 0.05)
        return masked.solve(model, exact_size=True).mean_test_error - masked.solve(model).mean_test_error

    assert gap(400) / gap(200) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("name", LIMITS)
def test_large_systems_approach_the_infinite_one(name):
    d = {"free field 2D": 900, "power law": 4000}.get(name, 400)
    limit = masked.solve(MaskedRidge(LIMITS[name], 1.5, 0.1))
    large = masked.solve(MaskedRidge(LIMITS[name].resized(d), 1.5, 0.1))
    allowance = 0.04 if "power law" in name or "Wishart" in name else 0.01
    assert large.mean_test_error == pytest.approx(limit.mean_test_error, rel=allowance)
    assert large.mean_train_error == pytest.approx(limit.mean_train_error, rel=allowance)
    assert large.effective_ridge == pytest.approx(limit.effective_ridge, rel=allowance)


def test_classes_of_coordinates_in_the_limit():
    limit = masked.solve(MaskedRidge(TwoLevel(INF), 1.5, 0.1))
    finite = masked.solve(MaskedRidge(TwoLevel(10), 1.5, 0.1))
    np.testing.assert_allclose(limit.test_error, finite.test_error[[0, -1]], rtol=1e-12)
    assert limit.mean_test_error == pytest.approx(finite.mean_test_error, rel=1e-12)
    assert limit.total_test_error == INF


@pytest.mark.parametrize("name", FINITE)
def test_predictor_has_a_zero_diagonal_and_real_eigenvalues(name):
    A = masked.predictor(MaskedRidge(FINITE[name], 0.8, 0.05))
    assert np.all(np.diagonal(A) == 0)
    assert abs(np.linalg.eigvals(A).imag).max() < 1e-8


def test_predictor_needs_a_finite_size():
    with pytest.raises(ValueError, match="is the limit d -> infinity"):
        masked.predictor(MaskedRidge(AR1(INF, 0.7), 1.0, 0.1))
    with pytest.raises(ValueError, match="exact_size needs a finite d"):
        masked.solve(MaskedRidge(AR1(INF, 0.7), 1.0, 0.1), exact_size=True)


def test_result_prints_numbers_not_arrays():
    text = repr(masked.solve(MaskedRidge(AR1(400, 0.7), 2.0, 0.01)))
    assert text.startswith("MaskedRidgeSolution(alpha=2, lam=0.01, effective_ridge=0.01902")
    assert len(text) < 250


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_power_laws_without_a_mean_have_an_infinite_mean_error(exponent):
    limit = masked.solve(MaskedRidge(PowerLaw(INF, exponent), 1.0, 0.1))
    assert limit.converged
    assert limit.mean_test_error == limit.total_test_error == INF
    assert np.all(np.isfinite(limit.test_error))
    assert masked.learning_curve(PowerLaw(INF, exponent), [1.0], [0.1]).mean_test_error[0, 0] == INF
    finite = [masked.solve(MaskedRidge(PowerLaw(d, exponent), 1.0, 0.1)).mean_test_error for d in (10**3, 10**5)]
    assert finite[1] > 1.3 * finite[0]
    rotated = masked.solve(MaskedRidge(PowerLaw(INF, exponent, rotation=0), 1.0, 0.1))
    assert rotated.mean_test_error < 20  # every coordinate sees the large modes in all the others


def test_independent_coordinates_are_only_raised():
    """A diagonal Sigma has nothing to predict with: E_k = s_k/(1 - df2/alpha)."""
    point = masked.solve(MaskedRidge(Diagonal([1.0, 2.0, 5.0]), 2.0, 0.3))
    np.testing.assert_allclose(point.test_error, np.array([1.0, 2.0, 5.0]) / (1 - point.df2 / 2.0), rtol=1e-12)


def test_a_solution_as_a_table():
    point = masked.solve(MaskedRidge(AR1(5, 0.5), 1.0, 0.1))
    frame = point.to_frame()
    assert list(frame.columns) == ["coordinate", "test_error", "train_error"]
    assert frame["test_error"].to_numpy() == pytest.approx(point.test_error)
