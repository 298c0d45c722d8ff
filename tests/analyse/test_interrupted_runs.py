"""Long runs within an analysis go on from their files: topics, Boltzmann learning, and what is called from Python."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from figures.analyse import analyse
from figures.analyse.finished import BROKEN, LEARNING, MASKS, OF_ANOTHER, TOPICS, Finished
from figures.analyse.matrix import held_out
from figures.analyse.sequences import tasks
from figures.command_line import main
from simulate.core import CheckpointError, stream
from simulate.core.store import FILE
from simulate.potts import pseudo_likelihood
from simulate.potts.boltzmann import fit as learning
from simulate.topics.lda_run import LdaRun

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _nothing_drawn(monkeypatch):
    monkeypatch.setattr("figures.core.plot.draw_figure", lambda *_, **__: None)


def stopped(*_, **__):
    raise KeyboardInterrupt


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".csv", ".json", ".fasta")}


def texts():
    rng = stream(0, "interrupted texts")
    words = [[f"{topic}{a}{b}" for a in "abcdefgh" for b in "klmno"] for topic in ("uu", "vv")]
    return [" ".join(rng.choice(topic, 60)) for topic in words for _ in range(20)]


def of_texts(path, folder):
    options = ["--sweeps", "20", "--permutations", "100", "--topics", "2", "--thresholds", "0.2", "--json"]
    return main(["analyse", str(path), "--kind", "text", "--output", str(folder), *options])


@pytest.fixture(params=["file", "folder"])
def corpus(request, tmp_path):
    """Documents in one file, or each in a file of its own."""
    if request.param == "file":
        path = tmp_path / "corpus.txt"
        path.write_text("\n".join(texts()), encoding="utf-8")
        return path
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number, text in enumerate(texts()):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


def test_an_analysis_of_texts_goes_on(corpus, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("figures.analyse.text.analyse.fit_value_matrix", stopped)
        assert of_texts(corpus, tmp_path / "out") == 130
    (left,) = (tmp_path / "out" / ".partial").iterdir()
    assert [path.name.split(".")[0] for path in left.iterdir()] == [TOPICS]
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(LdaRun, "advance", stopped)  # all topics were sampled
        assert of_texts(corpus, tmp_path / "out") == 0
    assert "an interrupted analysis stopped: the sampling of topics goes on" in capsys.readouterr().out
    assert of_texts(corpus, tmp_path / "whole") == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_another_text_is_begun_anew(corpus, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("figures.analyse.text.analyse.fit_value_matrix", stopped)
        assert of_texts(corpus, tmp_path / "out") == 130
    changed = corpus if corpus.is_file() else corpus / "3.txt"
    changed.write_text(changed.read_text(encoding="utf-8") + " uuak", encoding="utf-8")
    assert of_texts(corpus, tmp_path / "out") == 0
    assert OF_ANOTHER in capsys.readouterr().out


@pytest.fixture
def family(tmp_path):
    drawn = stream(0, "interrupted family").integers(0, 2, (400, 4))
    drawn[:250, 3] = drawn[:250, 0]
    path = tmp_path / "family.fasta"
    rows = ("".join("ACGU"[color] for color in row) for row in drawn)
    path.write_text("".join(f">{k}\n{row}\n" for k, row in enumerate(rows)), encoding="utf-8")
    return path


def of_sequences(path, folder, *options):
    shared = ["--jobs", "1", "--l2", "1", "--no-reweight", "--output", str(folder)]
    return main(["analyse", str(path), *shared, *options])


GENERATION = ("--generate", "5", "--boltzmann", "--json")


def without_seconds(folder):
    found = contents(folder)
    numbers = json.loads(found.pop("analyse_family.fasta.json"))
    numbers["numbers"]["generation"]["fit"]["seconds"] = None
    numbers["conclusions"] = [line.split(" of computing)")[-1] for line in numbers["conclusions"]]
    return found, numbers


@pytest.mark.slow  # fresh chains check the model in both
def test_boltzmann_learning_goes_on_in_an_analysis(family, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(learning, "judged", stopped)
        assert of_sequences(family, tmp_path / "out", *GENERATION) == 130
    left = tmp_path / "out" / ".partial" / "analyse_family.fasta"
    assert sorted(path.name.split(".")[0] for path in left.iterdir()) == [LEARNING, FILE.split(".")[0]]
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr("simulate.potts.boltzmann.course.Course.record", stopped)  # the check alone was left
        patched.setattr("figures.analyse.sequences.analyse.map_task", stopped)
        assert of_sequences(family, tmp_path / "out", *GENERATION) == 0
    assert "tasks are finished, and Boltzmann learning goes on" in capsys.readouterr().out
    assert of_sequences(family, tmp_path / "whole", *GENERATION) == 0
    assert without_seconds(tmp_path / "out") == without_seconds(tmp_path / "whole")
    assert not (tmp_path / "out" / ".partial").exists()


def test_the_model_is_written_from_the_fit_of_the_map(family, tmp_path, monkeypatch):
    fits = []
    monkeypatch.setattr(
        tasks, "pseudo_likelihood", lambda *given, **how: fits.append(1) or pseudo_likelihood(*given, **how)
    )
    assert of_sequences(family, tmp_path / "without") == 0
    usual = len(fits)
    assert of_sequences(family, tmp_path / "out", "--write-model", str(tmp_path / "model.npz"), "--generate", "3") == 0
    assert len(fits) == 2 * usual
    assert not (tmp_path / "out" / ".partial").exists()


def test_the_fit_of_a_finished_map_is_not_made_again(family, tmp_path, monkeypatch):
    options = ("--write-model", str(tmp_path / "model.npz"))
    with monkeypatch.context() as patched:
        patched.setattr("figures.analyse.sequences.analyse.judged", stopped)
        assert of_sequences(family, tmp_path / "out", *options) == 130
    with monkeypatch.context() as patched:
        patched.setattr("figures.analyse.sequences.analyse.map_task", stopped)
        patched.setattr(tasks, "pseudo_likelihood", stopped)
        assert of_sequences(family, tmp_path / "out", *options) == 0
    first = (tmp_path / "model.npz").read_bytes()
    assert of_sequences(family, tmp_path / "whole", *options) == 0
    assert (tmp_path / "model.npz").read_bytes() == first


def table():
    return stream(0, "interrupted array").standard_normal((40, 5))


@pytest.mark.parametrize("form", ["array", "file"])
def test_analyse_in_python_goes_on(tmp_path, monkeypatch, form):
    data = table()
    if form == "file":
        data = tmp_path / "table.npy"
        np.save(data, table())
    calls = []

    def splits(*arguments, most=99):
        if len(calls) == most:
            raise KeyboardInterrupt
        calls.append(arguments[6])
        return held_out.split_errors(*arguments)

    monkeypatch.setattr("figures.analyse.matrix.analyse.split_errors", lambda *arguments: splits(*arguments, most=2))
    options = {"repeats": 4, "jobs": 1, "checkpoint": tmp_path / "kept"}
    with pytest.raises(KeyboardInterrupt):
        analyse(data, **options)
    calls.clear()
    monkeypatch.setattr("figures.analyse.matrix.analyse.split_errors", splits)
    found = analyse(data, **options)
    assert calls == [2, 3]
    assert found.to_json() == analyse(data, repeats=4, jobs=1).to_json()
    assert [*(tmp_path / "kept").iterdir()] == []
    calls.clear()
    analyse(data, **options)
    assert calls == [0, 1, 2, 3]


def test_texts_and_sequences_from_python_go_on(tmp_path, monkeypatch):
    options = {"sweeps": 20, "permutations": 100, "topics": 2, "thresholds": [0.2], "checkpoint": tmp_path}
    with monkeypatch.context() as patched:
        patched.setattr("figures.analyse.text.analyse.fit_value_matrix", stopped)
        with pytest.raises(KeyboardInterrupt):
            analyse(texts(), kind="text", **options)
    with monkeypatch.context() as patched:
        patched.setattr(LdaRun, "advance", stopped)
        found = analyse(texts(), kind="text", **options)
    del options["checkpoint"]
    assert found.to_json() == analyse(texts(), kind="text", **options).to_json()


@pytest.mark.parametrize("given", ["", 3, b"kept"])
def test_what_is_no_folder_is_refused(given):
    with pytest.raises(ValueError, match="checkpoint must be the path of a folder, got"):
        analyse(table(), checkpoint=given)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file: cannot be written to"):
        analyse(table(), repeats=2, jobs=1, checkpoint=tmp_path / "file")


def test_a_state_that_cannot_be_written_is_one_line(tmp_path, capsys, monkeypatch):
    def full(*_):
        raise CheckpointError("checkpoint x cannot be written") from OSError(28, "No space left on device")

    monkeypatch.setattr("simulate.core.checkpoint.Checkpoint.save", full)
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(texts()), encoding="utf-8")
    assert of_texts(path, tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].endswith("out: cannot be written to (No space left on device)")


def test_files_of_runs_are_trusted_only_whole_and_of_the_same_analysis(tmp_path):
    own, other = Finished(tmp_path / "kept", "a" * 64), Finished(tmp_path / "kept", "b" * 64)
    assert own.said() is None
    np.savez(own.file(LEARNING), x=np.arange(5))
    assert own.said() == "goes on where an interrupted analysis stopped: Boltzmann learning goes on"
    assert other.said() == OF_ANOTHER
    own.tidy()
    assert own.file(LEARNING).exists()
    whole = own.file(LEARNING).read_bytes()
    own.file(LEARNING).write_bytes(whole[:-30])
    assert own.said() == BROKEN
    own.tidy()
    assert not own.file(LEARNING).exists()
    np.savez(own.file(MASKS), x=np.arange(5))
    other.tidy()
    assert [*(tmp_path / "kept").iterdir()] == []
    other.discard()
    assert not (tmp_path / "kept").exists()


KILLED = """
import os, signal, sys
import {module} as place
place.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
from figures.command_line import main
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_killed_process_loses_only_what_it_was_at(family, tmp_path, capsys):
    command = ["analyse", str(family), "--jobs", "1", "--l2", "1", "--no-reweight", *GENERATION, "--output"]
    code = KILLED.format(module="simulate.potts.boltzmann.fit", name="judged")
    killed = subprocess.run([sys.executable, "-c", code, *command, str(tmp_path / "out")], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert main([*command, str(tmp_path / "out")]) == 0
    assert "Boltzmann learning goes on" in capsys.readouterr().out
    assert main([*command, str(tmp_path / "whole")]) == 0
    assert without_seconds(tmp_path / "out") == without_seconds(tmp_path / "whole")
