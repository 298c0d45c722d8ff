"""Same-topic against different-topic pairs of words: the contrast of an embedding, a value matrix, or attention.

What a pair is measured by may come from any model; the topics come from any (K, words) matrix of probabilities.
Both see the same co-occurrences, so a large z says that the contrast is no chance, not that the topics are true.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.core import Estimate
from simulate.core.streams import require_generator
from simulate.topics.counts import occurrences, word_counts
from theory.models import checks
from theory.models.arrays import Array

Flags = NDArray[np.bool_]
Measure = Literal["cosine", "dot"]
CLEAR = 2.0  # standard errors above zero, from which a mean may be divided by
ROUNDING = 1e-12  # relative to the values: a smaller spread is none
SUMS_TO_ONE = 1e-5


@dataclass(frozen=True)
class TopicContrast:
    """Mean over pairs of distinct kept words that share a topic (`same`), and over those that do not (`different`).

    Standard errors are by deleting one word at a time, because pairs with a common word depend on each other; `n` is
    the number of words. `null_mean` and `null_sd` are of the difference when the topics of the words are permuted.
    """

    same: Estimate
    different: Estimate
    difference: Estimate
    null_mean: float
    null_sd: float
    permutations: int
    n_words: int
    n_same: int  # unordered pairs
    n_different: int

    @property
    def z(self) -> float:
        """(difference - null_mean)/null_sd; nan where all permutations give the same."""
        return (self.difference.mean - self.null_mean) / self.null_sd if self.null_sd else math.nan

    @property
    def ratio(self) -> float:
        """same/different; nan unless `different` is above zero by two standard errors."""
        clear = self.different.mean > CLEAR * self.different.stderr and self.different.mean > 0
        return self.same.mean / self.different.mean if clear else math.nan


def topic_membership(
    topic_words: Any, threshold: float, *, overlap: bool = False, excluded: Flags | None = None
) -> Flags:
    """(K, words) whether a word characterizes a topic: it is among the topic's int(words threshold) + 1 most probable.

    Without `overlap`, words of two or more topics are dropped; with it they belong to each. `excluded` (words,) are
    never kept. ValueError where nothing is kept.
    """
    phi = np.array(checks.finite_array("topic_words", topic_words, 2))
    threshold = checks.between("threshold", threshold, 0, 1)
    n_words = phi.shape[1]
    allowed = np.ones(n_words, dtype=bool) if excluded is None else ~np.asarray(excluded, dtype=bool)
    most = min(int(n_words * threshold + 1e-9) + 1, int(allowed.sum()))
    phi[:, ~allowed] = -np.inf
    membership = np.zeros(phi.shape, dtype=bool)
    np.put_along_axis(membership, np.argsort(-phi, axis=1, kind="stable")[:, :most], True, axis=1)
    if not overlap:
        membership[:, membership.sum(axis=0) > 1] = False
    if not membership.any():
        why = "every word that it selects belongs to several topics" if most else "all words are excluded"
        raise ValueError(f"threshold {threshold:g} keeps no word of {n_words}: {why}; choose another one, or overlap")
    return membership


def topic_contrast(
    values: Any,
    membership: Flags,
    rng: np.random.Generator,
    *,
    weights: Any = None,
    permutations: int = 200,
) -> TopicContrast:
    """Contrast of `values` (words, words) over ordered pairs of distinct kept words, such as a value matrix.

    A matrix with one more row and column is read as having [MASK] first, as `fit_value_matrix` gives it. With
    `weights` (words, words), `values` are sums over so many occurrences of each pair, and means are sum over sum.
    ValueError where no two kept words share a topic, or all do.
    """
    require_generator(rng)
    n_words = membership.shape[1]
    words = np.flatnonzero(membership.any(axis=0))
    sums = _pairs("values", values, n_words, words)
    times = np.ones_like(sums) if weights is None else _pairs("weights", weights, n_words, words)
    for array in (sums, times):
        np.fill_diagonal(array, 0.0)
    kept = membership[:, words].astype(np.int64)
    together = kept.T @ kept > 0
    return _contrast(sums, times, together, rng, int(checks.dimension(permutations, least=2, name="permutations")))


def embedding_contrast(
    embedding: Any,
    membership: Flags,
    rng: np.random.Generator,
    *,
    measure: Measure = "cosine",
    permutations: int = 200,
) -> TopicContrast:
    """Contrast of the cosines or dot products of the rows of `embedding` (words, dimension), over all pairs.

    A row of zeros has cosine 0 with every other.
    """
    vectors = checks.finite_array("embedding", embedding, 2)
    if len(vectors) != membership.shape[1]:
        raise ValueError(f"embedding must have a row for each of {membership.shape[1]} words, got {len(vectors)}")
    if measure not in ("cosine", "dot"):
        raise ValueError(f"measure must be 'cosine' or 'dot', got {measure!r}")
    words = np.flatnonzero(membership.any(axis=0))
    rows = vectors[words]
    if measure == "cosine":
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1.0)
    return topic_contrast(rows @ rows.T, membership[:, words], rng, permutations=permutations)


def attention_contrast(
    attention: Callable[[Any], Any],
    documents: Iterable[Any],
    membership: Flags,
    rng: np.random.Generator,
    *,
    reference: float = 1.0,
    permutations: int = 200,
) -> TopicContrast:
    """Contrast of A_ij length/reference over ordered pairs of positions that show different kept words.

    `attention` of a document (length,), word numbers with -1 for what is no word here, is (..., key, query), each
    column of sum 1; layers and heads, the axes in front, are averaged: they have the same pairs. Uniform attention is
    1/reference. Pairs of all documents count alike.
    """
    require_generator(rng)
    sums, times, place = _nothing_yet(membership)
    for number, document in enumerate(documents):
        words = np.asarray(document)
        if (
            words.ndim != 1
            or words.dtype.kind not in "iu"
            or words.min(initial=0) < -1
            or words.max(initial=-1) >= len(place) - 1
        ):
            raise ValueError(f"documents must be lists of word numbers from -1 to {len(place) - 2}, not so at {number}")
        if not len(words):
            continue
        heads = _checked_attention(attention(words), np.ones(len(words)), number)
        at = place[words]  # -1, no word, is the last place
        use = np.flatnonzero(at >= 0)
        pairs = at[use][:, None], at[use][None, :]
        np.add.at(sums, pairs, heads[np.ix_(use, use)] * (len(words) / reference))
        np.add.at(times, pairs, 1.0)
    return topic_contrast(sums, _of_kept(membership), rng, weights=times, permutations=permutations)


def count_attention_contrast(
    attention: Callable[[Any, Any], Any],
    documents: Any,
    membership: Flags,
    rng: np.random.Generator,
    *,
    reference: float = 1.0,
    permutations: int = 200,
) -> TopicContrast:
    """The same for models without positions: `documents` are counts (documents, words).

    `attention` of the words of a document and how often each occurs, (n,) both, is (..., n, n): what one position with
    the key's word gets from a query. Times the counts of the keys, each column sums to 1.
    """
    require_generator(rng)
    sums, times, place = _nothing_yet(membership)
    document, word, count = occurrences(word_counts(documents))
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
    return topic_contrast(sums, _of_kept(membership), rng, weights=times, permutations=permutations)


def random_embedding(n_words: int, dimension: int, rng: np.random.Generator) -> Array:
    """Negative control (words, dimension): independent normal vectors, which know of no topics."""
    require_generator(rng)
    return rng.standard_normal((n_words, dimension))


def planted_values(membership: Flags, same: float, different: float) -> Array:
    """Positive control (words, words): `same` for two words that share a topic, `different` for all others."""
    kept = membership.astype(np.int64)
    return np.where(kept.T @ kept > 0, same, different)


def _contrast(sums: Array, times: Array, together: Flags, rng: np.random.Generator, permutations: int) -> TopicContrast:
    m = len(sums)
    off = together & ~np.eye(m, dtype=bool)
    same, without_same, n_same = _class_mean(sums, times, off, "share a topic")
    different, without_different, n_different = _class_mean(sums, times, ~together, "have no topic in common")
    null = _permuted(sums, times, np.nonzero(off), rng, permutations)
    sd = float(null.std(ddof=1))
    scale = float(abs(sums).max() / max(times.max(), 1.0))
    return TopicContrast(
        same=Estimate(same, _deletion_error(without_same), m),
        different=Estimate(different, _deletion_error(without_different), m),
        difference=Estimate(same - different, _deletion_error(without_same - without_different), m),
        null_mean=float(null.mean()),
        null_sd=sd if sd > ROUNDING * scale else 0.0,
        permutations=len(null),
        n_words=m,
        n_same=n_same,
        n_different=n_different,
    )


def _class_mean(sums: Array, times: Array, pairs: Flags, what: str) -> tuple[float, Array, int]:
    """Mean over `pairs`; the same without each word in turn, (m,), or nan where nothing is left; number of pairs."""
    value, n = np.where(pairs, sums, 0.0), np.where(pairs, times, 0.0)
    total, weight = value.sum(), n.sum()
    if weight == 0:
        raise ValueError(f"no two of the {len(sums)} kept words {what}: choose another threshold or number of topics")
    left = weight - n.sum(axis=0) - n.sum(axis=1)
    rest = total - value.sum(axis=0) - value.sum(axis=1)
    without = np.divide(rest, left, out=np.full(len(sums), np.nan), where=left > 0.5)
    return float(total / weight), without, int((n + n.T > 0).sum()) // 2


def _deletion_error(without: Array) -> float:
    """Standard error by the jackknife, of the words that can be deleted."""
    values = without[np.isfinite(without)]
    return float(np.sqrt((len(values) - 1) * values.var())) if len(values) > 1 else 0.0


def _permuted(sums: Array, times: Array, pairs: Any, rng: np.random.Generator, permutations: int) -> Array:
    """(permutations,) differences with the topics of words exchanged; only the same-topic pairs are visited."""
    total, weight = sums.sum(), times.sum()
    differences = np.empty(permutations)
    for k in range(permutations):
        order = rng.permutation(len(sums))
        chosen = order[pairs[0]], order[pairs[1]]
        value, n = sums[chosen].sum(), times[chosen].sum()
        differences[k] = value / n - (total - value) / (weight - n) if 0 < n < weight else np.nan
    differences = differences[np.isfinite(differences)]
    if len(differences) < 2:
        raise ValueError("no permutation of the topics leaves pairs of both kinds: more documents are needed")
    return differences


def _pairs(name: str, value: Any, n_words: int, words: NDArray[np.intp]) -> Array:
    """Copy of the part of the kept words."""
    array = checks.finite_array(name, value, 2)
    if array.shape not in ((n_words, n_words), (n_words + 1, n_words + 1)):
        raise ValueError(f"{name} must have shape ({n_words}, {n_words}), or one more with [MASK], got {array.shape}")
    first = len(array) - n_words
    return array[np.ix_(words + first, words + first)]


def _nothing_yet(membership: Flags) -> tuple[Array, Array, NDArray[np.int64]]:
    """Empty sums and times (m, m) of kept words; the place of every word among them, -1 for none (and for word -1)."""
    words = np.flatnonzero(membership.any(axis=0))
    place = np.full(membership.shape[1] + 1, -1)
    place[words] = np.arange(len(words))
    return np.zeros((len(words), len(words))), np.zeros((len(words), len(words))), place


def _of_kept(membership: Flags) -> Flags:
    return np.asarray(membership[:, membership.any(axis=0)])


def _checked_attention(attention: Any, counts: Any, number: int) -> Array:
    """Mean over layers and heads."""
    heads = np.asarray(attention, dtype=float)
    n = len(counts)
    if heads.ndim < 2 or heads.shape[-2:] != (n, n):
        raise ValueError(f"attention must have shape (..., {n}, {n}) at document {number}, got {heads.shape}")
    if not np.allclose(np.einsum("k,...kq->...q", np.asarray(counts, dtype=float), heads), 1, atol=SUMS_TO_ONE):
        raise ValueError(f"attention [key, query] must have columns of sum 1, not so at document {number}")
    return np.asarray(heads.reshape(-1, n, n).mean(axis=0))
