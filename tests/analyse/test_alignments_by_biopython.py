"""CLUSTAL, PHYLIP, NEXUS and MSF: read by Biopython, and refused by line where they are cut off or contradict it."""

import sys
from contextlib import suppress

import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.sequences.formats import format_of
from figures.analyse.reading.sequences.recognize import alignment_of
from figures.analyse.reading.sequences.records import records
from figures.analyse.reading.text_file import text_file
from figures.analyse.sequences.reference import read_reference, record_names
from tests.analyse.aligned import text

TITLE = "CLUSTAL W (1.83) multiple sequence alignment\n\n\n"
CLUSTAL = TITLE + "a    ACGU-ACGU\nb    ACGAAACGA\n     *** **** \n\na    AC\nb    AU\n     *\n"
MSF = (
    "!!NA_MULTIPLE_ALIGNMENT 1.0\n\n x.msf MSF: 11 Type: N Check: 0 ..\n\n Name: a Len: 11 Check: 0 Weight: 1.00\n"
    " Name: b Len: 11 Check: 0 Weight: 1.00\n\n//\n\n          1        11\na  ACGU. ACGUAC\nb  ACGAA ACGAAU\n"
)
NEXUS = "#NEXUS\n[a comment]\nBegin data;\nDimensions ntax=2 nchar=11;\nFormat datatype=RNA{};\nMatrix\n{};\nEnd;\n"
FILES = {
    "clustal.aln": CLUSTAL,
    "counted.aln": TITLE + "a    ACGU-ACGU 8\nb    ACGAAACGA 9\n\na    AC 10\nb    AU 11\n",
    "muscle.clustal": "MUSCLE (3.8) multiple sequence alignment\n\n\na  ACGU-ACGUAC\nb  ACGAAACGAAU\n",
    "blank.aln": "\n\n" + CLUSTAL,
    "interleaved.phy": " 2 11\na         ACGU-ACGU\nb         ACGAAACGA\n\n          AC\n          AU\n",
    "strict.phy": " 2 11\nHomo sapieACGU-ACGUAC\nMus musculACGAAACGAAU\n",
    "sequential.phy": " 2 11\na         ACGU-ACGU\nAC\nb         ACGAAACGA\nAU\n",
    "relaxed.phylip": "2 11\na_name_of_many_letters ACGU-ACGUAC\nb ACGAAACGAAU\n",
    "long_sequential.phy": "2 11\na_name_of_many_letters ACGU-ACGU\nAC\nb ACGAAACGA\nAU\n",
    "paml.phy": "2 11\na\nACGU-ACGU\nAC\nb\nACGAAACGAAU\n",
    "plain.nex": NEXUS.format("", "a ACGU-ACGUAC\nb ACGAAACGAAU\n"),
    "blocks.nexus": NEXUS.format(" interleave", "a ACGU-ACGU\nb ACGAAACGA\n\na AC\nb AU\n"),
    "matched.nex": NEXUS.format(" matchchar=.", "a ACGU-ACGUAC\nb ...AA...A.U\n"),
    "marks.nex": NEXUS.format(" gap=~", "'a x' ACGU~ACGUAC\n'b x' ACGAAACGAAU\n"),
    "x.msf": MSF,
    "old.msf": MSF.split("\n", 2)[2],
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_alignment(write, name):
    pytest.importorskip("Bio")
    path = write(name, FILES[name])
    assert text(read_sequences(path)) == ["ACGU-ACGUAC", "ACGAAACGAAU"]
    if alignment_of(FILES[name]) is not None:  # short sequences of PHYLIP show only by the name of the file
        assert text(read_sequences(write("x.fasta", FILES[name]))) == ["ACGU-ACGUAC", "ACGAAACGAAU"]
    file = text_file(path)
    with records(file, format_of(file)) as found:
        for entry in found.entries:  # the line is where the record begins
            assert entry.name in file.head.split("\n")[entry.line - 1]


def test_what_is_noticed_is_said(write):
    pytest.importorskip("Bio")
    for content, name in ((CLUSTAL + "\n" + CLUSTAL, "x.aln"), (FILES["relaxed.phylip"] * 2, "x.phy")):
        assert "the first of several alignments is read" in read_sequences(write(name, content)).notes
    twice = read_sequences(write("x.aln", CLUSTAL.replace("\nb", "\na")))
    assert "1 record with the name of an earlier one (kept)" in twice.notes
    assert text(read_sequences(write("x.aln", "ACGU-\nACGAA\n"))) == ["ACGU-", "ACGAA"]  # a sequence a line


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.aln", TITLE, "has no sequence below its header; is it cut off"),
        ("x.aln", CLUSTAL[:-9], r"line 9 \(block 2\): 'b' has 1 column, but the first sequence of the block 2"),
        ("x.aln", CLUSTAL[:-15], "block 2 ends in line 8, before 'b'; is the file cut off"),
        (
            "x.aln",
            CLUSTAL.replace("\na    AC\nb    AU", "\nb    AU\na    AC"),
            "'b' stands where the first block has 'a'",
        ),
        ("x.aln", CLUSTAL.replace("AC\nb    AU", "AC\nb    AU\nc    AA"), "'c' is in none of the blocks above"),
        ("x.msf", MSF[:-1].replace("ACGAAU", "ACGAA"), "'b' has 10 columns, but the first sequence of the block 11"),
        ("x.msf", MSF.replace("b  ", "a  ").replace(": b", ": a"), "has two sequences called 'a'"),
        ("x.msf", MSF.split("//")[0], "has no line // between its header and its sequences"),
        (
            "x.phy",
            "2 11\na ACGU-ACGUAC\nb ACGAAACGA\n",
            "line 1 says 2 sequences of 11 columns, but 'b' in line 3 has 9",
        ),
        ("x.phy", "3 11\na ACGU-ACGUAC\nb ACGAAACGAAU\n", "says 3 sequences of 11 columns, but 2 lines follow"),
        ("x.phy", "2 11\na ACGU-ACGUAC\nb ....A.....U\n", "has dots, which stand for letters of the first sequence"),
        ("x.phy", "a ACGU\n", "does not begin as PHYLIP files do"),
        ("x.nex", NEXUS.format("", "a ACGU-ACGUAC\nb ACGAAACGAAUU\n"), "line 8: 'b' has 12 columns, but nchar=11"),
        (
            "x.nex",
            NEXUS.format("", "a ACGU-ACGUAC\n"),
            "says ntax=2 and nchar=11, but its matrix does not hold as many",
        ),
        ("x.nex", NEXUS.format("", "a ACGU-ACGUAC\nb ACG!AACGAAU\n"), "'!' in 'b' is no letter of datatype=RNA"),
        ("x.nex", NEXUS.format(" matchchar=.", "a .CGU-ACGUAC\nb ...AA...A.U\n"), "'.' in the first sequence of its"),
        ("x.nex", "#NEXUS\nbegin trees;\n tree x=(a,b);\nend;\n", "has no matrix of sequences"),
        ("x.nex", "ACGU\nACGA\n", "does not begin as NEXUS files do, with #NEXUS"),
    ],
)
def test_what_is_not_whole_is_refused_by_line(write, name, content, message):
    pytest.importorskip("Bio")
    with pytest.raises(DataError, match=message) as failure:
        read_sequences(write(name, content))
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("name", ["clustal.aln", "interleaved.phy", "plain.nex", "x.msf", "x.csv"])
def test_a_reference_is_found_in_every_format(write, name):
    pytest.importorskip("Bio")
    table = "name,sequence\na,ACGU-ACGUAC\nb,ACGAAACGAAU\nc,ACGAAACGAAA\n"
    sequences = read_sequences(write(name, FILES.get(name, table)))
    reference = read_reference(sequences, "b", "auto", None)
    assert (reference.name, "".join(reference.letters)) == ("b", "ACGAAACGAAU")
    assert record_names(sequences)[:2] == ["a", "b"]


@pytest.mark.parametrize("name", ["clustal.aln", "relaxed.phylip", "plain.nex", "x.msf"])
def test_without_biopython_the_package_and_the_conversion_are_named(write, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "Bio", None)
    monkeypatch.setitem(sys.modules, "Bio.AlignIO", None)
    with pytest.raises(DataError, match=r"EXTRAS=formats, or pip install biopython\); or .* AlignIO.convert\(FILE, '"):
        read_sequences(write(name, FILES[name]))


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_off_anywhere_is_read_or_refused(write, name):
    """No cut ends in an endless loop, or in an error of another kind."""
    pytest.importorskip("Bio")
    for end in range(5, len(FILES[name]), 3):
        with suppress(DataError):
            read_sequences(write(name, FILES[name][:end]))
