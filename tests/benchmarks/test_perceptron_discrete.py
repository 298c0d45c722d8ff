"""Discrete perceptron: capacities and curves, and the enumeration of weight vectors beside a plain loop in numpy.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted.
"""

import time

import numpy as np
import pytest

from simulate.perceptron import enumerate_solutions, solution_counts
from tests.benchmarks.timing import seconds
from theory import perceptron
from theory.models import DiscretePerceptron, equally_spaced_levels

pytest.importorskip("pytest_benchmark")

MODEL = DiscretePerceptron(levels=(-1, 1), alpha=0.4)
CHUNK = 2**14


@pytest.mark.parametrize("n_levels", [2, 3, 17, 65])
def test_capacity(benchmark, show, n_levels):
    levels = equally_spaced_levels(n_levels)
    found = benchmark.pedantic(perceptron.zero_entropy_capacity, (levels,), rounds=3)
    show(f"capacity of {n_levels} levels", alpha=found.alpha,
         cpu_seconds=seconds(lambda: perceptron.zero_entropy_capacity(levels), 1, time.process_time))  # fmt: skip


def test_entropy_curve(benchmark):
    benchmark.pedantic(perceptron.entropy_curve, ((-1, 0, 1), np.linspace(0.01, 1.1, 100)), rounds=3)


@pytest.mark.parametrize("copies", [2, 5])
def test_copies(benchmark, copies):
    benchmark.pedantic(perceptron.copy_entropy, (MODEL, 0.8, copies), rounds=3)


def by_numpy(patterns, codes):
    """What a user would write: the fields of a chunk of binary weight vectors by a product of matrices."""
    N, found = patterns.shape[1], 0
    for start in range(0, codes, CHUNK):
        weights = 2.0 * (np.arange(start, min(start + CHUNK, codes))[:, None] >> np.arange(N) & 1) - 1
        found += int((weights @ patterns.T > 0).all(axis=1).sum())
    return found


@pytest.mark.parametrize("n_weights", [20, 25])
def test_enumeration_beside_numpy(benchmark, show, n_weights):
    x = np.random.default_rng(0).standard_normal((round(0.8 * n_weights), n_weights))
    benchmark.pedantic(solution_counts, ((-1, 1), x), rounds=3, warmup_rounds=1)
    size, part = 2**n_weights, 2**19  # the loop in numpy takes equally long for every chunk
    ours = seconds(lambda: solution_counts((-1, 1), x), 3, time.process_time)
    listed = seconds(lambda: enumerate_solutions(MODEL, x), 3, time.process_time)
    peer = seconds(lambda: by_numpy(x, part), 2, time.process_time)
    show(
        f"2^{n_weights} binary weight vectors, {len(x)} patterns, millions of configurations a second",
        counted=1e-6 * size / ours,
        listed=1e-6 * size / listed,
        numpy=1e-6 * part / peer,
        times_faster=(part / peer) ** -1 * size / ours,
    )


def test_pairs(benchmark):
    found = enumerate_solutions(MODEL, np.random.default_rng(0).standard_normal((8, 20)))
    benchmark.pedantic(found.pair_counts, rounds=3, warmup_rounds=1)
