"""Training of factored stacks: a gradient on the exact population of 405 contexts, and an epoch of 25,600 sequences.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted.
"""

import numpy as np
import pytest

from simulate.nets import enumerated_contexts, train_on_sequences
from simulate.nets.stack_gradient import Batch, Weights, loss_and_gradient
from tests.nets.models import four
from theory.models import FactoredStack

pytest.importorskip("pytest_benchmark")


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_gradient_on_the_exact_population(benchmark, n_layers):
    batch = Batch.of(enumerated_contexts(four(5, 3, 0.5)))
    weights = Weights.of(FactoredStack.deterministic(n_layers, 5, 3))
    benchmark(loss_and_gradient, weights, batch)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_epoch_of_sequences(benchmark, n_layers):
    """100 steps of 256 sequences with 20 sites and 10 colors, and two losses of ten test sequences."""
    rng = np.random.default_rng(0)
    states, stack = rng.integers(10, size=(25_600, 20)), FactoredStack.random(n_layers, 20, 10, 0.8, rng)
    options = {"n_steps": 100, "record": [0, 100], "rng": rng}
    benchmark.pedantic(train_on_sequences, (stack, states, states[:10]), options, rounds=3, warmup_rounds=1)
