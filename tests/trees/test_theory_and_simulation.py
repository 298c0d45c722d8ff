"""Exact densities against numbers at random places, with error bars, and against all numbers up to ten million."""

import math

import pytest

from simulate.core import replicate_estimate
from simulate.trees import count_words, window_depth_share, window_excess_edges, window_pattern_share
from theory import trees
from theory.models import NumberText

D, WINDOWS = 20_000, 12


@pytest.fixture(scope="module")
def counts():
    return count_words(NumberText(10**7))


@pytest.mark.parametrize(("depth", "resolves"), [(1, 0.012), (2, 0.008)])
def test_depth_at_random_places(agrees, depth, resolves):
    estimate = replicate_estimate(window_depth_share, depth, D, WINDOWS, names=("trees", "depth"))
    agrees(estimate, trees.depth_density(depth).density, resolves=resolves)


@pytest.mark.parametrize(("pattern", "resolves"), [("(())", 0.03), ("(())(())", 0.12)])
def test_patterns_at_random_places(agrees, pattern, resolves):
    estimate = replicate_estimate(window_pattern_share, pattern, D, WINDOWS, names=("trees", "pattern"))
    agrees(estimate, trees.pattern_density(pattern).density, resolves=resolves)


def test_edges_at_random_places(agrees):
    estimate = replicate_estimate(window_excess_edges, None, D, WINDOWS, names=("trees", "edges"))
    agrees(estimate, trees.mean_excess_edges().mean, resolves=0.01)


def test_all_patterns_up_to_ten_million(counts):
    """Up to N a density is off by about N^-1/2: of squarefree numbers 2e-6 here, of all patterns less than 1e-5."""
    patterns = ["", "(())", "((()))", "(()())", "(())(())", "((()))(())", "(())((()))", "(())(())(())", "(()())(())"]
    for pattern in patterns:
        exact = trees.pattern_density(pattern).density
        assert counts.pattern_share(pattern) == pytest.approx(exact, abs=1.5e-5)


def test_densities_of_patterns_add_up_to_one(counts):
    kept = {"".join(f"({c.word})" for c in tree.children if c.word) for tree in counts._trees()}
    total = sum(trees.pattern_density(pattern).density for pattern in kept)
    assert 0 < 1 - total < 2e-6  # what is left are patterns that do not occur up to 10^7


@pytest.mark.parametrize("word", ["()", "(())()", "((()))()", "()(())()"])
def test_words_that_end_in_one_leaf_come_nearer_to_their_leading_order(counts, word):
    """The correction is of relative order 1/log N, with a constant of one for primes and of nine for ()(())()."""
    for found in (count_words(NumberText(10**5)), counts):
        n = found.numbers.last
        ratio = found.count(word) / n / trees.word_frequency(word, n).frequency
        assert 1 < ratio < 1 + 12 / math.log(n)
    assert ratio < 1.7


@pytest.mark.parametrize("word", ["()()", "()()()", "(())()()"])
def test_words_that_end_in_more_leaves_are_near_their_leading_order(counts, word):
    """The correction is of relative order 1/log log N: it hardly changes over all numbers that can be counted."""
    n = counts.numbers.last
    ratio = counts.count(word) / n / trees.word_frequency(word, n).frequency
    assert abs(ratio - 1) < 0.6 / math.log(math.log(n))
