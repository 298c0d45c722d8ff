"""Wrong values of every kind in every argument of what trains an encoder are refused by name."""

from functools import cache

import numpy as np
import pytest

from simulate.nets import network, sampled_contexts, train_encoder_on_population, train_encoder_on_sequences
from tests import bad_arguments
from tests.bad_arguments import Example, assert_all_refused
from theory.models import VanillaEncoder

pytestmark = pytest.mark.skipif(network.missing_packages() is not None, reason=str(network.missing_packages()))

STATES = np.arange(24).reshape(8, 3) ** 2 % 2
SETTINGS = VanillaEncoder(n_sites=3, n_colors=2, n_layers=1, n_heads=1, width=2)
COMMON = {
    "settings": SETTINGS,
    "n_steps": 3,
    "seed": 0,
    "rate": 0.01,
    "record": [0, 2],
    "others": {"again": STATES},
    "precision": "float32",
    "save_seconds": 1.0,
}


@cache
def examples():
    trained = train_encoder_on_population(SETTINGS, sampled_contexts(STATES, 2), n_steps=1, seed=0)
    return {
        "train_encoder_on_population": Example(
            train_encoder_on_population, COMMON | {"contexts": sampled_contexts(STATES, 2), "orders": True}
        ),
        "train_encoder_on_sequences": Example(
            train_encoder_on_sequences, COMMON | {"states": STATES, "test_states": STATES, "batch_size": 2}
        ),
        "EncoderTraining.logits": Example(trained.logits, {"states": STATES, "sites": np.zeros(8, dtype=int)}),
    }


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A batch of another size is compiled anew, for more than ten seconds where others use the machine too.
    monkeypatch.setattr(bad_arguments, "SECONDS", 120)


def test_wrong_values_are_refused_by_name():
    assert_all_refused(examples(), 80, seed=1)


@pytest.mark.slow
def test_two_thousand_wrong_values_are_refused_by_name():
    assert_all_refused(examples(), 2_000, seed=2)
