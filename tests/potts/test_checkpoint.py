"""Checkpoints of a model's run: refused where model, start or parameters are others, by names a reader knows."""

import re

import numpy as np
import pytest
from scipy import sparse

from simulate.core import stream
from simulate.potts.checkpoint import Checkpoint, CheckpointError, digest
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import ring_graph

RING = PottsModel(ring_graph(5), np.eye(3), beta=0.7)
ARRAYS = {"a": np.arange(6).reshape(2, 3), "dynamics.states": np.array([[1, 2]], dtype=np.int8)}


def test_another_run_is_refused_by_name(tmp_path):
    Checkpoint(tmp_path / "run", RING, {"seed": 1, "n_chains": 4}).save(ARRAYS)
    with pytest.raises(CheckpointError, match="of another run: its seed is 1, not 2"):
        Checkpoint(tmp_path / "run", RING, {"seed": 2, "n_chains": 4}).load()
    with pytest.raises(CheckpointError, match="its model differs"):
        Checkpoint(tmp_path / "run", RING.at(0.8), {"seed": 1, "n_chains": 4}).load()
    with pytest.raises(CheckpointError, match=r"its model differs; its seed is 1, not 2\."):
        Checkpoint(tmp_path / "run", RING.at(0.8), {"seed": 2, "n_chains": 4}).load()


def test_the_digest_of_the_start_is_not_shown(tmp_path):
    Checkpoint(tmp_path / "run", RING, {"seed": 1, "start": "d990"}).save(ARRAYS)
    for seed, differences in ((2, "its seed is 1, not 2."), (1, "its start differs.")):
        with pytest.raises(CheckpointError, match=re.escape(f"of another run: {differences}")):
            Checkpoint(tmp_path / "run", RING, {"seed": seed, "start": "0e4e"}).load()


def test_notes_are_no_checkpoint_of_sample(tmp_path):
    (tmp_path / "run").write_text("notes of mine\n")
    with pytest.raises(CheckpointError, match=r"cannot be read \(it is no checkpoint of `sample`\)"):
        Checkpoint(tmp_path / "run", RING, {}).load()


def test_digest_sees_every_part():
    group = Interaction(np.array([[0, 1, 2]]), [0.5], np.ones((2, 2, 2)))
    other = Interaction(np.array([[0, 1, 3]]), [0.5], np.ones((2, 2, 2)))
    models = [
        RING,
        RING.at(0.71),
        PottsModel(2 * ring_graph(5), np.eye(3), beta=0.7),
        PottsModel(ring_graph(5), 2 * np.eye(3), beta=0.7),
        PottsModel(ring_graph(5), np.eye(3), stream(0).standard_normal((5, 3)), beta=0.7),
        PottsModel(ring_graph(6), np.eye(3), beta=0.7),
        DensePottsModel.of(RING),
        SquareLatticePotts(4, 6, 3),
        SquareLatticePotts(6, 4, 3),
        ManyBodyPottsModel(4, [group]),
        ManyBodyPottsModel(4, [other]),
        ManyBodyPottsModel(4, [group, other]),
    ]
    assert len({digest(model) for model in models}) == len(models)
    again = PottsModel(sparse.coo_array(ring_graph(5)), np.eye(3), beta=0.7)
    assert digest(again) == digest(RING)
