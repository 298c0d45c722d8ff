"""Counting similar sequences of an alignment, for their weights: bit planes beside a compiled loop over the L sites.

Times are those of one pair of sequences.
"""

import numpy as np
import pytest
from numba import njit

from simulate.core import stream
from simulate.potts.inference.weights import similarity

SUBJECT = "Potts models, similar sequences"
M = 4000


@njit
def plain(states, limit):
    """The textbook's loop."""
    M, L = states.shape
    counts = np.ones(M, np.int64)
    for i in range(M):
        for j in range(i + 1, M):
            differing = 0
            for k in range(L):
                if states[i, k] != states[j, k]:
                    differing += 1
            if differing <= limit:
                counts[i] += 1
                counts[j] += 1
    return counts


@pytest.mark.parametrize(("L", "n_colors"), [(107, 5), (171, 21)])
def test_similar_sequences(jobs, L, n_colors):
    rng = stream(0, "sequences", L, n_colors)
    ancestors = rng.integers(0, n_colors, (M // 10, L))
    states = ancestors[rng.integers(0, len(ancestors), M)]
    states = np.where(rng.random((M, L)) < 0.1, rng.integers(0, n_colors, (M, L)), states).astype(np.uint8)
    jobs.compare(
        f"comparison of a pair of sequences, L = {L}, {n_colors} letters",
        lambda: similarity(states).counts,
        {"numba, a loop over the sites": lambda: plain(states, L // 5)},
        per=M * (M - 1) / 2,
        off=lambda ours, theirs: np.max(abs(ours - theirs)),
        limit="1 times",
    )
    jobs.compare(
        f"comparison of a pair on two threads, wall time, L = {L}",
        lambda: similarity(states, n_threads=2),
        beside={"ours, one thread": lambda: similarity(states)},
        per=M * (M - 1) / 2,
        clock="wall",
        goal="1.6 times",
    )
