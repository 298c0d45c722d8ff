"""Topics in an encoder: planted attention comes back exactly, and every mean and error by a plain loop."""

from dataclasses import replace

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics import attention_contrast, embedding_contrast, topic_contrast
from simulate.topics.encoder import encode, encoder_of
from simulate.topics.encoder_contrast import (
    WordReader,
    attention_by_document,
    attention_sums,
    embedding_ratio,
    ratio_over_documents,
    shuffled_documents,
)
from tests.topics.test_encoder import HEADS, LAYERS, tiny

MEMBER = np.array([[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 0]], dtype=bool)  # word 6: none
DOCUMENTS = [np.array(words) for words in ([0, 1, 3, 6, 0, 5], [2, 3, 4, 1, 1], [5, 0, 2, 6], [4, 3, 0, 5])]


def planted(words):
    """In two layers, what pairs get: 3 and 5 where they share a topic of MEMBER, else 2 and 4."""
    kept = MEMBER[:, words].astype(int)
    together = kept.T @ kept > 0
    return np.array([np.where(together, 3.0, 2.0), np.where(together, 5.0, 4.0)])


def at_random(words):
    """Attention of three layers whose columns sum to 1, of the document's own."""
    raw = stream(int(np.sum(words * np.arange(1, len(words) + 1))), "attention").random((3, len(words), len(words)))
    return raw / raw.sum(axis=1, keepdims=True)


def test_planted_attention_comes_back():
    sums, pairs = attention_by_document(planted, DOCUMENTS, [MEMBER, MEMBER[:2]])
    assert sums.shape == (4, 2, 2, 2)
    for k in range(2):
        for layer, ratio in enumerate((3 / 2, 5 / 4)):
            found = ratio_over_documents(sums[:, k, layer], pairs[:, k])
            assert found.mean == pytest.approx(ratio, rel=1e-14)
            assert found.stderr == pytest.approx(0, abs=1e-14)
            assert found.n == 4


def test_sums_over_pairs_by_plain_loops():
    sums, pairs = attention_by_document(at_random, DOCUMENTS, [MEMBER])
    for d, words in enumerate(DOCUMENTS):
        total, number = np.zeros((3, 2)), np.zeros(2)
        for i, a in enumerate(words):
            for j, b in enumerate(words):
                if a != b and MEMBER[:, a].any() and MEMBER[:, b].any():
                    kind = 0 if (MEMBER[:, a] & MEMBER[:, b]).any() else 1
                    total[:, kind] += at_random(words)[:, i, j]
                    number[kind] += 1
        np.testing.assert_allclose(sums[d, 0], total, rtol=1e-13)
        assert pairs[d, 0].tolist() == number.tolist()


def test_the_error_of_a_ratio_by_deleting_documents():
    rng = stream(0, "ratio")
    pairs, sums = rng.integers(1, 9, (12, 2)).astype(float), rng.random((12, 2))
    found = ratio_over_documents(sums, pairs)

    def ratio(which):
        same, different = (sums[which, k].sum() / pairs[which, k].sum() for k in range(2))
        return same / different

    without = [ratio(np.arange(12) != k) for k in range(12)]
    assert found.mean == pytest.approx(ratio(np.arange(12)), rel=1e-13)
    expected = np.sqrt(11 / 12 * sum((value - np.mean(without)) ** 2 for value in without))
    assert found.stderr == pytest.approx(expected, rel=1e-12)


def test_a_ratio_of_one_document_is_refused():
    for pairs in ([[3.0, 4.0]], [[3.0, 4.0], [0.0, 5.0]]):
        with pytest.raises(ValueError, match="pairs must be of both kinds without any one of the documents"):
            ratio_over_documents(np.ones((len(pairs), 2)), np.array(pairs))


@pytest.mark.parametrize("measure", ["cosine", "dot"])
def test_the_ratio_of_embeddings_by_plain_loops(measure):
    vectors = stream(0, "vectors").random((7, 3)) + 0.2
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if measure == "cosine" else vectors

    def ratio(words):
        values = {True: [], False: []}
        for i in words:
            for j in words:
                if i < j:
                    values[bool((MEMBER[:, i] & MEMBER[:, j]).any())].append(rows[i] @ rows[j])
        return np.mean(values[True]) / np.mean(values[False])

    found = embedding_ratio(vectors, MEMBER, measure=measure)
    without = np.array([ratio([k for k in range(6) if k != left]) for left in range(6)])
    assert found.mean == pytest.approx(ratio(range(6)), rel=1e-13)
    assert found.stderr == pytest.approx(np.sqrt(5 * without.var()), rel=1e-12)
    assert found.n == 6
    contrast = embedding_contrast(vectors, MEMBER, stream(0, "null"), measure=measure, permutations=2)
    assert found.mean == pytest.approx(contrast.same.mean / contrast.different.mean, rel=1e-13)


