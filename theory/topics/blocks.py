"""Matrices over tokens that treat all topics and all words alike."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, CheckedRecord, Real, Result, checks
from theory.models.topics import Topics


@dataclass(frozen=True, repr=False)
class BlockMatrix(CheckedRecord, Result):
    """Holds a value matrix W[out, in] over tokens by the classes of its entries, and a bias.

    In the rows of words the entries are `diagonal` (the same word), `same` (another word of its topic), `different` (a
    word of another topic) and `mask_column` (the input [MASK]). In row 0, the output [MASK], they are `mask_row` on
    words and `mask_mask` on [MASK]. The bias is `word_bias` for every word and `mask_bias` for [MASK]. Raises
    ValueError for entries that are not finite numbers.
    """

    model: Topics = field(repr=False)
    diagonal: Real
    same: Real
    different: Real
    mask_column: Real = 0.0
    mask_row: Real = 0.0
    mask_mask: Real = 0.0
    word_bias: Real = 0.0
    mask_bias: Real = 0.0

    @property
    def gap(self) -> float:
        """The mean same-topic entry, diagonal included, minus the different-topic entry."""
        v = self.model.words_per_topic
        return (self.diagonal + (v - 1) * self.same) / v - self.different

    @property
    def matrix(self) -> Array:
        """The matrix W itself, (D, D)."""
        T, v = self.model.n_topics, self.model.words_per_topic
        checks.fits_in_memory("a matrix over tokens", 2 * self.model.n_tokens**2)
        W = np.full((self.model.n_tokens,) * 2, self.different)
        W[1:, 1:] += np.kron(np.eye(T), np.full((v, v), self.same - self.different))
        W[range(1, len(W)), range(1, len(W))] = self.diagonal
        W[1:, 0], W[0, 1:], W[0, 0] = self.mask_column, self.mask_row, self.mask_mask
        return W

    @property
    def bias(self) -> Array:
        """The bias of every token, (D,)."""
        return np.append(self.mask_bias, np.full(self.model.n_words, self.word_bias))


ENTRIES = ("diagonal", "same", "different", "mask_column", "mask_row", "mask_mask", "word_bias", "mask_bias")
