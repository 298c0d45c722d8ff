"""Spikes: milliseconds for a threshold and an overlap at d = 2000 after one eigendecomposition; dense noise beside it.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted; ratios are of one run.
"""

import numpy as np
import pytest

from tests.benchmarks.timing import seconds
from theory.models import AR1, Scaled, TwoLevel
from theory.random_matrix import optimal_spike_ridge, spike_outlier, spike_threshold

pytest.importorskip("pytest_benchmark")

METHODS = [("ssr", 0.05), ("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None)]


def direction(d):
    u = np.random.default_rng(0).standard_normal(d)
    return u / np.linalg.norm(u)


@pytest.mark.parametrize(("method", "lam"), METHODS)
def test_independent_noise(benchmark, show, method, lam):
    """Target: milliseconds; the scales follow the spike by Woodbury's identity, nothing is dense."""
    noise, u = TwoLevel(2000), direction(2000)
    options = {"alpha": 1.0, "method": method, "lam": lam}
    benchmark.pedantic(spike_outlier, args=(noise, u), kwargs=options | {"strength": 6.0}, rounds=10, warmup_rounds=1)
    show(
        f"outlier with overlaps, two-level d=2000, {method}",
        milliseconds=1e3 * benchmark.stats.stats.min,
        threshold_alone=1e3 * seconds(lambda: spike_threshold(noise, u, **options), 10),
        delocalized=1e3 * seconds(lambda: spike_threshold(noise, None, **options), 10),
    )


def test_pca_of_correlated_noise(benchmark, show):
    """Target: milliseconds after the record's one eigendecomposition."""
    noise, u = Scaled(AR1(2000, 0.6), np.linspace(0.5, 2, 2000)), direction(2000)
    once = seconds(lambda: noise.eigenvectors, 1)
    options = {"alpha": 1.0, "method": "pca", "strength": 20.0}
    benchmark.pedantic(spike_outlier, args=(noise, u), kwargs=options, rounds=10, warmup_rounds=1)
    show("PCA, scaled AR(1) d=2000", milliseconds=1e3 * benchmark.stats.stats.min, eigendecomposition_once=1e3 * once)


@pytest.mark.parametrize("d", [200, 500])
def test_masked_regression_in_dense_noise(benchmark, show, d):
    """Nothing commutes: eigendecompositions along the branch."""
    noise, u = Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d)), direction(d)
    dense = seconds(lambda: np.linalg.eigh(noise.matrix))
    options = {"alpha": 1.0, "lam": 0.1, "strength": 8.0}
    benchmark.pedantic(spike_outlier, args=(noise, u), kwargs=options, rounds=2, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    show(f"ssr, scaled AR(1) d={d}", seconds=ours, eigh=dense, over_eigh=ours / dense)


def test_optimal_ridge(benchmark, show):
    noise, u = TwoLevel(2000), direction(2000)
    benchmark.pedantic(optimal_spike_ridge, args=(noise, u), kwargs={"alpha": 1.0}, rounds=3, warmup_rounds=1)
    show("best ridge for a spike, two-level d=2000", milliseconds=1e3 * benchmark.stats.stats.min)
