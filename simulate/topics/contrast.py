"""Compares same-topic with different-topic pairs of words, by an embedding, a value matrix, or attention.

What a pair is measured by may come from any model; the topics come from any (K, words) matrix of probabilities.
Both see the same co-occurrences, so a large z says that the contrast is no chance, not that the topics are true.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulate.core import Estimate
from theory.core import Array, AtLeast, Count, Matrix, OpenShare, Real, Result, checked, checks

Flags = NDArray[np.bool_]
Measure = Literal["cosine", "dot"]
MIN_STANDARD_ERRORS = 2.0  # standard errors above zero, from which a mean may be divided by
SPREAD_ROUNDING = 1e-12  # a spread below this share of the values counts as none
MAX_PERMUTATIONS = 10**7
MAX_ENTRY = 1e100  # largest size of values and weights: sums of their squares are still numbers


@dataclass(frozen=True, repr=False)
class TopicContrast(Result):
    """Holds means over pairs of distinct kept words that share a topic (`same`) and that do not (`different`).

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
        """The score (difference - null_mean)/null_sd; nan where all permutations give the same."""
        return (self.difference.mean - self.null_mean) / self.null_sd if self.null_sd else math.nan

    @property
    def ratio(self) -> float:
        """The ratio same/different; nan unless `different` is above zero by two standard errors."""
        clear = self.different.mean > MIN_STANDARD_ERRORS * self.different.stderr and self.different.mean > 0
        return self.same.mean / self.different.mean if clear else math.nan


@checked
def topic_membership(
    topic_words: ArrayLike, threshold: OpenShare, *, overlap: bool = False, excluded: Flags | None = None
) -> Flags:
    """Return (K, words), whether a word characterizes a topic, from probabilities `topic_words` (K, words).

    A word does if it is among the topic's int(words threshold) + 1 most probable. Without `overlap`, words of two or
    more topics are dropped; with it they belong to each. `excluded` (words,), truth values, are never kept. Raises
    ValueError for a threshold outside (0, 1), and where nothing is kept.
    """
    phi = np.array(checks.finite_array("topic_words", topic_words, 2))
    n_words = phi.shape[1]
    allowed = np.ones(n_words, dtype=bool) if excluded is None else ~checks.bool_array("excluded", excluded)
    checks.shaped("excluded", allowed, (n_words,), " as topic_words has words")
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


def checked_membership(membership: Any) -> Flags:
    """Return the truth values (K, words) of `topic_membership`, at least one of them True; else ValueError."""
    member = checks.bool_array("membership", membership)
    if member.ndim != 2 or not member.any():
        raise ValueError(f"membership must be truth values (topics, words), not all False, got shape {member.shape}")
    return member


@checked
def topic_contrast(
    values: ArrayLike,
    membership: Flags,
    rng: np.random.Generator,
    *,
    weights: ArrayLike | None = None,
    permutations: Annotated[int, AtLeast(2, most=MAX_PERMUTATIONS)] = 200,
) -> TopicContrast:
    """Measure the contrast of `values` (words, words), such as a value matrix, over pairs of distinct kept words.

    `membership` (K, words) is that of `topic_membership`. A matrix with one more row and column is read as having
    [MASK] first, as `fit_value_matrix` gives it. With `weights` (words, words), not negative, `values` are sums over so
    many occurrences of each ordered pair, and means are sum over sum. Raises ValueError where no two kept words share
    a topic, or all do.
    """
    member = checked_membership(membership)
    n_words = member.shape[1]
    words = np.flatnonzero(member.any(axis=0))
    sums = _pairs("values", values, n_words, words)
    times = np.ones_like(sums) if weights is None else _pairs("weights", weights, n_words, words)
    if times.min() < 0:
        raise ValueError(f"weights must not be negative, got {times.min():g}")
    for array in (sums, times):
        np.fill_diagonal(array, 0.0)
    kept = member[:, words].astype(np.int64)
    together = kept.T @ kept > 0
    return _contrast(sums, times, together, rng, permutations)