def test_sums_by_words_are_those_of_attention_contrast():
    sums, times = attention_sums(lambda words: at_random(words) * len(words), DOCUMENTS, 7)
    found = topic_contrast(sums, MEMBER, stream(0, "null"), weights=times)
    expected = attention_contrast(at_random, DOCUMENTS, MEMBER, stream(0, "null"))
    assert found.same.mean == pytest.approx(expected.same.mean, rel=1e-13)
    assert found.different.mean == pytest.approx(expected.different.mean, rel=1e-13)
    assert found.difference.stderr == pytest.approx(expected.difference.stderr, rel=1e-12)


def test_attention_between_words_in_pieces():
    encoder = encoder_of(tiny(), HEADS)
    reader = WordReader(encoder, pieces=[(3,), (4, 5), (6,), (6,), (0,)], start=1, end=2, unknown=0)
    assert reader.whole.tolist() == [True, False, False, False, False]  # two share a token, the last is unknown
    np.testing.assert_allclose(reader.vectors[1], encoder.words[[4, 5]].mean(axis=0))
    document = np.array([1, 0, 2])
    heads = encode(encoder, [1, 4, 5, 3, 6, 2]).attention.mean(axis=1) * 6
    places = [[1, 2], [3], [4]]
    expected = [[[heads[layer][np.ix_(a, b)].mean() for b in places] for a in places] for layer in range(LAYERS)]
    np.testing.assert_allclose(reader.attention(document), expected, rtol=1e-12)
    short = np.array([0, 2])
    np.testing.assert_allclose(
        reader.attention(short), encode(encoder, [1, 3, 6, 2]).attention.mean(axis=1)[:, 1:3, 1:3] * 4, rtol=1e-12
    )


def test_uniform_attention_is_one():
    encoder = encoder_of(tiny(), HEADS)
    silent = replace(
        encoder,
        layers=tuple(replace(each, key=0 * each.key, key_bias=0 * each.key_bias) for each in encoder.layers),
    )
    reader = WordReader(silent, pieces=[(3,), (4, 5), (6,)], start=1, end=2, unknown=0)
    np.testing.assert_allclose(reader.attention(np.array([1, 0, 2, 0])), 1, rtol=1e-12)


def test_a_long_document_is_shortened_to_the_positions():
    reader = WordReader(encoder_of(tiny(), HEADS), pieces=[(3,), (4, 5)], start=1, end=2, unknown=0)
    assert reader.shortened(np.array([0, 1, 1, 0, 0])).tolist() == [0, 1, 1, 0]  # 6 of 8 positions are for words
    assert reader.shortened(np.array([1, 1, 0, 1])).tolist() == [1, 1, 0]
    assert reader.attention(reader.shortened(np.zeros(20, dtype=int))).shape == (LAYERS, 6, 6)
    with pytest.raises(ValueError, match="document must have at least one word"):
        reader.attention(np.zeros(0, dtype=int))


def test_words_are_shuffled_and_none_is_lost():
    from scipy import sparse

    counts = stream(0, "counts").integers(0, 4, (5, 30))
    for given in (counts, sparse.csr_array(counts)):
        documents = shuffled_documents(given, stream(0, "order"))
        for row, words in zip(counts, documents, strict=True):
            assert np.bincount(words, minlength=30).tolist() == row.tolist()
            assert words.tolist() != sorted(words.tolist())


@pytest.mark.parametrize(("axes", "value"), [(2, 1.0), (3, np.nan)])
def test_attention_of_another_shape_is_refused(axes, value):
    def attention(words):
        return np.full((1, len(words), len(words))[-axes:], value)

    with pytest.raises(ValueError, match="attention must be finite, of shape"):
        attention_by_document(attention, DOCUMENTS, [MEMBER])
