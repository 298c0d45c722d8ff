"""Checkpoints: whole or not at all, refused where they are broken or of another run, never destroyed."""

import json
import os
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import simulate.core
import simulate.potts
import simulate.topics
from simulate.core.checkpoint import Checkpoint, CheckpointError, _digest

HEADER = {"format": "a run, 1", "seed": 1, "start": "d990", "chains": {"number": 4, "betas": (0.1, 0.2), "thin": None}}
ARRAYS = {"a": np.arange(6).reshape(2, 3), "dynamics.states": np.array([[1, 2]], dtype=np.int8)}


def of_run(path, **changed):
    return Checkpoint(path, HEADER | changed, of="run", digests=("start",))


def same(loaded):
    return set(loaded) == set(ARRAYS) and all(
        np.array_equal(loaded[name], array) and loaded[name].dtype == array.dtype for name, array in ARRAYS.items()
    )


def test_what_is_saved_comes_back(tmp_path):
    checkpoint = of_run(tmp_path / "run")
    assert checkpoint.load() is None
    checkpoint.save(ARRAYS)
    checkpoint.save(ARRAYS)
    assert same(checkpoint.load())
    assert same(of_run(str(tmp_path / "run")).load())
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_the_last_file_is_replaced_not_written_over(tmp_path):
    checkpoint = of_run(tmp_path / "run")
    checkpoint.save({"a": np.zeros(3)})
    content = (tmp_path / "run").read_bytes()
    with (tmp_path / "run").open("rb") as opened_before:
        checkpoint.save(ARRAYS)
        assert opened_before.read() == content
    assert same(checkpoint.load())


@pytest.mark.parametrize(
    ("changed", "differences"),
    [
        ({"seed": 2}, "its seed is 1, not 2"),
        ({"start": "0e4e"}, "its start differs"),
        ({"seed": 2, "start": "0e4e"}, "its seed is 1, not 2"),  # which explains the start
        ({"chains": HEADER["chains"] | {"thin": 5}}, "its thin is None, not 5"),
        ({"chains": {"number": 4, "betas": [0.1, 0.3]}}, "its betas is [0.1, 0.2], not [0.1, 0.3]"),
        ({"start": "0e4e", "chains": {"number": 8}}, "its start differs; its number is 4, not 8"),
        ({"more": True}, "its more is None, not True"),
        ({"seed": 2, "format": "a run, 2"}, "its format is 'a run, 1', not 'a run, 2'"),
    ],
)
def test_another_run_is_refused_by_name_and_left(tmp_path, changed, differences):
    path = tmp_path / "run"
    of_run(path).save(ARRAYS)
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=re.escape(f"of another run: {differences}. Name another file")):
        of_run(path, **changed).load()
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"notes of mine\n", b"PK\x03\x04 half a zip", b"\x80\x04pickle"])
def test_broken_files_are_refused_and_left(tmp_path, content):
    path = tmp_path / "run"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"cannot be read .* left as it is") as refusal:
        of_run(path).load()
    assert path.read_bytes() == content
    assert "pickle" not in str(refusal.value)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_files_are_refused(tmp_path, share):
    path = tmp_path / "run"
    checkpoint = of_run(path)
    checkpoint.save(ARRAYS)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(CheckpointError, match="cannot be read"):
        checkpoint.load()


@pytest.mark.parametrize(
    ("write", "near", "offset", "byte", "cause"),
    [
        (np.savez, b"PK\x01\x02", 8, 0x01, RuntimeError),  # a flag: the member asks for a password
        (np.savez, b"PK\x01\x02", 10, 0xFF, NotImplementedError),  # its method of compression
        (np.savez, b"NUMPY", 80, 0xFF, zipfile.BadZipFile),  # its content
        (np.savez_compressed, b"header.npy", 30, 0xFF, zlib.error),  # the first byte of its compressed stream
    ],
)
def test_changed_bytes_are_refused(tmp_path, write, near, offset, byte, cause):
    path = tmp_path / "run"
    with path.open("wb") as file:
        text = json.dumps(HEADER)
        write(file, header=np.array(text), digest=np.array(_digest(text, ARRAYS)), **ARRAYS)
    assert same(of_run(path).load())
    content = bytearray(path.read_bytes())
    content[content.index(near) + offset] = byte
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cannot be read") as refusal:
        of_run(path).load()
    assert isinstance(refusal.value.__cause__, cause)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored | {"a": stored["a"] + 1},
        lambda stored: stored | {"a": stored["a"].astype(np.int32)},
        lambda stored: stored | {"a": stored["a"].reshape(3, 2)},
        lambda stored: stored | {"b": stored["a"]},
        lambda stored: {name: array for name, array in stored.items() if name != "a"},
        lambda stored: {name: array for name, array in stored.items() if name != "digest"},
    ],
)
def test_an_edited_checkpoint_with_a_valid_header_is_refused_and_left(tmp_path, change):
    path = tmp_path / "run"
    of_run(path).save(ARRAYS)
    with np.load(path) as stored:
        edited = change(dict(stored))
    with path.open("wb") as file:
        np.savez(file, **edited)
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"was changed since it was written .* left as it is"):
        of_run(path).load()
    assert path.read_bytes() == content


def test_foreign_archives_are_refused(tmp_path):
    for header, stated in (('{"format": "other"}', "'other'"), ("[1, 2]", "[1, 2]"), ('"a run, 1"', "None")):
        with (tmp_path / "run").open("wb") as file:
            np.savez(file, header=np.array(header))
        with pytest.raises(CheckpointError, match=re.escape(f"its format is {stated}, not 'a run, 1'")):
            of_run(tmp_path / "run").load()
    np.savez(tmp_path / "none.npz", a=np.ones(3))
    np.save(tmp_path / "array.npy", np.ones(3))
    for name in ("none.npz", "array.npy"):
        with pytest.raises(CheckpointError, match=r"cannot be read \(it is no checkpoint of `run`\)"):
            of_run(tmp_path / name).load()
    with pytest.raises(CheckpointError, match=r"cannot be read .*Is a directory"):
        of_run(tmp_path).load()


def test_missing_folder():
    with pytest.raises(CheckpointError, match="the folder /no/such does not exist"):
        of_run("/no/such/run")


@pytest.mark.parametrize("path", [5, "", None])
def test_paths_that_are_none(path):
    with pytest.raises(ValueError, match="checkpoint must be the path of a file, got"):
        of_run(path)


def test_folders_that_cannot_be_written():
    with pytest.raises(CheckpointError, match="checkpoint /proc/x cannot be written"):
        of_run("/proc/x").save(ARRAYS)


def test_failed_write_keeps_the_last(tmp_path, monkeypatch):
    checkpoint = of_run(tmp_path / "run")
    checkpoint.save(ARRAYS)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CheckpointError, match=r"cannot be written \(.*No space left"):
        checkpoint.save({"a": np.zeros(3)})
    assert same(checkpoint.load())
    assert [path.name for path in Path(tmp_path).iterdir()] == ["run"]


def test_one_error_for_all_subjects():
    assert simulate.core.CheckpointError is simulate.potts.CheckpointError is simulate.topics.CheckpointError
