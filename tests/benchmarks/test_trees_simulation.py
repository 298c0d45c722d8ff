"""The text of rooted trees: the sieve beside factoring each number by sympy, and losses of predictors that count.

Run by `make bench`. Numbers are shown, never asserted.
"""

import resource

import pytest
import sympy

from simulate.trees import count_words, markov_loss, read_text
from tests.benchmarks.timing import seconds
from theory import trees
from theory.models import NumberText

pytest.importorskip("pytest_benchmark")

FIRST = 10**9
FEW = 2_000  # numbers that sympy factors


def word_by_sympy(n):
    return "".join(f"({word_by_sympy(a)})" for _, a in sorted(sympy.factorint(n).items()))


def test_sieve_beside_sympy(benchmark, show):
    """Words a second near 10^9, where both have to factor numbers of one size."""
    million, few = NumberText(FIRST + 10**6 - 1, FIRST), NumberText(FIRST + FEW - 1, FIRST)
    expected = [word_by_sympy(n) for n in range(FIRST, FIRST + FEW)]
    assert read_text(few).words() == expected
    benchmark.pedantic(count_words, (million,), rounds=5, warmup_rounds=1)
    sieve = 10**6 / seconds(lambda: count_words(million))
    recursion = FEW / seconds(lambda: [word_by_sympy(n) for n in range(FIRST, FIRST + FEW)], rounds=1)
    own = FEW / seconds(lambda: [trees.word_of(n) for n in range(FIRST, FIRST + FEW)], rounds=1)
    show("words a second", sieve=sieve, sympy=recursion, word_of=own, sieve_over_sympy=sieve / recursion)


def test_hundred_million_numbers(benchmark, show):
    """All words of 2, ..., 10^8 on one thread; the memory is that of the whole process at its largest."""
    numbers = NumberText(10**8)
    counts = benchmark.pedantic(count_words, (numbers,), rounds=1)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    show(
        "10^8 numbers", numbers_a_second=counts.numbers_per_second, vocabulary=counts.n_words, largest_megabytes=largest
    )


@pytest.mark.parametrize("order", [1, 3])
def test_loss_of_next_words(benchmark, order):
    text = read_text(NumberText(10**6))
    benchmark.pedantic(markov_loss, (text, order), rounds=3, warmup_rounds=1)


def test_exact_density(benchmark):
    """Without what earlier calls have kept: two evaluations with 38 digits."""

    def fresh():
        trees.euler.euler_product.cache_clear()
        trees.euler.prime_zeta.cache_clear()
        trees.euler.prime_zeta_above.cache_clear()
        return trees.depth_density(2)

    benchmark(fresh)
