"""Runs collapsed Gibbs sampling of latent Dirichlet allocation for many topics: it looks at those of the word alone.

The law of a token's topic k given all others is the sum of two parts, up to a factor,

    here_k (n_wk + word_prior) = here_k n_wk + word_prior here_k,
    here_k = (n_dk + document_prior)/(n_k + n_words word_prior),

so that a draw first chooses a part by its mass. The first part has only the topics that the word has, mostly a few,
which are kept in a list. The second one has all topics, but its mass is word_prior times a sum that changes in two
terms with each token; only where it is chosen, which is seldom, one looks at all. (Derived here; SparseLDA, of Yao,
Mimno and McCallum, 2009, has three such parts.) The draws are those of the law, as with all topics looked at.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.topics.kernels.lda import TO_UNIT, random_bits

BLOCK = 32  # topics whose sum is skipped as a whole where one of all topics is drawn; a multiple of eight
# The sum of `here` is renewed once it falls below this share of its largest value since it was last summed: what is
# left of rounding errors is then at most twice 2^-52 of it for each token since.
RENEWED_BELOW = 0.5


@cached_njit()
def list_topics(words: Any, topics: Any, firsts: Any, lengths: Any, entries: Any) -> None:
    """List the topics of each word with their counts, `entries[firsts[w] : firsts[w] + lengths[w]]`, in place."""
    lengths[:] = 0
    for i in range(len(words)):
        w, k = words[i], topics[i]
        first, n, j = firsts[w], lengths[w], 0
        while j < n and entries[first + j, 0] != k:
            j += 1
        if j == n:
            entries[first + n, 0], entries[first + n, 1] = k, 0
            lengths[w] += 1
        entries[first + j, 1] += 1


@cached_njit()
def _sort_lists(firsts: Any, lengths: Any, entries: Any) -> None:
    """Bring each list into the order of its topics, by insertion: it is short, or nearly in order."""
    for w in range(len(lengths)):
        for i in range(firsts[w] + 1, firsts[w] + lengths[w]):
            k, n, j = entries[i, 0], entries[i, 1], i
            while j > firsts[w] and entries[j - 1, 0] > k:
                entries[j, 0], entries[j, 1] = entries[j - 1, 0], entries[j - 1, 1]
                j -= 1
            entries[j, 0], entries[j, 1] = k, n


@cached_njit()
def _block_sums(here: Any, blocks: Any) -> float:
    """Sum `here`, a whole number of blocks, block by block into `blocks`, and return the sum of all."""
    total = 0.0
    for block in range(len(blocks)):
        a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        # Eight sums, none of which waits for another.
        for k in range(block * BLOCK, (block + 1) * BLOCK, 8):
            a += here[k]
            b += here[k + 1]
            c += here[k + 2]
            d += here[k + 3]
            e += here[k + 4]
            f += here[k + 5]
            g += here[k + 6]
            h += here[k + 7]
        blocks[block] = ((a + b) + (c + d)) + ((e + f) + (g + h))
        total += blocks[block]
    return total


@cached_njit()
def _drawn_of_all(here: Any, blocks: Any, drawn: float, n_topics: int) -> Any:
    """Return the topic in which the running sum of `here` passes `drawn`."""
    block = 0
    while block < len(blocks) - 1 and drawn >= blocks[block]:
        drawn -= blocks[block]
        block += 1
    k, last = block * BLOCK, min((block + 1) * BLOCK, n_topics) - 1
    while k < last and drawn >= here[k]:
        drawn -= here[k]
        k += 1
    return k


@cached_njit()
def sparse_lda_sweeps(
    words: NDArray[Any],
    starts: NDArray[Any],
    topics: NDArray[Any],
    of_document: NDArray[Any],
    firsts: NDArray[Any],
    lengths: NDArray[Any],
    entries: NDArray[Any],
    of_topic: NDArray[Any],
    generator: NDArray[Any],
    document_prior: float,
    word_prior: float,
    n_sweeps: int,
) -> None:
    """Redraw the topic of every token `n_sweeps` times, in place.

    Token i is `words[i]`, in topic `topics[i]`; document d owns the tokens from `starts[d]` to `starts[d + 1]`.
    Counts: `of_document` (documents, K), `of_topic` (K,), and of word w the `lengths[w]` pairs of a topic and its
    count in `entries` from `firsts[w]` on, where there is room for as many as the word has tokens, or for K.
    P(z = k | others) is proportional to (n_dk + document_prior)(n_wk + word_prior)/(n_k + n_words word_prior).
    `generator` (2,): state of xoroshiro128+.
    """
    n_topics = len(of_topic)
    total_prior = len(lengths) * word_prior
    blocks = np.empty(-(-n_topics // BLOCK))
    rate = np.empty(n_topics)  # 1/(n_k + n_words word_prior): two of them change with a token
    here = np.zeros(len(blocks) * BLOCK)  # (n_dk + document_prior) rate, and zero where there is no topic
    upto = np.empty(n_topics)
    s0, s1 = generator[0], generator[1]
    for _ in range(n_sweeps):
        # A draw depends on the order of a list. After a sweep it must be known from the topics of all tokens alone,
        # since these are what is saved.
        _sort_lists(firsts, lengths, entries)
        for k in range(n_topics):
            rate[k] = 1.0 / (of_topic[k] + total_prior)
        for d in range(len(starts) - 1):
            mine = of_document[d]
            for k in range(n_topics):
                here[k] = (mine[k] + document_prior) * rate[k]
            total = largest = _block_sums(here, blocks)
            for i in range(starts[d], starts[d + 1]):
                w, old = words[i], topics[i]
                first, length = firsts[w], np.int64(lengths[w])
                # The token itself is taken out first: its law is conditional on all the others.
                mine[old] -= 1
                of_topic[old] -= 1
                rate[old] = 1.0 / (of_topic[old] + total_prior)
                changed = (mine[old] + document_prior) * rate[old]
                total += changed - here[old]
                here[old] = changed
                if total < RENEWED_BELOW * largest:
                    total = largest = _block_sums(here, blocks)
                listed, own = 0.0, 0
                for j in range(length):
                    at, n = np.uint64(entries[first + j, 0]), entries[first + j, 1]  # unsigned: no test for at < 0
                    if at == np.uint64(old):
                        own = j
                        n -= 1
                    listed += here[at] * n
                    upto[j] = listed
                entries[first + own, 1] -= 1

                bits, s0, s1 = random_bits(s0, s1)
                drawn = bits * TO_UNIT * (listed + word_prior * total)
                if drawn < listed:
                    j = 0
                    for other in range(length - 1):  # a count has no branch, which the number would make unpredictable
                        j += int(upto[other] <= drawn)
                    new = entries[first + j, 0]
                    entries[first + j, 1] += 1
                else:
                    share = (drawn - listed) / (word_prior * total)
                    total = largest = _block_sums(here, blocks)
                    new = np.int32(_drawn_of_all(here, blocks, share * total, n_topics))
                    j = 0
                    while j < length and entries[first + j, 0] != new:
                        j += 1
                    if j == length and entries[first + own, 1] == 0:
                        j = own  # takes the place of the topic that the word has no longer
                        entries[first + j, 0] = new
                    elif j == length:
                        entries[first + j, 0], entries[first + j, 1] = new, 0
                        lengths[w] += 1
                    entries[first + j, 1] += 1
                if entries[first + own, 1] == 0:
                    lengths[w] -= 1
                    last = first + lengths[w]
                    entries[first + own, 0], entries[first + own, 1] = entries[last, 0], entries[last, 1]
                topics[i] = new
                mine[new] += 1
                of_topic[new] += 1
                rate[new] = 1.0 / (of_topic[new] + total_prior)
                changed = (mine[new] + document_prior) * rate[new]
                total += changed - here[new]
                largest = max(largest, total)
                here[new] = changed
    generator[0] = s0
    generator[1] = s1
