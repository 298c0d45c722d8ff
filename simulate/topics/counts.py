"""Counts of words in documents, dense or sparse: read, checked, and listed."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Counts: TypeAlias = NDArray[np.int64]
AnyCounts: TypeAlias = Any  # (documents, words): an integer array, or a csr_array where the input was sparse


def word_counts(documents: Any) -> AnyCounts:
    """Counts (documents, words) of sampled documents, an array or a sparse matrix of whole numbers >= 0.

    Sparse ones stay sparse. ValueError for other numbers and for documents without words.
    """
    given = getattr(documents, "counts", documents)
    if sparse.issparse(given):
        array = sparse.csr_array(given, copy=True)
        array.sum_duplicates()
        array.eliminate_zeros()
        values = array.data
    else:
        values = array = np.asarray(given)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"documents must be counts of shape (documents, words), got shape {array.shape}")
    if values.dtype.kind not in "iuf" or not (np.isfinite(values).all() and (values == np.floor(values)).all()):
        raise ValueError(f"documents must be whole numbers (counts), got {values.dtype} with other values")
    if (values < 0).any():
        raise ValueError(f"documents must be counts >= 0, got {values.min()}")
    counts = array.astype(np.int64)
    empty = np.flatnonzero(np.asarray(counts.sum(axis=1)) == 0)
    if empty.size:
        raise ValueError(f"documents must have words, got {empty.size} empty ones, the first at index {empty[0]}")
    return counts


def occurrences(counts: AnyCounts) -> tuple[Counts, Counts, Counts]:
    """(document, word, times) of the counts that are not zero, document by document."""
    document, word = (np.asarray(index, dtype=np.int64) for index in counts.nonzero())
    times = counts.data if sparse.issparse(counts) else counts[document, word]
    return document, word, np.asarray(times, dtype=np.int64)
