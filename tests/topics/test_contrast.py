"""Topic contrasts: planted values come back exactly, every mean by a plain loop, and each wrong input is named."""

import math
import statistics
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2, t

from simulate.core import stream
from simulate.topics import (
    attention_contrast,
    count_attention_contrast,
    embedding_contrast,
    fit_value_matrix,
    planted_values,
    random_embedding,
    sample_topic_documents,
    topic_contrast,
    topic_membership,
)
from theory.models.topics import Masking, TopicModel


def disjoint(n_topics=4, words=5, spare=3):
    """Membership (K, V) of disjoint topics, and some words of none."""
    own = np.kron(np.eye(n_topics, dtype=bool), np.ones((1, words), dtype=bool))
    return np.hstack([own, np.zeros((n_topics, spare), dtype=bool)])


def by_loops(values, weights, membership):
    """(same, different) means of sum over sum, pair by pair."""
    sums = {True: [0.0, 0.0], False: [0.0, 0.0]}
    kept = np.flatnonzero(membership.any(axis=0))
    for a, b in permutations(kept, 2):
        entry = sums[any(row[a] and row[b] for row in membership)]
        entry[0] += values[a, b]
        entry[1] += weights[a, b]
    return [total / n for total, n in (sums[True], sums[False])]


def test_planted_values_come_back_exactly():
    membership = disjoint()
    found = topic_contrast(planted_values(membership, 0.75, 0.25), membership, stream(0, "planted"))
    assert (found.same.mean, found.different.mean, found.difference.mean, found.ratio) == (0.75, 0.25, 0.5, 3.0)
    assert found.same.stderr == found.different.stderr == 0
    assert (found.n_words, found.n_same, found.n_different) == (20, 4 * 10, 6 * 25)
    assert found.z > 10
    overlapping = membership.copy()
    overlapping[1, 0] = True
    found = topic_contrast(planted_values(overlapping, 0.75, 0.25), overlapping, stream(0, "planted"))
    assert (found.same.mean, found.different.mean, found.n_same) == (0.75, 0.25, 45)


@given(delta=st.floats(0.01, 5), u=st.floats(0.01, 5), n_topics=st.integers(2, 6), words=st.integers(2, 6))
def test_an_embedding_with_planted_products_returns_them(delta, u, n_topics, words):
    """sqrt(u) along a common axis and sqrt(delta) along the axis of the topic: products u + delta, and u."""
    membership = disjoint(n_topics, words)
    axes = np.sqrt(delta) * membership.T
    embedding = np.column_stack([np.full(len(axes), np.sqrt(u)), axes])
    dot = embedding_contrast(embedding, membership, stream(0, "dot"), measure="dot", permutations=5)
    assert dot.same.mean == pytest.approx(u + delta, rel=1e-12)
    assert dot.different.mean == pytest.approx(u, rel=1e-12)
    cosine = embedding_contrast(3 * embedding, membership, stream(0, "cosine"), permutations=5)
    assert cosine.same.mean == pytest.approx(1, rel=1e-12)
    assert cosine.ratio == pytest.approx((u + delta) / u, rel=1e-10)


@given(seed=st.integers(0, 40), overlap=st.booleans())
def test_means_are_those_of_loops(seed, overlap):
    rng = stream(seed, "loops")
    phi = rng.dirichlet(np.full(12, 0.5), size=3)
    membership = topic_membership(phi, 0.2, overlap=True)
    if not overlap:
        membership[:, membership.sum(axis=0) > 1] = False
    values, weights = rng.standard_normal((12, 12)), rng.integers(1, 5, (12, 12)).astype(float)
    kept = membership[:, membership.any(axis=0)].astype(int)
    together = (kept.T @ kept > 0)[np.triu_indices(kept.shape[1], 1)]
    assume(together.any() and not together.all())
    found = topic_contrast(values, membership, rng, weights=weights, permutations=2)
    same, different = by_loops(values, weights, membership)
    assert found.same.mean == pytest.approx(same, abs=1e-12)
    assert found.different.mean == pytest.approx(different, abs=1e-12)
    assert found.difference.mean == pytest.approx(same - different, abs=1e-12)


