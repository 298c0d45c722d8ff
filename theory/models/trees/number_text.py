"""The record of a stretch of natural numbers that is read as a text, with one word for each number."""

from dataclasses import dataclass

from theory.core import Several, checked_fields

MAX_NUMBER = 10**14  # the primes up to its root, which a sieve must hold, still fit into a few megabytes


@dataclass(frozen=True)
class NumberText:
    """The text that the natural numbers from `first` to `last`, both included, spell, one word for each number.

    The word of a number is the planar rooted tree of its factorization, see `RootedTree.of_number` (arXiv:2512.01870).
    The number 1 has the empty word, so that a text begins at 2 or later. ValueError for numbers that are no integers,
    for first < 2, for last < first, and for last > 10^14.

    >>> text = NumberText(1_000_000)
    >>> text
    NumberText(last=1000000, first=2)
    >>> text.n_words
    999999
    """

    last: Several
    first: Several = 2

    def __post_init__(self) -> None:
        checked_fields(self)
        last = self.last
        if last < self.first:
            raise ValueError(f"last must be at least first = {self.first}, got {last}")
        if last > MAX_NUMBER:
            raise ValueError(f"last must be at most 10^14, got {last}")

    @property
    def n_words(self) -> int:
        """The number of words, last - first + 1."""
        return self.last - self.first + 1
