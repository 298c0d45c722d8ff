"""Runs collapsed Gibbs sampling of latent Dirichlet allocation: compiled, token by token, with all topics looked at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

TO_UNIT = 2.0**-53
QUARTERS = 4
# With up to so many topics one running sum is faster than four: with five a token of Reuters took 27 and 41 ns.
MAX_TOPICS_OF_ONE_SUM = 8


@cached_njit()
def random_bits(s0: Any, s1: Any) -> tuple[Any, Any, Any]:
    """Return 53 random bits and the next state of xoroshiro128+; its lowest bits, the weak ones, are left out."""
    word = s0 + s1
    s1 ^= s0
    s0 = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
    s1 = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))
    return np.int64(word >> np.uint64(11)), s0, s1


@cached_njit()
def _drawn_by_one_sum(upto: Any, here: Any, counts: Any, n_topics: int, prior: float, uniform: float) -> Any:
    """Draw a topic with a weight of here (counts + prior); `upto` is room for the running sums."""
    total = 0.0
    for k in range(n_topics):
        total += here[k] * (counts[k] + prior)
        upto[k] = total
    drawn, new = uniform * total, 0
    for k in range(n_topics - 1):  # counting has no branch, which a random number would make unpredictable
        new += int(upto[k] <= drawn)
    return new


@cached_njit()
def _drawn_by_four_sums(upto: Any, here: Any, counts: Any, n_topics: int, prior: float, uniform: float) -> Any:
    """Draw a topic with a weight of here (counts + prior); `upto` is room for the running sums.

    A running sum is a chain of additions, each of which waits for the one before. Here four of them, of a quarter of
    the topics each, run side by side. Topics keep their order, so that the same random number draws the topic that one
    sum draws, unless it lies within rounding of a border between two. Vector units would add faster still, but could
    not read what the last token wrote number by number before it had reached the cache, for which they would wait.
    """
    size = len(here) // QUARTERS
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(size):
        a += here[k] * (counts[k] + prior)
        upto[k] = a
        b += here[k + size] * (counts[k + size] + prior)
        upto[k + size] = b
        c += here[k + 2 * size] * (counts[k + 2 * size] + prior)
        upto[k + 2 * size] = c
        d += here[k + 3 * size] * (counts[k + 3 * size] + prior)
        upto[k + 3 * size] = d
    b += a
    c += b
    drawn = uniform * (c + d)
    quarter = int(a <= drawn) + int(b <= drawn) + int(c <= drawn)
    before = 0.0
    if a <= drawn:
        before = a
    if b <= drawn:
        before = b
    if c <= drawn:
        before = c
    new = quarter * size
    for k in range(quarter * size, (quarter + 1) * size - 1):
        new += int(upto[k] <= drawn - before)
    return min(new, n_topics - 1)  # rounding may leave nothing for the last topic, but draws none beyond


@cached_njit()
def lda_sweeps(
    words: NDArray[Any],
    starts: NDArray[Any],
    topics: NDArray[Any],
    of_document: NDArray[Any],
    of_word: NDArray[Any],
    of_topic: NDArray[Any],
    generator: NDArray[Any],
    document_prior: float,
    word_prior: float,
    n_sweeps: int,
) -> None:
    """Redraw the topic of every token `n_sweeps` times, in place.

    Token i is `words[i]`, in topic `topics[i]`; document d owns the tokens from `starts[d]` to `starts[d + 1]`.
    Counts: `of_document` (documents, K), `of_word` (words, K rounded up to a multiple of four), `of_topic` (K,).
    P(z = k | others) is proportional to
    (n_dk + document_prior)(n_wk + word_prior)/(n_k + n_words word_prior). `generator` (2,): state of xoroshiro128+.
    """
    n_topics = len(of_topic)
    total_prior = len(of_word) * word_prior
    rate = np.empty(n_topics)  # 1/(n_k + n_words word_prior): two of them change with a token
    here = np.zeros(of_word.shape[1])  # (n_dk + document_prior) rate, and zero where there is no topic
    upto = np.empty(of_word.shape[1])
    s0, s1 = generator[0], generator[1]
    for _ in range(n_sweeps):
        for k in range(n_topics):
            rate[k] = 1.0 / (of_topic[k] + total_prior)
        for d in range(len(starts) - 1):
            mine = of_document[d]
            for k in range(n_topics):
                here[k] = (mine[k] + document_prior) * rate[k]
            for i in range(starts[d], starts[d + 1]):
                at_word = of_word[words[i]]
                old = topics[i]
                # The token itself is taken out first: its law is conditional on all the others.
                mine[old] -= 1
                at_word[old] -= 1
                of_topic[old] -= 1
                rate[old] = 1.0 / (of_topic[old] + total_prior)
                here[old] = (mine[old] + document_prior) * rate[old]
                bits, s0, s1 = random_bits(s0, s1)
                if n_topics <= MAX_TOPICS_OF_ONE_SUM:
                    new = _drawn_by_one_sum(upto, here, at_word, n_topics, word_prior, bits * TO_UNIT)
                else:
                    new = _drawn_by_four_sums(upto, here, at_word, n_topics, word_prior, bits * TO_UNIT)
                topics[i] = new
                mine[new] += 1
                at_word[new] += 1
                of_topic[new] += 1
                rate[new] = 1.0 / (of_topic[new] + total_prior)
                here[new] = (mine[new] + document_prior) * rate[new]
    generator[0] = s0
    generator[1] = s1
