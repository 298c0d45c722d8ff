"""Corpora as other programs write them: counted words in their forms, and texts with markup."""

import gzip

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array

from figures.analyse import command
from figures.analyse.errors import DataError
from figures.analyse.reading.text import read_corpus

WORDS = "cat\ndog\ntail\n"
COUNTS = [[2, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 4]]
LDAC = "2 0:2 2:1\n3 0:1 1:1 2:1\n2 1:1 2:1\n1 2:4\n"
UCI = "4\n3\n8\n1 1 2\n1 3 1\n2 1 1\n2 2 1\n2 3 1\n3 2 1\n3 3 1\n4 3 4\n"
MARKET = "%%MatrixMarket matrix coordinate {} general\n% of tests\n4 3 8\n" + "\n".join(UCI.split("\n")[3:])


@pytest.mark.parametrize(
    ("name", "content", "beside", "said"),
    [
        ("c.dat", LDAC, "vocab.txt", "counted words (LDA-C)"),
        ("c.txt", LDAC, "c.vocab.txt", "counted words (LDA-C)"),
        ("c.ldac", LDAC.replace(":2", ":2.0").replace(":4", ":4."), "c.tokens", "counted words (LDA-C)"),
        ("docword.pets.txt", UCI, "vocab.pets.txt", "counted words (UCI bag of words)"),
        ("docword.pets.txt.gz", UCI, "vocab.pets.txt", "counted words (UCI bag of words)"),
        ("c.mtx", MARKET.format("integer"), "c.vocab", "counted words (MatrixMarket)"),
        ("c.mtx", MARKET.format("real"), "vocab.txt", "counted words (MatrixMarket)"),
    ],
)
def test_every_form_gives_the_same_counts(tmp_path, name, content, beside, said):
    (tmp_path / name).write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    (tmp_path / beside).write_text(WORDS, encoding="utf-8")
    corpus = read_corpus(tmp_path / name, min_documents=1)
    assert corpus.words == ("cat", "dog", "tail")
    assert corpus.counts.toarray().tolist() == COUNTS
    assert f"4 documents, {said}" in corpus.notes[0]


def test_a_matrix_of_words_by_documents_is_turned(tmp_path):
    mmwrite(tmp_path / "c.mtx", coo_array(np.array(COUNTS).T))
    (tmp_path / "vocab.txt").write_text(WORDS, encoding="utf-8")
    corpus = read_corpus(tmp_path / "c.mtx", min_documents=1)
    assert corpus.counts.toarray().tolist() == COUNTS
    assert "whose rows are the words" in corpus.notes[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.dat", LDAC.replace("0:2", "0:2.5"), "line 1: '0:2.5' is not id:count"),
        ("c.dat", LDAC.replace("2:4", "3:4"), "line 4: there is no word 3: vocab.txt has 3, from 0"),
        (
            "c.txt",
            UCI.replace("4 3 4", "4 4 4"),
            "line 11: document 4, word 4: its first line says 4 documents, and voc",
        ),
        ("c.txt", UCI.replace("4 3 4", "4 3"), "line 11 must hold three whole numbers"),
        ("c.txt", UCI.replace("4 3 4\n", ""), "says in its third line that 8 lines follow, but 7 do"),
        ("c.txt", UCI.replace("4\n3\n8", "4\n5\n8"), "says 5 words in its second line, but vocab.txt has 3"),
        ("c.txt", UCI.replace("4 3 4", "3 3 1"), "counts a word of a document twice"),
        ("c.mtx", MARKET.format("real").replace("4 3 4", "4 3 .5"), "holds values that are no counts"),
        ("c.mtx", MARKET.format("real").replace("4 3 4", "4 3 -1"), "holds values that are no counts"),
        ("c.mtx", MARKET.format("integer").replace("4 3 4", "4 x 4"), "is damaged, or no MatrixMarket file"),
        (
            "c.mtx",
            MARKET.format("integer").replace("4 3 8", "4 5 8"),
            "is a matrix of 4 x 5, but vocab.txt has 3",
        ),
        (
            "c.mtx",
            "%%MatrixMarket matrix coordinate pattern general\n4 3 2\n1 1\n2 2\n",
            "says which words occur but not how often",
        ),
    ],
)
def test_what_does_not_fit_is_said(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "vocab.txt").write_text(WORDS, encoding="utf-8")
    with pytest.raises(DataError, match=message) as failure:
        read_corpus(tmp_path / name, min_documents=1)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(("name", "content"), [("c.dat", LDAC), ("docword.c.txt", UCI), ("c.mtx", MARKET)])
def test_counts_without_words_ask_for_them(tmp_path, name, content):
    (tmp_path / name).write_text(content.format("integer"), encoding="utf-8")
    with pytest.raises(DataError, match=r"counts words by number; their spelling, one word a line, must be in .*vocab"):
        read_corpus(tmp_path / name)


def test_markup_is_noticed(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a cat<br />and dogs\ncats &amp; dogs\ncat < dog > cat & dog; cats\n" * 2, encoding="utf-8")
    notes = read_corpus(path, min_documents=1).notes
    assert "4 of them hold markup such as '<br />', whose words are counted too" in " ".join(notes)
    path.write_text("a < b and dogs > cats\n" * 4, encoding="utf-8")
    assert "markup" not in " ".join(read_corpus(path, min_documents=1).notes)


def test_a_vocabulary_of_two_words_is_refused_in_one_line(tmp_path, capsys):
    file = tmp_path / "two.txt"
    file.write_text("apple pear\n" * 6, encoding="utf-8")
    assert command.main([str(file), "--output", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "no pairs of words to compare" in said
    assert "Traceback" not in said
