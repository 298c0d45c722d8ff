"""The text of rooted trees: the sieve beside a sieve in numpy, and losses of predictors that count."""

import numpy as np
import pytest

from simulate.trees import count_words, markov_loss, read_text
from tests.benchmarks.machinery.jobs import Peer
from theory import trees
from theory.models import NumberText

SUBJECT = "rooted trees"
FIRST = 10**9
FEW = 2_000  # numbers whose words are asked for one by one


def words_by_numpy(first=FIRST, count=10**6):
    """The number of different words: exponents are found by slices, prime by prime, and coded in one integer."""
    # Exponents that have the same word, as 2 and 3 do, make the same tree.
    alike = np.append(0, 1 + np.unique([trees.word_of(a) for a in range(1, 31)], return_inverse=True)[1])
    limit = int((first + count) ** 0.5) + 1
    is_prime = np.ones(limit + 1, bool)
    is_prime[:2] = False
    for p in range(2, int(limit**0.5) + 1):
        if is_prime[p]:
            is_prime[p * p :: p] = False
    rest, code = np.arange(first, first + count), np.ones(count, np.int64)
    for p in np.flatnonzero(is_prime):
        places = np.arange(-first % p, count, p)
        if not len(places):
            continue
        exponent = np.zeros(len(places), np.int64)
        while len(here := np.flatnonzero(rest[places] % p == 0)):
            rest[places[here]] //= p
            exponent[here] += 1
        code[places] = 32 * code[places] + alike[exponent]
    code[rest > 1] = 32 * code[rest > 1] + alike[1]
    return len(np.unique(code))


def test_words(jobs):
    """Near 10^9, where all have to factor numbers of one size."""
    million = NumberText(FIRST + 10**6 - 1, FIRST)
    jobs.compare(
        "words of the numbers after 10^9, a number",
        lambda: count_words(million).n_words,
        {"numpy, a sieve by slices": words_by_numpy},
        per=1e6,
        off=lambda ours, theirs: abs(theirs / ours - 1),
    )
    jobs.compare("word of one number", lambda: [trees.word_of(n) for n in range(FIRST, FIRST + FEW)], per=float(FEW))


def test_many_numbers(jobs):
    """Time and memory on one thread of all words up to 2 10^7; the memory does not grow with their number."""
    numbers = NumberText(2 * 10**7)
    jobs.compare("words of 2, ..., 2 10^7, a number", lambda: count_words(numbers), per=2e7, goal="30 ns")

    def prepared():
        count_words(NumberText(10**4))
        return lambda: count_words(numbers)

    jobs.memory("memory of the words of 2, ..., 2 10^7", Peer(prepared, made=True), goal="200 MB")
    jobs.grows("words, by numbers", (10**6, 4 * 10**6, 16 * 10**6), lambda n: lambda: count_words(NumberText(n)))


@pytest.mark.parametrize("order", [1, 3])
def test_loss_of_next_words(jobs, order):
    text = read_text(NumberText(10**6))
    jobs.compare(f"loss of a Markov chain of order {order}, 10^6 words", lambda: markov_loss(text, order), rounds=3)


def test_exact_density(jobs):
    """Without what earlier calls have kept: two evaluations with 38 digits."""

    def fresh():
        trees.euler.euler_product.cache_clear()
        trees.euler.prime_zeta.cache_clear()
        trees.euler.prime_zeta_above.cache_clear()
        return trees.depth_density(2)

    jobs.compare("density of a depth, 38 digits", fresh)
