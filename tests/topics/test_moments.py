"""Samplers of topics and masks against exact moments, to one percent, and the defaults that numbers depend on."""

import inspect
from itertools import product

import numpy as np
import pytest

from simulate import topics
from simulate.core import stream
from simulate.topics import gibbs_lda, sample_topic_documents
from simulate.topics.lda_chain import LdaChain
from tests.topics.test_simulate_lda import log_joint
from theory.models.topics import TopicModel

COUNTS = np.array([[2, 1, 0], [0, 1, 1]])


def assert_to_one_percent(values, exact):
    """The error must be so small that one percent is four of them, and the mean must be within four of them."""
    error = values.std() / np.sqrt(len(values))
    assert error < 0.0025 * abs(exact)
    assert abs(values.mean() - exact) < 4 * error


def shared_topic(document_prior, word_prior):
    """The exact probability that the first tokens of the first document's two words have one topic."""
    assignments = list(product(range(2), repeat=5))
    logs = np.array([log_joint(COUNTS, z, 2, document_prior, word_prior) for z in assignments])
    weights = np.exp(logs - logs.max())
    return weights @ [z[1] == z[2] for z in assignments] / weights.sum()


def test_shared_topics_of_the_gibbs_sampler():
    """A probability that grows with one prior and falls with the other, so that a wrong one of either is seen."""
    priors, rng, means = (0.7, 0.4), stream(0, "moments of topics"), []
    for _ in range(600):
        chain = LdaChain(COUNTS, 2, rng, *priors)
        chain.advance(20)
        together = 0
        for _ in range(400):
            chain.advance(2)
            together += int(chain.topics[1] == chain.topics[2])
        means.append(together / 400)
    exact = shared_topic(*priors)
    assert_to_one_percent(np.array(means), exact)
    assert shared_topic(0.77, 0.4) < 0.98 * exact
    assert shared_topic(0.7, 0.44) > 1.01 * exact


@pytest.mark.parametrize("concentration", [None, 0.5])
def test_second_moment_of_documents(concentration):
    """The probability that two tokens of a document share a topic: 1/tau, or (1 + a)/(1 + T a) for Dirichlet shares."""
    model = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
    drawn = sample_topic_documents(model, 60_000, stream(0, "moments"), length=20, concentration=concentration)
    of_topic = drawn.counts.reshape(60_000, 4, 3).sum(axis=2)
    shared = (of_topic * (of_topic - 1)).sum(axis=1) / (20 * 19)
    assert_to_one_percent(shared, 1 / 2 if concentration is None else 1.5 / 3)
    assert drawn.lengths.tolist() == [20] * 60_000


DEFAULTS = {
    "gibbs_lda": {"sweeps": 300, "document_prior": 0.1, "word_prior": 0.01, "chains": 4, "record_every": 10},
    "sample_topic_documents": {"length": 100, "concentration": None},
    "Training": {
        "loss": "squared",
        "optimizer": "adam",
        "documents": "sampled",
        "keys": "all",
        "init_noise": 1e-4,
        "batch_size": 40,
        "length": (100, 150),
        "concentration": None,
        "attention_dimension": None,
        "record_every": 100,
        "evaluated": 500,
    },
    "fit_value_matrix": {"bias": "free", "ridge": 0.0, "draws": 1},
    "topic_contrast": {"permutations": 200},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    found = inspect.signature(getattr(topics, name)).parameters
    assert {key: found[key].default for key in DEFAULTS[name]} == DEFAULTS[name]


def test_default_priors_are_those_that_are_stated():
    counts = np.array([[9, 7, 0, 0], [8, 8, 0, 1], [0, 0, 9, 7], [0, 1, 6, 9]])
    given = {"document_prior": 0.1, "word_prior": 0.01, "chains": 4, "record_every": 10}
    default = gibbs_lda(counts, 2, stream(0), sweeps=40)
    explicit = gibbs_lda(counts, 2, stream(0), sweeps=40, **given)
    np.testing.assert_array_equal(default.log_joint, explicit.log_joint)
    assert default.log_joint.shape == (4, 4)
    assert default.recorded.tolist() == [10, 20, 30, 40]
    assert default.iterations == 40
