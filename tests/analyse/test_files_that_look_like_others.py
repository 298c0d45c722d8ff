"""Files that look like others: read as what they are, or refused in one line that says what to do."""

import numpy as np
import pytest

from figures.analyse.command import kind_of, main
from figures.analyse.errors import DataError
from figures.analyse.matrix.admissible import constant_text
from figures.analyse.matrix.data_quality import named_column
from figures.analyse.reading.matrix import read_matrix
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.text import read_corpus
from simulate.core import stream

PIR = """C; made by hand

>P1;ONE
first protein: a title of many words, ACDEFGHIKL
ACDEFG-HIK
LMNPQ*
C;remark after a sequence
>P1;TWO

ACDEFGAHIK
LMNPR*
>F1;THREE
third
ACDEFGAHIKLMNPQ*
"""


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def words_of_sequences(found):
    return ["".join(found.tokens[a] for a in row) for row in found.states]


@pytest.mark.parametrize("name", ["x.pir", "x.ali", "x.fasta", "x.txt", "x.aln", "x"])
def test_pir_is_read_without_its_titles(tmp_path, name):
    path = written(tmp_path / name, PIR)
    assert kind_of(path) == "sequences"
    assert words_of_sequences(read_sequences(path)) == ["ACDEFG-HIKLMNPQ", "ACDEFGAHIKLMNPR", "ACDEFGAHIKLMNPQ"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PIR.replace("LMNPR*", "LMNPR"), r"line 8: the record 'TWO' does not end with \*"),
        (PIR.rstrip().rstrip("*"), r"line 12: the record 'THREE' does not end with \*.*is it cut off"),
        (PIR.replace(">P1;TWO", ">TWO"), "line 8: '>TWO' does not begin a record of PIR"),
        (">P1;A\nACDEFGHIKL\n>P1;B\nACDEFGHIKL\n", "line 1: .*If the file is FASTA write names without P1;"),
    ],
)
def test_pir_that_is_cut_off_is_refused(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_sequences(written(tmp_path / "x.pir", text))


def test_names_twice_in_a_block_of_stockholm(tmp_path):
    head = "# STOCKHOLM 1.0\n"
    glued = written(tmp_path / "x.sto", f"{head}A ACGU\nB ACGA\nA GGCC\nB GGCA\n//\n")
    with pytest.raises(DataError, match=r"line 4: 'A' stands twice in one block \(first in line 2\)"):
        read_sequences(glued)
    blocks = written(tmp_path / "y.sto", f"{head}A ACGU\nB ACGA\n\nA GGCC\nB GGCA\n//\n")
    assert words_of_sequences(read_sequences(blocks)) == ["ACGUGGCC", "ACGAGGCA"]


def test_texts_of_a_tsv_may_hold_commas(tmp_path):
    rows = ["id\tnote, of one, two or more words\ttext", "1\ta, b\tcats, dogs, birds", "2\tc\tdogs; fish"]
    corpus = read_corpus(written(tmp_path / "t.tsv", "\n".join(rows)), stop_words="none")
    assert sorted(corpus.words) == ["birds", "cats", "dogs", "fish"]
    commas = read_corpus(written(tmp_path / "c.tsv", "id,text\n1,cats\n2,dogs\n"), stop_words="none")
    assert sorted(commas.words) == ["cats", "dogs"]


def test_tables_of_texts_without_a_header(tmp_path):
    rows = ["1\tone cat and many dogs, all, in a house", "2\tdogs and fish"]
    path = written(tmp_path / "t.tsv", "\n".join(rows))
    with pytest.raises(DataError, match=r"the first row holds a text, 'one cat and.*--text-column 1"):
        read_corpus(path)
    corpus = read_corpus(path, text_column="2", stop_words="none")
    assert corpus.counts.shape[0] == 2
    assert "cat" in corpus.words
    assert "fish" in corpus.words
    single = written(tmp_path / "one.csv", "one cat and many dogs in a house\ndogs and fish\n")
    assert "cat" in read_corpus(single, stop_words="none").words
    blank = written(tmp_path / "blank.csv", "\n\nid,text\n1,cats\n2,dogs,fish\n")
    with pytest.raises(DataError, match="line 5 has more cells than the header"):
        read_corpus(blank)
    twice = written(tmp_path / "twice.csv", "text,text\ncats,dogs\n")
    with pytest.raises(DataError, match="has 2 columns called 'text'"):
        read_corpus(twice)
    named = written(tmp_path / "two.csv", "id,own notes\n1,cats\n2,dogs\n")
    assert sorted(read_corpus(named, text_column="2", stop_words="none").words) == ["cats", "dogs"]


@pytest.mark.parametrize("lines", [["null", '"cats and dogs"', '"dogs"'], ['{"text": null}', '{"text": "cats dogs"}']])
def test_a_document_of_json_that_is_null_is_empty(tmp_path, lines):
    path = written(tmp_path / "t.jsonl", "\n".join([*lines, lines[-1]]))
    with pytest.raises(
        DataError, match=r"1 document without words \(line 1\); leave out what is empty by --drop-empty"
    ):
        read_corpus(path, stop_words="none")
    corpus = read_corpus(path, stop_words="none", drop_empty=True)
    assert "dogs" in corpus.words
    assert any("1 empty document left out (line 1)" in note for note in corpus.notes)


def test_a_column_of_identifiers_of_many_digits_is_called_so(tmp_path, capsys):
    rng = stream(0, "identifiers")
    lines = [f"{1234567890123456000 + k},{x:.3f},{y:.3f}" for k, (x, y) in enumerate(rng.standard_normal((30, 2)))]
    path = written(tmp_path / "t.csv", "\n".join(["sample,a,b", *lines]))
    assert main([str(path), "--output", str(tmp_path), "--jobs", "1"]) == 2
    said = capsys.readouterr().err
    assert "1 constant column: 'sample' ('sample' up to the rounding of numbers of 16 and more digits" in said
    assert "if these are identifiers they measure nothing" in said
    assert constant_text(("a", "b"), [1]) == "1 constant column: 'b'"


def test_codes_of_letters_are_named(tmp_path):
    rng = stream(0, "codes of letters")
    codes = rng.integers(0, 5, (60, 6))
    np.savetxt(tmp_path / "codes.csv", codes, fmt="%d", delimiter=",")
    notes = " ".join(read_matrix(tmp_path / "codes.csv").notes)
    assert "every cell is a whole number from 0 to 4, as codes of letters or categories are" in notes
    assert "say --kind sequences" in notes
    for name, other in (("bits", codes % 2), ("halves", codes / 2), ("large", codes * 1000), ("few", codes[:, :3])):
        np.savetxt(tmp_path / f"{name}.csv", other, fmt="%g", delimiter=",")
        assert "codes" not in " ".join(read_matrix(tmp_path / f"{name}.csv").notes)


@pytest.mark.usefixtures("undrawn")
def test_words_of_notes(tmp_path, capsys):
    rng = stream(0, "words of notes")
    X = np.column_stack([np.arange(40), 2 * np.arange(40) + 5, rng.standard_normal((40, 3)), rng.standard_normal(40)])
    X[7, 4] = 500.0
    np.savetxt(tmp_path / "t.csv", X, fmt="%.4f", delimiter=",")
    assert main([str(tmp_path / "t.csv"), "--output", str(tmp_path), "--jobs", "1", "--no-standardize"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "if they are no measurement leave them out with --skip-columns 1,2" in said
    assert "of the variance of column 5; check it" in said
    assert "column column" not in said
    assert "columns column" not in said
    assert [named_column(name) for name in ("column 3", "height")] == ["column 3", "column height"]


SIGNS = list("\"';,\t\n\r \x00\x1b\ufeff\u2028=+-@*>#%!.~_0Aé漢\x0b\x0c1eE:/[]{}")
KINDS_OF_FILES = {
    "fasta": "".join(f">s{k} x\n{'ACDEFGHIKLMN'[k:] + 'ACDEFGHIKLMN'[:k]}\n" for k in range(6)),
    "pir": PIR,
    "sto": "# STOCKHOLM 1.0\nA ACGUACGU\nB ACGAACGU\n\nA GGCC\nB GGCA\n#=GC RF xxxxxxxx\n//\n",
    "table": "a,b,c\n" + "".join(f"{k}.5,{k * k % 7},-{k}e-1\n" for k in range(8)),
    "blanks": "".join(f"{k}.5 {k * k % 7} -{k}e-1\n" for k in range(8)),
    "codes": "8 5 4\n" + "".join(" ".join(str((k * j) % 4) for j in range(5)) + "\n" for k in range(1, 9)),
    "text": "a cat and a dog\nfish, birds\nthe dog\n" * 3,
    "json": '{"id": 1, "text": "cats, dogs"}\n{"id": 2, "text": null}\n["a"]\n"dogs"\n',
    "rows": "id\ttext\n1\tcats, dogs\n2\tfish\n3\t\n",
    "ldac": "2 0:1 1:2\n1 1:1\n0\n",
    "uci": "2\n2\n2\n1 1 1\n2 2 3\n",
    "market": "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 1\n2 2 3\n",
}
ENDS = (".csv", ".tsv", ".txt", ".fasta", ".a3m", ".sto", ".pir", ".jsonl", ".ldac", ".mtx", ".dat", "", ".aln", ".npy")


def damaged(text, rng):
    """Change one place of a file: a sign more, a line twice or less, the end cut off, other line ends, ..."""
    lines = text.split("\n")
    k, place = rng.integers(len(lines)), rng.integers(len(text) + 1)
    sign = SIGNS[rng.integers(len(SIGNS))]
    return (
        text[:place] + sign + text[place:],
        text[:place],
        "\n".join([*lines[:k], lines[k], *lines[k:]]),
        "\n".join([*lines[:k], *lines[k + 1 :]]),
        "\n".join([*lines[:k], '"' + lines[k], *lines[k + 1 :]]),
        "\n".join([*lines[:k], "null", *lines[k + 1 :]]),
        text.replace("\n", "\r\n"),
        text.replace("1", ("1e999", "nan", "9" * 20, "\u0663", "0x1F", "1e-320")[k % 6], 2),
    )[rng.integers(8)]


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, kind):
    rng = stream(0, "damaged files", kind)
    (tmp_path / "vocab.txt").write_text("cat\ndog\n", encoding="utf-8")
    n_read, refusals = 0, list[str]()
    for number in range(25):
        text = KINDS_OF_FILES[kind]
        for _ in range(rng.integers(1, 4)):
            text = damaged(text, rng)
        path = tmp_path / f"f{number}{ENDS[rng.integers(len(ENDS))]}"
        path.write_bytes(text.encode(("utf-8", "utf-8", "utf-16", "latin-1")[rng.integers(4)], "replace"))
        for read in (
            kind_of,
            read_sequences,
            read_matrix,
            lambda file: read_matrix(file, drop_rows=True, missing="x,-999"),
            lambda file: read_corpus(file, drop_empty=True),
            lambda file: read_corpus(file, text_column="2"),
        ):
            try:
                read(path)
                n_read += 1
            except DataError as error:
                refusals.append(str(error))
    assert all("\n" not in said and said.startswith(f"{tmp_path}/f") for said in refusals)
    assert min(n_read, len(refusals)) > 5
