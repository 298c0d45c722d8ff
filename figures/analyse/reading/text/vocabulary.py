"""Which words are counted."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from figures.analyse.errors import DataError, counted, shown
from figures.analyse.reading.text.ldac import Counted
from figures.analyse.reading.text.record import Corpus

LISTED = 5


def as_counts(documents: list[Counted], n_words: int) -> Any:
    """Sparse counts (documents, words)."""
    lengths = [len(own) for _, own in documents]
    row = np.repeat(np.arange(len(documents)), lengths)
    column = np.fromiter((word for _, own in documents for word in own), dtype=np.int64, count=len(row))
    times = np.fromiter((n for _, own in documents for n in own.values()), dtype=np.int64, count=len(row))
    return sparse.csr_array((times, (row, column)), shape=(len(documents), n_words))


def require_words(path: Path, documents: list[Counted], drop_empty: bool) -> tuple[list[Counted], list[str]]:
    """Documents with words, and a note on those without; DataError where they are not to be dropped."""
    if not documents:
        raise DataError(path, "holds no document")
    empty = [name for name, own in documents if not own]
    if len(empty) == len(documents):
        raise DataError(path, f"has no words in any of {counted(len(documents), 'document')}")
    if not empty:
        return documents, []
    first = ", ".join(empty[:LISTED]) + (", ..." if len(empty) > LISTED else "")
    if not drop_empty:
        raise DataError(
            path, f"{counted(len(empty), 'document')} without words ({first}); leave out what is empty by --drop-empty"
        )
    return [entry for entry in documents if entry[1]], [f"{counted(len(empty), 'empty document')} left out ({first})"]


def pruned(
    path: Path,
    documents: list[Counted],
    words: list[str],
    *,
    stop_words: Iterable[str],
    min_documents: int,
    max_words: int,
    notes: Iterable[str],
    fold: Callable[[str], str] = str.lower,
) -> Corpus:
    """Counts of words in at least `min_documents` documents that are no stop words, at most the `max_words` of them
    that are in most documents. Documents that have none of these are left out, with a note."""
    counts = as_counts(documents, len(words))
    stop = frozenset(stop_words)
    stopped = np.array([fold(word) in stop for word in words], dtype=bool)
    frequency = np.bincount(counts.indices, minlength=len(words))  # documents of each word
    kept = (frequency >= min_documents) & ~stopped
    said = [*notes, _said(frequency, stopped, kept, min_documents)]
    if kept.sum() > max_words:
        order = np.argsort(np.where(kept, -frequency, 1), kind="stable")
        kept[order[max_words:]] = False
        said.append(f"of these the {max_words} words that are in most documents (--max-words)")
    if kept.sum() < 2:
        raise DataError(path, _too_few(words, kept, min_documents))
    chosen = counts[:, np.flatnonzero(kept)]
    full = np.asarray(chosen.sum(axis=1)) > 0
    if not full.all():
        said.append(f"{counted(int((~full).sum()), 'document')} without any of these words left out")
    vocabulary = tuple(word for word, own in zip(words, kept, strict=True) if own)
    return Corpus(path, sparse.csr_array(chosen[np.flatnonzero(full)]), vocabulary, tuple(said))


def _said(frequency: Any, stopped: Any, kept: Any, min_documents: int) -> str:
    there = frequency > 0
    return (
        f"{counted(int(there.sum()), 'different word')}, of which {int((there & stopped).sum())} are stop words and "
        f"{int((there & ~stopped & (frequency < min_documents)).sum())} in fewer than {min_documents} documents: "
        f"{int(kept.sum())} kept"
    )


def _too_few(words: list[str], kept: Any, min_documents: int) -> str:
    left = [word for word, own in zip(words, kept, strict=True) if own]
    which = f"a vocabulary of one word, {shown(left[0])}" if left else "no word"
    least = f"{counted(min_documents, 'document')} or more"
    return f"has {which} in {least}; two words are the least: lower --min-documents, or add documents"
