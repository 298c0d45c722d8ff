"""The sieve: its words against sympy, reference counts, and results that segments and threads do not change."""

import random
from collections import Counter

import numpy as np
import pytest

from simulate.trees import count_words, ngram_counts, random_window, read_text, sieve
from simulate.trees.sieve import _small_words, word_of_code
from tests.trees.references import ordered_vocabulary, word_by_sympy
from theory.models import NumberText, RootedTree
from theory.trees import word_of

VOCABULARY = {1: 3, 2: 12, 3: 29, 4: 63, 5: 123, 6: 230}
ENTROPY = {1: 1.530493, 2: 2.781591, 3: 3.209121, 4: 3.433820, 5: 3.582006, 6: 3.692945}


def test_words_of_the_first_numbers_are_those_of_sympy():
    assert read_text(NumberText(1500)).words() == [word_by_sympy(n) for n in range(2, 1501)]


def test_words_at_random_places_are_those_of_sympy():
    drawn = random.Random(1)
    for largest in (10**7, 10**10, 10**12):
        first = drawn.randrange(2, largest)
        numbers = NumberText(first + 30, first)
        assert read_text(numbers).words() == [word_by_sympy(n) for n in range(first, first + 31)]


def test_words_near_powers_and_at_the_largest_number():
    for n in (2**16, 2**32, 3**20, 2**46, 999_983**2, 10**14 - 5):
        numbers = NumberText(n + 5, n - 5)
        assert read_text(numbers).words() == [word_of(k) for k in range(n - 5, n + 6)]


def test_words_of_exponents_come_from_the_sieve_itself():
    assert [word_of_code(code) for code in _small_words()[1:].tolist()] == [word_of(a) for a in range(1, 48)]


def test_reference_values_up_to_ten_thousand():
    counts = count_words(NumberText(10_000))
    words = ("()()", "()()()", "()", "(())()")
    assert [counts.count(word) for word in words] == [2600, 1800, 1229, 1094]
    assert (counts.n_words, counts.n_edges) == (63, 29329)
    assert int(counts.depth_counts @ np.arange(len(counts.depth_counts))) == 14356


def test_reference_values_up_to_a_million():
    counts = count_words(NumberText(10**6))
    assert (counts.count("()()"), counts.count("()()()")) == (209867, 206964)
    assert counts.n_words == 230
    assert counts.entropy == pytest.approx(3.692945, abs=5e-7)


@pytest.mark.parametrize("k", VOCABULARY)
def test_vocabulary_and_entropy_are_the_reference_values(k):
    counts = count_words(NumberText(10**k))
    assert counts.n_words == VOCABULARY[k]
    assert counts.entropy == pytest.approx(ENTROPY[k], abs=5e-7)


def test_vocabulary_up_to_ten_million_and_the_measured_densities_of_the_reference():
    counts = count_words(NumberText(10**7))
    assert (counts.n_words, round(counts.entropy, 6)) == (412, 3.782100)
    n = 10**7  # the number 1 counts too, as the empty tree
    shares = [(counts.depth_share(k) * counts.numbers.n_words + 1) / n for k in (1, 2, 3)]
    assert [round(share, 7) for share in shares] == [0.6079291, 0.9559240, 0.9999924]
    assert (counts.n_edges - counts.n_children) / n == pytest.approx(0.5060951, abs=5e-8)
    assert counts.n_children / n - np.log(np.log(n)) == pytest.approx(0.2331, abs=5e-5)


