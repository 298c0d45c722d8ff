"""Reading text: every form of corpus gives the same counts, and what is wrong is named with its place."""

import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.text import ENGLISH, read_corpus, read_vectors, words_of

TEXTS = ["The cat, the CAT and a dog's tail.", "A dog; cat again: naïve cat\u2019s tail 42", "Tail of dog"]
EXPECTED = {"cat": [2, 1, 0], "dog": [0, 1, 1], "tail": [1, 1, 1]}


def counts_of(corpus):
    dense = corpus.counts.toarray()
    return {word: dense[:, k].tolist() for k, word in enumerate(corpus.words)}


def write_ldac(folder, lines, words):
    (folder / "c.tokens").write_text("\n".join(words) + "\n", encoding="utf-8")
    (folder / "c.ldac").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "c.ldac"


def forms(folder):
    """The texts in every form that can be read."""
    (folder / "many" / "deeper").mkdir(parents=True)
    for name, text in zip(("many/a.txt", "many/b.txt", "many/deeper/c.txt"), TEXTS, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "lines.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    (folder / "marked.txt").write_text("\n".join(TEXTS), encoding="utf-16")
    (folder / "packed.txt.gz").write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    cells = "\n".join(f'{k};"{text}"' for k, text in enumerate(TEXTS))
    (folder / "table.csv").write_text(f"id;Text\n{cells}\n", encoding="utf-8")
    objects = [json.dumps({"id": 1, "body": text}) for text in TEXTS]
    (folder / "objects.jsonl").write_text("\n".join(objects), encoding="utf-8")
    (folder / "strings.jsonl").write_text("\n".join(map(json.dumps, TEXTS)), encoding="utf-8")
    return ["many", "lines.txt", "marked.txt", "packed.txt.gz", "table.csv", "objects.jsonl", "strings.jsonl"]


def test_every_form_gives_the_same_counts(tmp_path):
    for name in forms(tmp_path):
        corpus = read_corpus(tmp_path / name, min_documents=2)
        assert counts_of(corpus) == EXPECTED, name
        assert (corpus.n_documents, corpus.n_tokens) == (3, 8)
        assert corpus.notes[0].startswith("3 documents")
    ldac = write_ldac(tmp_path, ["2 0:2 2:1", "3 0:1 1:1 2:1", "2 1:1 2:1"], ["cat", "dog", "tail"])
    assert counts_of(read_corpus(ldac, min_documents=2)) == EXPECTED


def test_words():
    assert words_of("Don\u2019t CO-OPERATE: x 3rd e\u0301te\u0301 _a_ Straße") == [
        "don't",
        "co-operate",
        "rd",
        "été",
        "straße",
    ]
    assert words_of("हिन्दी भाषा, سَلام") == ["हिन्दी", "भाषा", "سَلام"]
    assert words_of("«Привет», κόσμε") == ["привет", "κόσμε"]
    assert {"the", "don't"} < ENGLISH
    assert not [word for word in ENGLISH if words_of(word) != [word] and len(word) > 1]


def test_stop_words_and_rare_words(tmp_path):
    forms(tmp_path)
    everything = read_corpus(tmp_path / "lines.txt", stop_words="none", min_documents=1)
    assert {"the", "and", "of", "dog's", "cat's", "naïve"} < set(everything.words)
    (tmp_path / "own.list").write_text("Dog\n\ntail\n", encoding="utf-8")
    own = read_corpus(tmp_path / "lines.txt", stop_words=str(tmp_path / "own.list"), min_documents=1)
    assert not {"dog", "tail"} & set(own.words)
    assert any("2 stop words of own.list" in note for note in own.notes)
    few = read_corpus(tmp_path / "lines.txt", min_documents=1, max_words=2)
    assert set(few.words) == {"tail", "cat"}
    assert any("the 2 words that are in most documents" in note for note in few.notes)


def test_documents_that_lose_all_their_words_are_left_out_with_a_note(tmp_path):
    ldac = write_ldac(tmp_path, ["2 0:1 1:1", "2 0:1 1:2", "1 2:5"], ["a", "b", "once"])
    corpus = read_corpus(ldac, min_documents=2)
    assert corpus.n_documents == 2
    assert "1 document without any of these words left out" in corpus.notes
    assert "3 different words, of which 0 are stop words and 1 in fewer than 2 documents: 2 kept" in corpus.notes


def test_empty_documents(tmp_path):
    ldac = write_ldac(tmp_path, ["2 0:1 1:1", "0", "2 0:1 1:2"], ["a", "b"])
    with pytest.raises(DataError, match=r"c.ldac: 1 document without words \(line 2\); leave out .* --drop-empty"):
        read_corpus(ldac)
    assert "1 empty document left out (line 2)" in read_corpus(ldac, drop_empty=True).notes
    many = tmp_path / "many"
    many.mkdir()
    (many / "a.txt").write_text("cat dog", encoding="utf-8")
    (many / "b.txt").write_text("12 34 - !", encoding="utf-8")
    (many / "c.txt").write_bytes(b"")
    with pytest.raises(DataError, match=r"many: 2 documents without words \(b.txt, c.txt\)"):
        read_corpus(many)


def test_undecodable_bytes_are_named_by_file_and_place(tmp_path):
    many = tmp_path / "many"
    many.mkdir()
    (many / "a.txt").write_text("cat dog", encoding="utf-8")
    (many / "b.txt").write_bytes(b"cat\ndog caf\xe9 tail")
    with pytest.raises(DataError, match=r"b.txt: byte 12 \(line 2\) is 0xe9, which is not valid utf-8; .*--encoding"):
        read_corpus(many)
    assert "café" in read_corpus(many, encoding="latin-1", min_documents=1).words
    with pytest.raises(DataError, match="--encoding klingon is not known"):
        read_corpus(many, encoding="klingon")
    (many / "b.txt").write_bytes(b"cat\0dog")
    with pytest.raises(DataError, match=r"b.txt: is no text: character 4 is zero"):
        read_corpus(many)


@pytest.mark.parametrize(
    ("lines", "words", "message"),
    [
        (["2 0:1 1:x"], "ab", r"c.ldac: line 1: '1:x' is not id:count"),
        (["2 0:1 7:1"], "ab", r"c.ldac: line 1: there is no word 7: c.tokens has 2, from 0"),
        (["1 0:1234567890123"], "ab", "c.ldac: line 1: '0:1234567890123' is no count"),
        (["1 99999999999999999999999:1"], "ab", "there is no word 9"),
        (["2 0:1 0:2"], "ab", r"c.ldac: line 1: word 0 is counted twice"),
        (["1 0:1", "3 0:1 1:1"], "ab", r"c.ldac: line 2 begins with '3', but has 2 words; is it LDA-C\?"),
        (["1 0:1", "1 0:2"], "ab", "has a vocabulary of one word, 'a' in 1 document or more"),
        (["0", "0"], "ab", "has no words in its 2 documents"),
        ([], "ab", "holds no document"),
        (["1 0:1"], ["a", "", "b"], r"c.tokens: line 2 is empty"),
    ],
)
def test_wrong_counts(tmp_path, lines, words, message):
    with pytest.raises(DataError, match=message):
        read_corpus(write_ldac(tmp_path, lines, words))


def test_wrong_tables_and_lines(tmp_path):
    def refused(name, text, message, **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_corpus(path, **options)

    refused("t.csv", "id,note\n1,a b\n", "which column holds the text.* --text-column; there are 'id', 'note'")
    refused("t.csv", "id,text\n1,cat dog\n2\n", "t.csv: line 3 has no cell in the column 'text'")
    refused("t.csv", "id,text\n1,a cat, a dog\n", "line 2 has more cells than the header; quote texts that hold")
    refused("t.csv", "A cat and a dog\nA dog\n", "which column holds the text.* there are 'A cat and a dog'")
    refused("u.tokens", "cat\ndog\n", "name the .ldac file beside it")
    refused("t.csv", "id,text\n1,cat\n", "--text-column body: there is none of this name, but 'id'", text_column="body")
    refused("t.jsonl", '{"text": "a cat"}\n{"text": \n', r"t.jsonl: line 2 is not JSON")
    refused("t.jsonl", '{"text": "a cat"}\n{"text": 3}\n', "line 2 has no text under 'text'")
    refused("t.jsonl", "[1]\n", "line 1 is neither an object nor a text")
    refused("t.txt", "cat dog\n", "--text-column is for", text_column="text")
    refused(
        "t.txt", "cat dog\ncat dog\n", "--stop-words klingon must be english, none, or a file", stop_words="klingon"
    )
    refused("t.txt", "the and\nof\n", "has no word in 1 document or more, and at least two words are needed; add")
    refused("t.ldac", "1 0:1\n", "their spelling, one word a line, must be in t.tokens or vocab.txt beside")
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match=r"none: holds no .txt file; .* for a table name the file itself"):
        read_corpus(tmp_path / "none")
    with pytest.raises(DataError, match="no such file"):
        read_corpus(tmp_path / "absent.txt")


def test_a_line_ends_only_where_a_line_ends(tmp_path):
    (tmp_path / "t.jsonl").write_bytes('{"text": "cat\u2028dog"}\r\n{"text": "cat\x85dog tail"}\r\n'.encode())
    assert read_corpus(tmp_path / "t.jsonl").n_documents == 2


def test_long_cells_are_read(tmp_path):
    long = "cat " * 50_000
    (tmp_path / "t.csv").write_text(f"text\n{long}\n{long} dog\ndog\n", encoding="utf-8")
    assert read_corpus(tmp_path / "t.csv").counts.toarray().tolist() == [[50_000, 0], [50_000, 1], [0, 1]]


def test_vectors(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text("3 2\ncat 1 2\n. . 3 4\ndog -1 0.5\n", encoding="utf-8")
    vectors, there = read_vectors(path, ["dog", "tail", "cat"])
    assert np.array_equal(vectors, [[-1, 0.5], [0, 0], [1, 2]])
    assert there.tolist() == [True, False, True]
    for text, message in (
        ("cat 1 2\ndog 1\n", "line 2 has 1 number, but others have 2"),
        ("cat 1 2\ndog 1 x\n", "line 2: not all of '1 x' are numbers"),
        ("cat 1 2\ndog 1 inf\n", "line 2 holds a number that is not finite"),
        ("cat 1 2\nbird 1 2\n", "holds 1 word of the vocabulary"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_vectors(path, ["dog", "tail", "cat"])


@pytest.mark.skipif(find_spec("lda") is None, reason="the package lda, which ships the news, is not installed")
def test_news_of_reuters():
    """Counted from the file itself with awk; the package's own description has 395 documents of 4258 words."""
    corpus = read_corpus(
        Path(find_spec("lda").origin).parent / "tests" / "reuters.ldac", min_documents=1, max_words=5000
    )
    assert (corpus.counts.shape, corpus.n_tokens, corpus.counts.nnz) == ((395, 4258), 84010, 60114)
    lengths, totals = corpus.counts.sum(axis=1), corpus.counts.sum(axis=0)
    assert (lengths.min(), np.median(lengths), lengths.max()) == (36, 218, 541)
    assert (corpus.words[totals.argmax()], totals.max()) == ("church", 630)


@pytest.mark.parametrize("rows", ['"cat dog\ndog\ntail\n', 'cat\n"dog\ntail', '"cat" dog\ntail\n'])
def test_a_quote_that_is_not_closed(tmp_path, rows):
    """Rows below would be read as one cell."""
    (tmp_path / "t.csv").write_text("text\n" + rows)
    with pytest.raises(DataError, match=r"t\.csv: .*line.* quote"):
        read_corpus(tmp_path / "t.csv")


def test_empty_cells_as_programs_write_them(tmp_path):
    cells = ["cat null", "NaN", "NA", "N/A", "null", "None", "dog"]
    (tmp_path / "t.csv").write_text("text\n" + "\n".join(cells) + "\n")
    corpus = read_corpus(tmp_path / "t.csv", drop_empty=True, stop_words="none", min_documents=1)
    assert counts_of(corpus) == {"cat": [1, 0], "null": [1, 0], "dog": [0, 1]}


@pytest.mark.parametrize("encoding", ["hex", "zlib", "base64", "rot13"])
def test_an_encoding_that_gives_no_text(tmp_path, encoding):
    (tmp_path / "t.txt").write_text("cat\ndog\n")
    with pytest.raises(DataError, match=f"--encoding {encoding} is not known"):
        read_corpus(tmp_path / "t.txt", encoding=encoding)


def test_json_lines_by_their_other_name(tmp_path):
    (tmp_path / "t.ndjson").write_text('{"a": "cat"}\n{"a": "dog"}\n')
    corpus = read_corpus(tmp_path / "t.ndjson", text_column="a", min_documents=1)
    assert counts_of(corpus) == {"cat": [1, 0], "dog": [0, 1]}
