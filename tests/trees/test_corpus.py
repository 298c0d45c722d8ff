"""The corpus as a file: the reader of users' texts reads it back, and nothing half-written is ever in its place."""

from collections import Counter

import numpy as np
import pytest

from figures.analyse.reading.text import read_corpus
from simulate.trees import corpus as module
from simulate.trees import count_words, letters_of_word, read_text, word_of_letters, write_corpus
from theory.models import NumberText

NUMBERS = NumberText(4321)


@pytest.mark.parametrize("name", ["numbers.txt", "numbers.txt.gz"])
def test_the_reader_of_texts_reads_it_back(tmp_path, name):
    written = write_corpus(NUMBERS, tmp_path / name, words_per_document=50)
    assert (written.n_documents, written.n_words) == (87, 4320)
    corpus = read_corpus(tmp_path / name, stop_words="none", min_documents=1)
    assert corpus.counts.shape[0] == 87
    totals = np.asarray(corpus.counts.sum(axis=0)).ravel()
    found = {word_of_letters(word): int(n) for word, n in zip(corpus.words, totals, strict=True)}
    counts = count_words(NUMBERS)
    assert found == dict(zip(counts.words, counts.counts.tolist(), strict=True))
    third = Counter(read_text(NumberText(151, first=102)).words())
    row = corpus.counts[[2]].toarray()[0]
    assert {word_of_letters(word): int(n) for word, n in zip(corpus.words, row, strict=True) if n} == third


def test_no_word_is_taken_for_a_stop_word(tmp_path):
    write_corpus(NUMBERS, tmp_path / "numbers.txt")
    with_all = read_corpus(tmp_path / "numbers.txt", stop_words="none", min_documents=1)
    assert read_corpus(tmp_path / "numbers.txt", min_documents=1).words == with_all.words


def test_the_order_is_kept_and_pieces_join(tmp_path, monkeypatch):
    whole, pieces = tmp_path / "whole.txt", tmp_path / "pieces.txt"
    write_corpus(NUMBERS, whole, words_per_document=7)
    monkeypatch.setattr(module, "CHUNK_NUMBERS", 100)
    write_corpus(NUMBERS, pieces, words_per_document=7)
    assert whole.read_bytes() == pieces.read_bytes()
    words = [word_of_letters(word) for word in whole.read_text().split()]
    assert words == read_text(NUMBERS).words()
    assert {len(line.split()) for line in whole.read_text().splitlines()[:-1]} == {7}


def test_a_failure_leaves_the_earlier_file(tmp_path, monkeypatch):
    file = tmp_path / "numbers.txt"
    write_corpus(NumberText(9), file)
    before = file.read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_lines", fails)
    with pytest.raises(OSError, match=r"No space left on device: .*numbers\.txt"):
        write_corpus(NUMBERS, file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.txt"]


@pytest.mark.parametrize("name", ["numbers.csv", "numbers", ".txt", "folder/numbers.txt", "there.txt"])
def test_files_that_cannot_be_written_are_refused(tmp_path, name):
    (tmp_path / "there.txt").mkdir()
    with pytest.raises(ValueError, match="path must be that of a"):
        write_corpus(NUMBERS, tmp_path / name)


def test_spelling():
    for word in ("", "()", "(()())()"):
        assert word_of_letters(letters_of_word(word)) == word
    for wrong in ("oxc", "(", "co", "oo"):
        with pytest.raises(ValueError, match="letters must"):
            word_of_letters(wrong)
