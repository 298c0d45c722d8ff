"""Training of factored stacks beside the same in JAX: steps on the exact population of 405 contexts, and epochs.

Both have gradients of the same precision, and JAX has the loss in the order of products that is fastest there.
"""

import numpy as np
import pytest

from simulate.nets import enumerated_contexts, train_on_population, train_on_sequences
from tests.benchmarks import jax_stacks
from tests.benchmarks.machinery.jobs import Peer
from tests.nets.models import four
from theory.models import FactoredStack

SUBJECT = "attention networks, training"
STEPS, RATE = 1000, 0.1
LAYERS = pytest.mark.parametrize("n_layers", [1, 2, 3])


@pytest.mark.parametrize("precision", ["float64", "float32"])
@LAYERS
def test_steps_on_the_exact_population(jobs, n_layers, precision):
    contexts, stack = enumerated_contexts(four(5, 3, 0.5)), FactoredStack.deterministic(n_layers, 5, 3)
    options = {"n_steps": STEPS, "rate": RATE, "record": [STEPS], "precision": precision}
    train_on_population(
        stack, contexts, **options
    )  # compiles the kernel, where it was not kept, before times are taken
    jobs.compare(
        f"training step on 405 contexts, N = {n_layers}, {precision}",
        lambda: train_on_population(stack, contexts, **options),
        {"jax": Peer(lambda: jax_stacks.population_steps(stack, contexts, STEPS, RATE, precision), made=True)},
        per=float(STEPS),
    )


@pytest.mark.parametrize(
    ("n_sites", "precision"), [(20, "float64"), (50, "float64"), (100, "float64"), (50, "float32")]
)
@LAYERS
def test_epoch_of_sequences(jobs, n_layers, n_sites, precision):
    """100 steps of 256 sequences with 10 colors; by hand also a loss of ten test sequences."""
    rng = np.random.default_rng(0)
    states, stack = rng.integers(10, size=(25_600, n_sites)), FactoredStack.random(n_layers, n_sites, 10, 0.8, rng)
    options = {"n_steps": 100, "rate": RATE, "record": [100], "rng": rng, "precision": precision}
    jobs.compare(
        f"training step of 256 sequences, {n_sites} sites, 10 colors, N = {n_layers}, {precision}",
        lambda: train_on_sequences(stack, states, states[:10], **options),
        {
            "jax": Peer(
                lambda: jax_stacks.epoch(stack, states, 256, RATE, precision, np.random.default_rng(1)), made=True
            )
        },
        per=100.0,
    )
