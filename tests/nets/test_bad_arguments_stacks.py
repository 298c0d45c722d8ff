"""Wrong values of every kind in every argument of what trains and measures stacks are refused by name."""

import numpy as np
import pytest

from simulate.nets import (
    MaskedContexts,
    enumerated_contexts,
    gradient_flow,
    measured_orders,
    sampled_contexts,
    spectral_estimate,
    stack_gradient,
    train_on_population,
    train_on_sequences,
)
from tests.bad_arguments import Example, assert_all_refused
from tests.nets.models import four
from theory.models import FactoredStack

STATES = np.arange(24).reshape(6, 4) ** 2 % 3
CONTEXTS = sampled_contexts(STATES, 3)
STACK = FactoredStack.deterministic(2, 4, 3)
EXAMPLES = {
    "MaskedContexts": Example(
        MaskedContexts, {"states": [[0, 1]], "sites": [1], "weights": [1.0], "targets": [[0.5, 0.5]]}
    ),
    "enumerated_contexts": Example(enumerated_contexts, {"model": four(4, 2, 0.5), "max_states": 100}),
    "sampled_contexts": Example(sampled_contexts, {"states": STATES, "n_colors": 3, "weights": np.arange(6.0)}),
    "stack_gradient": Example(stack_gradient, {"stack": STACK, "contexts": CONTEXTS, "precision": "float64"}),
    "gradient_flow": Example(
        gradient_flow,
        {"stack": STACK, "contexts": CONTEXTS, "stop_loss": 1.05, "max_time": 10.0, "max_evaluations": 10},
    ),
    "measured_orders": Example(measured_orders, {"stack": STACK, "max_contexts": 1000}),
    "train_on_population": Example(
        train_on_population,
        {
            "stack": STACK,
            "contexts": CONTEXTS,
            "n_steps": 3,
            "rate": 0.1,
            "optimizer": "adam",
            "precision": "float64",
            "record": [0, 2],
            "orders": True,
            "save_seconds": 1.0,
        },
    ),
    "train_on_sequences": Example(
        train_on_sequences,
        {
            "stack": STACK,
            "states": STATES,
            "test_states": STATES,
            "n_steps": 3,
            "rng": np.random.default_rng(0),
            "rate": 0.1,
            "batch_size": 2,
            "precision": "float64",
            "record": [0, 2],
        },
    ),
    "spectral_estimate": Example(spectral_estimate, {"states": STATES, "n_colors": 3, "whitened": True}),
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_wrong_values_are_refused_by_name():
    compiled = EXAMPLES["stack_gradient"]  # its kernel takes seconds to compile, which are no hang
    compiled.function(**compiled.keywords)
    assert_all_refused(EXAMPLES, 300, seed=1)


@pytest.mark.slow
def test_ten_thousand_wrong_values_are_refused_by_name():
    assert_all_refused(EXAMPLES, 10_000, seed=2)