@checked
def embedding_contrast(
    embedding: Matrix,
    membership: Flags,
    rng: np.random.Generator,
    *,
    measure: Measure = "cosine",
    permutations: int = 200,
) -> TopicContrast:
    """Measure the contrast of the cosines or dot products of the rows of `embedding` (words, dimension).

    The other arguments and the errors are those of `topic_contrast`. A row of zeros has cosine 0 with every other.
    """
    member = checked_membership(membership)
    words = np.flatnonzero(member.any(axis=0))
    products = products_of_rows(embedding, words, member.shape[1], measure)
    return topic_contrast(products, member[:, words], rng, permutations=permutations)


def products_of_rows(embedding: Array, words: NDArray[np.intp], n_words: int, measure: Measure) -> Array:
    """Return the cosines or dot products of the rows of these words; ValueError for other rows than one a word."""
    if len(embedding) != n_words:
        raise ValueError(f"embedding must have a row for each of {n_words} words, got {len(embedding)}")
    if abs(embedding).max() > math.sqrt(MAX_ENTRY):
        raise ValueError(f"embedding must lie within +-{math.sqrt(MAX_ENTRY):g}, got {abs(embedding).max():g}")
    rows = embedding[words]
    if measure == "cosine":
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1.0)
    return np.asarray(rows @ rows.T)


@checked
def random_embedding(n_words: Count, dimension: Count, rng: np.random.Generator) -> Array:
    """Draw a negative control (words, dimension): independent normal vectors, which know of no topics."""
    checks.fits_in_memory("a random embedding", n_words * dimension)
    return rng.standard_normal((n_words, dimension))


@checked
def planted_values(membership: Flags, same: Real, different: Real) -> Array:
    """Return a positive control (words, words): `same` for two words that share a topic, `different` for others."""
    kept = checked_membership(membership).astype(np.int64)
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
        null_sd=sd if sd > SPREAD_ROUNDING * scale else 0.0,
        permutations=len(null),
        n_words=m,
        n_same=n_same,
        n_different=n_different,
    )


def _class_mean(sums: Array, times: Array, pairs: Flags, what: str) -> tuple[float, Array, int]:
    """Return the mean over `pairs`, that without each word (m,), nan where nothing is left, and their number."""
    value, n = np.where(pairs, sums, 0.0), np.where(pairs, times, 0.0)
    total, weight = value.sum(), n.sum()
    if weight == 0:
        raise ValueError(
            f"membership, documents or weights leave no pair: no two of the {len(sums)} kept words {what}; "
            "choose another threshold or number of topics"
        )
    left = weight - n.sum(axis=0) - n.sum(axis=1)
    rest = total - value.sum(axis=0) - value.sum(axis=1)
    without = np.divide(rest, left, out=np.full(len(sums), np.nan), where=left > 0.5)
    return float(total / weight), without, int((n + n.T > 0).sum()) // 2


def _deletion_error(without: Array) -> float:
    """Return the standard error by the jackknife, of the words that can be deleted."""
    values = without[np.isfinite(without)]
    return float(np.sqrt((len(values) - 1) * values.var())) if len(values) > 1 else 0.0


def _permuted(sums: Array, times: Array, pairs: Any, rng: np.random.Generator, permutations: int) -> Array:
    """Return differences with the topics of words exchanged, (permutations,); only same-topic pairs are visited."""
    total, weight = sums.sum(), times.sum()
    differences = np.empty(permutations)
    for k in range(permutations):
        order = rng.permutation(len(sums))
        chosen = order[pairs[0]], order[pairs[1]]
        value, n = sums[chosen].sum(), times[chosen].sum()
        differences[k] = value / n - (total - value) / (weight - n) if 0 < n < weight else np.nan
    differences = differences[np.isfinite(differences)]
    if len(differences) < 2:
        raise ValueError("membership and weights leave no permutation with pairs of both kinds: take more documents")
    return differences


def _pairs(name: str, value: Any, n_words: int, words: NDArray[np.intp]) -> Array:
    """Copy the part of the kept words."""
    array = checks.finite_array(name, value, 2)
    if abs(array).max() > MAX_ENTRY:
        raise ValueError(f"{name} must lie within +-{MAX_ENTRY:g}, got {abs(array).max():g}")
    if array.shape not in ((n_words, n_words), (n_words + 1, n_words + 1)):
        raise ValueError(f"{name} must have shape ({n_words}, {n_words}), or one more with [MASK], got {array.shape}")
    first = len(array) - n_words
    return array[np.ix_(words + first, words + first)]
