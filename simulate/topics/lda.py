"""Finds the topics of a corpus without labels, by latent Dirichlet allocation and collapsed Gibbs sampling."""

import os
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from simulate.core.training import carry_out
from simulate.topics.counts import Counts, word_counts
from simulate.topics.kept import corpus_file
from simulate.topics.lda_chain import MAX_DENSE_TOPICS
from simulate.topics.lda_run import LdaRun
from theory.core import Array, Count, NonNegative, SolverResult, Within, checked, checks

# Outside of these limits weights and log Gamma overflow or vanish.
Prior = Annotated[float, Within(1e-100, 1e100, closed=(True, True))]
MAX_SWEEPS = 10**9  # over all chains
# By default: one chain often stops with two topics mixed, and seldom do the best two of four mix the same ones.
DEFAULT_CHAINS = 4
MIN_RECORDS = 8  # two in each quarter of a run: fewer say nothing of its change
MAX_RELATIVE_DRIFT = 1e-3  # relative change of the log joint probability between two quarters of a run that has settled
NONE, UNKNOWN = 0.0, 1.0  # what is reported for a single topic; and where a run or a single chain cannot tell
# Largest distance between two states of one topic. On 144 planted corpora, of topics of disjoint and of common words,
# those of two chains that had found all topics were at most .19 apart, by the scatter of the posterior; where one of
# the chains had mixed topics, some topic was at least .29 away from its partner.
MAX_TOPIC_DISTANCE = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class LdaFit(SolverResult):
    """Holds the last state of the chain whose state is the most probable, and how all chains went.

    The rows of `topic_words` (K, words) and `document_topics` (documents, K) are probabilities, (count + prior)/total.
    `log_joint` (chains, records) is log P(words, topics of all tokens) after the sweeps `recorded`. `perplexity`
    (chains,) is exp of minus the mean log probability of the documents' own words. `iterations` are the sweeps of each
    chain.

    `converged` says two things of the two chains whose last states are the most probable, and `reason` which of them
    fails. First, they no longer climb: `residual`, the relative change of the mean log joint probability from the
    third to the last quarter of the records, the larger of both (1 with fewer than eight records), is below 1e-3.
    Second, they found the same topics. A chain that has mixed two topics no longer climbs either, and stays so, but
    another chain mixes others. `distances` (K,) are those between each topic and its partner in the second-best chain:
    half the sum of the absolute differences of the probabilities of all words, which is the share of the words that
    would have to change, after the assignment of topics to topics that makes their sum smallest (1 where there is one
    chain alone). The largest must be below 0.25. What two chains share by chance, and what all chains miss, is
    not seen.
    """

    topic_words: Array
    document_topics: Array
    recorded: Counts
    log_joint: Array
    perplexity: Array
    best: int
    distances: Array
    reason: str


