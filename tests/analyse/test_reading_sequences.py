"""Files of sequences: what is read, what is said, and what is refused in one line."""

import contextlib
import gzip
import os
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.sequences.formats import Format
from figures.analyse.reading.sequences.recognize import TITLES
from figures.analyse.reading.sequences.records import READERS
from tests.analyse.aligned import text


def said(sequences):
    """All notes in one string."""
    return "; ".join(sequences.notes)


RNA = ">a\nACGU\n>b some words\nAC-U\n>c\nGC-A\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.fasta", RNA),
        ("x.fa", RNA.replace("\n", "\r\n")),
        ("x.fasta", RNA.replace("\n", "\r")),
        ("x.fasta", "\ufeff" + RNA.rstrip()),
        ("x.fasta.gz", gzip.compress(RNA.encode(), mtime=0)),
        ("x.fasta", RNA.encode("utf-16")),
        ("x.fasta", RNA.lower().replace("-", ".")),
        ("x.fasta", RNA.replace("ACGU", "AC\n\n;remark\nG U")),
        ("x.a2m", RNA.replace("AC-U", "AC.gg-U").replace("ACGU", "AC...GU")),
        ("x.a3m", "#A3M#\n" + RNA.replace("AC-U", "ACgg-U")),
        ("x.sto", "# STOCKHOLM 1.0\n#=GF ID x\na ACGU\nb  AC-U\nc\tGC.A\n#=GC SS_cons <..>\n//\n"),
        ("x.stk", "# STOCKHOLM 1.0\na AC\nb AC\nc GC\n\na GU\nb .U\nc .A\n//\n"),
        ("x.sto", "# STOCKHOLM 1.0\na ACgGU\nb AC.-U\nc GC.-A\n#=GC RF AC.gu\n//\n"),
        ("x.csv", "A,C,G,U\nA,C,-,U\nG,C,,A\n"),
        ("x.csv", "p,q,r,s\nA,C,G,U\nA,C,-,U\nG,C,.,A\n"),
        ("x.tsv", "A\tC\tG\tU\nA\tC\t-\tU\nG\tC\t.\tA\n"),
        ("x.txt", "ACGU\nAC-U\nGC.A\n"),
    ],
)
def test_every_format_gives_the_same_alignment(write, name, content):
    found = read_sequences(write(name, content))
    assert found.tokens == ("-", "A", "C", "G", "U")
    assert text(found) == ["ACGU", "AC-U", "GC-A"]
    assert found.gap == 0
    assert found.states.dtype == np.uint8


def test_integers_are_ordered_by_value_and_words_by_spelling(write):
    found = read_sequences(write("x.csv", "10,2\n2,-1\n10,10\n"))
    assert found.tokens == ("-1", "2", "10")
    assert found.states.tolist() == [[2, 1], [1, 0], [2, 2]]
    assert (found.alphabet, found.gap) == ("integers", None)
    found = read_sequences(write("y.csv", "hot,cold\ncold,\nmild,hot\n"), header="no")
    assert found.tokens == ("-", "cold", "hot", "mild")


def test_columns_of_a_table_are_chosen(write):
    path = write("x.csv", "id,p,q,r\nx1,1,2,1\nx2,2,2,3\nx3,1,1,1\n")
    found = read_sequences(path, skip_columns="id")
    assert found.states.tolist() == [[0, 1, 0], [1, 1, 2], [0, 0, 0]]
    assert found.columns.tolist() == [2, 3, 4]
    assert "the first row names the columns" in said(found)


@pytest.mark.parametrize(
    ("letters", "alphabet"),
    [("ACGTNACGTA", "DNA"), ("ACGUNACGUU", "RNA"), ("MKVLAAGICW", "protein"), ("ACGTACDEFH", "protein")],
)
def test_alphabet_by_the_letters(write, letters, alphabet):
    assert read_sequences(write("x.fasta", f">a\n{letters}\n>b\n{letters[::-1]}\n")).alphabet == alphabet


def test_alphabets_can_be_given(write):
    path = write("x.fasta", ">a\nHPab\n>b\nPHba\n>c\nHHb.\n")
    found = read_sequences(path, alphabet="HPab")
    assert found.tokens == ("-", "H", "P", "a", "b")
    assert read_sequences(write("y.fa", ">a\nACGA\n>b\nCAGC\n"), alphabet="protein").alphabet == "protein"
    with pytest.raises(DataError, match=r"--alphabet must be .* at least two letters, each once, got 'A'"):
        read_sequences(path, alphabet="A")
    with pytest.raises(DataError, match="has none of the letters of --alphabet vulcan"):
        read_sequences(write("z.fa", ">a\nEEEE\n>b\nEEEF\n"), alphabet="vulcan")


def test_unknown_letters_become_gaps_or_drop_their_sequence(write):
    path = write("x.fasta", ">a\nACGUA\n>b\nNCGXA\n>c\nUCGUC\n")
    found = read_sequences(path)
    assert text(found)[1] == "-CG-A"
    assert "2 letters that RNA has not (N 1, X 1): read as gaps; --unknown drop" in said(found)
    found = read_sequences(path, unknown="drop")
    assert text(found) == ["ACGUA", "UCGUC"]
    assert "1 sequence with them left out" in said(found)


