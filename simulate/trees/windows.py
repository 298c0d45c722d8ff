"""Replicates that read numbers at a random place, so that exact densities can be tested with error bars."""

import numpy as np

from simulate.trees.sieve import count_words
from theory.core import Count, checked, checks
from theory.models.trees import NumberText
from theory.models.trees.tree import tree_named

MAX_LENGTH = 10**9
MAX_NUMBER = 10**12  # numbers of this size are sieved by the primes up to a million


@checked
def random_window(d: Count, rng: np.random.Generator) -> NumberText:
    """Draw a text of d numbers that follow each other, from a random place between 2 and 10^12.

    ValueError for d < 1 or above 10^9, whose sieve would take some ten seconds.
    """
    if d > MAX_LENGTH:
        raise ValueError(f"d must be at most 10^9, got {checks.shown(d)}")
    first = int(rng.integers(2, MAX_NUMBER + 3 - d))
    return NumberText(first + d - 1, first)


@checked
def window_depth_share(depth: int, d: int, rng: np.random.Generator) -> float:
    """Measure the share of trees of at most this depth among d numbers at a random place below 10^12."""
    return count_words(random_window(d, rng)).depth_share(depth)


@checked
def window_pattern_share(pattern: str, d: int, rng: np.random.Generator) -> float:
    """Measure the share of words among d random neighbors that become `pattern` without the leaves of their root."""
    wanted = tree_named("pattern", pattern).word
    return count_words(random_window(d, rng)).pattern_share(wanted)


@checked
def window_excess_edges(model: object, d: int, rng: np.random.Generator) -> float:
    """Measure the mean of (edges) - (different primes) of d numbers at a random place; `model` is not used."""
    del model
    counts = count_words(random_window(d, rng))
    return (counts.n_edges - counts.n_children) / d
