"""Alignments as other programs write them: what is read, and what is named for what it is."""

import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences import read_sequences
from tests.analyse.aligned import text


@pytest.mark.parametrize("mark", list("_.~*"))
def test_letters_that_the_user_lists_are_letters(write, mark):
    found = read_sequences(write("x.fasta", f">a\nHP{mark}-\n>b\nP{mark}HP\n>c\nHH{mark}P\n"), alphabet=f"HP{mark}")
    assert text(found) == [f"HP{mark}-", f"P{mark}HP", f"HH{mark}P"]
    others = "".join(other for other in "_.~" if other != mark)
    rows = [f"H{mark}P{others}", f"PH{mark}{'H' * len(others)}"]
    found = read_sequences(write("y.fasta", f">a\n{rows[0]}H\n>b\n{rows[1]}P\n"), alphabet=f"HP{mark}")
    assert text(found) == [f"H{mark}P{'-' * len(others)}H", f"{rows[1]}P"]  # marks that are not listed are gaps


def test_inserts_are_left_out_beside_letters_of_the_users_own(write):
    found = read_sequences(write("x.a3m", ">a\nHPppH\n>b\nPHH\n>c\nH-hP\n"), alphabet="HP")
    assert text(found) == ["HPH", "PHH", "H-P"]
    assert "3 small letters left out: inserts, which have no column" in found.notes
    found = read_sequences(write("x.a2m", ">a\nHP.h\n>b\nPxHH.\n>c\nHHh.\n"), alphabet="HPh.")
    assert text(found) == ["HP.h", "PHH.", "HHh."]  # only what is not listed is an insert


def test_records_of_hh_suite_are_left_out_and_said(write):
    extra = ">ss_pred PSIPRED\nHHHC\n>ss_conf\n9981\n>sa_dssp\nABCD\n>Consensus\nxCGU\n"
    found = read_sequences(write("x.a3m", extra + ">q_consensus\nACGU\n>a\nACGU\n>b\nACGA\n"))
    assert text(found) == ["ACGU", "ACGA"]
    assert (
        "5 records of structure or consensus left out, as hh-suite adds them: ss_pred, ss_conf, sa_dssp, Consensus, "
        "q_consensus" in found.notes
    )
    assert len(read_sequences(write("x.fasta", ">q_consensus\nACGU\n>a\nACGU\n>b\nACGA\n")).states) == 3


@pytest.mark.parametrize("first", ["3 4 3", "3 4"])
def test_numbers_of_direct_coupling_analysis(write, first):
    path = write("x.dat", f"{first}\n1 2 3 1\n2 2 3 1\n1 1 3 2\n")
    found = read_sequences(path)
    assert found.states.tolist() == [[0, 1, 2, 0], [1, 1, 2, 0], [0, 0, 2, 1]]
    assert "the first line holds the sizes: 3 sequences of 4 sites" in found.notes
    with pytest.raises(DataError, match="its first line says 5 sequences, but 3 follow; is it cut off"):
        read_sequences(write("y.dat", "5 4 3\n1 2 3 1\n2 2 3 1\n1 1 3 2\n"))
    assert len(read_sequences(write("z.dat", "3 3 3\n1 2 3\n2 2 3\n1 1 3\n")).states) == 4  # a row like the others


@pytest.mark.parametrize("header", ["", "name,sequence\n", "id,seq\n"])
@pytest.mark.parametrize("delimiter", [",", "\t", " "])
def test_a_table_of_names_and_sequences(write, header, delimiter):
    rows = f"{header}a,ACGUACGUAC\nb,ACGUACGU-C\nc,CCGUACGUAC\n".replace(",", delimiter)
    found = read_sequences(write("x.csv", rows))
    assert text(found) == ["ACGUACGUAC", "ACGUACGU-C", "CCGUACGUAC"]
    longer = rows + f"d,ACGUACGUACG\n{''.join(f's{k},ACGUACGUAC' + chr(10) for k in range(9))}".replace(",", delimiter)
    with pytest.raises(DataError, match=r"record 4 \('d'\), line \d+: 11 columns, but the first record has 10"):
        read_sequences(write("y.csv", longer))


def test_a_table_of_words_stays_a_table_of_tokens(write):
    assert read_sequences(write("x.csv", "hot,temperature\ncold,temperature\nhot,pressure\n")).states.shape == (3, 2)
    assert read_sequences(write("z.txt", "10 6\nhot cold\nhot mild\nold mild\n")).states.shape == (3, 2)
    assert read_sequences(write("y.csv", "a,temperatures\nb,temperatures\na,humidities.\n")).states.shape == (3, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "@read\nACGU\n+\nIIII\n",
            "is a FASTQ file of reads, which are not aligned; give the",
        ),
        ("LOCUS       X  4 bp\nORIGIN\n", "is a GenBank record"),
        ("HMMER3/f [3.1]\nNAME x\n", "is a profile, no alignment"),
        ("<?xml version='1.0'?>\n<a>\n</a>\n", "is markup"),
    ],
)
@pytest.mark.parametrize("name", ["x.fasta", "x.aln", "x.sto"])
def test_other_formats_are_named(write, name, content, message):
    with pytest.raises(DataError, match=message):
        read_sequences(write(name, content))
