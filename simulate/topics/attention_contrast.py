"""Compares attention between positions that show words of the same topic and of different topics."""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.topics.contrast import Flags, TopicContrast, checked_membership, topic_contrast
from simulate.topics.counts import occurrences, word_counts
from theory.core import Array, Within, checked, checks

SUM_TOLERANCE = 1e-5
Reference = Annotated[float, Within(1e-100, 1e100)]


@checked
def attention_contrast(
    attention: Callable[[Any], Any],
    documents: Iterable[Any],
    membership: Flags,
    rng: np.random.Generator,
    *,
    reference: Reference = 1.0,
    permutations: int = 200,
) -> TopicContrast:
    """Measure the contrast of A_ij length/reference over ordered pairs of positions that show different kept words.

    `attention` is a function of a document (length,), word numbers with -1 for what is no word here, that returns
    (..., key, query) with columns of sum 1; layers and heads, the axes in front, are averaged: they have the same
    pairs. Uniform attention gives 1/`reference`. Pairs of all documents count alike. `membership` (K, words) is that
    of `topic_membership`. Raises ValueError for word numbers that are none, for attention of another shape or sum, and
    where no two kept words share a topic, or all do.
    """
    member = checked_membership(membership)
    sums, times, place = _nothing_yet(member)
    for number, document in enumerate(_iterated(documents)):
        words = _word_numbers(document, len(place) - 1, number)
        if not len(words):
            continue
        heads = _checked_attention(attention(words), np.ones(len(words)), number)
        at = place[words]  # index -1, which stands for no word, is the last place
        use = np.flatnonzero(at >= 0)
        pairs = at[use][:, None], at[use][None, :]
        np.add.at(sums, pairs, heads[np.ix_(use, use)] * (len(words) / reference))
        np.add.at(times, pairs, 1.0)
    return topic_contrast(sums, _of_kept(member), rng, weights=times, permutations=permutations)


@checked
def count_attention_contrast(
    attention: Callable[[Any, Any], Any],
    documents: Any,
    membership: Flags,
    rng: np.random.Generator,
    *,
    reference: Reference = 1.0,
    permutations: int = 200,
) -> TopicContrast:
    """Measure the contrast of `attention_contrast` for a model without positions, on counts (documents, words).

    `attention` is a function of the words of a document and how often each occurs, (n,) both, that returns (..., n, n):
    what one position with the key's word gets from a query. Times the counts of the keys, each column sums to 1. The
    other arguments and the errors are those of `attention_contrast`.
    """
    member = checked_membership(membership)
    sums, times, place = _nothing_yet(member)
    counts = word_counts(documents)
    if counts.shape[1] != member.shape[1]:
        raise ValueError(f"documents must have {member.shape[1]} columns (words), got {counts.shape[1]}")
    document, word, count = occurrences(counts)
    starts = np.flatnonzero(np.diff(document, prepend=-1))
    for number, part in enumerate(np.split(np.arange(len(document)), starts[1:])):
        n = count[part]
        heads = _checked_attention(attention(word[part], n), n, number)
        at = place[word[part]]
        use = np.flatnonzero(at >= 0)
        pairs = np.ix_(at[use], at[use])
        both = np.outer(n[use], n[use])
        sums[pairs] += both * heads[np.ix_(use, use)] * (n.sum() / reference)
        times[pairs] += both
    return topic_contrast(sums, _of_kept(member), rng, weights=times, permutations=permutations)


def _iterated(documents: Iterable[Any]) -> Iterator[Any]:
    try:
        return iter(documents)
    except Exception:  # the function of a user may raise anything
        raise ValueError(f"documents must be a sequence of documents, got {checks.shown(documents)}") from None


def _word_numbers(document: Any, n_words: int, number: int) -> NDArray[Any]:
    """Return a document as word numbers, -1 for what is no word; ValueError with the number of the document."""
    try:
        words = checks.integer_array("documents", document if np.size(document) else np.zeros(0, dtype=int))
    except Exception:  # asking an unknown object for its size may raise anything
        words = np.zeros((0, 0), dtype=int)
    if words.ndim != 1 or words.min(initial=0) < -1 or words.max(initial=-1) >= n_words:
        raise ValueError(f"documents must be lists of word numbers from -1 to {n_words - 1}, not so at {number}")
    return words


def _nothing_yet(membership: Flags) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return empty sums and times (m, m) of the m kept words, and the place of every word among them, or -1."""
    words = np.flatnonzero(membership.any(axis=0))
    place = np.full(membership.shape[1] + 1, -1)
    place[words] = np.arange(len(words))
    return np.zeros((len(words), len(words))), np.zeros((len(words), len(words))), place


def _of_kept(membership: Flags) -> Flags:
    return np.asarray(membership[:, membership.any(axis=0)])


def _checked_attention(attention: Any, counts: Any, number: int) -> Array:
    """Return the mean over layers and heads of what the function returned for a document."""
    heads = checks.real_array("attention", attention)
    n = len(counts)
    if heads.ndim < 2 or heads.shape[-2:] != (n, n):
        raise ValueError(f"attention must have shape (..., {n}, {n}) at document {number}, got {heads.shape}")
    if not (abs(heads) <= 2).all() or not np.allclose(
        np.einsum("k,...kq->...q", np.asarray(counts, dtype=float), heads), 1, atol=SUM_TOLERANCE
    ):
        raise ValueError(f"attention [key, query] must have columns of sum 1, not so at document {number}")
    return np.asarray(heads.reshape(-1, n, n).mean(axis=0))