def test_what_is_odd_is_said(write):
    found = read_sequences(
        write("x.fasta", ">a\nAcG-UT\n>a\nAcG-UA\n>empty\n>c\n------\n>d\nAGGUUU\n>e\nAGG-UU\n>f\nAGGUUU\n")
    )
    notes = said(found)
    assert "1 empty record left out (the first: record 3 ('empty'), line 5)" in notes
    assert "1 record with the name of an earlier one (kept)" in notes
    assert "1 sequence equal to an earlier one (kept: together they count as one)" in notes
    assert "2 small letters read as capitals" in notes
    assert "1 letter T read as U" in notes
    assert "1 sequence of gaps only left out" in notes
    assert "3 columns the same in all sequences" in notes
    found = read_sequences(write("y.fasta", ">a\nA-CG-\n>b\nC.-A-\n"))
    assert "2 columns of gaps only left out: 2, 5" in said(found)
    assert found.columns.tolist() == [1, 3, 4]
    assert "2 small letters left out: inserts" in said(read_sequences(write("z.a2m", ">a\nACggG\n>b\nCCA\n")))


def test_what_is_passed_over_in_a_file_is_said(write):
    two = "# STOCKHOLM 1.0\na ACGU\nb AC-U\n//\n# STOCKHOLM 1.0\nc ACGU\n//\n"
    assert "the first of several alignments is read" in said(read_sequences(write("x.sto", two)))
    assert "several" not in said(read_sequences(write("y.sto", two[: two.index("//") + 3] + "\n")))
    assert "is named .gz, but is not compressed" in said(read_sequences(write("x.fasta.gz", RNA)))
    assert "is named .gz" not in said(read_sequences(write("z.fasta.gz", gzip.compress(RNA.encode(), mtime=0))))


def test_cells_that_are_not_known_are_gaps_and_counted(write):
    found = read_sequences(write("x.csv", "1,2,NA\n1,,nan\n2,1,2\n2,1,1\n"))
    assert found.tokens == ("-", "1", "2")
    assert found.states.tolist() == [[1, 2, 0], [1, 0, 0], [2, 1, 2], [2, 1, 1]]
    assert "2 cells nan or NA: read as gaps" in said(found)
    assert "among integers" not in said(found)


def test_strays_among_integers_are_said(write):
    notes = said(read_sequences(write("x.csv", "1,2,3\n2,1,3\n1,3,2\n1.5,-1,17\n3,-1,cold\n")))
    assert "1 token that is no integer: 1.5 (" in notes
    assert "1 token that is no number: cold (" in notes
    assert "1 token that is negative: -1 (" in notes
    assert "3 tokens that are there only once: 1.5, 17, cold (" in notes
    assert "among integers" not in said(read_sequences(write("y.csv", "a,b,1\nb,a,c\n")))


