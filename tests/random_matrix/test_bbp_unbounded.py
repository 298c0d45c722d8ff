"""Noise without a largest variance, and noise whose largest eigenvalue stands alone."""

import math

import numpy as np
import pytest

from theory import ConvergenceError
from theory.models import Equicorrelated, Isotropic, PowerLaw, SpikedData, TwoLevel
from theory.random_matrix import optimal_ridge, outlier, symmetric_outlier, threshold
from theory.random_matrix.spectral.ensemble import sample_covariance
from theory.random_matrix.spectral.real_branch import RealBranch

INF = math.inf
METHODS = [("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None), ("ssr", 0.1), ("ssr", 0.0)]


@pytest.mark.parametrize(("method", "lam"), METHODS)
@pytest.mark.parametrize("exponent", [0.3, 1.5])
def test_nothing_leaves_a_bulk_without_an_end(method, lam, exponent):
    """In a rotated basis the coordinates are alike, and no method divides the variances out."""
    noise = PowerLaw(INF, exponent, rotation=0)
    found = threshold(SpikedData(noise, None, alpha=2.0, method=method, lam=lam))
    assert found.value == INF
    assert found.converged
    assert found.edge == (1.0 if method == "ssr" else INF)
    unseen = outlier(SpikedData(noise, None, strength=1e6, alpha=2.0, method=method, lam=lam))
    assert not unseen.detected
    assert (unseen.threshold, unseen.overlap, unseen.left_overlap, unseen.nu) == (INF, 0, 0, INF)


@pytest.mark.parametrize("exponent", [0.3, 0.9])
def test_the_threshold_of_a_finite_size_grows_towards_it(exponent):
    """The largest of d variances is d^exponent; a spike has to be about as large."""
    values = [
        float(threshold(SpikedData(PowerLaw(d, exponent), None, alpha=2.0, method="pca"))) for d in (10**4, 10**6)
    ]
    assert np.log(values[1] / values[0]) / np.log(100) == pytest.approx(exponent, rel=0.1)


@pytest.mark.parametrize(("method", "lam"), [("correlation_pca", None), ("ssr", 0.1), ("ssr", 0.0)])
@pytest.mark.parametrize("exponent", [0.3, 0.9, 1.5])
def test_a_method_that_divides_variances_out_has_a_threshold(method, lam, exponent):
    """Independent coordinates: large finite sizes approach the limit as 1/d."""
    limit = float(threshold(SpikedData(PowerLaw(INF, exponent), None, alpha=2.0, method=method, lam=lam)))
    gaps = [
        limit - float(threshold(SpikedData(PowerLaw(d, exponent), None, alpha=2.0, method=method, lam=lam)))
        for d in (10**3, 10**4)
    ]
    assert 0 < gaps[1] < 2e-3 * limit
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.3)


def test_the_right_eigenvector_is_lost_in_variances_without_a_mean():
    overlaps = [
        outlier(SpikedData(PowerLaw(d, 1.5), None, strength=3.0, alpha=2.0, lam=0.1)).overlap
        for d in (10**3, 10**4, 10**5)
    ]
    assert overlaps[0] > 3 * overlaps[2]
    found = outlier(SpikedData(PowerLaw(INF, 1.5), None, strength=3.0, alpha=2.0, lam=0.1))
    assert found.detected
    assert found.overlap == 0
    finite = outlier(SpikedData(PowerLaw(10**5, 1.5), None, strength=3.0, alpha=2.0, lam=0.1))
    assert found.left_overlap == pytest.approx(finite.left_overlap, rel=1e-3)


def test_the_symmetric_part_keeps_the_large_rows():
    """Its edge grows with the largest variance, which at d = infinity is none.

    The largest variances have small bulks of their own; a search that jumped over one would find a smaller edge.
    """
    sizes = (50, 70, 100, 140, 200)
    edges = [
        symmetric_outlier(SpikedData(PowerLaw(d, 0.9), None, strength=0.1, alpha=2.0, lam=0.1)).edge for d in sizes
    ]
    assert np.all(np.diff(edges) > 0.2)
    for rotation in (None, 0):
        found = symmetric_outlier(SpikedData(PowerLaw(INF, 0.9, rotation), None, strength=5.0, alpha=2.0, lam=0.1))
        assert (found.detected, found.edge, found.overlap) == (False, INF, 0)


def test_the_best_ridge_where_nothing_is_seen():
    noise = PowerLaw(INF, 0.5, rotation=0)
    assert optimal_ridge(SpikedData(noise, None, alpha=2.0)).value == INF
    assert optimal_ridge(SpikedData(noise, None, alpha=2.0, strength=3.0)).value == 0


@pytest.mark.parametrize("exponent", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("alpha", [0.1, 2.0, 50.0])
def test_the_edge_beside_a_lone_largest_eigenvalue(exponent, alpha):
    """With s = x/h: f(s) = <sigma^2/(s - sigma)^2>/alpha = 1 at the edge, found here by bisection."""
    covariance = PowerLaw(1000, exponent)
    sigma = covariance.variances
    low, high = sigma.max(), sigma.max() * (2 + 2 / alpha)
    for _ in range(200):
        s = (low + high) / 2
        low, high = (s, high) if np.mean((sigma / (s - sigma)) ** 2) / alpha > 1 else (low, s)
    expected = s * (1 + np.mean(sigma / (s - sigma)) / alpha)
    edge = RealBranch(sample_covariance(covariance, alpha)).edge()
    assert edge.nu == pytest.approx(expected, rel=1e-12)
    assert edge.iterations < 60


@pytest.mark.parametrize("noise", [Isotropic(5), Equicorrelated(5, 0.5)])
def test_without_a_ridge_and_samples_to_spare_the_predictor_is_one_on_what_it_has_seen(noise):
    for alpha in (0.5, 1.0):
        found = outlier(SpikedData(noise, None, strength=6.0, alpha=alpha, lam=0.0))
        assert (found.nu, found.eigenvalue) == (INF, 1)
        near = outlier(SpikedData(noise, None, strength=6.0, alpha=alpha, lam=1e-9))
        assert near.nu > 1e3
        assert near.overlap == pytest.approx(found.overlap, abs=1e-3)
    found = outlier(SpikedData(noise, None, strength=6.0, alpha=2.0, lam=0.0))
    assert found.eigenvalue == pytest.approx(1 - 1 / found.nu)
    assert found.nu < 1e3


def test_the_symmetric_part_at_the_ends_of_double_precision():
    """A solver that left the range of numbers says so by name, and prints nothing of LAPACK's."""
    for alpha in (1e-300, 1e-200):
        with pytest.raises(ConvergenceError, match="too far apart"):
            symmetric_outlier(SpikedData(TwoLevel(INF, 1e-12, 1e12, 0.3), None, strength=1.0, alpha=alpha, lam=1e-100))


def test_variances_that_vanish_beside_the_ridge_in_double_precision():
    with pytest.raises(ConvergenceError, match="threshold: all variances are zero"):
        threshold(SpikedData(Isotropic(5, 1e-300), None, alpha=1.0, lam=1e300))
