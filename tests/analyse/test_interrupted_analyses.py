"""An analysis that was interrupted goes on where it stopped, to the same numbers, and trusts nothing that changed."""

import json

import numpy as np
import pytest

from figures.analyse.finished import NOTHING, Finished
from figures.analyse.matrix import held_out
from figures.command_line import main
from simulate.core import stream
from simulate.core.store import FILE

REPEATS = 4
calls = []


@pytest.fixture(autouse=True)
def _nothing_drawn(monkeypatch):
    """No split is counted yet, and no figure is drawn, which takes a second."""
    calls.clear()
    monkeypatch.setattr("figures.core.plot.draw_figure", lambda *_, **__: None)


@pytest.fixture
def table(tmp_path):
    """A small .csv file."""
    return written(tmp_path / "data.csv", stream(0, "interrupted").standard_normal((40, 5)))


def written(path, values):
    np.savetxt(path, values, delimiter=",", header="a,b,c,d,e", comments="")
    return path


def run(table, folder, *options):
    shared = ["--output", str(folder), "--jobs", "1", "--repeats", str(REPEATS)]
    return main(["analyse", str(table), *shared, *options])


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv"}


def interrupted(monkeypatch, after):
    """Split as before, but note each split, and press ^C instead of one more than `after`."""

    def splits(*arguments):
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(arguments[6])
        return held_out.split_errors(*arguments)

    monkeypatch.setattr("figures.analyse.matrix.analyse.split_errors", splits)


@pytest.fixture
def half(table, tmp_path, monkeypatch):
    """The output folder of an analysis of the table that was interrupted after two of its splits."""
    interrupted(monkeypatch, 2)
    assert run(table, tmp_path / "out") == 130
    interrupted(monkeypatch, -1)
    calls.clear()
    return tmp_path / "out"


def test_the_same_command_goes_on(table, half, tmp_path, capsys):
    assert (half / ".partial" / "analyse_data" / FILE).exists()
    assert run(table, half, "--jobs", "1") == 0
    assert "goes on where an interrupted analysis stopped: 2 of its tasks are finished" in capsys.readouterr().out
    assert calls == [2, 3]
    assert run(table, tmp_path / "whole") == 0
    assert contents(half) == contents(tmp_path / "whole")
    assert not [path for path in half.iterdir() if path.name.startswith(".")]


def changed_value(table):
    values = np.loadtxt(table, delimiter=",", skiprows=1)
    values[0, 0] += 1e-9
    written(table, values)


@pytest.mark.parametrize("change", ["contents", "option", "sources"])
def test_nothing_is_trusted_after_a_change(table, half, capsys, monkeypatch, tmp_path, change):
    if change == "contents":
        changed_value(table)
    elif change == "sources":
        (tmp_path / "simulate").mkdir()
        (tmp_path / "simulate" / "another.py").touch()
        monkeypatch.setattr("figures.analyse.finished.ROOT", tmp_path)
    assert run(table, half, *(["--seed", "1"] if change == "option" else [])) == 0
    assert "of other data, other options or another version: it is not used" in capsys.readouterr().out
    assert calls == list(range(REPEATS))
    assert not (half / ".partial").exists()


def test_what_is_broken_is_not_used(table, half, capsys):
    (half / ".partial" / "analyse_data" / FILE).write_bytes(b"\x00\xff" * 40)
    assert run(table, half) == 0
    assert "what an interrupted analysis left cannot be read: it is not used" in capsys.readouterr().out
    assert calls == list(range(REPEATS))


def test_half_a_task_is_not_used(table, half):
    file = half / ".partial" / "analyse_data" / FILE
    file.write_bytes(file.read_bytes()[:-20])
    assert run(table, half) == 0
    assert calls == [1, 2, 3]


def test_an_analysis_that_fails_leaves_nothing(table, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ValueError("lams must be others")

    monkeypatch.setattr("figures.analyse.matrix.analyse.mask_rates", fail)
    assert run(table, tmp_path / "out") == 2
    assert not list((tmp_path / "out").iterdir())


def test_fits_of_sequences_are_kept(tmp_path, capsys, monkeypatch):
    from figures.analyse.sequences import tasks

    file = tmp_path / "family.fasta"
    letters = np.array(list("ACDE"))[stream(0, "kept").integers(0, 4, (60, 6))]
    file.write_text("".join(f">{k}\n{''.join(row)}\n" for k, row in enumerate(letters)), encoding="utf-8")
    shared = ["analyse", str(file), "--jobs", "1", "--l2", "1", "--min-separation", "1", "--output"]

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("figures.analyse.sequences.analyse.learning_task", stopped)
    assert main([*shared, str(tmp_path / "out")]) == 130
    kept = (tmp_path / "out" / ".partial" / "analyse_family.fasta" / FILE).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["key"] for line in kept if '"key"' in line] == ["map"]
    monkeypatch.setattr("figures.analyse.sequences.analyse.learning_task", tasks.learning_task)
    monkeypatch.setattr("figures.analyse.sequences.analyse.map_task", stopped)  # it is not needed again
    assert main([*shared, str(tmp_path / "out")]) == 0
    monkeypatch.setattr("figures.analyse.sequences.analyse.map_task", tasks.map_task)
    assert main([*shared, str(tmp_path / "whole")]) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_nothing_is_kept_where_there_is_no_folder(tmp_path):
    assert NOTHING.said() is None
    NOTHING.discard()
    unused = Finished(tmp_path / "none" / "data", "a")
    assert unused.said() is None
    unused.discard()
