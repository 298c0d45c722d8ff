"""Contexts of hidden words as integer keys: words at chosen places, and the remainder of the number itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from simulate.trees.sieve import TreeText
from simulate.trees.tables import Integers
from theory.core import AtLeast, checked_fields, checks

CHUNK_TARGETS = 2**18  # targets whose keys are made at a time
MOST_BITS = 62  # most bits of a key
MAX_OFFSET = 1000
MAX_MODULUS = 10**6


@dataclass(frozen=True)
class Contexts:
    """The contexts of all words of a text: the words at `offsets` from the hidden one, nearest first, and n mod M.

    A key holds the remainder, the ids of these words, and that of the hidden word itself, each in as many bits as the
    vocabulary needs, so that no table of contexts is stored. Shorter contexts, to which a predictor falls back, leave
    out the last offsets, then the remainder.
    """

    text: TreeText
    offsets: tuple[int, ...]
    modulus: Annotated[int, AtLeast(1, most=MAX_MODULUS)]

    def __post_init__(self) -> None:
        checked_fields(self)
        offsets, M = self.offsets, self.modulus
        if len(set(offsets)) < len(offsets) or any(not 1 <= abs(k) <= MAX_OFFSET for k in offsets):
            raise ValueError(
                f"offsets must be different integers from -{MAX_OFFSET} to {MAX_OFFSET} without 0, got "
                f"{checks.shown(offsets)}"
            )
        bits = self.word_bits * (1 + len(offsets)) + (M - 1).bit_length()
        if bits > MOST_BITS:
            raise ValueError(
                f"offsets and modulus must leave room for keys of {MOST_BITS} bits; {len(offsets)} words of a "
                f"vocabulary of {self.text.vocabulary.n_words} and a modulus of {M} need {bits}"
            )
        if self.places.stop - self.places.start < 2:
            raise ValueError(
                f"offsets must leave two words to predict at least, got {checks.shown(offsets)} for a text of "
                f"{self.text.numbers.n_words} words"
            )

    @property
    def word_bits(self) -> int:
        """The number of bits of a word id."""
        return max(1, (self.text.vocabulary.n_words - 1).bit_length())

    @property
    def places(self) -> range:
        """The places in the text whose contexts lie inside it."""
        return range(max(0, *(-k for k in (0, *self.offsets))), self.text.numbers.n_words - max(0, 0, *self.offsets))

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield (first, stop) of stretches of the places."""
        for low in range(self.places.start, self.places.stop, CHUNK_TARGETS):
            yield low, min(low + CHUNK_TARGETS, self.places.stop)

    def keys(self, low: int, stop: int) -> Integers:
        """Return the keys of the words at low, ..., stop - 1 after their contexts: the id of the word comes last."""
        keys = (self.text.numbers.first + np.arange(low, stop)) % self.modulus
        for k in (*self.offsets, 0):
            keys = (keys << self.word_bits) | self.text.ids[low + k : stop + k]
        return keys

    def shortened(self, keys: Integers) -> Iterator[Integers]:
        """Yield the keys of the same words after shorter contexts: the empty one, the remainder alone, ..., all."""
        words, bits = keys & ((1 << self.word_bits) - 1), self.word_bits
        yield words
        for known in range(0 if self.modulus > 1 else 1, len(self.offsets) + 1):
            yield (keys >> bits * (1 + len(self.offsets) - known) << bits) | words
