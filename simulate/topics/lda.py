"""Latent Dirichlet allocation by collapsed Gibbs sampling: topics of a corpus, without labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from simulate.core.progress import progress_bar
from simulate.core.streams import require_generator
from simulate.topics.counts import AnyCounts, Counts, occurrences, word_counts
from simulate.topics.kernels.lda import lda_sweeps
from theory.models import checks
from theory.models.arrays import Array

CHUNK_ENTRIES = 2_000_000  # of probabilities in memory at a time


@dataclass(frozen=True)
class LdaFit:
    """The last state of the chain whose state is the most probable, and how all chains went.

    `topic_words` (K, words) and `document_topics` (documents, K): rows are probabilities, (count + prior)/total.
    `log_joint` (chains, records): log P(words, topics of all tokens) after the sweeps `recorded`; `perplexity`
    (chains,): exp of minus the mean log probability of the documents' own words.
    """

    topic_words: Array
    document_topics: Array
    recorded: Counts
    log_joint: Array
    perplexity: Array
    best: int


def gibbs_lda(
    documents: Any,
    n_topics: int,
    rng: np.random.Generator,
    *,
    sweeps: int = 300,
    document_prior: float = 0.1,
    word_prior: float = 0.01,
    chains: int = 1,
    record_every: int = 10,
    progress: str | None = None,
) -> LdaFit:
    """Fit to counts (documents, words), dense or sparse, with symmetric Dirichlet priors; `progress` labels a bar.

    The same generator gives the same fit. ValueError where there are fewer documents than topics.
    """
    require_generator(rng)
    counts = word_counts(documents)
    n_topics = int(checks.dimension(n_topics, name="n_topics"))
    if counts.shape[0] < n_topics:
        raise ValueError(f"n_topics must be at most the number of documents, {counts.shape[0]}, got {n_topics}")
    sweeps, chains = int(checks.dimension(sweeps, name="sweeps")), int(checks.dimension(chains, name="chains"))
    step = int(checks.dimension(record_every, name="record_every"))
    priors = checks.positive("document_prior", document_prior), checks.positive("word_prior", word_prior)
    recorded = np.array([*range(step, sweeps, step), sweeps])
    runs, log_joint = [], np.empty((chains, len(recorded)))
    with progress_bar(progress, chains * len(recorded), 0) as advance:
        for chain in range(chains):
            runs.append(LdaChain(counts, n_topics, rng, *priors))
            for record, gap in enumerate(np.diff(recorded, prepend=0)):
                runs[chain].advance(int(gap))
                log_joint[chain, record] = runs[chain].log_joint()
                advance()
    best = int(log_joint[:, -1].argmax())
    perplexity = np.array([run.perplexity() for run in runs])
    return LdaFit(runs[best].topic_words(), runs[best].document_topics(), recorded, log_joint, perplexity, best)


class LdaChain:
    """One chain: every token's topic, started at random, and the counts they make."""

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
        self.of_word = np.zeros((counts.shape[1], n_topics), dtype=np.int32)  # a word's topics side by side
        np.add.at(self.of_document, (np.repeat(document, times), self.topics), 1)
        np.add.at(self.of_word, (self.words, self.topics), 1)
        self.of_topic = self.of_word.sum(axis=0, dtype=np.int64)

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
        """(K, words), rows sum to 1."""
        counts = self.of_word.T + self.word_prior
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def document_topics(self) -> Array:
        """(documents, K), rows sum to 1."""
        counts = self.of_document + self.document_prior
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def log_joint(self) -> float:
        """log P(words, topics), the proportions integrated out."""
        return _log_evidence(self.of_document, self.document_prior) + _log_evidence(self.of_word.T, self.word_prior)

    def perplexity(self) -> float:
        """exp(-mean log P(word | document)) with the proportions of this state."""
        theta, words, total = self.document_topics(), self.topic_words().T.copy(), 0.0
        size = max(CHUNK_ENTRIES // theta.shape[1], 1)
        for start in range(0, len(self.occurrences[0]), size):
            document, word, times = (part[start : start + size] for part in self.occurrences)
            total += times @ np.log((theta[document] * words[word]).sum(axis=1))
        return float(np.exp(-total / len(self.words)))


def _log_evidence(counts: NDArray[Any], prior: float) -> float:
    """log of the Dirichlet-multinomial probability of the rows, each a given sequence of draws."""
    n, size = counts.sum(axis=1), counts.shape[1]
    occurring = counts[counts > 0]
    sequences = gammaln(size * prior) - gammaln(size * prior + n)
    return float(sequences.sum() + (gammaln(occurring + prior) - gammaln(prior)).sum())
