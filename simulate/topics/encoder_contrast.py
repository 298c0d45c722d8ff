"""Compares attention and embeddings of a whole encoder between words of one topic and of different topics.

Ratios come with errors by deleting documents (attention) or words (embeddings), one at a time (the jackknife).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core import Estimate
from simulate.topics.contrast import Flags, Measure, checked_membership, products_of_rows
from simulate.topics.counts import word_counts
from simulate.topics.encoder import Encoder, Tensor, encode
from theory.core import Array, Count, Matrix, checked, checks

Words = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class WordReader:
    """Reads documents of words with an encoder, whose tokens may be pieces of words.

    `pieces` are the tokens of each word; `start` and `end` are tokens that are put around every document, and `unknown`
    is that of words which the vocabulary does not have.
    """

    encoder: Encoder
    pieces: Sequence[Sequence[int]]
    start: int
    end: int
    unknown: int

    @property
    def vectors(self) -> Array:
        """The embedding of each word, (words, d): the mean of those of its pieces, before positions are added."""
        return np.array([self.encoder.words[list(tokens)].mean(axis=0) for tokens in self.pieces], dtype=float)

    @property
    def whole(self) -> Flags:
        """Whether each word is one token that no other word has, (words,); an unknown one is not."""
        times = Counter(tuple(tokens) for tokens in self.pieces)
        times[self.unknown,] = 0
        return np.array([len(tokens) == 1 and times[tuple(tokens)] == 1 for tokens in self.pieces])

    def shortened(self, document: Words) -> Words:
        """Return the first words of a document, as many as the encoder has positions for."""
        ends = np.cumsum([len(self.pieces[word]) for word in document])
        return document[: int(np.searchsorted(ends, self.encoder.longest - 2, side="right"))]

    def attention(self, document: Words) -> Tensor:
        """Return the attention between the words of a document (n,), (layers, key, query), the mean over heads.

        It is in units of uniform attention over all tokens, so that 1 is no preference. Of a word in pieces it is the
        mean over them. ValueError for a document that is empty or too long.
        """
        if not len(document):
            raise ValueError("document must have at least one word, got none")
        lengths = np.array([len(self.pieces[word]) for word in document])
        tokens = [self.start, *(token for word in document for token in self.pieces[word]), self.end]
        heads = encode(self.encoder, tokens).attention.mean(axis=1)
        between = heads[:, 1:-1, 1:-1] * len(tokens)
        if lengths.max() == 1:
            return np.asarray(between)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        summed = np.add.reduceat(np.add.reduceat(between, starts, axis=1), starts, axis=2)
        return np.asarray(summed / np.outer(lengths, lengths))


@checked
def shuffled_documents(counts: Any, rng: np.random.Generator) -> list[Words]:
    """Return the words of each document in random order, from counts (documents, words), which know of no order."""
    rows = word_counts(counts)
    found = []
    for k in range(rows.shape[0]):
        row = rows[[k]].toarray()[0] if hasattr(rows, "toarray") else rows[k]
        found.append(rng.permutation(np.repeat(np.arange(len(row)), row)))
    return found


@checked
def attention_by_document(
    attention: Callable[[Words], Any], documents: Iterable[Words], memberships: Sequence[Flags]
) -> tuple[Array, Array]:
    """Sum attention over pairs of positions with different words, of the same and of different topics, per document.

    `attention` is a function of a document (n,) that returns (layers, key, query). Returns the sums (documents,
    memberships, layers, 2) and the numbers of ordered pairs (documents, memberships, 2); the last axis is same,
    different. `memberships` are those of `topic_membership`, all of the same words. Raises ValueError for attention of
    another shape.
    """
    members = [checked_membership(member) for member in memberships]
    sums, pairs = [], []
    for words, heads in _read(attention, documents):
        unlike = words[:, None] != words[None, :]
        classes = [_classes(member, words, unlike) for member in members]
        pairs.append([[mask.sum() for mask in masks] for masks in classes])
        sums.append([[(heads * mask).sum(axis=(1, 2)) for mask in masks] for masks in classes])
    return np.array(sums, dtype=float).transpose(0, 1, 3, 2), np.array(pairs, dtype=float)


@checked
def ratio_over_documents(sums: Array, pairs: Array) -> Estimate:
    """Return the ratio of the mean over same-topic pairs to that over different-topic pairs, both (documents, 2).

    The means are sum over sum, of all documents; the error is by deleting a document at a time, and `n` counts the
    documents. Raises ValueError where a document more or less decides whether there are pairs of both kinds.
    """
    total, number = sums.sum(axis=0), pairs.sum(axis=0)
    left = number - pairs
    if len(sums) < 2 or left.min() <= 0:
        raise ValueError(f"pairs must be of both kinds without any one of the documents, got {number} in {len(sums)}")
    without = (total - sums) / left
    ratio = total / number
    return _jackknife(ratio[0] / ratio[1], without[:, 0] / without[:, 1])


@checked
def embedding_ratio(embedding: Matrix, membership: Flags, *, measure: Measure = "cosine") -> Estimate:
    """Return the ratio of the mean cosine (or dot product) of same-topic pairs to that of different-topic pairs.

    `embedding` is (words, d), `membership` that of `topic_membership`. The error is by deleting a word at a time. The
    ratio means something only where the mean of different-topic pairs is clearly above 0, which `embedding_contrast`
    tells. Raises ValueError where there are no pairs of a kind.
    """
    member = checked_membership(membership)
    words = np.flatnonzero(member.any(axis=0))
    value = products_of_rows(embedding, words, member.shape[1], measure)
    without, means = [], []
    for pairs in _classes(member, words, ~np.eye(len(words), dtype=bool)):
        number, total = pairs.sum(), value[pairs].sum()
        left = number - 2 * pairs.sum(axis=1)
        if left.min() <= 0:
            raise ValueError(f"membership must leave pairs of both kinds without any one word, of {len(words)} kept")
        means.append(total / number)
        without.append((total - 2 * np.where(pairs, value, 0).sum(axis=1)) / left)
    return _jackknife(means[0] / means[1], without[0] / without[1])


@checked
def attention_sums(
    attention: Callable[[Words], Any], documents: Iterable[Words], n_words: Count
) -> tuple[Array, Array]:
    """Sum attention over all ordered pairs of positions by their words; return sums and numbers, both (words, words).

    The mean over the layers is taken. `topic_contrast` of the sums, with the numbers as weights, compares topics.
    """
    checks.fits_in_memory("attention between all words", 2 * float(n_words) ** 2)
    sums, times = np.zeros((n_words, n_words)), np.zeros((n_words, n_words))
    for words, heads in _read(attention, documents):
        pairs = np.ix_(words, words)
        np.add.at(sums, pairs, heads.mean(axis=0))
        np.add.at(times, pairs, 1.0)
    return sums, times


def _read(attention: Callable[[Words], Any], documents: Iterable[Words]) -> Iterator[tuple[Words, Array]]:
    """Yield each document that has words, with its attention, checked."""
    for number, document in enumerate(documents):
        words = checks.integer_array("documents", document)
        if not len(words):
            continue
        heads = np.asarray(attention(words))
        if heads.ndim != 3 or heads.shape[1:] != (len(words), len(words)) or not np.isfinite(heads).all():
            raise ValueError(
                f"attention must be finite, of shape (layers, {len(words)}, {len(words)}) at document {number}, got "
                f"{heads.shape}"
            )
        yield words, heads


def _classes(member: Flags, words: NDArray[np.integer[Any]], unlike: Flags) -> tuple[Flags, Flags]:
    """Return which pairs of these words (n,), both kept and `unlike` (n, n), share a topic, and which do not."""
    kept = member[:, words].astype(np.float32)
    together = kept.T @ kept > 0
    both = unlike & np.logical_and.outer(kept.any(axis=0), kept.any(axis=0))
    return both & together, both & ~together


def _jackknife(value: float, without: Array) -> Estimate:
    n = len(without)
    return Estimate(float(value), float(np.sqrt((n - 1) * without.var())), n)
