"""What the analysis of an alignment needs, said before it, and what goes wrong on the way, in a reader's words."""

import argparse
import io
import re
from types import MappingProxyType

import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from figures.analyse.command import main
from figures.analyse.sequences import analyse_sequences, needs
from figures.analyse.sequences.needs import Work, memory_bytes, planned_work
from figures.analyse.sequences.run_fits import in_processes
from simulate.core import Task, TaskError, stream
from simulate.potts.inference.memory import peak_bytes

WORK = Work(MappingProxyType({"penalty": 3.0, "map": 5.0, "training/9": 1.0, "noise/0": 2.0, "noise/1": 2.0}), 1, 2e9)


def letters(M=60, L=8):
    return stream(0, "letters").integers(0, 4, (M, L)).astype(np.uint8)


def written(folder, states):
    path = folder / "mine.fasta"
    rows = np.array(list("ACGU"))[states]
    path.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)), encoding="ascii")
    return path


@pytest.mark.parametrize(
    ("states", "reason"),
    [(np.zeros((60, 8), int), "all 60 sequences are equal"), (letters(9), "need at least 10 sequences")],
)
def test_an_estimate_refuses_what_the_analysis_refuses(tmp_path, capsys, states, reason):
    for options in (["--estimate"], []):
        assert main([str(written(tmp_path, states)), *options, "--jobs", "1", "--output", str(tmp_path / "out")]) == 2
        assert reason in capsys.readouterr().err


def test_an_estimate_says_memory_time_and_fits_and_analyses_nothing(tmp_path, capsys, monkeypatch):
    path = written(tmp_path, letters())
    monkeypatch.setattr("figures.analyse.sequences.command.analyse_sequences", None)
    assert main([str(path), "--estimate", "--jobs", "1", "--output", str(tmp_path / "out")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"would need about 3\d\d MB of memory \(.* available\) and about \d s\.", said)
    assert "It holds 60 sequences of 8 sites, which count as about 60." in said
    assert "2 to 4 fits of the pair model to choose the penalty of its couplings, 1 fit to all sequences" in said
    assert "19 to columns that were shuffled" in said
    assert not list((tmp_path / "out").iterdir())
    assert main([str(path), "--estimate", "--l2", "1", "--clones", "1", "--jobs", "1", "--output", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "to choose the penalty" not in said
    assert "The clones take time of their own" in said


def test_the_planned_fits_are_those_of_the_analysis(monkeypatch):
    keys = []

    def watched(tasks, **options):
        found = original(tasks, **options)
        keys.extend(found)
        return found

    original = carried_out()
    monkeypatch.setattr("figures.analyse.sequences.run_fits.sweep", watched)
    for l2 in (None, 1.0):
        keys.clear()
        found = analyse_sequences(letters(), "ACGU", l2=l2)
        work = planned_work(letters(), 4, found.effective_number, found.sizes, l2 is None, 1)
        assert sorted(work.seconds) == sorted(keys)
        assert all(seconds > 0 for seconds in work.seconds.values())


def carried_out():
    from figures.analyse.sequences import run_fits

    return run_fits.sweep


def test_memory_grows_with_the_fits_at_a_time_and_time_falls():
    one, three = (memory_bytes(1000, 100, 100, 21, jobs) for jobs in (1, 3))
    fit = peak_bytes(100, 21, symmetric=True)
    assert one > fit
    assert 2 * fit < three - one < 2 * fit + 500e6
    assert memory_bytes(10**7, 100, 100, 21, 1) - one > 8 * 100 * (10**7 - 1000) * 0.99
    assert WORK.total == pytest.approx(4 + 13)
    two = Work(WORK.seconds, 2, 0.0)
    assert two.total == pytest.approx(4 + 2 + 3 / 1.5 + 5)
    assert "5 fits" not in two.announcement()
    assert ", 2 fits at a time, more on a busy machine" in two.announcement()


def test_a_long_run_says_at_its_start_what_is_to_come(monkeypatch, capsys):
    said = []
    analyse_sequences(letters(), "ACGU", l2=1.0, progress="mine", say=said.append)
    assert not said  # it is short
    monkeypatch.setattr("figures.analyse.sequences.analyse.ANNOUNCED_SECONDS", 0.0)
    analyse_sequences(letters(), "ACGU", l2=1.0, progress="mine", say=said.append)
    (sentence,) = (" ".join(each.split()) for each in said)
    assert sentence.startswith("To come are 1 fit to all sequences for the scores of pairs, 1 to fewer sequences")
    assert re.search(r"This takes about \d s, more on a busy machine, and about 3\d\d MB of memory\.", sentence)
    assert "mine: 21 fits in" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_one_bar_counts_fits_by_their_time(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with in_processes(1, "mine", WORK) as carry_out:
        carry_out([Task("penalty", float, (1,))])
        first = terminal.getvalue()
        carry_out([Task(key, float, (1,)) for key in WORK.seconds if key != "penalty"])
    assert "mine:  23%" in first  # 3 of 13 seconds
    assert "mine: 100%" in terminal.getvalue()
    assert "about 00:00 left" in terminal.getvalue()


def without_memory():
    raise MemoryError("Unable to allocate 9 GiB")


def broken():
    raise ZeroDivisionError("a defect")


def test_where_the_memory_runs_out_the_cure_is_said(monkeypatch):
    said = "the memory ran out while the pair model was fitted; take fewer columns"
    with in_processes(1, None, None) as carry_out:
        with pytest.raises(MemoryError, match=said):
            carry_out([Task("map", without_memory)])
        with pytest.raises(TaskError, match="a defect"):
            carry_out([Task("map", broken)])

    def killed(*_, **__):
        raise TerminatedWorkerError("A worker process managed by the executor was unexpectedly terminated")

    monkeypatch.setattr("figures.analyse.sequences.run_fits.sweep", killed)
    with in_processes(2, None, None) as carry_out, pytest.raises(MemoryError, match=said):
        carry_out([])


def test_a_penalty_of_zero_is_refused_before_any_fit(tmp_path, capsys):
    path = written(tmp_path, letters())
    assert main([str(path), "--l2", "0", "--jobs", "1", "--output", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "figures analyse: --l2 must be above 0, got 0: without a penalty the couplings of letters that never" in said


def test_the_time_of_many_sequences_is_estimated_from_a_part(monkeypatch):
    states = np.repeat(letters(), 3, axis=0)
    options = argparse.Namespace(jobs=1, reweight=None, identity=0.8, seed=0, test_fraction=0.2, l2=1.0, clones=None)
    data = argparse.Namespace(states=states, tokens=tuple("ACGU"))
    assert "which count as about 60." in needs.needs(data, options).basis
    monkeypatch.setattr(needs, "MOST_COMPARED", 90)
    counted = re.search(r"count as about (\d+)\.", needs.needs(data, options).basis)
    assert 60 < int(counted[1]) <= 180


def test_only_several_processes_are_told_to_be_fewer(monkeypatch):
    def fails(*_, **__):
        raise TaskError("MemoryError: none left")

    monkeypatch.setattr("figures.analyse.sequences.run_fits.sweep", fails)
    for jobs, told in ((1, False), (2, True)):
        with in_processes(jobs, None, None) as carry_out, pytest.raises(MemoryError) as error:
            carry_out([])
        assert ("--jobs 1" in str(error.value)) == told
        assert "take fewer columns" in str(error.value)
