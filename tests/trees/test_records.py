"""The map from numbers to trees and back: examples, factorization by sympy, and the limits of what is refused."""

import random

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from tests.trees.references import word_by_sympy
from theory.models import NumberText, RootedTree
from theory.models.trees.factors import _is_prime
from theory.trees import smallest_number, word_of

EXAMPLES = {2: "()", 4: "(())", 6: "()()", 12: "(())()", 18: "()(())", 64: "(()())", 65536: "(((())))"}
trees = st.recursive(
    st.just(""), lambda inner: st.lists(inner.map("({})".format), max_size=3).map("".join), max_leaves=5
)


def test_examples():
    assert {n: word_of(n) for n in EXAMPLES} == EXAMPLES
    assert word_of(1) == ""


def test_words_are_those_of_a_factorization_by_sympy():
    drawn = random.Random(0)
    numbers = [*range(1, 600), *(drawn.randrange(1, 10**12) for _ in range(40))]
    assert [word_of(n) for n in numbers] == [word_by_sympy(n) for n in numbers]


LARGE = {
    "square of a prime beyond those that are divided out": (1_000_003**2, "(())"),
    "two primes beyond": (1_000_003 * 99_999_999_977, "()()"),
    "one prime beyond": (6 * 1_000_000_000_039, "()()()"),
    "prime of 25 digits": (4 * sympy.nextprime(10**24), "(())()"),
    "power of two": (2**65536, "((((()))))"),
    "power of ten": (10**400, "(((()))(()))(((()))(()))"),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_numbers(name):
    n, word = LARGE[name]
    assert word_of(n) == word


def test_primality():
    """Strong pseudoprimes to the first bases, squares, and numbers of all sizes against sympy."""
    drawn = random.Random(0)
    pseudoprimes = [2047, 1373653, 3215031751, 3474749660383, 341550071728321, 3825123056546413051]
    numbers = [*range(2000), *pseudoprimes, *(drawn.randrange(10**k) for k in range(1, 25) for _ in range(10))]
    numbers += [sympy.nextprime(10**k) for k in range(4, 25, 4)] + [sympy.nextprime(10**k) ** 2 for k in (5, 9, 12)]
    assert [_is_prime(n) for n in numbers] == [sympy.isprime(n) for n in numbers]


def test_a_number_that_is_too_hard_to_factor_is_refused():
    with pytest.raises(ValueError, match="n must have at most two prime factors above 1000000"):
        word_of(1_000_003 * 1_000_033 * 1_000_037)


@given(trees)
def test_the_smallest_number_of_a_tree_has_it(word):
    tree = RootedTree(word)
    if tree.depth > 3:
        return
    if sum(1 for child in tree.children if child.n_edges > 3) > 0:
        return
    n = smallest_number(word)
    assert word_of(n) == word
    if n < 10**6:
        assert all(word_of(m) != word for m in range(max(1, n - 100), n))


@given(st.integers(1, 10**9))
def test_parts_of_a_tree_add_up(n):
    tree = RootedTree.of_number(n)
    assert tree.n_edges == sum(1 + child.n_edges for child in tree.children)
    assert tree.depth == max((1 + child.depth for child in tree.children), default=0)
    assert "".join(f"({child.word})" for child in tree.children) == tree.word


def test_first_numbers_of_each_depth():
    first = {}
    for n in (*range(1, 3000), 65535, 65536, 65537):
        first.setdefault(RootedTree.of_number(n).depth, n)
    assert first == {0: 1, 1: 2, 2: 4, 3: 16, 4: 65536}


def test_numbers_that_cannot_be_written_are_refused():
    for word in ("((((((()))))))", "(((((())))))", "()" * 90_000, f"({'()' * 9})"):
        with pytest.raises(ValueError, match="word must"):
            smallest_number(word)


@pytest.mark.parametrize("word", ["(", ")(", "(()", "())(", "()a", "[]", " ()"])
def test_unbalanced_words_are_refused(word):
    with pytest.raises(ValueError, match="word must be balanced parentheses"):
        RootedTree(word)


def test_texts_that_are_no_stretch_of_numbers_are_refused():
    for wrong in ({"last": 1}, {"last": 10, "first": 1}, {"last": 10, "first": 11}, {"last": 10**14 + 1}):
        with pytest.raises(ValueError, match=r"first|last"):
            NumberText(**wrong)
    assert NumberText(10, 10).n_words == 1
