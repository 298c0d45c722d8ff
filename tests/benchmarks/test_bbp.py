"""Spikes: thresholds and overlaps at d = 2000 after one eigendecomposition; dense noise beside one."""

import numpy as np
import pytest

from theory.models import AR1, Scaled, SpikedData, TwoLevel
from theory.random_matrix import optimal_ridge, outlier, threshold

SUBJECT = "spikes"
METHODS = [("ssr", 0.05), ("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None)]


def direction(d):
    u = np.random.default_rng(0).standard_normal(d)
    return u / np.linalg.norm(u)


@pytest.mark.parametrize(("method", "lam"), METHODS)
def test_independent_noise(jobs, method, lam):
    """The scales follow the spike by Woodbury's identity; nothing is dense."""
    noise, u = TwoLevel(2000), direction(2000)
    options = {"alpha": 1.0, "method": method, "lam": lam}
    jobs.compare(
        f"outlier with overlaps, two-level d = 2000, {method}",
        lambda: outlier(SpikedData(noise, u, strength=6.0, **options)),
        beside={
            "ours, the threshold alone": lambda: threshold(SpikedData(noise, u, **options)),
            "ours, the threshold of a delocalized spike": lambda: threshold(SpikedData(noise, None, **options)),
        },
        goal="10 ms",
    )


def test_pca_of_correlated_noise(jobs):
    """What remains once the record has its eigenvectors."""
    make = lambda: Scaled(AR1(2000, 0.6), np.linspace(0.5, 2, 2000))  # noqa: E731
    noise, u = make(), direction(2000)
    assert noise.eigenvectors.shape == (2000, 2000)  # they are computed here
    jobs.compare(
        "outlier of PCA, scaled AR1 d = 2000",
        lambda: outlier(SpikedData(noise, u, alpha=1.0, method="pca", strength=20.0)),
        beside={"numpy, the eigendecomposition before it": lambda: make().eigenvectors},
        goal="10 ms",
        rounds=1,
    )


@pytest.mark.parametrize("d", [200, 500])
def test_masked_regression_in_dense_noise(jobs, d):
    """Nothing commutes: eigenvalues at two points of the branch and Cholesky factors at some ten more."""
    noise, u = Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d)), direction(d)
    matrix = noise.matrix
    jobs.compare(
        f"outlier of masked regression, scaled AR1 d = {d}",
        lambda: outlier(SpikedData(noise, u, alpha=1.0, lam=0.1, strength=8.0)),
        beside={"numpy, one eigendecomposition": lambda: np.linalg.eigh(matrix)},
        goal="1/5 times",
        rounds=2,
    )


def test_growth_in_dense_noise(jobs):
    def make(d):
        noise, u = Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d)), direction(d)
        return lambda: outlier(SpikedData(noise, u, alpha=1.0, lam=0.1, strength=8.0))

    jobs.grows("outlier of masked regression in dense noise, by d", (200, 400, 800), make, goal="power 3")


def test_optimal_ridge(jobs):
    noise, u = TwoLevel(2000), direction(2000)
    jobs.compare("best ridge for a spike, two-level d = 2000", lambda: optimal_ridge(SpikedData(noise, u, alpha=1.0)))
