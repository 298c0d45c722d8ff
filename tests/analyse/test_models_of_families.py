"""Models of families: alignments in Python, files that other programs read, and what is refused."""

import os
import re
import struct
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import figures.analyse
from figures.analyse import Alignment, SequenceModel, family_model, read_alignment, read_model, write_model
from figures.analyse.command import main
from figures.analyse.errors import DataError
from simulate.core import stream
from simulate.potts import pseudo_likelihood, sequence_weights
from theory.models import DensePottsModel
from theory.models.potts import mutation_scores

PROTEIN = "-ACDEFGHIKLMNPQRSTVWY"
ENDINGS = ("params", "dat", "npz")
EVCOUPLINGS = os.environ.get("OTHER_PROGRAMS")  # a Python that has evcouplings or adabmDCA, where this one has not


@pytest.fixture(scope="module")
def states():
    rng = stream(0, "states of a family")
    found = rng.integers(0, 21, (300, 6))
    found[:, 4] = np.where(rng.random(300) < 0.7, found[:, 1], found[:, 4])
    return found


@pytest.fixture(scope="module")
def family(states):
    """A model with all that is known, and a target."""
    alignment = Alignment(states, PROTEIN)
    weights = sequence_weights(states, 0.5)
    fit = pseudo_likelihood(states, 21, l2=0.01, field_l2=1e-3, weights=weights)
    found = family_model(fit, alignment, weights=weights, identity=0.5)
    return replace(found, target=states[0], numbers=np.arange(17, 23))


def test_an_alignment_is_letters_and_integers(write):
    found = read_alignment(write("a.fasta", ">one/5-8\nAC-e\n>two\nACDE\n"))
    assert found.rows == ["AC-E", "ACDE"]
    assert found.sequences.tolist() == [[1, 2, 0, 4], [1, 2, 3, 4]]
    assert ("".join(found.alphabet), found.kind, found.gap, len(found), found.n_sites) == ("-ACDE", "protein", 0, 2, 4)
    assert found.names == ("one/5-8", "two")
    assert found.encode("ac.E").tolist() == found.sequences[0].tolist()
    assert found.encode(found.rows).tolist() == found.sequences.tolist()
    reference = found.reference("one")
    assert reference.numbers.tolist() == [5, 6, 0, 7]
    assert repr(found) == "Alignment(2 sequences, 4 sites, protein, alphabet='-ACDE')"


def test_thymine_and_uracil_are_one_base(write):
    found = read_alignment(write("a.fasta", ">one\nACGU\n>two\nGGGU\n"))
    assert found.encode("ACGT").tolist() == found.encode("ACGU").tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [("ACDEF", "text must have 4 letters, .*got 5"), ("ACWE", "alphabet '-ACDE' only, got 'W' at site 3")],
)
def test_text_that_is_no_sequence_of_the_alignment(write, text, message):
    found = read_alignment(write("a.fasta", ">one\nAC-E\n>two\nACDE\n"))
    with pytest.raises(ValueError, match=message):
        found.encode(text)
    with pytest.raises(ValueError, match=message):
        found.encode(["ACDE", text])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 2]], "AC"), "sequences must have colors"),
        (([[0, 1]], "AA"), "alphabet must have each letter once"),
        (([0, 1], "AC"), "sequences must have shape"),
        (([[0, 1]], "AC", ("a", "b")), "names must have one entry for each of 1 sequences"),
        (([[0, 1]], "AC", (), [1]), "columns must have one entry for each of 2 sites"),
    ],
)
def test_what_is_no_alignment(arguments, message):
    with pytest.raises(ValueError, match=message.split(" have colors")[0]):
        Alignment(*arguments)