def test_permutations_and_errors_are_those_of_the_definition():
    membership, rng = disjoint(3, 4, 0), stream(0, "definition")
    values = rng.standard_normal((12, 12))
    found = topic_contrast(values, membership, stream(1, "null"), permutations=4000)
    ones = np.ones((12, 12))
    null = np.array([np.subtract(*by_loops(values, ones, membership[:, rng.permutation(12)])) for _ in range(300)])
    # Of 4000 and of 300 permutations; a deviation of 1/sqrt(600) of the smaller sample's own spread.
    assert found.null_mean == pytest.approx(null.mean(), abs=5.5 * null.std() * np.sqrt(1 / 300 + 1 / 4000))
    assert found.null_sd == pytest.approx(null.std(), rel=0.25)
    times = rng.integers(1, 9, (12, 12)).astype(float)
    weighted, without = topic_contrast(values, membership, rng, weights=times, permutations=2), []
    for word in range(12):
        rest = membership.copy()
        rest[:, word] = False
        without.append(by_loops(values, times, rest))
    for estimate, column in ((weighted.same, 0), (weighted.different, 1)):
        jackknife = np.sqrt(11 / 12 * ((np.array(without)[:, column] - np.mean(without, axis=0)[column]) ** 2).sum())
        assert estimate.stderr == pytest.approx(jackknife, rel=1e-10)


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_deviation_of_few_permutations_is_that_of_a_sample(n, unit):
    """With n - 1 below the sum, in any unit: of the very permutations that are drawn, each by loops."""
    membership, values = disjoint(3, 4, 0), unit * stream(0, "few").standard_normal((12, 12))
    found = topic_contrast(values, membership, stream(1, "few"), permutations=n)
    rng, null = stream(1, "few"), []
    for _ in range(n):
        moved = np.empty_like(membership)
        moved[:, rng.permutation(12)] = membership
        null.append(np.subtract(*by_loops(values, np.ones((12, 12)), moved)))
    assert found.null_mean == pytest.approx(np.mean(null), abs=1e-12 * unit)
    assert found.null_sd == pytest.approx(statistics.stdev(null), rel=1e-10, abs=0)


def test_a_pair_seen_in_one_direction_is_a_pair():
    membership = disjoint(2, 2, 0)
    weights = np.triu(np.ones((4, 4)), 1)
    weights[3, 0] = 1.0
    found = topic_contrast(np.ones((4, 4)), membership, stream(0, "one way"), weights=weights, permutations=5)
    assert (found.n_same, found.n_different) == (2, 4)
    weights[0, 1] = 0.0
    found = topic_contrast(np.ones((4, 4)), membership, stream(0, "one way"), weights=weights, permutations=5)
    assert (found.n_same, found.n_different) == (1, 4)


def test_a_word_is_no_pair_with_itself():
    values = stream(0, "diagonal").standard_normal((23, 23))
    plain, strange = (topic_contrast(values + x * np.eye(23), disjoint(), stream(0, "null")) for x in (0, 1e6))
    assert plain == strange


def test_random_vectors_have_the_z_of_chance():
    membership = disjoint(6, 8)
    scores = [
        embedding_contrast(random_embedding(51, 20, stream(r, "vectors")), membership, stream(r, "null")).z
        for r in range(60)
    ]
    # Student's t and chi-square at a false alarm of 1e-6 each; scores by 200 permutations vary by 5 % more.
    assert abs(np.mean(scores)) < 1.05 * t.isf(5e-7, 59) * np.std(scores, ddof=1) / np.sqrt(60)
    low, high = np.sqrt(chi2.ppf([5e-7, 1 - 5e-7], 59) / 59)
    assert 0.9 * low < np.std(scores, ddof=1) < 1.1 * high
    planted = random_embedding(51, 20, stream(0, "vectors")) + 2 * np.repeat(
        random_embedding(7, 20, stream(1, "topics")), [8] * 6 + [3], axis=0
    )
    assert embedding_contrast(planted, membership, stream(0, "null")).z > 20


def test_no_ratio_where_the_different_topic_mean_is_not_clearly_positive():
    membership = disjoint()
    assert math.isnan(topic_contrast(planted_values(membership, 0.5, -0.25), membership, stream(0, "null")).ratio)
    noise = stream(0, "noise").standard_normal((23, 23))
    assert math.isnan(topic_contrast(noise - noise.mean(), membership, stream(0, "null")).ratio)
    assert topic_contrast(np.ones((23, 23)), membership, stream(0, "null")).difference.mean == 0
    assert math.isnan(topic_contrast(np.full((23, 23), 0.1), membership, stream(0, "null")).z)


def test_value_matrix_of_sampled_documents_with_its_mask_column():
    """T = 3, v = 3, tau = 2: the fitted matrix has the gap of the population, here by least squares to documents."""
    model = TopicModel(n_topics=3, words_per_topic=3, topics_per_document=2)
    documents = sample_topic_documents(model, 4000, stream(0, "documents"), length=40)
    fit = fit_value_matrix(documents, Masking(), stream(0, "masks"), bias="none")
    membership = disjoint(3, 3, 0)
    whole = topic_contrast(fit.matrix, membership, stream(0, "null"))
    assert whole.same.mean == topic_contrast(fit.matrix[1:, 1:], membership, stream(0, "null")).same.mean
    assert whole.difference.mean > 10 * whole.difference.stderr > 0


