"""Training steps of topics at many tokens, beside a vectorized numpy step with the logits of all tokens.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. CPU times are shown, never asserted.
"""

import time

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics import Training
from simulate.topics.layer import attend
from simulate.topics.run import Run
from tests.benchmarks.timing import seconds
from theory.models.topics import Masking, TopicModel

pytest.importorskip("pytest_benchmark")

TRAINING = Training(steps=10**6, rate=0.003, loss="squared_mean", concentration=0.1, record_every=10**6)
SIZES = (20, 32, 50)  # topics, and words of each


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


def test_steps_at_many_tokens(benchmark, show):
    """40 documents of 100 to 150 tokens: ours with sampling and masks, numpy's without. The exponent is in T v."""
    times, theirs = [], []
    for size in SIZES:
        model = TopicModel(n_topics=size, words_per_topic=size, topics_per_document=2)
        run = Run(model, Masking(), TRAINING, stream(0, "bench"))
        run.advance()
        batch, layer = run._batch(), run.layer
        moments = [(np.zeros_like(array), np.zeros_like(array)) for array in layer.arrays().values()]
        times.append(seconds(run.advance, 3, time.process_time))
        theirs.append(seconds(lambda x=(layer, batch, moments, 1): numpy_step(*x), 3, time.process_time))
        show(
            f"training step, T = v = {size}",
            cpu_s=times[-1],
            numpy_cpu_s=theirs[-1],
            times_faster=theirs[-1] / times[-1],
        )
    benchmark.pedantic(lambda: None)
    tokens = np.log([size**2 for size in SIZES])
    ours, peer = (float(np.polyfit(tokens, np.log(each), 1)[0]) for each in (times, theirs))
    show("training step, growth with T v", exponent=ours, numpy_exponent=peer)
