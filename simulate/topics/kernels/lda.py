"""Runs collapsed Gibbs sampling of latent Dirichlet allocation: compiled, token by token."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

TO_UNIT = 2.0**-53


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
    Counts: `of_document` (documents, K), `of_word` (words, K), `of_topic` (K,). P(z = k | others) is proportional to
    (n_dk + document_prior)(n_wk + word_prior)/(n_k + n_words word_prior). `generator` (2,): state of xoroshiro128+.
    """
    n_topics = len(of_topic)
    total_prior = len(of_word) * word_prior
    rate = np.empty(n_topics)  # 1/(n_k + n_words word_prior): two of them change with a token
    here = np.empty(n_topics)  # (n_dk + document_prior) rate
    upto = np.empty(n_topics)
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
                # The products come first and by themselves: unlike their running sum they fill vector units.
                for k in range(n_topics):
                    upto[k] = here[k] * (at_word[k] + word_prior)
                total = 0.0
                for k in range(n_topics):
                    total += upto[k]
                    upto[k] = total

                # xoroshiro128+, of which the upper 53 bits make a number: its lowest bits are the weak ones.
                word = s0 + s1
                s1 ^= s0
                s0 = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
                s1 = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))
                u = np.int64(word >> np.uint64(11)) * TO_UNIT * total

                new = 0
                for k in range(n_topics - 1):  # counting has no branch, which a random number would make unpredictable
                    new += int(upto[k] <= u)
                topics[i] = new
                mine[new] += 1
                at_word[new] += 1
                of_topic[new] += 1
                rate[new] = 1.0 / (of_topic[new] + total_prior)
                here[new] = (mine[new] + document_prior) * rate[new]
    generator[0] = s0
    generator[1] = s1
