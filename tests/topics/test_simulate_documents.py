"""Sampled documents: exactly tau topics, the right proportions, lengths and words."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

from simulate.core import Estimate, stream
from simulate.topics import sample_topic_documents
from simulate.topics.counts import occurrences, word_counts
from theory.models.topics import TopicModel

SMALL = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
PASSES = 1e-6


def by_topic(documents, model=SMALL):
    return documents.counts.reshape(len(documents.counts), model.n_topics, model.words_per_topic)


@pytest.mark.parametrize("tau", [1, 2, 3, 4])
def test_no_more_than_tau_topics_occur(tau):
    model = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=tau)
    documents = sample_topic_documents(model, 200, stream(0, "tau", tau), length=60)
    occurring = by_topic(documents).any(axis=2)
    assert np.array_equal(occurring, documents.proportions > 0)  # absent by chance: 4 (3/4)^60 = 1e-7 at tau = 4
    assert (occurring.sum(axis=1) == tau).all()
    assert np.allclose(documents.proportions.sum(axis=1), 1)


def test_topic_sets_are_uniform():
    chosen = sample_topic_documents(SMALL, 12_000, stream(0, "sets"), length=1).proportions > 0
    sets = [np.isin(np.arange(4), each) for each in combinations(range(4), 2)]
    seen = np.array([(chosen == each).all(axis=1).sum() for each in sets])
    assert chisquare(seen).pvalue > PASSES
    skewed = np.array([1.15, 1.15, 1.15, 0.85, 0.85, 0.85])
    assert chisquare(seen, skewed * seen.mean()).pvalue < PASSES


def test_first_words_and_their_neighbors_are_drawn_independently():
    """Documents of two words: pairs (w, w') against 1/(tau v)^2 averaged over topic sets.

    So many that the blurred law passes in less than one run of 10^9.
    """
    counts = sample_topic_documents(SMALL, 240_000, stream(0, "pairs"), length=2).counts
    assert (counts.sum(axis=1) == 2).all()
    twice = (counts == 2).sum(axis=0)
    together = counts.T @ counts
    pairs = together[np.triu_indices(12, 1)]
    same = (np.arange(12)[:, None] // 3 == np.arange(12) // 3)[np.triu_indices(12, 1)]
    # P(both in one topic k) = (2/4)(1/2)^2; in two given topics: P(both in S) 2 (1/2)^2 = (1/6)/2
    expected = np.concatenate([np.full(12, 1 / 8 / 9), np.where(same, 2 / 8 / 9, 1 / 12 / 9)])
    assert expected.sum() == pytest.approx(1)
    seen = np.concatenate([twice, pairs])
    assert chisquare(seen, expected * seen.sum()).pvalue > PASSES
    blurred = 0.9 * expected + 0.1 / len(expected)
    assert chisquare(seen, blurred * seen.sum()).pvalue < PASSES


def test_words_of_a_topic_are_uniform():
    """Four million words of one topic resolve one part in a hundred of a word's share."""
    model = TopicModel(n_topics=1, words_per_topic=3, topics_per_document=1)
    seen = sample_topic_documents(model, 1, stream(0, "words"), length=4_000_000).counts[0]
    assert chisquare(seen).pvalue > PASSES
    assert chisquare(seen, seen.sum() / 3 * np.array([1.01, 1.0, 0.99])).pvalue < PASSES


def test_dirichlet_proportions_have_their_variance(agrees):
    model = TopicModel(n_topics=6, words_per_topic=2, topics_per_document=1)
    values = [
        sample_topic_documents(model, 1000, stream(0, "dirichlet", r), concentration=0.5).proportions.var()
        for r in range(50)
    ]
    agrees(Estimate.of(values), (1 / 6) * (5 / 6) / (6 * 0.5 + 1), resolves=0.05)


def test_lengths_are_uniform_between_their_ends():
    lengths = sample_topic_documents(SMALL, 6000, stream(0, "lengths"), length=(5, 8)).lengths
    assert chisquare(np.bincount(lengths, minlength=9)[5:]).pvalue > PASSES
    assert set(lengths) == {5, 6, 7, 8}


def test_the_generator_decides():
    first, again, other = (sample_topic_documents(SMALL, 5, stream(seed, "same")).counts for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_documents": 0}, "n_documents must be an integer of at least 1"),
        ({"length": 0}, "length must be an integer of at least 1"),
        ({"length": (5, 4)}, "length must be an integer of at least 5"),
        ({"concentration": 0.0}, "concentration must lie in"),
    ],
)
def test_bad_documents_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sample_topic_documents(SMALL, **{"n_documents": 3, "rng": stream(0), **options})


def test_counts_of_every_kind_are_read():
    counts = np.array([[1, 0, 2], [0, 3, 0]])
    for given in (counts, counts.astype(float), counts.tolist()):
        assert np.array_equal(word_counts(given), counts)
    twice = sparse.coo_array(([1, 1, 1, 3, 0], ([0, 0, 0, 1, 1], [0, 2, 2, 1, 2])), shape=(2, 3))
    for given in (sparse.csr_array(counts), sparse.csc_matrix(counts), twice):
        assert sparse.issparse(word_counts(given))
        assert np.array_equal(word_counts(given).toarray(), counts)
        for mine, other in zip(occurrences(word_counts(given)), occurrences(counts), strict=True):
            assert np.array_equal(mine, other)
    documents = sample_topic_documents(SMALL, 3, stream(0))
    assert word_counts(documents) is not documents
    assert np.array_equal(word_counts(documents), documents.counts)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "shape"),
        ([[0.5, 1]], "whole numbers"),
        ([[np.nan, 1]], "whole numbers"),
        ([["a", "b"]], "whole numbers"),
        ([[-1, 2]], "got -1"),
        ([[1, 0], [0, 0], [0, 0]], "2 empty ones, the first at index 1"),
    ],
)
def test_bad_counts_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        word_counts(counts)
    if np.ndim(counts) == 2 and np.asarray(counts).dtype.kind != "U":
        with pytest.raises(ValueError, match=message):
            word_counts(sparse.csr_array(counts))
