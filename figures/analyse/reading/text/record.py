"""Holds a corpus that was read, and what was noticed on the way."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus that was read: counts (documents, words) as a sparse array, without the order of the words.

    `notes` are sentences for the user.
    """

    path: Path
    counts: Any = field(repr=False)  # csr_array of integers
    words: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def n_documents(self) -> int:
        """The number of documents with at least one word of the vocabulary."""
        return int(self.counts.shape[0])

    @property
    def n_tokens(self) -> int:
        """The number of words in all, each as often as it occurs."""
        return int(self.counts.sum())
