"""Training of factored stacks beside the same in JAX: steps on the exact population of 405 contexts, and epochs.

CPU time of one thread; the steps by hand are in double precision. JAX is left out where it is not installed. Run by
`make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted.
"""

import time
from importlib.util import find_spec

import numpy as np
import pytest

from simulate.nets import enumerated_contexts, train_on_population, train_on_sequences
from tests.benchmarks import jax_stacks
from tests.benchmarks.timing import seconds
from tests.nets.models import four
from theory.models import FactoredStack

pytest.importorskip("pytest_benchmark")

STEPS, RATE = 200, 0.1
LAYERS = pytest.mark.parametrize("n_layers", [1, 2, 3])
PRECISIONS = ("float64", "float32") if find_spec("jax") is not None else ()


def beside_jax(benchmark, show, title, ours, peers, n_steps):
    """Times all in turn, so that another load of the machine meets all, and shows microseconds a step."""
    benchmark.pedantic(ours, rounds=1, warmup_rounds=1)
    functions = {"ours": ours} | peers
    rounds = [{name: seconds(each, 1, time.process_time) for name, each in functions.items()} for _ in range(5)]
    best = {name: 1e6 * min(each[name] for each in rounds) / n_steps for name in functions}
    show(title, **best, **{f"{name}_over_ours": best[name] / best["ours"] for name in peers})


@LAYERS
def test_steps_on_the_exact_population(benchmark, show, n_layers):
    contexts, stack = enumerated_contexts(four(5, 3, 0.5)), FactoredStack.deterministic(n_layers, 5, 3)
    peers = {f"jax_{each}": jax_stacks.population_steps(stack, contexts, STEPS, RATE, each) for each in PRECISIONS}

    def ours():
        train_on_population(stack, contexts, n_steps=STEPS, rate=RATE, record=[STEPS])

    beside_jax(benchmark, show, f"microseconds a step on 405 contexts, N={n_layers}", ours, peers, STEPS)


@LAYERS
def test_epoch_of_sequences(benchmark, show, n_layers):
    """100 steps of 256 sequences with 20 sites and 10 colors; by hand also a loss of ten test sequences."""
    rng = np.random.default_rng(0)
    states, stack = rng.integers(10, size=(25_600, 20)), FactoredStack.random(n_layers, 20, 10, 0.8, rng)
    peers = {f"jax_{each}": jax_stacks.epoch(stack, states, 256, RATE, each, rng) for each in PRECISIONS}

    def ours():
        train_on_sequences(stack, states, states[:10], n_steps=100, rate=RATE, record=[100], rng=rng)

    beside_jax(benchmark, show, f"microseconds a step of an epoch of 25,600, N={n_layers}", ours, peers, 100)
