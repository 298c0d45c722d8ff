"""Averages attention over pairs of positions: the same word, other words of its topic, other topics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simulate.topics.layer import Layer
from theory.core import Array, Result, checked, checks
from theory.models.topics import TopicModel

MIN_LOGIT = -600.0  # a logit so far below the largest still has an exponential above zero
REFERENCE_LENGTH = 100


@dataclass(frozen=True, repr=False)
class AttentionByClass(Result):
    """Holds means of attention over ordered pairs of positions, times length/100, by the class of the pair.

    Uniform attention is 0.01 in each class; times 100 they are the `AttentionAverages` of theory.topics.
    """

    same_word: float
    same_topic: float
    different_topic: float


@checked
def attention_by_class(model: TopicModel, layer: Layer, counts: ArrayLike) -> AttentionByClass:
    """Measure attention of a layer on documents shown without masks, given by their counts (documents, words).

    "Same word" includes a position with itself. A class without pairs gives nan. Raises ValueError for counts or a
    layer of another number of words.
    """
    n = checks.finite_array("counts", counts, 2)
    if n.shape[1] != model.n_words or layer.n_tokens != model.n_tokens:
        raise ValueError(
            f"counts must have {model.n_words} columns (words) and the layer {model.n_tokens} tokens, got shape "
            f"{n.shape} and {layer.n_tokens} tokens"
        )
    if n.min() < 0 or n.max() > 1e100:
        raise ValueError(f"counts must lie in [0, 1e100], got {n.min():g} to {n.max():g}")
    return class_averages(model, layer, n)


def class_averages(model: TopicModel, layer: Layer, n: Array) -> AttentionByClass:
    """Measure attention as `attention_by_class`, for counts that were checked before."""
    logits = layer.logits[1:, 1:]
    power = np.exp(np.maximum(logits - logits.max(axis=0), MIN_LOGIT))
    lengths = n.sum(axis=1, keepdims=True)
    normalization = np.where(n > 0, n @ power, 1.0)
    attention = power * (n.T @ (n * lengths / normalization)) / REFERENCE_LENGTH
    pairs = n.T @ n
    same_topic = _same_topic(model)
    same_word = np.eye(model.n_words, dtype=bool)
    classes = (same_word, same_topic & ~same_word, ~same_topic)
    return AttentionByClass(*(_ratio(attention[kind].sum(), pairs[kind].sum()) for kind in classes))


@checked
def topic_gap(model: TopicModel, value: ArrayLike) -> float:
    """Measure the gap of a value matrix (D, D): its mean same-topic entry minus its mean different-topic entry.

    Same-topic entries include the diagonal, the row and column of [MASK] are left out; theory.topics.same_topic_gap
    predicts it. It is nan for a single topic.
    """
    W = checks.finite_array("value", value, 2)
    return gap_of(model, checks.shaped("value", W, (model.n_tokens, model.n_tokens), " (tokens)"))


def gap_of(model: TopicModel, value: Array) -> float:
    """Measure the gap as `topic_gap`, for a matrix that was checked before."""
    same, words = _same_topic(model), value[1:, 1:]
    return _ratio(words[same].sum(), same.sum()) - _ratio(words[~same].sum(), (~same).sum())


def _same_topic(model: TopicModel) -> "np.ndarray[tuple[int, int], np.dtype[np.bool_]]":
    topic = np.arange(model.n_words) // model.words_per_topic
    return np.asarray(topic[:, None] == topic)


def _ratio(total: float, pairs: float) -> float:
    return float(total / pairs) if pairs else float("nan")
