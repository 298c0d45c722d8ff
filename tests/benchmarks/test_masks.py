"""Masking patterns: one point of theory beside the honest simulation that it replaces.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted.
"""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import masks
from tests.benchmarks.timing import seconds
from theory import masked
from theory.models import AR1, Blocks, RandomMasks, Scaled, SpanWindows, TwoLevel

pytest.importorskip("pytest_benchmark")

D, ALPHA, LAM, RATE = 300, 1.0, 0.01, 0.15
COVARIANCES = {
    "AR1 d=300": lambda: AR1(D, 0.6),
    "scaled AR1 d=300": lambda: Scaled(AR1(D, 0.6), np.linspace(0.5, 2, D)),
    "blocks d=300": lambda: Blocks(D, 5, 0.5),
    "two level d=300": lambda: TwoLevel(D),
    "AR1 d=inf": lambda: AR1(math.inf, 0.6),
}


@pytest.mark.parametrize("n_masks", [None, 1, 7, 64])
@pytest.mark.parametrize("name", COVARIANCES)
def test_random_masks_from_a_fresh_record(benchmark, show, name, n_masks):
    """The record's eigendecomposition included; beside one point of a record that has it."""
    make = COVARIANCES[name]
    benchmark.pedantic(lambda: masked.random_masks(make(), ALPHA, LAM, RATE, n_masks), rounds=3, warmup_rounds=1)
    covariance = make()
    again = seconds(lambda: masked.random_masks(covariance, ALPHA, LAM, RATE, n_masks), 5)
    point = masked.random_masks(covariance, ALPHA, LAM, RATE, n_masks)
    show(
        f"random masks, {name}, R={n_masks}",
        milliseconds=1e3 * benchmark.stats.stats.min,
        again=1e3 * again,
        iterations=point.iterations,
    )


@pytest.mark.parametrize("n_masks", [None, 1, 7])
def test_random_masks_beside_one_simulated_data_set(benchmark, show, n_masks):
    covariance = COVARIANCES["scaled AR1 d=300"]()
    model = RandomMasks(covariance, ALPHA, LAM, RATE, n_masks)
    benchmark.pedantic(masked.random_masks, args=(covariance, ALPHA, LAM, RATE, n_masks), rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    one = seconds(lambda: masks.coordinate_errors(model, D, stream(0, "bench")), 1)
    show(f"dense d={D}, R={n_masks}", theory=ours, one_simulation=one, times_faster=one / ours)


def test_curve_over_sample_ratios_beside_its_points(benchmark, show):
    """Dense, infinitely many masks: one spectrum serves all alphas."""
    covariance, alphas = COVARIANCES["scaled AR1 d=300"](), np.linspace(0.2, 4, 20)
    benchmark.pedantic(masked.mask_curve, args=(covariance, alphas, LAM, RATE), rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    points = seconds(lambda: [masked.random_masks(covariance, alpha, LAM, RATE) for alpha in alphas], 2)
    show("20 alphas, dense d=300", seconds=ours, points=points, share=ours / points)


@pytest.mark.parametrize("exact_size", [False, True])
@pytest.mark.parametrize("length", [5, 20])
def test_all_windows_beside_one_simulated_data_set(benchmark, show, length, exact_size):
    covariance = COVARIANCES["AR1 d=300"]()
    _ = covariance.eigenvectors
    model = SpanWindows(covariance, ALPHA, LAM, length)
    windows = lambda: masked.span_windows(covariance, ALPHA, LAM, length, exact_size=exact_size)  # noqa: E731
    benchmark.pedantic(windows, rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    one = seconds(lambda: masks.span_errors(model, D, stream(0, "bench")), 1)
    single = seconds(lambda: masked.span_mask(covariance, ALPHA, LAM, range(length), exact_size=exact_size), 3)
    show(
        f"{D - length + 1} windows of {length}, exact_size={exact_size}",
        theory=ours,
        single=single,
        one_simulation=one,
        times_faster=one / ours,
    )
