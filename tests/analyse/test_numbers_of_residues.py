"""Residue numbers: what a name promises and a record has, the full sequence, and a line for each column of the file."""

import re

import numpy as np
import pandas as pd
import pytest

from figures.analyse.command import main
from figures.analyse.errors import DataError
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences.numbering import full_sequence
from figures.analyse.sequences.numbering.counting import counted_residues
from figures.analyse.sequences.numbering.full_sequence import numbered_by
from figures.analyse.sequences.numbering.sites import sites_frame
from figures.analyse.sequences.reference import read_reference
from simulate.core import stream

FULL = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV"  # 70 residues
ROW = FULL[4:20] + FULL[25:60]  # 51 of the residues 5 to 60: 5 are missing behind residue 20


def family(path, row=ROW, name="mine/5-60", M=40):
    rng = stream(0, "letters of a family")
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    others = ["".join(letters[rng.integers(0, 20, len(row))]) for _ in range(M)]
    path.write_text("".join(f">{n}\n{r}\n" for n, r in [(name, row), *((f"s{k}", o) for k, o in enumerate(others))]))
    return path


def run(path, output, *options):
    return main([str(path), "--l2", "5", "--jobs", "1", "--no-reweight", "--output", str(output), *options])


def test_a_name_that_promises_what_the_record_has_says_nothing():
    numbers, notes = counted_residues("x/5-8", 4, (5, 8), None)
    assert numbers.tolist() == [5, 6, 7, 8]
    assert notes == ()


@pytest.mark.parametrize(
    ("n", "ends", "first", "numbers", "words"),
    [
        (3, (5, 8), None, [5, 6, 7], "promises 4 residues (5-8), but the record has 3 letters: residues are counted"),
        (3, (5, 8), None, [5, 6, 7], "one by one from 5, so that numbers behind missing letters are off by up to 1"),
        (5, (5, 8), None, [5, 6, 7, 8, 9], "numbers behind surplus letters are off by up to 1"),
        (3, (5, 8), 12, [12, 13, 14], "one by one from 12"),
        (3, (8, 6), None, [8, 7, 6], "numbered downward from 8, as its name says (the other strand)"),
        (3, (8, 6), 1, [1, 2, 3], None),
        (4, (3, 1), None, [1, 2, 3, 4], "would give residues numbers below 1: they are counted from 1"),
        (3, (0, 2), None, [1, 2, 3], "would give residues numbers below 1"),
        (2, None, None, [1, 2], None),
    ],
)
def test_what_is_promised_and_what_is_there(n, ends, first, numbers, words):
    found, notes = counted_residues("x", n, ends, first)
    assert found.tolist() == numbers
    if words is None:
        assert notes == ()
    else:
        assert words in " ".join(notes)
        assert "--first-residue" in " ".join(notes)


@pytest.mark.usefixtures("undrawn")
def test_the_report_says_that_numbers_may_be_off(tmp_path, capsys):
    path = family(tmp_path / "f.fasta")
    assert run(path, tmp_path, "--reference", "mine") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("promises 56 residues (5-60), but the record has 51 letters") == 2  # at the start and at the end
    assert "--reference-sequence FILE numbers by the full sequence" in said
    assert "a site is called by its column in the file, from 1, with its residue beside it" in said


def test_the_full_sequence_gives_the_numbers(tmp_path, capsys):
    pytest.importorskip("Bio")
    path, full = family(tmp_path / "f.fasta"), tmp_path / "full.fasta"
    full.write_text(f">P12345 a protein\n{FULL[:40]}\n{FULL[40:]}\n")
    assert run(path, tmp_path, "--reference", "mine", "--reference-sequence", str(full)) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "numbered by the 70 residues of P12345" in said
    assert "its 51 letters reach from 5 to 60; 51 of 51 are the same" in said
    assert "5 residues between them are not in the alignment" in said
    assert "promises" not in said
    sites = pd.read_csv(tmp_path / "analyse_f.fasta_sites.csv")
    assert sites.residue.tolist() == [*range(5, 21), *range(26, 61)]
    assert all(FULL[number - 1] == letter for number, letter in zip(sites.residue, sites.letter, strict=True))
    pairs = pd.read_csv(tmp_path / "analyse_f.fasta_pairs.csv")
    line = sites.set_index("column")
    for end in "ij":  # one count of sites in both tables
        at = line.loc[pairs[end]]
        assert (at["index"].to_numpy() == pairs[f"index_{end}"].to_numpy()).all()
        assert (at["residue"].to_numpy() == pairs[f"residue_{end}"].to_numpy()).all()