def test_a_reader_refuses_what_the_program_refuses(write, capsys):
    path = write("a.fasta", ">one\nACDE\n>two\nACD\n")
    with pytest.raises(DataError) as raised:
        read_alignment(path)
    assert main([str(path)]) == 2
    assert str(raised.value) in capsys.readouterr().err
    with pytest.raises(ValueError, match="read from none"):
        Alignment([[0, 1]], "AC").reference("1")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_model_comes_back_as_it_was_written(family, tmp_path, ending):
    again = read_model(write_model(tmp_path / f"m.{ending}", family))
    precision = np.float32 if ending == "params" else np.float64
    for name in ("couplings", "fields", *(() if ending == "dat" else ("frequencies", "pair_frequencies"))):
        assert np.array_equal(getattr(again, name), getattr(family, name).astype(precision)), name
    assert (again.alphabet, again.gauge) == (family.alphabet, "zero_sum")
    if ending == "dat":
        assert again.numbers.tolist() == list(range(1, 7))
        assert (again.target, again.frequencies, again.weights, again.l2, again.identity) == (None,) * 5
        return
    assert again.numbers.tolist() == family.numbers.tolist()
    assert again.target.tolist() == family.target.tolist()
    assert again.weights == pytest.approx(family.weights, rel=1e-6)
    assert (again.identity, again.iterations) == (0.5, family.iterations)
    assert (again.l2, again.field_l2) == pytest.approx((family.l2, family.field_l2), rel=1e-6)
    write_model(tmp_path / f"again.{ending}", again)
    twice = read_model(tmp_path / f"again.{ending}")
    assert np.array_equal(twice.couplings, again.couplings)


def test_what_is_not_known_stays_unknown(family, tmp_path):
    bare = replace(family, target=None, identity=None, l2=None, field_l2=None, iterations=None)
    for ending in ("params", "npz"):
        again = read_model(write_model(tmp_path / f"bare.{ending}", bare))
        assert (again.target, again.identity, again.l2, again.field_l2) == (None,) * 4


def test_the_numbers_of_a_params_file_are_those_of_plmc(family, tmp_path):
    content = write_model(tmp_path / "m.params", family).read_bytes()
    assert struct.unpack("<5i", content[:20]) == (6, 21, 300, 0, family.iterations)
    theta, lambda_h, lambda_j, group, meff = struct.unpack("<5f", content[20:40])
    assert (theta, group) == (0.5, 0)
    assert meff == pytest.approx(family.weights.sum())
    assert (lambda_h, lambda_j) == pytest.approx((1e-3 * meff, 0.01 * meff))  # by the sum of weights, not by M
    assert content[40:61] == PROTEIN.encode()
    assert np.frombuffer(content, "<f4", 300, 61) == pytest.approx(1 / family.weights)
    assert len(content) == 4 * (10 + 300 + 6 + 2 * 6 * 21 + 2 * 15 * 21**2) + 21 + 6


def test_the_gauge_changes_no_probability(states):
    fit = pseudo_likelihood(states, 21, l2=0.01, field_l2=1e-3, gauge="none")
    found = family_model(fit, Alignment(states, PROTEIN))
    assert found.gauge == "zero_sum"
    assert abs(found.couplings.sum(axis=3)).max() < 1e-12
    assert mutation_scores(found.model, states[:3]) == pytest.approx(mutation_scores(fit.model, states[:3]), abs=1e-9)
    assert np.array_equal(found.couplings[1, 4], found.couplings[4, 1].T)


