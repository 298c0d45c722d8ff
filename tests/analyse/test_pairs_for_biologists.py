"""Residue numbers of a reference sequence, weights, and files in the columns of EVcouplings and CCMpred."""

import numpy as np
import pandas as pd
import pytest

from figures.analyse.command import main
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import average_product_corrected
from figures.analyse.sequences.reference import read_reference
from simulate.core import stream

LETTERS = np.array(list("ACGU"))


def alignment(folder, name="family.fasta", columns=8, M=60):
    """A family whose column 2 is a gap in the record called mine/12-19, and whose first and last columns pair."""
    rng = stream(0, "family")
    states = rng.integers(0, 4, (M, columns))
    states[:, -1] = np.where(rng.random(M) < 0.9, 3 - states[:, 0], states[:, -1])
    rows = ["".join(row) for row in LETTERS[states]]
    rows[3] = f"A-{rows[3][2:]}"
    names = ["mine/12-19" if k == 3 else f"s{k}" for k in range(M)]
    path = folder / name
    path.write_text("".join(f">{n} text\n{row}\n" for n, row in zip(names, rows, strict=True)), encoding="ascii")
    return path, rows


def run(path, output, *options):
    arguments = [str(path), "--l2", "1", "--jobs", "1", "--no-reweight", "--output", str(output), *options]
    return main(arguments)


@pytest.mark.usefixtures("undrawn")
def test_residues_of_the_reference_stand_beside_columns(tmp_path, capsys):
    path, rows = alignment(tmp_path)
    assert run(path, tmp_path / "out", "--reference", "mine") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"residues of mine/12-19 (A{rows[3][2:]}..., of which the first is number 12)" in said
    assert f"1-8 (residues A12-{rows[3][7]}18, " in said
    pairs = pd.read_csv(tmp_path / "out" / "analyse_family.fasta_pairs.csv")
    first = pairs.iloc[0]
    assert (first.i, first.residue_i, first.A_i, first.j, first.residue_j, first.A_j) == (
        1,
        12,
        "A",
        8,
        18,
        rows[3][7],
    )
    gaps = pairs[(pairs.i == 2) | (pairs.j == 2)]
    assert len(gaps) == 7
    assert (gaps.residue_i.isna() | gaps.residue_j.isna()).all()


@pytest.mark.usefixtures("undrawn")
def test_other_programs_read_the_pairs(tmp_path, capsys):
    path, rows = alignment(tmp_path)
    assert run(path, tmp_path, "--reference", "4", "--first-residue", "101") == 0
    stem = tmp_path / "analyse_family.fasta"
    names = ["i", "A_i", "j", "A_j", "fn", "cn"]
    couplings = pd.read_csv(f"{stem}_ECs.txt", sep=" ", names=names)  # as EVcouplings reads it
    assert len(couplings) == 7 * 6 / 2  # without the gap of the reference
    assert couplings.cn.is_monotonic_decreasing
    assert couplings.iloc[0, :4].tolist() == [101, "A", 107, rows[3][7]]
    corrected, raw = np.loadtxt(f"{stem}_ccmpred.mat"), np.loadtxt(f"{stem}_ccmpred_raw.mat")
    assert corrected.shape == (8, 8)
    assert corrected == pytest.approx(average_product_corrected(raw), abs=1e-4)
    assert couplings.cn[0] == pytest.approx(corrected[0, 7], rel=1e-4)
    assert couplings.fn[0] == pytest.approx(raw[0, 7], rel=1e-4)


@pytest.mark.usefixtures("undrawn")
def test_without_a_reference_columns_and_their_commonest_letters_stand(tmp_path):
    path, rows = alignment(tmp_path)
    assert run(path, tmp_path) == 0
    couplings = pd.read_csv(tmp_path / "analyse_family.fasta_ECs.txt", sep=" ", header=None)
    assert len(couplings) == 28
    column = [row[0] for row in rows]
    assert couplings.iloc[0, [0, 2]].tolist() == [1, 8]
    assert column.count(couplings.iloc[0, 1]) == max(map(column.count, "ACGU"))


@pytest.mark.usefixtures("undrawn")
def test_weights_are_a_file(tmp_path):
    path, _ = alignment(tmp_path)
    text = path.read_text(encoding="ascii")
    path.write_text(text + text.replace(">s", ">copy"), encoding="ascii")  # every sequence twice
    assert main([str(path), "--l2", "1", "--jobs", "1", "--identity", "1", "--output", str(tmp_path)]) == 0
    weights = pd.read_csv(tmp_path / "analyse_family.fasta_weights.csv")
    assert weights.columns.tolist() == ["sequence", "name", "weight", "cluster"]
    assert weights.weight.to_numpy() == pytest.approx(0.5)
    assert weights.name[4] == "s4"
    assert weights.name[64] == "copy4"
    assert (weights.cluster[:60].to_numpy() == weights.cluster[60:].to_numpy()).all()


@pytest.mark.usefixtures("undrawn")
def test_weights_have_no_names_where_some_records_are_left_out(tmp_path):
    path, _ = alignment(tmp_path)
    assert run(path, tmp_path, "--max-sequences", "40") == 0
    weights = pd.read_csv(tmp_path / "analyse_family.fasta_weights.csv")
    assert weights.columns.tolist() == ["sequence", "weight", "cluster"]
    assert len(weights) == 40


def test_inserts_count_as_residues_and_have_no_column(tmp_path):
    path = tmp_path / "family.a2m"
    path.write_text(">one/5-11\nACgg-U.U\n>two\nAC..GUcU\n>three\nCC..GA.A\n", encoding="ascii")
    found = read_reference(read_sequences(path), "one", "auto", None)
    assert found.numbers.tolist() == [5, 6, 0, 9, 10]
    assert found.letters == ("A", "C", "-", "U", "U")
    assert found.residue(3) == "U9"
    assert found.residue(2) == "gap"
    assert read_reference(read_sequences(path), "2", "auto", None).numbers.tolist() == [1, 2, 3, 4, 6]


def test_columns_that_were_left_out_do_not_shift_the_numbers(tmp_path):
    path = tmp_path / "family.sto"
    path.write_text("# STOCKHOLM 1.0\na  AC-GU\nb  AU-GA\n#=GC RF x.xxx\n//\n", encoding="ascii")
    sequences = read_sequences(path)
    assert sequences.columns.tolist() == [1, 4, 5]  # by the reference line, and without gaps only
    assert read_reference(sequences, "b", "auto", None).numbers.tolist() == [1, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--reference", "her"], "has no sequence 'her' (--reference); the records are called 's0', 's1', 's2'"),
        (["--reference", "61"], "has no sequence '61' (--reference)"),
        (["--first-residue", "3"], "--first-residue is a number of the sequence that --reference names"),
    ],
)
def test_a_reference_that_is_not_there(tmp_path, capsys, options, message):
    path, _ = alignment(tmp_path)
    assert run(path, tmp_path, *options) == 2
    assert message in capsys.readouterr().err


def test_tables_have_no_reference(tmp_path, capsys):
    path = tmp_path / "tokens.csv"
    np.savetxt(path, stream(0, "tokens").integers(0, 3, (40, 6)), fmt="%d", delimiter=",")
    assert run(path, tmp_path, "--kind", "sequences", "--reference", "1") == 2
    assert "is a table; --reference names a sequence of an alignment" in capsys.readouterr().err