@pytest.mark.parametrize(
    ("row", "first", "numbers", "words"),
    [
        (FULL[10:30], None, range(11, 31), "20 of 20 are the same"),
        (FULL[10:30], 101, range(111, 131), "reach from 111 to 130"),
        (FULL[10:20] + "W" + FULL[21:40], None, range(11, 41), "29 of 30 are the same, and 1 letter other than there"),
        (FULL[10:20] + "X" + FULL[21:40], None, range(11, 41), "29 of 29 are the same"),
        (FULL[10:25] + "WWW" + FULL[25:40], None, [*range(11, 26), 0, 0, 0, *range(26, 41)], "3 letters without a par"),
    ],
)
def test_letters_of_a_row_in_its_full_sequence(tmp_path, row, first, numbers, words):
    pytest.importorskip("Bio")
    path = tmp_path / "full.fasta"
    path.write_text(f">x\n{FULL}\n")
    found, notes = numbered_by(path, "mine", row, first)
    assert found.tolist() == list(numbers)
    assert words in notes[0]


def test_uracil_and_thymine_are_one_letter_and_a_range_of_the_full_sequence_counts(tmp_path):
    pytest.importorskip("Bio")
    path = tmp_path / "full.fasta"
    path.write_text(">x/101-120\nACGTTGCATTAGCCATGGTA\n")
    assert numbered_by(path, "mine", "UUGCAUUAGCC", None)[0].tolist() == list(range(104, 115))


def test_another_sequence_is_refused_with_its_share(tmp_path):
    pytest.importorskip("Bio")
    path = tmp_path / "full.fasta"
    path.write_text(f">x\n{FULL}\n")
    with pytest.raises(DataError, match=r"of 40 letters of mine are the same in 'x' \(\d+ %\), fewer than 80 %"):
        numbered_by(path, "mine", "WCWHCPWNCHWCPHNWCYHP" * 2, None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (">a\nACD\n>b\nACD\n", "holds 2 sequences ('a', 'b'); --reference-sequence is a FASTA of one"),
        (">a\n", "holds no sequence"),
        ("ACD\n", "belongs to no record"),
    ],
)
def test_a_full_sequence_is_one_fasta_record(tmp_path, content, words):
    path = tmp_path / "full.fasta"
    path.write_text(content)
    with pytest.raises(DataError, match=re.escape(words)):
        numbered_by(path, "mine", "ACD", None)


def test_a_full_sequence_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.fasta"):
        numbered_by(tmp_path / "nowhere.fasta", "mine", "ACD", None)


def test_without_biopython_the_message_says_what_installs_it(tmp_path, monkeypatch):
    path = tmp_path / "full.fasta"
    path.write_text(f">x\n{FULL}\n")
    monkeypatch.setattr(full_sequence, "missing_extra", lambda extra, *names: f"{names[0]} is missing: EXTRAS={extra}")
    with pytest.raises(DataError, match=r"needs an alignment of two sequences by Biopython.*EXTRAS=formats"):
        numbered_by(path, "mine", ROW, None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--reference-sequence", "x.fasta"], "--reference-sequence is the full sequence of the sequence that --ref"),
        (["--first-residue", "2"], "--first-residue is a number of the sequence that --reference names"),
        (["--chain", "A"], "--chain is a chain of the structure that --contacts names"),
        (["--max-gaps-column", "0"], "--max-gaps-column must be a number above 0 and at most 1"),
    ],
)
def test_options_that_say_nothing_alone(tmp_path, capsys, options, words):
    assert run(family(tmp_path / "f.fasta"), tmp_path, *options) == 2
    assert words in capsys.readouterr().err


def gapped(path):
    """Column 2 is gaps only, column 3 constant, column 5 mostly gaps; the last two records are mostly gaps."""
    rng = stream(0, "a family with gaps")
    rows = [list("".join(row)) for row in np.array(list("ACGU"))[rng.integers(0, 4, (40, 8))]]
    for k, row in enumerate(rows):
        row[1], row[2] = "-", "G"
        if k % 4:
            row[4] = "-"
        if k >= 38:
            row[:6] = "------"
    path.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)))
    return path, rows