def test_frequencies_are_weighted_shares(family, states):
    own = family.weights / family.weights.sum()
    shares = [own[(states[:, 1] == a) & (states[:, 4] == b)].sum() for a, b in ((3, 3), (5, 2))]
    assert family.pair_frequencies[1, 4, [3, 5], [3, 2]] == pytest.approx(shares)
    assert family.pair_frequencies[1, 4].sum(axis=1) == pytest.approx(family.frequencies[1])


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_that_are_cut_off_or_of_another_kind(family, tmp_path, ending):
    path = write_model(tmp_path / f"m.{ending}", family)
    content = path.read_bytes()
    if ending == "dat":  # cut within the couplings, and within the fields
        cuts = (content[: len(content) // 2], content[:-100])
    else:
        cuts = (content[: len(content) // 2], content[:-1], content[:10])
    for cut in cuts:
        path.write_bytes(cut)
        with pytest.raises(DataError, match=re.escape(str(path))):
            read_model(path)
    for other in (b"", b">name\nACDE\n", b"\x00" * 400, b"PK\x03\x04" + b"\xff" * 60):
        path.write_bytes(other)
        with pytest.raises(DataError):
            read_model(path)


def test_files_say_what_is_wrong(family, tmp_path):
    path = write_model(tmp_path / "m.params", family)
    content = path.read_bytes()
    for changed, message in (
        (content[:-4], r"is cut off: 6 sites, 21 letters and 300 sequences take \d+ bytes"),
        (content + b"\x00", "is longer than its sizes say"),
        (struct.pack("<i", -3) + content[4:], "is no parameter file of plmc, version 2: it would begin with -3 sites"),
        (content[:24] + struct.pack("<f", -1.0) + content[28:], "a model by mean field"),
        (content[:40] + b"AA" + content[42:], "letters twice in its alphabet"),
        (content[:-4] + struct.pack("<f", np.nan), "couplings must be finite, got nan"),
    ):
        path.write_bytes(changed)
        with pytest.raises(DataError, match=message):
            read_model(path)
    text = tmp_path / "m.dat"
    for lines, message in (
        ("J 0 1 A C 0.5\n", "has no line 'h site letter value'"),
        ("h 0 A 1\nh 0 C 1\nh 1 A 1\n", "has 3 fields, where 2 sites and 2 letters have 4"),
        ("J 0 1 A W 0.5\nh 0 A 1\nh 1 A 1\n", "with letters A and W, which have no fields"),
        ("h 0 A nan\n", "has the value nan in line 1, which is not finite"),
        ("h 0 A 1\nJ 0 1 A 0.5\n", "has a line 2 that is neither"),
    ):
        text.write_text(lines, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_model(text)
    np.savez(tmp_path / "m.npz", a=[1])
    with pytest.raises(DataError, match="holds no pair model of sequences, version 1; its arrays are a"):
        read_model(tmp_path / "m.npz")
    with pytest.raises(DataError, match="no such file"):
        read_model(tmp_path / "none.npz")
    with pytest.raises(DataError, match=r"must end in .params \(plmc, EVcouplings\), .dat"):
        read_model(tmp_path / "m.txt")


def test_what_cannot_be_written(family, states, tmp_path):
    fit = pseudo_likelihood(states, 21, l2=0.01, field_l2=1e-3)
    alignment = Alignment(states, PROTEIN)
    for call, message in (
        (lambda: write_model(tmp_path / "m.hdf5", family), "path must end in .params"),
        (lambda: write_model(tmp_path / "m.npz", fit), "alignment must be given with a fit"),
        (lambda: write_model(tmp_path / "m.npz", family, alignment), "must not be given with a SequenceModel"),
        (lambda: write_model(tmp_path / "m.npz", fit, Alignment(states[:, :4], PROTEIN)), "fit must be of the 4 sites"),
        (lambda: write_model(tmp_path / "m.npz", fit, alignment, weights=[1.0]), "weights must be 300 numbers above 0"),
        (lambda: write_model(tmp_path / "m.npz", fit.model.at(2.0), alignment), "fit must be a model at beta = 1"),
        (lambda: write_model(tmp_path / "m.params", replace(family, weights=None)), "model must have weights"),
        (lambda: write_model(tmp_path / "m.dat", replace(family, alphabet=tuple(map(str, range(21))))), "got '10'"),
        (lambda: write_model(tmp_path / "m.params", replace(family, alphabet=("é", *PROTEIN[1:]))), "got 'é'; write"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert list(tmp_path.iterdir()) == []
    longer = replace(family, alphabet=tuple(map(str, range(21))))
    assert read_model(write_model(tmp_path / "m.npz", longer)).alphabet[20] == "20"


def test_an_earlier_file_stays_where_the_new_one_fails(family, tmp_path, monkeypatch):
    path = write_model(tmp_path / "m.params", family)
    before = path.read_bytes()

    def full(self, *arguments):
        raise OSError(28, "No space left on device")

    from figures.analyse.sequences.models import params_file

    monkeypatch.setattr(params_file, "write", lambda file, model: (file.write_bytes(b"half"), full(file)))
    with pytest.raises(OSError, match="No space left"):
        write_model(path, family)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    assert read_model(path).alphabet == family.alphabet
    with pytest.raises(OSError, match=r"m\.params"):
        write_model(tmp_path / "m.params" / "none.params", family)


def test_public_names_are_loaded_by_the_package():
    assert set(figures.analyse.__all__) <= set(dir(figures.analyse))
    assert figures.analyse.SequenceModel is SequenceModel
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        figures.analyse.nothing  # noqa: B018


READ_BY_EVCOUPLINGS = """
import sys, numpy as np
from evcouplings.couplings import CouplingsModel
with open(sys.argv[1], "rb") as file:
    model = CouplingsModel(file)
rows = open(sys.argv[2]).read().split()
np.savez(sys.argv[3], scores=model.hamiltonians(rows)[:, 0], single=model.single_mut_mat_full[:, :, 0],
         target=list(model.target_seq), numbers=model.index_list, cn=model.cn_scores, has=model.has_target_seq)
"""
READ_BY_ADABMDCA = """
import sys, numpy as np, torch
from adabmDCA.io import load_params
found = load_params(sys.argv[1], sys.argv[2], torch.device("cpu"), torch.float64)
np.savez(sys.argv[3], J=found["coupling_matrix"].numpy(), h=found["bias"].numpy())
"""


def other_program(package):
    """A Python that has this package: this one, or that of the variable OTHER_PROGRAMS."""
    for python in filter(None, (sys.executable, EVCOUPLINGS)):
        if subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"needs {package}, here or in the Python that the variable OTHER_PROGRAMS names")


@pytest.mark.slow
def test_evcouplings_gives_the_same_energies_and_mutations(family, states, tmp_path):
    python = other_program("evcouplings.couplings")
    path, rows = write_model(tmp_path / "m.params", family), Alignment(states, PROTEIN).rows
    (tmp_path / "rows").write_text("\n".join(rows), encoding="ascii")
    command = [python, "-W", "ignore", "-c", READ_BY_EVCOUPLINGS, path, tmp_path / "rows", tmp_path / "found.npz"]
    subprocess.run(command, check=True)
    found, again = np.load(tmp_path / "found.npz"), read_model(path)
    assert found["scores"] == pytest.approx(family.model.score(states), abs=1e-6)
    assert found["single"] == pytest.approx(mutation_scores(family.model, states[0]), abs=1e-6)
    assert found["scores"] == pytest.approx(again.model.score(states), abs=1e-12)
    assert "".join(found["target"]) == rows[0]
    assert found["numbers"].tolist() == list(range(17, 23))
    assert found["has"]
    assert found["cn"][1, 4] == found["cn"].max()


@pytest.mark.slow
def test_adabmdca_reads_the_same_parameters(family, tmp_path):
    python = other_program("adabmDCA.io")
    path = write_model(tmp_path / "m.dat", family)
    command = [python, "-W", "ignore", "-c", READ_BY_ADABMDCA, path, PROTEIN, tmp_path / "found.npz"]
    subprocess.run(command, check=True)
    found = np.load(tmp_path / "found.npz")
    assert np.array_equal(found["h"], family.fields)
    assert np.array_equal(found["J"].transpose(0, 2, 1, 3), family.couplings)


def test_scores_of_mutations_are_differences_of_scores():
    rng = stream(0, "couplings of a small model")
    J = rng.standard_normal((4, 4, 3, 3))
    J = J + J.transpose(1, 0, 3, 2)
    J[range(4), range(4)] = 0
    model = DensePottsModel(J, rng.standard_normal((4, 3)), beta=0.7)
    for shape in ((4,), (12, 4)):
        states = rng.integers(0, 3, shape)
        found = mutation_scores(model, states)
        for i in range(4):
            for a in range(3):
                mutant = states.copy()
                mutant[..., i] = a
                assert found[..., i, a] == pytest.approx(0.7 * (model.score(mutant) - model.score(states)), abs=1e-12)
    with pytest.raises(ValueError, match="states"):
        mutation_scores(model, [0, 1, 2])