def test_attention_by_positions_and_by_counts():
    membership, rng = disjoint(2, 3, 1), stream(0, "attention")
    table = rng.random((2, 8, 8)) + 0.1  # two heads; the last word is no word of the vocabulary
    documents = [rng.integers(-1, 7, size=12) for _ in range(6)]

    def attention(words):
        raw = table[:, words][:, :, words]
        return raw / raw.sum(axis=1, keepdims=True)

    sums, times = np.zeros((7, 7)), np.zeros((7, 7))
    for words in documents:
        mean = attention(words).mean(axis=0)
        for i, j in permutations(range(len(words)), 2):
            if words[i] != words[j] and -1 not in (words[i], words[j]):
                sums[words[i], words[j]] += mean[i, j] * len(words) / 100
                times[words[i], words[j]] += 1
    found = attention_contrast(attention, documents, membership, stream(1, "null"), reference=100)
    assert [found.same.mean, found.different.mean] == pytest.approx(by_loops(sums, times, membership), rel=1e-12)

    known = [words[words >= 0] for words in documents]
    by_position = attention_contrast(attention, known, membership, stream(1, "null"))

    def by_word(words, counts):
        raw = table[:, words][:, :, words]
        return raw / np.einsum("k,hkq->hq", counts, raw)[:, None]

    counts = np.array([np.bincount(words, minlength=7) for words in known])
    by_count = count_attention_contrast(by_word, counts, membership, stream(1, "null"))
    for name in ("same", "different", "difference"):
        a, b = getattr(by_position, name), getattr(by_count, name)
        assert (a.mean, a.stderr) == (pytest.approx(b.mean, rel=1e-12), pytest.approx(b.stderr, rel=1e-9))
    assert by_position.z == pytest.approx(by_count.z, rel=1e-9)


def test_uniform_attention_is_one_and_has_no_contrast():
    documents = [stream(r, "uniform").integers(0, 20, size=30) for r in range(5)]
    found = attention_contrast(lambda w: np.full((len(w),) * 2, 1 / len(w)), documents, disjoint(), stream(0, "null"))
    assert found.same.mean == pytest.approx(1, rel=1e-12)
    assert found.difference.mean == pytest.approx(0, abs=1e-12)
    assert math.isnan(found.z)


def test_membership_by_hand():
    phi = np.array([[0.4, 0.3, 0.1, 0.1, 0.1], [0.1, 0.4, 0.3, 0.1, 0.1]])
    assert topic_membership(phi, 0.2).astype(int).tolist() == [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert topic_membership(phi, 0.2, overlap=True).astype(int).tolist() == [[1, 1, 0, 0, 0], [0, 1, 1, 0, 0]]
    stop = np.array([False, True, False, False, False])
    kept = topic_membership(phi, 0.2, overlap=True, excluded=stop)  # of equal words the first
    assert kept.astype(int).tolist() == [[1, 0, 1, 0, 0], [1, 0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("threshold", "options", "message"),
    [
        (0.9, {}, "keeps no word of 4: every word that it selects belongs to several topics"),
        (0.3, {"excluded": np.ones(4, bool)}, "keeps no word of 4: all words are excluded"),
        (0.0, {}, r"threshold must lie in \(0, 1\), got 0"),
        (1.0, {}, r"threshold must lie in \(0, 1\), got 1"),
    ],
)
def test_thresholds_that_keep_nothing(threshold, options, message):
    with pytest.raises(ValueError, match=message):
        topic_membership(np.full((2, 4), 0.25), threshold, **options)


def test_wrong_inputs_are_named():
    membership, rng = disjoint(), stream(0, "wrong")
    values = np.ones((23, 23))
    single = np.eye(4, 23, dtype=bool)
    with pytest.raises(ValueError, match="no two of the 4 kept words share a topic"):
        topic_contrast(values, single, rng)
    with pytest.raises(ValueError, match="no two of the 5 kept words have no topic in common"):
        topic_contrast(values, membership[:1], rng)
    with pytest.raises(ValueError, match=r"values must have shape \(23, 23\), or one more with \[MASK\], got \(9, 9\)"):
        topic_contrast(np.ones((9, 9)), membership, rng)
    with pytest.raises(ValueError, match="values must be finite"):
        topic_contrast(values * np.nan, membership, rng)
    with pytest.raises(ValueError, match="permutations must be an integer of at least 2"):
        topic_contrast(values, membership, rng, permutations=1)
    with pytest.raises(ValueError, match="embedding must have a row for each of 23 words, got 22"):
        embedding_contrast(np.ones((22, 3)), membership, rng)
    with pytest.raises(ValueError, match="measure must be one of 'cosine', 'dot'"):
        embedding_contrast(np.ones((23, 3)), membership, rng, measure="euclid")
    with pytest.raises(ValueError, match=r"attention must have shape \(..., 2, 2\) at document 0, got \(3, 3\)"):
        attention_contrast(lambda w: np.eye(3), [np.array([0, 1])], membership, rng)
    with pytest.raises(ValueError, match="must have columns of sum 1, not so at document 1"):
        attention_contrast(lambda w: np.eye(2) * (1 + w[0]), [np.array([0, 6]), np.array([5, 1])], membership, rng)
    with pytest.raises(ValueError, match="word numbers from -1 to 22, not so at 0"):
        attention_contrast(lambda w: np.eye(1), [np.array([23])], membership, rng)
