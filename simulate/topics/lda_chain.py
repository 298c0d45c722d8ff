"""One chain of collapsed Gibbs sampling of a latent Dirichlet allocation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from simulate.topics.counts import AnyCounts, occurrences
from simulate.topics.kernels.lda import QUARTERS, lda_sweeps
from simulate.topics.kernels.sparse_lda import list_topics, sparse_lda_sweeps
from theory.core import Array

CHUNK_ENTRIES = 2_000_000  # largest number of probabilities in memory at a time
# With more topics only those that a word has are looked at. A token of Reuters took, with 20, 32, 100 and 1000 topics,
# 31, 34, 46 and 120 ns in that way and 42, 48, 111 and 843 ns where all topics are looked at. But where each of 100
# words had nearly all topics it took 66 and 39 ns with 20 topics, and about equal times with 100.
MAX_DENSE_TOPICS = 24


class LdaChain:
    """Holds one chain: every token's topic, started at random, and the counts they make.

    A sweep draws every topic from its law given all others. Up to `dense_topics` topics it looks at all of them, and
    beyond at those that the word has and, as a whole, at the rest; both leave the same posterior.
    """

    def __init__(
        self,
        counts: AnyCounts,
        n_topics: int,
        rng: np.random.Generator,
        document_prior: float,
        word_prior: float,
        dense_topics: int = MAX_DENSE_TOPICS,
    ) -> None:
        self.occurrences = document, word, times = occurrences(counts)
        self.words = np.repeat(word, times).astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(document, times, counts.shape[0]).astype(np.int64))])
        self.topics = rng.integers(n_topics, size=len(self.words)).astype(np.int32)
        self.generator = rng.integers(1, 2**64, size=2, dtype=np.uint64)
        self.document_prior, self.word_prior = document_prior, word_prior
        self.of_document = np.zeros((counts.shape[0], n_topics), dtype=np.int32)
        self._shape = counts.shape[1], n_topics
        self._is_listed = n_topics > dense_topics
        if self._is_listed:
            room = np.minimum(np.bincount(self.words, minlength=counts.shape[1]), n_topics)
            self._firsts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
            self._lengths = np.zeros(counts.shape[1], dtype=np.int32)
            self._entries = np.zeros((self._firsts[-1], 2), dtype=np.int32)
        else:
            # In memory the topics of a word stand side by side, with room up to a whole number of quarters.
            self._by_word = np.zeros((counts.shape[1], n_topics + -n_topics % QUARTERS), dtype=np.int32)
        self._count()

    def _count(self) -> None:
        """Count the topics of all tokens, by their documents and by their words."""
        document, _, times = self.occurrences
        self.of_document[:] = 0
        np.add.at(self.of_document, (np.repeat(document, times), self.topics), 1)
        if self._is_listed:
            list_topics(self.words, self.topics, self._firsts, self._lengths, self._entries)
        else:
            self._by_word[:] = 0
            np.add.at(self._by_word, (self.words, self.topics), 1)
        self.of_topic = np.bincount(self.topics, minlength=self._shape[1]).astype(np.int64)

    @property
    def of_word(self) -> NDArray[np.int32]:
        """The number of tokens of each word in each topic, (words, K)."""
        if not self._is_listed:
            return self._by_word[:, : self._shape[1]]
        made = np.zeros(self._shape, dtype=np.int32)
        topic, number = self._entries[self._listed()].T
        made[np.repeat(np.arange(self._shape[0]), self._lengths), topic] = number
        return made

    def _listed(self) -> NDArray[np.bool_]:
        """Say which of the entries are in a list: words have room for more topics than they have."""
        room = np.diff(self._firsts)
        place = np.arange(len(self._entries)) - np.repeat(self._firsts[:-1], room)
        return np.asarray(place < np.repeat(self._lengths, room))

    def restore(self, topics: NDArray[np.int32], generator: NDArray[np.uint64]) -> None:
        """Go back to a moment at which tokens had these topics, and the generator this state."""
        self.topics[:], self.generator[:] = topics, generator
        self._count()

    def advance(self, n_sweeps: int) -> None:
        """Redraw every token's topic so many times."""
        if self._shape[1] == 1:
            return
        if self._is_listed:
            sparse_lda_sweeps(
                self.words,
                self.starts,
                self.topics,
                self.of_document,
                self._firsts,
                self._lengths,
                self._entries,
                self.of_topic,
                self.generator,
                self.document_prior,
                self.word_prior,
                n_sweeps,
            )
        else:
            lda_sweeps(
                self.words,
                self.starts,
                self.topics,
                self.of_document,
                self._by_word,
                self.of_topic,
                self.generator,
                self.document_prior,
                self.word_prior,
                n_sweeps,
            )

    def topic_words(self) -> Array:
        """Return the probabilities of the words in each topic, (K, words); rows sum to 1."""
        counts = self.of_word.T + self.word_prior
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def document_topics(self) -> Array:
        """Return the probabilities of the topics in each document, (documents, K); rows sum to 1."""
        counts = self.of_document + self.document_prior
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def log_joint(self) -> float:
        """Return log P(words, topics), the proportions integrated out."""
        n_words, n_topics = self._shape
        of_words = self._entries[self._listed(), 1] if self._is_listed else _occurring(self.of_word.T)
        of_documents, lengths = _occurring(self.of_document), np.diff(self.starts)
        return _log_evidence(lengths, of_documents, n_topics, self.document_prior) + _log_evidence(
            self.of_topic, of_words, n_words, self.word_prior
        )

    def perplexity(self) -> float:
        """Return exp(-mean log P(word | document)) with the proportions of this state."""
        theta, words, total = self.document_topics(), self.topic_words().T.copy(), 0.0
        size = max(CHUNK_ENTRIES // theta.shape[1], 1)
        for start in range(0, len(self.occurrences[0]), size):
            document, word, times = (part[start : start + size] for part in self.occurrences)
            total += times @ np.log((theta[document] * words[word]).sum(axis=1))
        return float(np.exp(-total / len(self.words)))


def _occurring(counts: NDArray[Any]) -> NDArray[Any]:
    return counts[counts > 0]


def _log_evidence(totals: NDArray[Any], occurring: NDArray[Any], size: int, prior: float) -> float:
    """Compute log of the Dirichlet-multinomial probability of given sequences of draws, each from `size` values.

    `totals` are the lengths of the sequences, and `occurring` the numbers of their values, without zeros.
    """
    sequences = gammaln(size * prior) - gammaln(size * prior + totals)
    return float(sequences.sum() + (gammaln(occurring + prior) - gammaln(prior)).sum())
