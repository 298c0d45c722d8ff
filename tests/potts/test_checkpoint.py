"""Checkpoints: whole or not at all, refused where they are broken or of another run, never destroyed."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from simulate.core import stream
from simulate.potts.checkpoint import Checkpoint, CheckpointError, digest
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import ring_graph

RING = PottsModel(ring_graph(5), np.eye(3), beta=0.7)
ARRAYS = {"a": np.arange(6).reshape(2, 3), "dynamics.states": np.array([[1, 2]], dtype=np.int8)}


def test_what_is_saved_comes_back(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", RING, {"seed": 1, "thin": None, "betas": [0.1, 0.2]})
    assert checkpoint.load() is None
    checkpoint.save(ARRAYS)
    checkpoint.save(ARRAYS)
    loaded = checkpoint.load()
    assert set(loaded) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].dtype == array.dtype
    assert os.listdir(tmp_path) == ["run"]


def test_another_run_is_refused_by_name(tmp_path):
    Checkpoint(tmp_path / "run", RING, {"seed": 1, "n_chains": 4}).save(ARRAYS)
    with pytest.raises(CheckpointError, match="of another run: its seed is 1, not 2"):
        Checkpoint(tmp_path / "run", RING, {"seed": 2, "n_chains": 4}).load()
    with pytest.raises(CheckpointError, match="its model differs"):
        Checkpoint(tmp_path / "run", RING.at(0.8), {"seed": 1, "n_chains": 4}).load()


@pytest.mark.parametrize("content", [b"", b"notes of mine\n", b"PK\x03\x04 half a zip", b"\x80\x04pickle"])
def test_broken_files_are_refused_and_left(tmp_path, content):
    path = tmp_path / "run"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"cannot be read .* left as it is") as refusal:
        Checkpoint(path, RING, {}).load()
    assert path.read_bytes() == content
    assert "pickle" not in str(refusal.value)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_files_are_refused(tmp_path, share):
    path = tmp_path / "run"
    checkpoint = Checkpoint(path, RING, {})
    checkpoint.save(ARRAYS)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(CheckpointError, match="cannot be read"):
        checkpoint.load()


def test_foreign_archives_are_refused(tmp_path):
    with open(tmp_path / "run", "wb") as file:
        np.savez(file, header=np.array('{"format": "other"}'))
    with pytest.raises(CheckpointError, match=r"its format is .other"):
        Checkpoint(tmp_path / "run", RING, {}).load()
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(CheckpointError, match="cannot be read"):
        Checkpoint(tmp_path / "array.npy", RING, {}).load()
    with pytest.raises(CheckpointError, match="cannot be read"):
        Checkpoint(tmp_path, RING, {}).load()


def test_missing_folder():
    with pytest.raises(CheckpointError, match="the folder /no/such does not exist"):
        Checkpoint("/no/such/run", RING, {})


@pytest.mark.parametrize("path", [5, "", None])
def test_paths_that_are_none(path):
    with pytest.raises(ValueError, match="checkpoint must be the path of a file, got"):
        Checkpoint(path, RING, {})


def test_folders_that_cannot_be_written():
    with pytest.raises(CheckpointError, match="checkpoint /proc/x cannot be written"):
        Checkpoint("/proc/x", RING, {}).save(ARRAYS)


def test_the_digest_of_the_start_is_not_shown(tmp_path):
    Checkpoint(tmp_path / "run", RING, {"seed": 1, "start": "d990"}).save(ARRAYS)
    for seed, differences in ((2, "its seed is 1, not 2."), (1, "its start differs.")):
        with pytest.raises(CheckpointError, match=re.escape(f"of another run: {differences}")):
            Checkpoint(tmp_path / "run", RING, {"seed": seed, "start": "0e4e"}).load()


def test_failed_write_keeps_the_last(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "run", RING, {})
    checkpoint.save(ARRAYS)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CheckpointError, match=r"cannot be written \(.*No space left"):
        checkpoint.save({"a": np.zeros(3)})
    np.testing.assert_array_equal(checkpoint.load()["a"], ARRAYS["a"])
    assert [path.name for path in Path(tmp_path).iterdir()] == ["run"]


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