def test_statistics_are_those_of_the_words():
    numbers = NumberText(5000, first=3000)
    counts, words = count_words(numbers), [word_by_sympy(n) for n in range(3000, 5001)]
    trees = [RootedTree(word) for word in words]
    assert dict(zip(counts.words, counts.counts.tolist(), strict=True)) == Counter(words)
    assert list(counts.words) == ordered_vocabulary(words)
    assert counts.depth_counts.tolist() == np.bincount([tree.depth for tree in trees]).tolist()
    assert counts.n_edges == sum(tree.n_edges for tree in trees)
    assert counts.n_children == sum(tree.n_children for tree in trees)
    assert counts.depth_share(1) == np.mean(["((" not in word for word in words])
    assert counts.depth_share(0) == counts.depth_share(-3) == 0
    assert counts.depth_share(9) == 1
    share = np.mean(["".join(f"({c.word})" for c in tree.children if c.word) == "(())" for tree in trees])
    assert counts.pattern_share("(())") == share
    assert counts.frequencies.sum() == pytest.approx(1)
    assert len(counts.to_frame()) == counts.n_words
    assert 0 < counts.numbers_per_second < np.inf


def test_neither_segments_nor_threads_change_anything():
    numbers = NumberText(9_500_000, first=50)  # more than two of the chunks that threads take
    one = read_text(numbers)
    other = read_text(numbers, n_threads=2, segment=99_991)
    assert one.vocabulary.words == other.vocabulary.words
    assert (one.vocabulary.counts == other.vocabulary.counts).all()
    assert (one.ids == other.ids).all()
    small = NumberText(4000)
    assert (read_text(small, segment=1).ids == read_text(small, segment=7).ids).all()
    assert count_words(small, segment=10**9).words == count_words(small, segment=3).words


def test_ids_are_places_in_the_vocabulary():
    text = read_text(NumberText(3000))
    assert np.bincount(text.ids).tolist() == text.vocabulary.counts.tolist()
    assert text.ids.dtype == np.uint16
    assert text.words(2, 5) == ["(())", "()", "()()"]  # of 4, 5, 6
    with pytest.raises(ValueError, match="read-only"):
        text.ids[0] = 1


def test_a_text_that_does_not_fit_into_memory_is_refused():
    with pytest.raises(ValueError, match=r"numbers must fit into memory as a text: .* GB"):
        read_text(NumberText(10**14))


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_sequences_of_words_are_counted(length):
    text = read_text(NumberText(2000))
    words = text.words()
    counted = Counter(tuple(words[k : k + length]) for k in range(len(words) - length + 1))
    found = ngram_counts(text, length)
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == counted
    assert (np.diff(found.counts) <= 0).all()
    shares = np.array(list(counted.values())) / sum(counted.values())
    assert found.entropy_rate == pytest.approx(float(-shares @ np.log2(shares)) / length)
    assert len(found.to_frame()) == len(counted)


def test_many_different_sequences_make_the_table_grow():
    found = ngram_counts(read_text(NumberText(200_000)), 4)
    assert len(found.counts) > 10_000
    assert found.counts.sum() == 200_000 - 4
    assert len(np.unique(found.ids, axis=0)) == len(found.ids)


def test_sequences_that_are_too_long_are_refused():
    text = read_text(NumberText(2000))
    for length in (0, 13, 65, 1999):
        with pytest.raises(ValueError, match="length"):
            ngram_counts(text, length)


def test_seconds_are_those_that_the_clock_shows(monkeypatch):
    shown = iter([5.0, 7.5])
    monkeypatch.setattr(sieve.time, "perf_counter", lambda: next(shown))
    counts = count_words(NumberText(1001))
    assert (counts.seconds, counts.numbers_per_second) == (2.5, 400.0)


def test_windows_are_uniform_below_the_largest_number():
    """Their places have the mean and the variance of a uniform law, to two percent: more than four deviations."""
    rng, size = np.random.default_rng(0), 100
    windows = [random_window(size, rng) for _ in range(20_000)]
    assert {window.n_words for window in windows} == {size}
    first = np.array([window.first for window in windows], float)
    assert first.mean() == pytest.approx(10**12 / 2, rel=0.02)
    assert first.std() == pytest.approx(10**12 / np.sqrt(12), rel=0.02)
    assert first.min() >= 2
    assert 0.999 * 10**12 < max(window.last for window in windows) <= 10**12
