"""One chain of collapsed Gibbs sampling of a latent Dirichlet allocation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from simulate.topics.counts import AnyCounts, occurrences
from simulate.topics.kernels.lda import lda_sweeps
from theory.core import Array

CHUNK_ENTRIES = 2_000_000  # largest number of probabilities in memory at a time


class LdaChain:
    """Holds one chain: every token's topic, started at random, and the counts they make."""

    def __init__(
        self, counts: AnyCounts, n_topics: int, rng: np.random.Generator, document_prior: float, word_prior: float
    ) -> None:
        self.occurrences = document, word, times = occurrences(counts)
        self.words = np.repeat(word, times).astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(document, times, counts.shape[0]).astype(np.int64))])
        self.topics = rng.integers(n_topics, size=len(self.words)).astype(np.int32)
        self.generator = rng.integers(1, 2**64, size=2, dtype=np.uint64)
        self.document_prior, self.word_prior = document_prior, word_prior
        self.of_document = np.zeros((counts.shape[0], n_topics), dtype=np.int32)
        # In memory the topics of a word stand side by side.
        self.of_word = np.zeros((counts.shape[1], n_topics), dtype=np.int32)
        self._count()

    def _count(self) -> None:
        """Count the topics of all tokens, by their documents and by their words."""
        document, _, times = self.occurrences
        self.of_document[:], self.of_word[:] = 0, 0
        np.add.at(self.of_document, (np.repeat(document, times), self.topics), 1)
        np.add.at(self.of_word, (self.words, self.topics), 1)
        self.of_topic = self.of_word.sum(axis=0, dtype=np.int64)

    def restore(self, topics: NDArray[np.int32], generator: NDArray[np.uint64]) -> None:
        """Go back to a moment at which tokens had these topics, and the generator this state."""
        self.topics[:], self.generator[:] = topics, generator
        self._count()

    def advance(self, n_sweeps: int) -> None:
        """Redraw every token's topic so many times."""
        lda_sweeps(
            self.words,
            self.starts,
            self.topics,
            self.of_document,
            self.of_word,
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
        return _log_evidence(self.of_document, self.document_prior) + _log_evidence(self.of_word.T, self.word_prior)

    def perplexity(self) -> float:
        """Return exp(-mean log P(word | document)) with the proportions of this state."""
        theta, words, total = self.document_topics(), self.topic_words().T.copy(), 0.0
        size = max(CHUNK_ENTRIES // theta.shape[1], 1)
        for start in range(0, len(self.occurrences[0]), size):
            document, word, times = (part[start : start + size] for part in self.occurrences)
            total += times @ np.log((theta[document] * words[word]).sum(axis=1))
        return float(np.exp(-total / len(self.words)))


def _log_evidence(counts: NDArray[Any], prior: float) -> float:
    """Compute log of the Dirichlet-multinomial probability of the rows, each a given sequence of draws."""
    n, size = counts.sum(axis=1), counts.shape[1]
    occurring = counts[counts > 0]
    sequences = gammaln(size * prior) - gammaln(size * prior + n)
    return float(sequences.sum() + (gammaln(occurring + prior) - gammaln(prior)).sum())