@checked
def gibbs_lda(
    documents: Any,
    n_topics: Count,
    rng: np.random.Generator,
    *,
    sweeps: Count = 300,
    document_prior: Prior = 0.1,
    word_prior: Prior = 0.01,
    chains: Count = DEFAULT_CHAINS,
    record_every: Count = 10,
    progress: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
) -> LdaFit:
    """Find `n_topics` topics in counts (documents, words), dense or sparse, by collapsed Gibbs sampling.

    Every token has a topic, which is redrawn in each of `sweeps` given all others, with symmetric Dirichlet priors on
    the topics of a document and on the words of a topic (latent Dirichlet allocation; the sampler of Griffiths and
    Steyvers, 2004). With more than 24 topics a sweep looks at those that a token's word has and, as a whole, at the
    rest: the law of each draw is the same, and the time of a token grows little with the number of topics. Several
    `chains` start at random, one after the other, and the time grows with their number; one alone is never called
    converged, since it cannot tell topics from mixtures of topics. `progress` labels a bar. The same generator gives
    the same fit. With a `checkpoint` (a file) the topics of all tokens are saved every `save_seconds`, at records, and
    at the end; called again with the same arguments and a generator in the same state sampling goes on from there, to
    the same bits. Raises ValueError where there are fewer documents than topics, and for priors outside 1e-100 to
    1e100; CheckpointError where the file belongs to another run or cannot be written.

    >>> documents = np.array([[9, 7, 0, 0], [8, 8, 0, 0], [0, 0, 9, 7], [0, 0, 6, 9]])
    >>> fit = gibbs_lda(documents, 2, np.random.default_rng(0), sweeps=100)
    >>> sorted(fit.topic_words.argmax(axis=1).tolist())
    [0, 3]
    """
    counts = word_counts(documents)
    if counts.shape[0] < n_topics:
        raise ValueError(f"n_topics must be at most the number of documents, {counts.shape[0]}, got {n_topics}")
    if sweeps * chains > MAX_SWEEPS:
        raise ValueError(f"sweeps times chains must be at most {MAX_SWEEPS}, got {sweeps} times {chains}")
    # Counts of topics are integers of half a number's size; where there are many topics each token has room for one of
    # its word's list. Of every chain the topics are kept as probabilities, and the proportions of the present one and
    # of the best.
    documents_of, words_of = (float(size) * n_topics for size in counts.shape)
    of_token = 3 if n_topics > MAX_DENSE_TOPICS else 2
    needed = of_token * float(counts.sum()) + (min(chains, 2) + 0.5) * documents_of + (chains + 0.5) * words_of
    checks.fits_in_memory("the topics of all tokens in documents", needed)
    recorded = np.array([*range(record_every, sweeps, record_every), sweeps])
    settings = {
        **{"n_topics": n_topics, "sweeps": sweeps, "chains": chains, "record_every": record_every},
        **{"document_prior": document_prior, "word_prior": word_prior},
    }
    file = None if checkpoint is None else corpus_file(checkpoint, counts, settings, rng, of="gibbs_lda")
    run = LdaRun(counts, n_topics, rng, document_prior, word_prior, recorded, chains)
    carry_out(run, chains * len(recorded), file, save_seconds, progress)
    log_joint, topics = run.log_joint, run.topics
    order = np.argsort(-log_joint[:, -1], kind="stable")
    best, drift = int(order[0]), _drift(log_joint[order[:2]], n_topics)
    if n_topics == 1 or chains == 1:
        distances = np.full(n_topics, NONE if n_topics == 1 else UNKNOWN)
    else:
        distances = _matched_distances(topics[best], topics[order[1]])
    reason = _reason(drift, distances, chains)
    return LdaFit(
        topic_words=topics[best],
        document_topics=run.proportions,
        recorded=recorded,
        log_joint=log_joint,
        perplexity=run.perplexity,
        best=best,
        distances=distances,
        reason=reason,
        residual=drift,
        iterations=sweeps,
        converged=not reason,
    )


def _drift(log_joint: Array, n_topics: int) -> float:
    """Compute the largest relative change of a mean log joint from the third to the last quarter of the records."""
    quarter = log_joint.shape[1] // 4
    if n_topics == 1:
        return NONE
    if log_joint.shape[1] < MIN_RECORDS:
        return UNKNOWN
    last, before = log_joint[:, -quarter:].mean(axis=1), log_joint[:, -2 * quarter : -quarter].mean(axis=1)
    return float(np.max(abs(last - before) / np.maximum(abs(last), np.finfo(float).tiny)))


def _matched_distances(topics: Array, others: Array) -> Array:
    """Compute the distance in total variation of each topic (K, words) from its partner among the other topics."""
    pairs = np.array([np.abs(others - topic).sum(axis=1) / 2 for topic in topics])
    own, partner = linear_sum_assignment(pairs)
    return np.asarray(pairs[own, partner])


def _reason(drift: float, distances: Array, chains: int) -> str:
    """Say why the topics of these chains are not to be relied on; empty where nothing speaks against them."""
    reasons = []
    if np.isnan(drift):
        reasons.append("the log joint probability is not a number (NaN) in some record")
    elif drift == UNKNOWN:
        reasons.append(f"fewer than {MIN_RECORDS} records cannot tell whether the log joint probability still changes")
    elif not drift < MAX_RELATIVE_DRIFT:
        said = _apart(drift, MAX_RELATIVE_DRIFT)
        reasons.append(
            f"the log joint probability still changes by {said} of itself, not less than {MAX_RELATIVE_DRIFT:g}"
        )
    if chains == 1 and len(distances) > 1:
        reasons.append("a single chain cannot tell topics from mixtures of topics")
    elif not distances.max() < MAX_TOPIC_DISTANCE:
        unlike = int((distances >= MAX_TOPIC_DISTANCE).sum())
        reasons.append(
            f"the two most probable of {chains} chains differ in {unlike} of {len(distances)} topics, one of which has "
            f"a distance of {_apart(distances.max(), MAX_TOPIC_DISTANCE)}, not below {MAX_TOPIC_DISTANCE:g}"
        )
    return "; ".join(reasons)


def _apart(value: float, limit: float) -> str:
    """Return `value` with two digits, or with as many more as tell it from a limit that it does not equal."""
    written = (f"{value:.{digits}g}" for digits in range(2, 18))
    return f"{value:g}" if value == limit else next(text for text in written if float(text) != limit)
