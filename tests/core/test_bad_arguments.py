"""Wrong values in every argument of the shared simulation rooms: refused by name, never raw, hanging or warning."""

import numpy as np
import pytest

from simulate.core import (
    Estimate,
    Extrapolation,
    GeometricMean,
    Share,
    Task,
    discard,
    extrapolate,
    replicate_estimate,
    replicate_tasks,
    replicate_values,
    stream,
    sweep,
)
from simulate.core.checkpoint import Checkpoint
from tests.bad_arguments import Example, assert_all_refused


def draw(model, d, rng):
    return rng.standard_normal()


def kept(checkpoint):
    """The path is what a user gives; the header is written by the functions that keep their runs."""
    return Checkpoint(checkpoint, {"format": "a run, 1"}, of="run").load()


REPLICATES = {"replicate": draw, "model": None, "d": 5, "n": 3, "seed": 1, "names": ("a", 1, 0.5, True)}


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Valid calls; run in a folder of their own, since "text" is the name of a folder too."""
    monkeypatch.chdir(tmp_path)
    estimate = Estimate(1.0, 0.1, 10)
    return {
        "Estimate": Example(Estimate, {"mean": 1.0, "stderr": 0.1, "n": 10}),
        "Extrapolation": Example(Extrapolation, {"mean": 1.0, "stderr": 0.1, "n": 10, "degrees": 12.5}),
        "GeometricMean": Example(GeometricMean, {"mean": 1.0, "stderr": 0.1, "n": 10}),
        "Share": Example(Share, {"mean": 0.5, "stderr": 0.1, "n": 10}),
        "Estimate.of": Example(Estimate.of, {"values": [1.0, 2.0, 4.0]}),
        "Estimate.z": Example(estimate.z, {"predicted": 0.5}),
        "extrapolate": Example(extrapolate, {"small": estimate, "large": estimate}),
        "stream": Example(stream, {"seed": 3}),
        "replicate_tasks": Example(replicate_tasks, REPLICATES),
        "replicate_values": Example(replicate_values, REPLICATES),
        "replicate_estimate": Example(replicate_estimate, REPLICATES),
        "discard": Example(discard, {"folder": "results"}),
        "sweep": Example(
            sweep,
            {
                "tasks": [Task("a", float, (1.0,))],
                "folder": "results",
                "digest": "d",
                "n_jobs": 1,
                "backend": "loky",
                "scheduler": None,
                "progress": None,
            },
        ),
        "Checkpoint": Example(kept, {"checkpoint": "run"}),
    }


def test_a_few(examples):
    assert_all_refused(examples, n=300, seed=0)


@pytest.mark.slow
def test_many(examples):
    assert_all_refused(examples, n=10_000, seed=1)


@pytest.mark.parametrize("name", [None, 2j, np.array([1, 2]), object()])
def test_names_of_streams(name):
    with pytest.raises(ValueError, match=r"names\[0\] must be"):
        stream(0, name)


def test_a_file_in_the_place_of_a_folder_of_results_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("mine")
    discard(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_cannot_be_is_refused_by_name():
    with pytest.raises(ValueError, match="folder must be a path that a file can have"):
        discard("with a zero\0")