def test_a_random_choice_holds_no_more_than_it_keeps(write):
    rows = [f"{k:03d}".translate(str.maketrans("0123456789", "ACDEFGHIKL")) for k in range(500)]
    path = write("x.fasta", "".join(f">{k}\n{row}\n" for k, row in enumerate(rows)))
    chosen = [text(read_sequences(path, most=100, seed=seed)) for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(set(chosen[0])) == 100
    assert set(chosen[0]) <= set(rows)
    places = [rows.index(row) for row in chosen[0]]
    assert 180 < np.mean(places) < 320  # 250 with a standard error of 13: no preference for either end
    assert "100 of 500 sequences, chosen at random" in said(read_sequences(path, most=100))
    table = write("x.csv", "".join(",".join(row) + "\n" for row in rows))
    assert len(read_sequences(table, most=100).states) == 100


def test_large_files_are_announced(write, monkeypatch):
    monkeypatch.setattr("figures.analyse.reading.opening.ANNOUNCED_BYTES", 10)
    lines = []
    read_sequences(write("x.fasta", RNA), say=lines.append)
    assert lines[0].endswith(f"x.fasta: reading {len(RNA)} bytes of text")
    monkeypatch.setattr("figures.analyse.memory.available_bytes", lambda: 20)
    with pytest.raises(DataError, match="20 bytes are available; take a random choice with --max-sequences"):
        read_sequences(write("x.fasta", RNA), say=lines.append)
    assert len(read_sequences(write("x.fasta", RNA), most=2, say=lines.append).states) == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.fasta", "", "is empty"),
        ("x.fasta", " \n\n", "is empty"),
        ("x.fasta", b"\x00\x01\x02", "is no text: byte 1 is 0x00"),
        ("x.fasta.gz", gzip.compress(RNA.encode(), mtime=0)[:-12], "is damaged or cut off"),
        ("x.fasta", ">a\nACGU\n", "holds one sequence; how sites depend on each other is learned from hundreds"),
        ("x.fasta", ">a\n>b\n", "holds no sequence"),
        ("x.fasta", ">a\n----\n>b\n----\n", "holds gaps only"),
        ("x.fasta", ">a\nA--\n>b\nC--\n", "has 1 column with letters; at least two are needed"),
        ("x.fasta", "ACGU\n>a\nACGU\n", "line 1: 'ACGU' belongs to no record; each begins with a line >name"),
        ("x.fasta", ">a\nACGU\n>b c\nACG\n", r"record 2 \('b'\), line 3: 3 columns, but the first record has 4; align"),
        ("x.fasta", ">a\nACGU\n>b\nACGaU\n", "name the file .a2m or .a3m where small letters are inserts"),
        ("x.a2m", ">a\nacgu\n>b\naccu\n", "has small letters only, which are inserts .* name it .fasta"),
        ("x.a2m", ">a\nACGU\n>b\nACG.\n", "not counting dots and small letters; where dots are gaps name the file"),
        ("x.fasta", ">a\nAC1U\n>b\nACGU\n", r"record 1 \('a'\), line 1: '1' at column 3 is no letter and no gap"),
        ("x.fasta", ">a\nAC\u00e9U\n>b\nACGU\n", "is no letter and no gap"),
        ("x.sto", RNA, "does not begin with # STOCKHOLM 1.0"),
        ("x.sto", "# STOCKHOLM 1.0\nACGU\n//\n", "line 2: 'ACGU' is no name with its sequence"),
        ("x.sto", "# STOCKHOLM 1.0\na ACGU\nb ACG\n//\n", r"record 2 \('b'\), line 3: 3 columns"),
        ("x.sto", "# STOCKHOLM 1.0\na ACGU\nb ACG\n#=GC RF ACG.\n", "3 columns, but the reference line #=GC RF has 4"),
        ("x.csv", "1,2\n1\n", "row 2 has 1 cell, but the others have 2; make all rows equally long"),
        ("x.csv", "\n".join(f"{k},{k + 0.5}" for k in range(300)), "more than 250 different tokens by row"),
        ("x.csv", f"a,{'ACGU' * 20}\nb,{'CCGU' * 20}\na,\n", "is longer than a token"),
        ("x.csv", "a,b\n1,2\n", "holds one sequence"),
    ],
)
def test_what_cannot_be_used_is_one_line(write, name, content, message):
    path = write(name, content)
    with pytest.raises(DataError, match=message) as problem:
        read_sequences(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert "\n" not in str(problem.value)


def test_files_that_cannot_be_opened(write, tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_sequences(tmp_path / "absent.fasta")
    with pytest.raises(DataError, match="is a folder"):
        read_sequences(tmp_path)
    with pytest.raises(DataError, match="is an alignment; --columns and --skip-columns choose columns of tables"):
        read_sequences(write("x.fasta", RNA), columns="1")
    with pytest.raises(DataError, match="--max-sequences must be at least 2, got 1"):
        read_sequences(write("x.fasta", RNA), most=1)
    path = write("closed.fasta", RNA)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("permissions do not bind this user")
    with pytest.raises(DataError, match="no permission to read it"):
        read_sequences(path)


@given(
    rows=st.integers(2, 30).flatmap(
        lambda L: st.lists(st.text("ACDEFGHIKLMNPQRSTVWY-", min_size=L, max_size=L), min_size=2)
    ),
    width=st.integers(1, 40),
    end=st.sampled_from(("\n", "\r\n")),
)
def test_what_was_written_is_read(tmp_path_factory, rows, width, end):
    """Round trip of any alignment through wrapped lines, but for rows and columns without a letter."""
    path = tmp_path_factory.mktemp("round") / "x.fasta"
    lines = [
        f">{k}{end}" + end.join(row[i : i + width] for i in range(0, len(row), width)) for k, row in enumerate(rows)
    ]
    path.write_bytes((end.join(lines) + end).encode())
    letters = np.array([list(row) for row in rows])
    letters = letters[(letters != "-").any(axis=1)]
    sites = (letters != "-").any(axis=0)
    if len(letters) < 2 or sites.sum() < 2:
        with pytest.raises(DataError):
            read_sequences(path, alphabet="protein")
        return
    found = read_sequences(path, alphabet="protein")
    assert text(found) == ["".join(row) for row in letters[:, sites]]
    assert found.columns.tolist() == (np.flatnonzero(sites) + 1).tolist()


@given(content=st.binary(max_size=200), name=st.sampled_from(("x.fasta", "x.a3m", "x.sto", "x.csv", "x.txt")))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(content)
    with contextlib.suppress(DataError):  # which is one line by construction
        found = read_sequences(path)
        assert found.states.max() < len(found.tokens)


def test_every_form_has_a_reader():
    """The last of the readers was once that of FASTA for whatever had none."""
    own = {one for part in get_args(Format) for one in (get_args(part) or (part,))} - set(TITLES)
    assert own - {"table", "names", "stockholm"} == set(READERS)
