"""Counts of the sequences of words that follow each other in a text."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.trees.contexts import Contexts
from simulate.trees.sieve import TreeText
from simulate.trees.tables import Integers, KeyCounts
from theory.core import AtLeast, DataFrame, Result, checked, table


@dataclass(frozen=True, eq=False, repr=False)
class NGramCounts(Result):
    """How often each sequence of `length` words occurs in a text, the most frequent first.

    `ids` (K, length) are the words in the order in which they are read, as places in the vocabulary of `text`, and
    `counts` (K,) how often they follow each other. Sequences of equal counts are in the order of their ids.
    """

    text: TreeText = field(repr=False)
    length: int
    ids: NDArray[np.int64]
    counts: Integers

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The sequences as words in parentheses."""
        vocabulary = self.text.vocabulary.words
        return [tuple(vocabulary[i] for i in row) for row in self.ids.tolist()]

    @property
    def entropy_rate(self) -> float:
        """The entropy of the frequencies of these sequences in bits, over their length."""
        shares = self.counts / self.counts.sum()
        return float(-shares @ np.log2(shares)) / self.length

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each sequence; needs pandas."""
        return table(words=[" ".join(row) for row in self.words], count=self.counts)


@checked
def ngram_counts(text: TreeText, length: Annotated[int, AtLeast(1, most=64)]) -> NGramCounts:
    """Count all sequences of `length` words that follow each other.

    ValueError for a length below 1, of more words than the text has less one, and for one that needs keys of more than
    62 bits (six words of a vocabulary of 1000).

    >>> from simulate.trees import read_text
    >>> from theory.models import NumberText
    >>> pairs = ngram_counts(read_text(NumberText(100)), 2)
    >>> pairs.words[0], int(pairs.counts[0])
    (('()()', '()()'), 10)
    """
    if length > text.numbers.n_words - 1:
        raise ValueError(f"length must be below the {text.numbers.n_words} words of the text, got {length}")
    try:
        contexts = Contexts(text, tuple(range(-length + 1, 0)), 1)
    except ValueError as refused:
        raise ValueError(f"length is too large ({refused}), got {length}") from None
    counts, bits = KeyCounts(), contexts.word_bits
    for low, stop in contexts.pieces():
        counts.add(contexts.keys(low, stop))
    keys, found = counts.sorted()
    order = np.lexsort((keys, -found))
    return NGramCounts(text, length, _unpacked(keys[order], length, bits), found[order])


def _unpacked(keys: Integers, length: int, bits: int) -> NDArray[Any]:
    shifts = bits * np.arange(length - 1, -1, -1)
    return np.asarray((keys[:, None] >> shifts) & ((1 << bits) - 1))
