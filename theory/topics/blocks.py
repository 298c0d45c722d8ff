"""Matrices over tokens that treat all topics and all words alike."""

from dataclasses import dataclass, field

import numpy as np

from theory.models.arrays import Array
from theory.models.topics import Topics


@dataclass(frozen=True)
class BlockMatrix:
    """W[out, in] by classes of entries: word rows `diagonal`, `same` (topic), `different`, `mask_column`; row 0 of
    [MASK] `mask_row` (on words) and `mask_mask`; and the bias of words and of [MASK]."""

    model: Topics = field(repr=False)
    diagonal: float
    same: float
    different: float
    mask_column: float = 0.0
    mask_row: float = 0.0
    mask_mask: float = 0.0
    word_bias: float = 0.0
    mask_bias: float = 0.0

    @property
    def gap(self) -> float:
        """Mean same-topic entry, diagonal included, minus the different-topic entry."""
        v = self.model.words_per_topic
        return (self.diagonal + (v - 1) * self.same) / v - self.different

    @property
    def matrix(self) -> Array:
        """(D, D)."""
        T, v = self.model.n_topics, self.model.words_per_topic
        W = np.full((self.model.n_tokens,) * 2, self.different)
        W[1:, 1:] += np.kron(np.eye(T), np.full((v, v), self.same - self.different))
        W[range(1, len(W)), range(1, len(W))] = self.diagonal
        W[1:, 0], W[0, 1:], W[0, 0] = self.mask_column, self.mask_row, self.mask_mask
        return W

    @property
    def bias(self) -> Array:
        """(D,)."""
        return np.append(self.mask_bias, np.full(self.model.n_words, self.word_bias))
