"""The search with copies: its law at a fixed temperature, a solution that is one, and copies against a single chain."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from simulate.core import stream
from simulate.perceptron import search_with_copies
from simulate.perceptron.search_kernel import anneal
from theory.models import DiscretePerceptron

# Two copies of three weights; a pattern and its opposite are never stored together, so that no search ends.
LEVELS, COPIES, N, THRESHOLD = np.array([-1.0, 0.0, 1.0]), 2, 3, 0.3
PATTERNS = np.array([[1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]])


def classes_of(states):
    """The energy and the spread of copies (n, y, N) of positions, as one number with a few dozen values."""
    w = LEVELS[states]
    lack = THRESHOLD - w @ PATTERNS
    energy = np.where(lack >= 0, lack + 1, 0).sum(axis=(1, 2))
    spread = ((w - w.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
    return energy, spread


def test_copies_have_the_law_that_is_written():
    """25,000 short chains from anywhere, counted by energy and spread; a law that is wrong by a tenth is refused."""
    beta, attraction, chains, sweeps = 0.8, 4.0, 25_000, 30
    rng, states = stream(0, "law of copies"), np.empty((chains, COPIES, N), int)
    betas, attractions = np.full(sweeps, beta), np.full(sweeps, attraction)
    for one in range(chains):
        states[one] = rng.integers(3, size=(COPIES, N))
        assert anneal(rng, states[one], LEVELS, PATTERNS, THRESHOLD, betas, attractions) == (-1, sweeps)
    every = classes_of(np.array(list(product(range(3), repeat=COPIES * N))).reshape(-1, COPIES, N))
    keys, places = np.unique(np.round(1000 * every[0]) + 1e6 * np.round(2 * every[1]), return_inverse=True)
    found = classes_of(states)
    counts = np.bincount(
        np.searchsorted(keys, np.round(1000 * found[0]) + 1e6 * np.round(2 * found[1])), minlength=len(keys)
    )

    def p_value(beta, attraction):
        law = np.bincount(places, np.exp(-beta * every[0] - attraction / 2 * every[1]))
        law /= law.sum()
        likely = chains * law > 5
        observed, expected = (np.append(one[likely], one[~likely].sum()) for one in (counts, chains * law))
        return chisquare(observed, expected).pvalue

    assert p_value(beta, attraction) > 1e-6
    assert p_value(0.9 * beta, attraction) < 1e-6
    assert p_value(beta, 0.9 * attraction) < 1e-6


@pytest.mark.parametrize("levels", [(-1.0, 1.0), (-2.0, 0.0, 2.0), (0.0, 1.0)])
def test_a_solution_stores_the_patterns(levels):
    model, N = DiscretePerceptron(levels=levels, alpha=0.2, margin=0.1 * max(levels)), 61
    found = search_with_copies(model, N, np.random.default_rng(4), copies=3, n_sweeps=3000, beta=2.0)
    patterns = np.random.default_rng(4).choice([-1.0, 1.0], (N, 12))
    assert found.solved
    assert found.converged
    assert set(found.weights) <= set(levels)
    assert (found.weights @ patterns > model.margin * np.sqrt(N)).all()
    assert found.errors == 0
    assert found.work <= 3000


def test_a_search_that_fails_says_how_far_it_came():
    model, N = DiscretePerceptron(levels=(-1, 1), alpha=3.0), 31
    found = search_with_copies(model, N, np.random.default_rng(2), copies=4, n_sweeps=42)
    patterns = np.random.default_rng(2).choice([-1.0, 1.0], (N, 93))
    assert not found.solved
    assert not found.converged
    assert found.work == 40
    assert found.errors == (found.weights @ patterns <= 0).sum() > 0
    assert found.residual == found.errors / 93
    assert 0 <= found.distance <= 0.5


def test_attraction_brings_copies_together():
    model = DiscretePerceptron(levels=(-1, 0, 1), alpha=2.5)

    def distance(attraction):
        rng = stream(0, "attraction", attraction)
        return np.mean(
            [search_with_copies(model, 51, rng, n_sweeps=200, attraction=attraction).distance for _ in "abc"]
        )

    assert distance(20.0) < 0.5 * distance(0.0)
    assert np.isnan(search_with_copies(model, 51, np.random.default_rng(0), copies=1).distance)


def test_copies_solve_what_a_single_chain_of_equal_work_does_not():
    """24 sets of patterns each, at 0.65 patterns per weight; beta as is best for each of the two."""
    model = DiscretePerceptron(levels=(-1, 1), alpha=0.65)

    def solved(copies, beta):
        rng = stream(0, "search", copies)
        return sum(search_with_copies(model, 201, rng, copies=copies, beta=beta).solved for _ in range(24))

    assert solved(5, 1.0) >= solved(1, 2.0) + 6


def test_bad_input():
    model, rng = DiscretePerceptron(levels=(-1, 1), alpha=0.5), np.random.default_rng(0)
    with pytest.raises(ValueError, match="n_sweeps must be at least one for each of the 5 copies, got 4"):
        search_with_copies(model, 21, rng, n_sweeps=4)
    with pytest.raises(ValueError, match="copies must be at most 100"):
        search_with_copies(model, 21, rng, copies=101)
    with pytest.raises(ValueError, match="attraction must"):
        search_with_copies(model, 21, rng, attraction=-1.0)
