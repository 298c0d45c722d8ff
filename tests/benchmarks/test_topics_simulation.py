"""Topics: Gibbs sampling beside the package `lda`, and a training step beside plain numpy over positions.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted.
"""

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics import Training, sample_topic_documents
from simulate.topics.lda import LdaChain
from simulate.topics.run import Run
from tests.benchmarks.timing import seconds
from theory.models.topics import Masking, TopicModel

pytest.importorskip("pytest_benchmark")

N_TOPICS, SWEEPS = 20, 30
MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
TRAINING = Training(steps=10**6, rate=0.003, loss="squared_mean", concentration=0.1, record_every=10**6)


@pytest.mark.filterwarnings("ignore:unclosed file")  # of the package's own reader
def test_gibbs_beside_lda(benchmark, show):
    """Reuters corpus of that package, 84 010 tokens; sampling only, and the same number of sweeps."""
    lda = pytest.importorskip("lda", reason="the package lda is absent")
    counts = lda.datasets.load_reuters().astype(np.int64)
    one, more = (
        lda.LDA(n_topics=N_TOPICS, n_iter=n, alpha=0.1, eta=0.01, random_state=0, refresh=10**6)
        for n in (1, 1 + SWEEPS)
    )
    chain = LdaChain(counts, N_TOPICS, stream(0, "bench"), 0.1, 0.01)
    chain.advance(1)
    benchmark.pedantic(lambda: chain.advance(SWEEPS), rounds=3)
    peer = seconds(lambda: more.fit(counts)) - seconds(lambda: one.fit(counts))  # its start does not count
    ours = benchmark.stats.stats.min
    tokens = SWEEPS * counts.sum()
    show(
        f"Gibbs sampling, Reuters corpus, {N_TOPICS} topics",
        million_tokens_per_s=tokens / ours / 1e6,
        lda_million_per_s=tokens / peer / 1e6,
        times_faster=peer / ours,
        three_hundred_sweeps_s=300 / SWEEPS * ours,
    )


def numpy_gradient(layer, documents):
    """Squared loss, mean over outputs: every document as a list of (shown, true, selected) positions."""
    D, gradient = len(layer.bias), [np.zeros_like(array) for array in layer.arrays().values()]
    n_selected = sum(selected.sum() for _, _, selected in documents)
    scale = np.sqrt(len(layer.key))
    for shown, true, selected in documents:
        X, asked = np.eye(D)[shown], np.flatnonzero(selected)
        K, Q = X @ layer.key.T, X[asked] @ layer.query.T
        score = Q @ K.T / scale
        A = np.exp(score - score.max(axis=1, keepdims=True))
        A /= A.sum(axis=1, keepdims=True)
        mixed = A @ X
        by_output = 2 * (mixed @ layer.value.T + layer.bias - np.eye(D)[true[asked]]) / (n_selected * D)
        by_A = by_output @ layer.value @ X.T
        by_score = A * (by_A - (A * by_A).sum(axis=1, keepdims=True)) / scale
        parts = ((by_score.T @ Q).T @ X, (by_score @ K).T @ X[asked], by_output.T @ mixed, by_output.sum(axis=0))
        for total, part in zip(gradient, parts, strict=True):
            if total.shape == part.shape:
                total += part
    return gradient


def positions(rng):
    """40 documents of 100 to 150 tokens, masked position by position."""
    for counts in sample_topic_documents(MODEL, 40, rng, length=(100, 150), concentration=0.1).counts:
        true = 1 + np.repeat(np.arange(100), counts)
        selected, u = rng.random(len(true)) < 0.15, rng.random(len(true))
        other = np.where(u < 0.2, rng.integers(1, 101, len(true)), 0)
        yield np.where(selected & (u >= 0.1), other, true), true, selected


def test_step_beside_numpy(benchmark, show):
    """T = v = 10, 40 documents of 100 to 150 tokens: sampling, masks, gradients and Adam, beside gradients alone."""
    run = Run(MODEL, Masking(), TRAINING, stream(0, "bench"))
    run.advance()
    benchmark.pedantic(run.advance, rounds=30)
    documents = list(positions(stream(0, "positions")))
    peer = seconds(lambda: numpy_gradient(run.layer, documents), rounds=10)
    ours = benchmark.stats.stats.min
    show("training step, T = v = 10", ms=1e3 * ours, numpy_ms=1e3 * peer, times_faster=peer / ours)
