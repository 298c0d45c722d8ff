"""Counting similar sequences: bit planes beside a plain compiled loop over the sites."""

import time

import numpy as np
import pytest
from numba import njit

from simulate.core import stream
from simulate.potts.inference.weights import similarity
from tests.benchmarks.timing import seconds


@njit
def plain(states, limit, counts):
    """The textbook's loop."""
    M, L = states.shape
    for i in range(M):
        for j in range(i + 1, M):
            differing = 0
            for k in range(L):
                if states[i, k] != states[j, k]:
                    differing += 1
            if differing <= limit:
                counts[i] += 1
                counts[j] += 1


@pytest.mark.parametrize(("L", "n_colors"), [(107, 5), (171, 21)])
def test_similar_sequences(benchmark, show, L, n_colors):
    M = 4000
    rng = stream(0, "sequences", L, n_colors)
    ancestors = rng.integers(0, n_colors, (M // 10, L))
    states = ancestors[rng.integers(0, len(ancestors), M)]
    states = np.where(rng.random((M, L)) < 0.1, rng.integers(0, n_colors, (M, L)), states).astype(np.uint8)
    counts = np.ones(M, np.int64)
    plain(states, L // 5, counts)
    found = benchmark.pedantic(similarity, (states,), rounds=3, warmup_rounds=1)
    assert np.array_equal(found.counts, counts)
    pairs = M * (M - 1) / 2
    loop = seconds(lambda: plain(states, L // 5, np.ones(M, np.int64)), clock=time.process_time)
    planes = seconds(lambda: similarity(states), clock=time.process_time)
    speedup = seconds(lambda: similarity(states)) / seconds(lambda: similarity(states, n_threads=2))
    show(
        f"similar sequences, L = {L}, C = {n_colors}, CPU ns a pair",
        bit_planes=planes / pairs * 1e9,
        plain_loop=loop / pairs * 1e9,
        ratio=loop / planes,
        speedup_of_two_threads=speedup,
    )
    assert planes < loop
