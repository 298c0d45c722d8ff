"""Topics of documents: Gibbs sampling of LDA beside other packages, and training of an attention layer beside numpy.

Gibbs sampling is told by the time of one token in one sweep. Beside `lda` a chain is made and begins at random; beside
`tomotopy`, whose priors stay as they are given, both have made twenty sweeps before.
"""

from functools import partial

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics import Training, sample_topic_documents
from simulate.topics.lda_chain import LdaChain
from simulate.topics.run import Run
from tests.benchmarks.machinery.jobs import Peer
from theory.models.topics import Masking, TopicModel

SUBJECT = "topics, simulation"
N_TOPICS, SWEEPS = 20, 30
MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
TRAINING = Training(steps=10**6, rate=0.003, loss="squared_mean", concentration=0.1, record_every=10**6)


def reuters():
    lda = pytest.importorskip("lda", reason="the Reuters corpus comes with the package lda, which is not installed")
    return lda.datasets.load_reuters().astype(np.int64)


def lda_fit():
    import lda

    counts, options = reuters(), {"alpha": 0.1, "eta": 0.01, "random_state": 0, "refresh": 10**6}
    return lambda: lda.LDA(n_topics=N_TOPICS, n_iter=SWEEPS, **options).fit(counts)


@pytest.mark.filterwarnings("ignore:unclosed file")  # of the package's own reader
def test_gibbs(jobs):
    counts = reuters()
    jobs.compare(
        f"Gibbs sampling of a token, {N_TOPICS} topics, Reuters corpus",
        lambda: LdaChain(counts, N_TOPICS, stream(0, "bench"), 0.1, 0.01).advance(SWEEPS),
        {"lda": Peer(lda_fit, made=True)},
        per=float(SWEEPS * counts.sum()),
        goal="1 times",
        limit="0.8 times",
    )


def planted():
    """Two thousand documents of 100 tokens: one hundred topics, of 2000 words each."""
    rng = stream(0, "bench", "words of topics")
    of_topic = rng.dirichlet(np.full(2000, 0.05), 100)
    return np.array([rng.multinomial(100, mixed @ of_topic) for mixed in rng.dirichlet(np.full(100, 0.1), 2000)])


CORPORA = {"Reuters corpus": reuters, "2000 words": planted}


def tomotopy_sweeps(corpus, n_topics, sweeps):
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=0.01, seed=1)
    model.optim_interval = 0  # else it fits the prior of documents, too
    for row in CORPORA[corpus]():
        model.add_doc([str(word) for word in np.repeat(np.arange(len(row)), row)])
    model.train(20, workers=1)
    return lambda: model.train(sweeps, workers=1)


@pytest.mark.filterwarnings("ignore:unclosed file")  # of the package's own reader
@pytest.mark.parametrize(
    ("corpus", "n_topics", "sweeps"),
    [("Reuters corpus", 20, 30), ("Reuters corpus", 100, 20), ("Reuters corpus", 1000, 5), ("2000 words", 100, 10)],
)
def test_gibbs_of_many_topics(jobs, corpus, n_topics, sweeps):
    counts = CORPORA[corpus]()
    chain = LdaChain(counts, n_topics, stream(0, "bench"), 0.1, 0.01)
    chain.advance(20)
    jobs.compare(
        f"a further sweep of Gibbs sampling, a token, {n_topics} topics, {corpus}",
        lambda: chain.advance(sweeps),
        {"tomotopy": Peer(partial(tomotopy_sweeps, corpus, n_topics, sweeps), made=True)},
        per=float(sweeps * counts.sum()),
        goal="1 times",
    )


def test_growth_of_gibbs(jobs):
    def make(n_documents):
        counts = sample_topic_documents(MODEL, n_documents, stream(0, "bench"), length=100, concentration=0.1).counts
        chain = LdaChain(counts, N_TOPICS, stream(1, "bench"), 0.1, 0.01)
        return lambda: chain.advance(3)

    jobs.grows("growth of the time of 3 sweeps of LDA with the documents", (1000, 4000, 16000), make, goal="power 1.2")


class Step:
    """What a user would write: padded positions of 40 documents, a gather for each product, and Adam."""

    def __init__(self, rng, layer):
        self.rng, self.weights = rng, [array.copy() for array in layer.arrays().values()]
        self.moments = [(np.zeros_like(array), np.zeros_like(array)) for array in self.weights]
        self.steps = 0

    def positions(self):
        """Shown and true tokens, which positions exist and which are selected, (40, 150) each."""
        rng, v = self.rng, MODEL.words_per_topic
        chosen = rng.random((40, MODEL.n_topics)).argpartition(2, axis=1)[:, :2]
        share = rng.dirichlet((0.1, 0.1), 40)[:, :1]
        topic = np.take_along_axis(chosen, (rng.random((40, 150)) > share).astype(int), axis=1)
        true = 1 + topic * v + rng.integers(v, size=topic.shape)
        exists = np.arange(150) < rng.integers(100, 151, size=(40, 1))
        selected, u = exists & (rng.random(true.shape) < 0.15), rng.random(true.shape)
        other = np.where(u < 0.2, rng.integers(1, MODEL.n_tokens, true.shape), 0)
        return np.where(selected & (u >= 0.1), other, true), true, exists, selected

    def gradient(self, shown, true, exists, selected):
        """Of the squared loss, mean over outputs, by key, query, value and bias."""
        key, query, value, bias = self.weights
        D, scale = len(bias), np.sqrt(len(key))
        document, position = np.nonzero(selected)
        asked, n = shown[document, position], len(document)
        keys = shown[document]
        score = np.where(exists[document], (key.T @ query / scale)[keys, asked[:, None]], -np.inf)
        A = np.exp(score - score.max(axis=1, keepdims=True))
        A /= A.sum(axis=1, keepdims=True)
        mixed = np.bincount((np.arange(n)[:, None] * D + keys).ravel(), A.ravel(), n * D).reshape(n, D)
        output = mixed @ value.T + bias
        output[np.arange(n), true[document, position]] -= 1
        output *= 2 / (n * D)
        by_A = np.take_along_axis(output @ value, keys, axis=1)
        by_score = A * (by_A - (A * by_A).sum(axis=1, keepdims=True)) / scale
        by_logits = np.bincount((keys * D + asked[:, None]).ravel(), by_score.ravel(), D * D).reshape(D, D)
        return query @ by_logits.T, key @ by_logits, output.T @ mixed, output.sum(axis=0)

    def advance(self):
        self.steps += 1
        for array, gradient, (m, s) in zip(self.weights, self.gradient(*self.positions()), self.moments, strict=True):
            m += 0.1 * (gradient - m)
            s += 0.001 * (gradient**2 - s)
            array -= 0.003 * (m / (1 - 0.9**self.steps)) / (np.sqrt(s / (1 - 0.999**self.steps)) + 1e-8)


def test_training_step(jobs):
    """Documents, masks, gradients and Adam on both sides."""
    run = Run(MODEL, Masking(), TRAINING, stream(0, "bench"))
    step = Step(stream(0, "positions"), run.layer)
    title = "training step, 10 topics of 10 words, 40 documents of 100 to 150 tokens"
    jobs.compare(title, run.advance, {"numpy, vectorized": step.advance}, goal="2 times", limit="1 times")
