"""Many figures at once: the same bytes as one after the other, and skipped, failing and interrupted ones as there."""

import os
import pickle
import signal

import pytest

from figures.core import Context, side_by_side
from figures.core.discover import find_experiments
from figures.core.outputs import Outputs, Skipped
from figures.core.side_by_side import SECONDS, are_many, expected_seconds
from figures.core.sources import SourceTree
from tests.core.small_checkout import add, checkout, start, wait_until

NAMES = ("slow_toy", "second_toy", "third_toy", "fourth_toy")


def made_by(out):
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def toys(folder, **more):
    """A checkout with four experiments, whose declarations have `more` in them."""
    folder = checkout(folder)
    for name in NAMES:
        add(folder / "figures" / "toy", name, more.get(name, ""))
    return folder


def test_same_bytes_as_one_after_the_other(tmp_path):
    folder = toys(tmp_path / "many", third_toy='skip=lambda: "no data here",')
    for way, arguments in (("together", ["--all", "--jobs", "2"]), ("in turn", ["slow_toy", "--jobs", "1"])):
        process = start(folder, "update", *arguments, "--output", str(tmp_path / way))
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0
        assert ("4 of 4 figures" in error) == (way == "together")
    together, in_turn = (made_by(tmp_path / way) for way in ("together", "in turn"))
    assert {name: together[name] for name in in_turn} == in_turn
    assert {f"slow_toy.{suffix}" for suffix in ("csv", "pdf", "png", "md")} <= set(in_turn)
    assert "second_toy.png" in together
    assert "third_toy.csv" not in together


@pytest.mark.slow
def test_interrupt_and_resume(tmp_path):
    folder = toys(tmp_path / "many")
    process = start(folder, "update", "--all", "--jobs", "2", hold="2")  # replicates of the model 2 do not end
    kept = folder / "figures/output/.partial"
    wait_until(lambda: sum(b"key" in file.read_bytes() for file in kept.glob("*/results.jsonl")) == 2)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == "\ninterrupted; finished replicates are kept, the same command goes on from here\n"
    process = start(folder, "update", "--all", "--jobs", "2")
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert not list(kept.iterdir())


@pytest.mark.parametrize(("n", "n_jobs", "many"), [(1, 1, False), (2, 1, True), (3, 2, False), (4, 2, True)])
def test_every_process_has_two_figures_at_least(n, n_jobs, many):
    assert are_many([None] * n, Context(n_jobs=n_jobs)) is many
    assert not are_many([None] * n, Context(n_jobs=n_jobs, backend="dask"))


def test_the_longest_are_begun_first(tmp_path, monkeypatch):
    seconds = {"short": 1.0, "long": 30.0, "middle": 7.0}
    begun = []

    def run(tasks, _processes):
        begun.extend(task.key for task in tasks)
        yield from ()

    monkeypatch.setattr(side_by_side, "_measured", lambda: seconds)
    monkeypatch.setattr(side_by_side, "run_tasks", run)
    figures = [Outputs(tmp_path / f"{name}.py", tmp_path, SourceTree()) for name in [*seconds, "unknown"]]
    assert side_by_side.make_side_by_side(figures, Context(n_jobs=1), force=False, pictures=False) == []
    assert begun == ["unknown", "long", "middle", "short"]


def test_expected_seconds_are_those_of_experiments(tmp_path):
    names = [line.split()[0] for line in SECONDS.read_text().splitlines() if not line.startswith("#")]
    assert names == sorted(set(names))
    assert set(names) <= set(find_experiments())
    tree = SourceTree()
    assert all(0 < expected_seconds(Outputs(path, tmp_path, tree)) < 600 for path in find_experiments().values())


def test_a_reason_to_skip_survives_pickling():
    reason = pickle.loads(pickle.dumps(Skipped("a_name", "no data here")))
    assert (reason.name, reason.reason, str(reason)) == ("a_name", "no data here", "a_name is skipped: no data here")