@pytest.mark.usefixtures("undrawn")
def test_every_column_of_the_file_has_a_line(tmp_path, capsys):
    path, rows = gapped(tmp_path / "f.fasta")
    options = ("--max-gaps-column", "0.5", "--max-gaps-sequence", "0.5")
    assert run(path, tmp_path, *options) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 sequences with gaps in more than 50 % of the columns left out (--max-gaps-sequence)" in said
    assert "1 column with gaps in more than 50 % of the sequences (--max-gaps-column) left out: 5" in said
    assert "its index from 1 to 6 without the columns that were left out" in said
    assert "EVcouplings" not in said
    sites = pd.read_csv(tmp_path / "analyse_f.fasta_sites.csv")
    assert sites.columns.tolist() == ["index", "column", "residue", "letter", "gap_share", "entropy", "status"]
    assert sites.column.tolist() == list(range(1, 9))
    assert sites["index"].fillna(0).tolist() == [1, 0, 2, 3, 0, 4, 5, 6]
    assert sites.status[1] == "gaps only"
    assert sites.status[2] == "the same in all sequences: predicted alone, in no pair"
    assert sites.status[4] == "gaps in more than 50 % of the sequences (--max-gaps-column)"
    assert sites.status[0] == "analyzed"
    assert sites.gap_share[4] == pytest.approx(28 / 38)
    assert sites.gap_share[1] == 1
    column = [row[5] for row in rows[:38]]
    shares = np.array([column.count(letter) for letter in "ACGU"]) / 38
    assert sites.entropy[5] == pytest.approx(-(shares @ np.log(shares)))
    assert sites.entropy[2] == 0
    assert sites.letter[2] == "G"
    matrix = np.loadtxt(tmp_path / "analyse_f.fasta_ccmpred.mat")
    pairs = pd.read_csv(tmp_path / "analyse_f.fasta_pairs.csv")
    assert matrix.shape == (6, 6)
    for pair in pairs.itertuples():  # the row of a matrix is the index
        assert matrix[pair.index_i - 1, pair.index_j - 1] == pytest.approx(pair.score, abs=1e-4)
    drawn = pd.read_csv(tmp_path / "analyse_f.fasta.csv")
    columns = drawn[drawn.curve == "column"]
    assert columns.theory.tolist() == [1, 3, 4, 6, 7, 8]  # the axes of the map


@pytest.mark.usefixtures("undrawn")
def test_by_default_nothing_is_left_out_and_the_usual_filters_are_named(tmp_path, capsys):
    path, _ = gapped(tmp_path / "f.fasta")
    assert run(path, tmp_path) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "all are analyzed; EVcouplings would leave out 2 sequences with gaps in more than 50 % of the columns" in said
    )
    assert "and 1 column with gaps in more than 30 % of the sequences" in said
    assert len(pd.read_csv(tmp_path / "analyse_f.fasta_weights.csv")) == 40


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-gaps-sequence", "0.01"], "--max-gaps-sequence 0.01 leaves no sequence; at least two are needed"),
        (["--max-gaps-column", "0.01"], "--max-gaps-column 0.01 leaves no column; at least two are needed"),
    ],
)
def test_filters_that_leave_nothing(tmp_path, capsys, options, words):
    rows = [["A", "C", "G", "U", "A", "C", "G", "U"] for _ in range(40)]
    for k, row in enumerate(rows):  # a gap in every row, and in every column
        row[k % 8] = "-"
    path = tmp_path / "f.fasta"
    path.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)))
    assert run(path, tmp_path, *options) == 2
    assert words in capsys.readouterr().err


def test_columns_of_other_files(tmp_path):
    stockholm = tmp_path / "f.sto"
    stockholm.write_text("# STOCKHOLM 1.0\na  AC-GU\nb  AU-GA\n#=GC RF x.xxx\n//\n")
    sequences = read_sequences(stockholm)
    reference = read_reference(sequences, "b", "auto", None)
    frame = sites_frame(sequences, np.ones(2), np.zeros(3, int), reference)
    assert frame["column"].tolist() == [1, 2, 3, 4, 5]
    assert frame["index"].fillna(0).tolist() == [1, 0, 0, 2, 3]
    assert frame["residue"].fillna(0).tolist() == [1, 0, 0, 3, 4]
    assert frame["status"][1] == "inserts, by the reference line #=GC RF"
    assert frame["status"][2] == "gaps only"
    table = tmp_path / "tokens.csv"
    table.write_text("".join(f"{k},{k % 3},{k % 2},{k % 5}\n" for k in range(30)))
    sequences = read_sequences(table, columns="2-4")
    frame = sites_frame(sequences, np.ones(30), np.zeros(3, int), None)
    assert frame["index"].fillna(0).tolist() == [0, 1, 2, 3]
    assert frame["status"][0] == "not chosen (--columns)"
    inserts = tmp_path / "f.a2m"
    inserts.write_text(">one\nAC.g-U\n>two\nGCa.-A\n")
    frame = sites_frame(read_sequences(inserts), np.ones(2), np.zeros(3, int), None)
    assert frame["column"].tolist() == [1, 2, 3, 4]
    assert frame["status"].tolist()[2] == "gaps only"
