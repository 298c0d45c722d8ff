"""Discrete perceptron: capacities and curves, and the enumeration of weight vectors beside products in numpy."""

import numpy as np
import pytest

from simulate.perceptron import enumerate_solutions, solution_counts
from tests.benchmarks.machinery.jobs import Peer
from theory import perceptron
from theory.models import DiscretePerceptron, equally_spaced_levels

SUBJECT = "discrete perceptron"
MODEL = DiscretePerceptron(levels=(-1, 1), alpha=0.4)
CHUNK, PART = 2**14, 2**19


@pytest.mark.parametrize(
    ("n_levels", "goal"), [(2, "0.1 s"), (3, "0.1 s"), (17, "0.1 s"), (65, "0.1 s"), (193, "0.2 s"), (513, "0.6 s")]
)
def test_capacity(jobs, n_levels, goal):
    levels = equally_spaced_levels(n_levels)
    jobs.compare(f"capacity of {n_levels} levels", lambda: perceptron.zero_entropy_capacity(levels), goal=goal)


def test_growth_with_levels(jobs):
    def make(n_levels):
        levels = equally_spaced_levels(n_levels)
        return lambda: perceptron.zero_entropy_capacity(levels)

    jobs.grows("capacity, by levels", (65, 129, 257, 513), make, goal="power 1.5")


def test_curves(jobs):
    alphas = np.linspace(0.01, 1.1, 100)
    jobs.compare("entropy at 100 sample ratios, 3 levels", lambda: perceptron.entropy_curve((-1, 0, 1), alphas))
    for copies in (2, 5):
        jobs.compare(f"entropy of {copies} copies", lambda copies=copies: perceptron.copy_entropy(MODEL, 0.8, copies))


def by_numpy(patterns):
    """Fields of a chunk of binary weight vectors: those of the low bits once, to which the high bits add a vector."""
    low, high = 14, patterns.shape[1] - 14
    signs = 1 - 2.0 * (np.arange(2**low)[:, None] >> np.arange(low) & 1)
    fields = patterns[:, :low] @ signs.T
    found = 0
    for code in range(PART // 2**low):
        offset = patterns[:, low:] @ (1 - 2.0 * (code >> np.arange(high) & 1))
        found += int((fields > -offset[:, None]).all(axis=0).sum())
    return found


@pytest.mark.parametrize("n_weights", [20, 25])
def test_enumeration(jobs, n_weights):
    """The loop in numpy takes equally long for every chunk, so that a part of it is timed."""
    x = np.random.default_rng(0).standard_normal((round(0.8 * n_weights), n_weights))
    size = 2**n_weights
    jobs.compare(
        f"a vector of 2^{n_weights} binary weights, {len(x)} patterns",
        lambda: solution_counts((-1, 1), x),
        {"numpy, chunks that share their low bits": Peer(lambda: by_numpy(x), times=size / PART)},
        beside={"ours, with a list of the solutions": lambda: enumerate_solutions(MODEL, x)},
        per=float(size),
    )


def test_pairs(jobs):
    found = enumerate_solutions(MODEL, np.random.default_rng(0).standard_normal((8, 20)))
    jobs.compare("pairs of solutions by their distance", found.pair_counts)


def test_growth(jobs):
    def make(n_weights):
        x = np.random.default_rng(0).standard_normal((16, n_weights))
        return lambda: solution_counts((-1, 1), x)

    codes = {2**n: n for n in (18, 20, 22)}
    jobs.grows("enumeration, by vectors of weights", list(codes), lambda size: make(codes[size]), goal="power 1.1")
