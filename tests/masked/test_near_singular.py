"""Masked regression of nearly singular covariances beside matrices of 60 digits, of the binary numbers themselves."""

import mpmath as mp
import numpy as np
import pytest

from theory import masked
from theory.models import AR1, Blocks, Equicorrelated, MaskedRidge, Scaled, TridiagonalPrecision

GAPS = [1e-6, 1e-12, 1e-14, 5.6e-16]
NEAR = {
    "chain": lambda gap: AR1(10, 1 - gap),
    "alternating chain": lambda gap: AR1(10, gap - 1),
    "one factor": lambda gap: Equicorrelated(10, 1 - gap),
    "one constraint": lambda gap: Equicorrelated(10, -(1 - gap) / 9),
    "blocks": lambda gap: Blocks(8, 4, 1 - gap),
    "blocks of one constraint": lambda gap: Blocks(8, 4, -(1 - gap) / 3),
    "tridiagonal": lambda gap: TridiagonalPrecision(8, 1.0, 0.5 * (1 - gap)),
}


def exact_matrix(covariance):
    """The matrix of the record's own numbers, in mpmath."""
    if isinstance(covariance, Scaled):
        base, s = exact_matrix(covariance.base), [mp.mpf(float(one)) for one in covariance.scales]
        return mp.matrix([[base[i, j] * s[i] * s[j] for j in range(len(s))] for i in range(len(s))])
    d, width = covariance.size, getattr(covariance, "block_size", covariance.size)
    if isinstance(covariance, TridiagonalPrecision):
        bands = [mp.mpf(covariance.diagonal), mp.mpf(covariance.off_diagonal)] + [mp.mpf(0)] * d
        return mp.matrix([[bands[abs(i - j)] for j in range(d)] for i in range(d)]) ** -1
    r, chain = mp.mpf(covariance.correlation), isinstance(covariance, AR1)
    return mp.matrix(
        [
            [r ** abs(i - j) if chain else mp.mpf(i == j) or (r if i // width == j // width else mp.mpf(0))
             for j in range(d)] for i in range(d)
        ]
    )  # fmt: skip


def exact_ridge(s, alpha, lam):
    """The root of lam = kappa (1 - df1/alpha) by bisection of its logarithm."""
    low, high = mp.mpf(lam), lam + sum(s) / len(s) / alpha
    while high > low * (1 + mp.mpf(10) ** -30):
        middle = mp.sqrt(low * high)
        below = 1 - sum(one / (one + middle) for one in s) / len(s) / alpha < lam / middle
        low, high = (middle, high) if below else (low, middle)
    return low


def exact_regression(covariance, alpha, lam, k):
    """Error, squared norm and overlap q of coordinate k: normal equations of the others at their own ridge."""
    with mp.workdps(60):
        sigma, alpha, lam = exact_matrix(covariance), mp.mpf(alpha), mp.mpf(lam)
        d = sigma.rows
        others = [i for i in range(d) if i != k]
        minor = mp.matrix([[sigma[i, j] for j in others] for i in others])
        cross, samples = mp.matrix([sigma[i, k] for i in others]), alpha * d / (d - 1)
        s = list(mp.eigsy(minor, eigvals_only=True))
        kappa = exact_ridge(s, samples, lam)
        row = mp.lu_solve(minor + kappa * mp.eye(d - 1), cross)
        second, df2 = (row.T * minor * row)[0], sum((one / (one + kappa)) ** 2 for one in s) / (d - 1)
        error = (sigma[k, k] - 2 * (cross.T * row)[0] + second) / (1 - df2 / samples)
        scattered = error / samples * sum(one / (one + kappa) ** 2 for one in s) / (d - 1)
        return float(error), float((row.T * row)[0] + scattered), float(second + error * df2 / samples)


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("gap", GAPS)
def test_one_coordinate_near_a_singular_covariance(name, gap):
    """The minor's entries leave no digit of its small eigenvalues: errors were off by factors up to 180."""
    covariance = NEAR[name](gap)
    for alpha, lam, k in ((2.0, 1e-14, 0), (0.5, 1e-8, 5)):
        model = MaskedRidge(covariance, alpha, lam)
        error, norm, q = exact_regression(covariance, alpha, lam, k)
        saddle = masked.replica(model, coordinate=k)
        assert saddle.test_error == pytest.approx(error, rel=1e-12, abs=0)
        assert saddle.squared_norm == pytest.approx(norm, rel=1e-12)
        assert saddle.q == pytest.approx(q, rel=1e-12)
        own = masked.solve(model, exact_size=True).test_error[k]
        assert own == pytest.approx(error, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("covariance", "lam", "error"),
    [
        (AR1(10, 1 - 1e-14), 1e-14, 2.680e-14),
        (AR1(10, 1 - 1e-12), 1e-14, 3.547e-12),
        (AR1(10, 1 - 5.6e-16), 1e-8, 4.113e-15),
        (Equicorrelated(10, 1 - 5.6e-16), 1e-8, 6.507e-16),
    ],
)
def test_reported_points(covariance, lam, error):
    """Values of a third computation; the replica had 7.386e-14, 2.836e-12, 3.741e-15 and 1.170e-15."""
    assert masked.replica(MaskedRidge(covariance, 2.0, lam)).test_error == pytest.approx(error, rel=3e-4, abs=0)


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("gap", [1e-6, 5.6e-16])
def test_all_coordinates_near_a_singular_covariance(name, gap):
    """The formula of all coordinates, its curve, and least squares, whose errors are conditional variances."""
    covariance, alpha, lam = NEAR[name](gap), 2.0, 1e-14
    with mp.workdps(60):
        sigma = exact_matrix(covariance)
        d = sigma.rows
        s, (alpha_, lam_) = list(mp.eigsy(sigma, eigvals_only=True)), (mp.mpf(alpha), mp.mpf(lam))
        kappa = exact_ridge(s, alpha_, lam_)
        R, df2 = (sigma + kappa * mp.eye(d)) ** -1, sum((one / (one + kappa)) ** 2 for one in s) / d
        inner, inverse = R * sigma * R, sigma**-1
        errors = [float(inner[k, k] / R[k, k] ** 2 / (1 - df2 / alpha_)) for k in range(d)]
        least = [float(2 / inverse[k, k]) for k in range(d)]
    found, curve = masked.solve(MaskedRidge(covariance, alpha, lam)), masked.learning_curve(covariance, [alpha], [lam])
    np.testing.assert_allclose(found.test_error, errors, rtol=1e-12)
    assert curve.mean_test_error[0, 0] == pytest.approx(np.mean(errors), rel=1e-12, abs=0)
    np.testing.assert_allclose(curve.test_error[0, 0], errors, rtol=1e-12)
    np.testing.assert_allclose(masked.ridgeless(covariance, alpha).test_error, least, rtol=1e-12)


def test_one_coordinate_in_units_a_million_million_apart():
    """Modes of the small units were taken for rounding of the large ones: q was off by 30 %, or the solver failed."""
    covariance = Scaled(AR1(6, 0.5), np.geomspace(1e-6, 1e6, 6))
    for k in (0, 3, 5):
        error, norm, q = exact_regression(covariance, 2.0, 1e-6, k)
        saddle = masked.replica(MaskedRidge(covariance, 2.0, 1e-6), coordinate=k)
        assert saddle.test_error == pytest.approx(error, rel=1e-11, abs=0)
        assert saddle.squared_norm == pytest.approx(norm, rel=1e-11)
        assert saddle.q == pytest.approx(q, rel=1e-11)


def test_weak_overlaps_keep_their_digits():
    """The modes of Sigma know a correlation of 1e-9 to seven digits only, and the matrix without the coordinate all."""
    found = masked.replica(MaskedRidge(AR1(10, 1e-9), 2.0, 1e-3), coordinate=5)
    kappa = found.effective_ridge
    assert found.m == pytest.approx(2e-18 / (1 + kappa), rel=1e-11, abs=0)
    assert found.test_error == pytest.approx(1 / (1 - 1 / (2 * 10 / 9 * (1 + kappa) ** 2)), rel=1e-11)
