"""Samplers of topics and masks against exact moments, to one percent, and the defaults that numbers depend on."""

import inspect
from itertools import product

import numpy as np
import pytest

from simulate import topics
from simulate.core import stream
from simulate.topics import gibbs_lda, sample_topic_documents
from simulate.topics.lda import LdaChain
from tests.topics.test_simulate_lda import log_joint
from theory.models.topics import TopicModel


def assert_to_one_percent(values, exact):
    """The error must be so small that one percent is four of them, and the mean must be within four of them."""
    error = values.std() / np.sqrt(len(values))
    assert error < 0.0025 * abs(exact)
    assert abs(values.mean() - exact) < 4 * error


def test_mean_log_joint_of_the_gibbs_sampler():
    counts, priors = np.array([[2, 1, 0], [0, 1, 1]]), (0.7, 0.4)
    logs = np.array([log_joint(counts, z, 2, *priors) for z in product(range(2), repeat=5)])
    weights = np.exp(logs - logs.max())
    exact = weights @ logs / weights.sum()
    means, rng = [], stream(0, "moments of topics")
    for _ in range(1500):
        chain = LdaChain(counts, 2, rng, *priors)
        chain.advance(10)
        records = []
        for _ in range(12):
            chain.advance(2)
            records.append(chain.log_joint())
        means.append(np.mean(records))
    assert_to_one_percent(np.array(means), exact)


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
