"""Counts of words in documents, dense or sparse: read, checked, and listed."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.core import checks
from theory.models.topics import TopicModel

Counts: TypeAlias = NDArray[np.int64]
AnyCounts: TypeAlias = Any  # (documents, words): an integer array, or a csr_array where the input was sparse
MAX_COUNT = 2**40  # largest count of one word in one document: sums of many counts still fit into 64 bits


@dataclass(frozen=True)
class TopicDocuments:
    """Holds sampled documents as counts of their words.

    `counts` (documents, words) says how often each word occurs: there are no positions, so this is everything. Word w
    of topic k = w // v is token 1 + w. `proportions` (documents, topics) are those each document was drawn with.
    """

    model: TopicModel
    counts: Counts
    proportions: NDArray[np.float64]

    @property
    def lengths(self) -> Counts:
        """The number of tokens of each document, (documents,)."""
        return np.asarray(self.counts.sum(axis=1))


def word_counts(documents: Any) -> AnyCounts:
    """Return the counts (documents, words) of sampled documents, of an array, or of a sparse matrix.

    Sparse ones stay sparse. Raises ValueError for numbers that are not whole or below 0, for masked entries, and for
    documents without words.
    """
    given = documents.counts if isinstance(documents, TopicDocuments) else documents
    if sparse.issparse(given):
        if given.dtype.kind not in "iufb":
            raise ValueError(f"documents must be whole numbers (counts), got dtype {given.dtype}")
        array = sparse.csr_array(given, copy=True)
        array.sum_duplicates()
        array.eliminate_zeros()
        values = array.data
    else:
        values = array = _dense(given)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"documents must be counts of shape (documents, words), got shape {array.shape}")
    if values.dtype.kind not in "iuf" or not (np.isfinite(values).all() and (values == np.floor(values)).all()):
        raise ValueError(f"documents must be whole numbers (counts), got {values.dtype} with other values")
    if (values < 0).any():
        raise ValueError(f"documents must be counts >= 0, got {values.min()}")
    if (values > MAX_COUNT).any():
        raise ValueError(f"documents must be counts of at most {MAX_COUNT}, got {values.max()}")
    counts = array.astype(np.int64)
    empty = np.flatnonzero(np.asarray(counts.sum(axis=1)) == 0)
    if empty.size:
        raise ValueError(f"documents must have words, got {empty.size} empty ones, the first at index {empty[0]}")
    return counts


def _dense(given: Any) -> NDArray[Any]:
    """Return `given` as an array of its own dtype: floats would lose digits of large integers."""
    if np.ma.is_masked(given):
        raise ValueError(f"documents must have no masked entries, got {np.ma.getmaskarray(given).sum()} of them")
    try:
        array = np.asarray(given)
    except Exception:  # a list is ragged, or an object's conversion raises anything
        raise ValueError(f"documents must be an array of whole numbers (counts), got {checks.shown(given)}") from None
    if array.dtype.kind == "O":
        return checks.real_array("documents", array)
    return array


def occurrences(counts: AnyCounts) -> tuple[Counts, Counts, Counts]:
    """Return (document, word, times) of the counts that are not zero, document by document."""
    document, word = (np.asarray(index, dtype=np.int64) for index in counts.nonzero())
    times = counts.data if sparse.issparse(counts) else counts[document, word]
    return document, word, np.asarray(times, dtype=np.int64)
