"""Training of factored stacks beside the same in JAX: steps on the exact population of 405 contexts, and epochs.

The steps by hand are in double precision.
"""

import numpy as np
import pytest

from simulate.nets import enumerated_contexts, train_on_population, train_on_sequences
from tests.benchmarks import jax_stacks
from tests.benchmarks.machinery.jobs import Peer
from tests.nets.models import four
from theory.models import FactoredStack

SUBJECT = "attention networks, training"
STEPS, RATE = 200, 0.1
LAYERS = pytest.mark.parametrize("n_layers", [1, 2, 3])


def beside_jax(make):
    """The peer in both precisions; `make` compiles the steps for one."""
    return {f"jax, {each}": Peer(lambda each=each: make(each), made=True) for each in ("float64", "float32")}


@LAYERS
def test_steps_on_the_exact_population(jobs, n_layers):
    contexts, stack = enumerated_contexts(four(5, 3, 0.5)), FactoredStack.deterministic(n_layers, 5, 3)
    jobs.compare(
        f"training step on 405 contexts, N = {n_layers}",
        lambda: train_on_population(stack, contexts, n_steps=STEPS, rate=RATE, record=[STEPS]),
        beside_jax(lambda each: jax_stacks.population_steps(stack, contexts, STEPS, RATE, each)),
        per=float(STEPS),
    )


@LAYERS
def test_epoch_of_sequences(jobs, n_layers):
    """100 steps of 256 sequences with 20 sites and 10 colors; by hand also a loss of ten test sequences."""
    rng = np.random.default_rng(0)
    states, stack = rng.integers(10, size=(25_600, 20)), FactoredStack.random(n_layers, 20, 10, 0.8, rng)
    jobs.compare(
        f"training step of 256 sequences, 20 sites, 10 colors, N = {n_layers}",
        lambda: train_on_sequences(stack, states, states[:10], n_steps=100, rate=RATE, record=[100], rng=rng),
        beside_jax(lambda each: jax_stacks.epoch(stack, states, 256, RATE, each, np.random.default_rng(1))),
        per=100.0,
    )
