"""Clones of a user's sequences: the files, what is said of them, and what is refused."""

import csv

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences.clones import clone_files, make_clones
from simulate.core import stream
from simulate.core.diagnostics import Diagnosis
from simulate.nets import Clone
from simulate.potts import FitError, MixingError

PLAIN = ["--jobs", "1", "--no-reweight", "--min-separation", "1", "--l2", "0.1"]


def family(M=250, L=5, C=2):
    """Sequences whose sites 0 and 4 agree in nine of ten cases."""
    rng = stream(0, "family of clones", M, L)
    states = rng.integers(0, C, (M, L))
    states[:, -1] = np.where(rng.random(M) < 0.9, states[:, 0], states[:, -1])
    return states


def written(path, states, letters):
    rows = np.array(list(letters))[states]
    path.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)), encoding="ascii")
    return path


@pytest.mark.usefixtures("undrawn")
def test_clone_files_hold_sequences_of_the_same_kind(tmp_path, capsys):
    path = written(tmp_path / "mine.fasta", family(), "AG")
    arguments = [*PLAIN, "--clones", "3"]
    assert main([str(path), "--output", str(tmp_path / "out"), *arguments]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "A clone of order k is a set of new sequences" in said
    assert "The clone of order 2 has 250 sequences from a model of pairs of sites (R-hat of the sampling 1.0" in said
    assert (
        "The clone of order 3 has 250 sequences from a model of pairs and triplets of sites, with a table of its own "
        "for every triplet" in said
    )
    own = read_sequences(path)
    name = tmp_path / "out" / "analyse_mine.fasta"
    distances = []
    for order in (1, 2, 3):
        clone = read_sequences(f"{name}_clone{order}.fasta")
        assert clone.states.shape == own.states.shape
        assert clone.tokens == own.tokens
        distances.append(float((clone.states[:, 0] == clone.states[:, -1]).mean()))
    assert distances[0] < 0.75  # one half, and four standard errors more than .65 would be
    assert min(distances[1:]) > 0.8  # .95, less its shrinkage
    table = (tmp_path / "out" / "analyse_mine.fasta_clones.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    assert [(row["clone"], row["sites"]) for row in rows] == [(str(k), str(r)) for k in (1, 2, 3) for r in (1, 2, 3)]
    assert not [each.name for each in (tmp_path / "out").iterdir() if each.name.startswith(".")]


@pytest.mark.usefixtures("undrawn")
def test_without_the_option_nothing_is_added(tmp_path):
    path = written(tmp_path / "mine.fasta", family(60), "AG")
    assert main([str(path), "--output", str(tmp_path / "out"), *PLAIN]) == 0
    assert not [each.name for each in (tmp_path / "out").iterdir() if "clone" in each.name]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("0", "--clones must be an integer of at least 1, got 0"),
        ("4", "--clones must be 1, 2 or 3, the largest number of sites that interact, got 4"),
        (
            "3",
            "--clones must be at most 2 here: to learn a table for every three of 5 sites with 2 letters takes at "
            "least 100 independent sequences",
        ),
    ],
)
def test_orders_that_cannot_be_had_are_refused(tmp_path, capsys, order, message):
    path = written(tmp_path / "mine.fasta", family(60), "AG")
    assert main([str(path), "--output", str(tmp_path / "out"), *PLAIN, "--clones", order]) == 2
    assert f"figures analyse: {message}" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
def test_a_failed_write_leaves_the_earlier_clone(tmp_path, capsys, monkeypatch):
    path = written(tmp_path / "mine.fasta", family(60), "AG")
    arguments = [str(path), "--output", str(tmp_path), *PLAIN, "--clones", "1"]
    assert main(arguments) == 0
    clone = tmp_path / "analyse_mine.fasta_clone1.fasta"
    earlier = clone.read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", fail)
    assert main([*arguments, "--seed", "1"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert clone.read_bytes() == earlier
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_longer_tokens_become_a_table():
    made = Clone(
        1, "sites", np.array([[0, 1], [1, 1]]), None, True, (), 0.0, 1.0, 1.0, 2.0, "", residual=0.0, iterations=1,
        converged=True,
    )  # fmt: skip
    assert clone_files((made,), ("A", "-")) == {"clone1.fasta": ">clone1_1\nA-\n>clone1_2\n--\n"}
    assert clone_files((made,), ("red", 'a,"b')) == {"clone1.csv": 'red,"a,""b"\n"a,""b","a,""b"\n'}


def test_a_clone_that_cannot_be_had_is_noted():
    states = np.repeat(np.array([[0] * 8, [1] * 8], dtype=np.uint8), 100, axis=0)  # two phases
    made, notes = make_clones(states, 2, np.ones(200), 2, l2=1e-4, field_l2=1e-4, seed=0)
    assert len(made) + len(notes) == 2
    assert made[0].order == 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FitError("pseudo_likelihood did not reach tol = 0.001"), "still changing after 1000 steps"),
        (
            MixingError("why", {"score": Diagnosis(0.0, 1.0, 9.0, 4.0, 1.3, "")}, 30_000, "use betas"),
            "after 30000 passes",
        ),
        (MemoryError("couplings of 9 sites and 2 colors"), "too large for the memory"),
        (ValueError("l2 must be positive"), "cannot be told from these sequences"),
    ],
)
def test_what_stops_a_clone_is_said_in_a_readers_words(monkeypatch, error, words):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("figures.analyse.sequences.clones.clone", fail)
    made, notes = make_clones(family(), 2, np.ones(250), 2, l2=0.5, field_l2=0.01, seed=0)
    assert made == ()
    for order, note in enumerate(notes, start=1):
        assert note.startswith(f"there is no clone of order {order}: ")
        assert words in note
        assert not any(
            word in note for word in ("tol =", "max_iter", "check=False", "betas", "sweeps", "l2 must", "colors")
        )
        assert ("(--l2, now 0.5)" in note) == (order == 2 and isinstance(error, (FitError, MixingError)))
