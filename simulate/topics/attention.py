"""Attention averaged over pairs of positions: the same word, other words of its topic, words of other topics."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.topics.layer import Layer
from theory.models.topics import TopicModel

LEAST_SCORE = -600.0  # below the largest: its exponential is not yet zero
REFERENCE_LENGTH = 100


@dataclass(frozen=True)
class AttentionByClass:
    """Means over ordered pairs of positions, times length/100: uniform attention is 0.01 in each class."""

    same_word: float
    same_topic: float
    different_topic: float


def attention_by_class(model: TopicModel, layer: Layer, counts: NDArray[Any]) -> AttentionByClass:
    """Of documents shown without masks, counts (documents, words); "same word" includes a position with itself.

    A class without pairs gives nan.
    """
    n = np.asarray(counts, dtype=float)
    logits = layer.logits[1:, 1:]
    power = np.exp(np.maximum(logits - logits.max(axis=0), LEAST_SCORE))
    lengths = n.sum(axis=1, keepdims=True)
    normalization = np.where(n > 0, n @ power, 1.0)
    attention = power * (n.T @ (n * lengths / normalization)) / REFERENCE_LENGTH
    pairs = n.T @ n
    topic = np.arange(model.n_words) // model.words_per_topic
    same_topic = topic[:, None] == topic
    same_word = np.eye(model.n_words, dtype=bool)
    classes = (same_word, same_topic & ~same_word, ~same_topic)
    return AttentionByClass(*(_ratio(attention[kind].sum(), pairs[kind].sum()) for kind in classes))


def topic_gap(model: TopicModel, value: NDArray[np.float64]) -> float:
    """Mean same-topic entry (diagonal included) of a value matrix minus its mean different-topic entry."""
    topic = np.arange(model.n_words) // model.words_per_topic
    same, words = topic[:, None] == topic, value[1:, 1:]
    return _ratio(words[same].sum(), same.sum()) - _ratio(words[~same].sum(), (~same).sum())


def _ratio(total: float, pairs: float) -> float:
    return float(total / pairs) if pairs else float("nan")
