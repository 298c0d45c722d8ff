"""Training steps of an attention layer on topics with many tokens, 40 documents of 100 to 150 positions at a time.

The peer is a vectorized numpy step with the logits of all tokens; it is given the documents and masks, which ours
samples.
"""

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics import Training
from simulate.topics.layer import attend
from simulate.topics.run import Run
from theory.models.topics import Masking, TopicModel

SUBJECT = "topics, training with many tokens"
TRAINING = Training(steps=10**6, rate=0.003, loss="squared_mean", concentration=0.1, record_every=10**6)


def numpy_step(layer, batch, moments, step):
    """Squared loss, mean over outputs, and Adam, all with arrays of all D tokens as queries."""
    D, scale = layer.n_tokens, np.sqrt(len(layer.key))
    A = attend(layer.key.T @ layer.query / scale, batch)
    f = A @ layer.value.T + layer.bias
    by_output = 2 * (batch.targets.sum(axis=1, keepdims=True) * f - batch.targets) / D
    by_A = by_output @ layer.value
    by_score = A * (by_A - (A * by_A).sum(axis=1, keepdims=True)) / scale
    by_logits = np.zeros((D, D))
    np.add.at(by_logits, batch.shown, by_score)
    gradients = layer.query @ by_logits, layer.key @ by_logits.T, by_output.T @ A, by_output.sum(axis=0)
    arrays = []
    for array, g, (m, v) in zip(layer.arrays().values(), gradients, moments, strict=True):
        m += 0.1 * (g - m)
        v += 0.001 * (g**2 - v)
        arrays.append(array - 0.003 * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8))
    return arrays


def run_of(size):
    model = TopicModel(n_topics=size, words_per_topic=size, topics_per_document=2)
    return Run(model, Masking(), TRAINING, stream(0, "bench"))


@pytest.mark.parametrize("size", [20, 32, 50])
def test_steps_at_many_tokens(jobs, size):
    """Ours with the sampling of documents and masks, numpy's without."""
    run = run_of(size)
    run.advance()
    batch, layer = run._batch(), run.layer
    moments = [(np.zeros_like(array), np.zeros_like(array)) for array in layer.arrays().values()]
    jobs.compare(
        f"training step, {size} topics of {size} words",
        run.advance,
        {"numpy, all tokens as queries": lambda: numpy_step(layer, batch, moments, 1)},
        rounds=3,
        limit="1 times",
    )


def test_growth_of_the_training_step(jobs):
    def make(tokens):
        run = run_of(round(tokens**0.5))
        run.advance()
        return run.advance

    title = "growth of the time of a training step with the number of different tokens"
    note = "a weight matrix has the square of that many entries"
    jobs.grows(title, (400, 1024, 2500), make, goal="power 2.2", note=note)
