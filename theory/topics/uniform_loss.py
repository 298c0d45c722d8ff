"""Population losses of masked language modeling with uniform attention, as finite sums over topic sets."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np
from scipy.special import logsumexp

from theory.models import checks
from theory.models.arrays import Array
from theory.models.topics import Masking, TopicModel
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import require

Kind = Literal["squared", "cross_entropy"]
MOST_SETS = 200_000


@dataclass(frozen=True, eq=False)
class Documents:
    """All topic sets: `visible` xbar_S and `words` mu_S, both (D, number of sets)."""

    visible: Array
    words: Array


def documents(model: TopicModel, masking: Masking) -> Documents:
    """ValueError where there are more than 200 000 sets, with their number."""
    require(model, masking, TopicModel)
    T, tau, v = model.n_topics, model.topics_per_document, model.words_per_topic
    if comb(T, tau) > MOST_SETS:
        raise ValueError(f"n_topics over topics_per_document must be at most {MOST_SETS} sets, got {comb(T, tau)}")
    sets = np.array(list(combinations(range(T), tau)))
    topics = np.zeros((len(sets), T))
    np.put_along_axis(topics, sets, 1 / (tau * v), axis=1)
    words = np.vstack([np.zeros(len(sets)), np.repeat(topics, v, axis=1).T])
    visible = masking.true_fraction * words
    visible[1:] += masking.random_fraction / model.n_words
    visible[0] += masking.mask_fraction
    return Documents(visible, words)


def population_loss_uniform(
    model: TopicModel, masking: Masking, matrix: Any, bias: Any = None, *, kind: Kind = "squared"
) -> float:
    """Loss of f = W xbar_S + b, averaged over all topic sets S. W (D, D) or a BlockMatrix, b (D,) or its own, or zero.

    "squared": E |f - e_word|^2, summed over the D outputs. "cross_entropy": -log softmax(f)[word], in nats.
    """
    seen = documents(model, masking)
    W, b = weights_of(model, matrix, bias)
    f = W @ seen.visible + b[:, None]
    if kind == "squared":
        spread = 1 - 1 / (model.topics_per_document * model.words_per_topic)
        return float(np.mean(((f - seen.words) ** 2).sum(axis=0)) + spread)
    if kind == "cross_entropy":
        return float(np.mean(logsumexp(f, axis=0) - (seen.words * f).sum(axis=0)))
    raise ValueError(f"kind must be 'squared' or 'cross_entropy', got {kind!r}")


def weights_of(model: TopicModel, matrix: Any, bias: Any) -> tuple[Array, Array]:
    """W (D, D) and b (D,), checked; without a bias, the one of a BlockMatrix, else zero."""
    if isinstance(matrix, BlockMatrix) and matrix.model != model:
        raise ValueError(f"matrix must be of the model {model}, got one of {matrix.model}")
    W = checks.finite_array("matrix", matrix.matrix if isinstance(matrix, BlockMatrix) else matrix, 2)
    D = model.n_tokens
    if W.shape != (D, D):
        raise ValueError(f"matrix must have shape ({D}, {D}) (tokens), got {W.shape}")
    if bias is None:
        bias = matrix.bias if isinstance(matrix, BlockMatrix) else np.zeros(D)
    b = checks.finite_array("bias", bias, 1)
    if b.shape != (D,):
        raise ValueError(f"bias must have shape ({D},) (tokens), got {b.shape}")
    return W, b


def block_loss_uniform(masking: Masking, W: BlockMatrix, *, kind: Kind = "squared") -> float:
    """The same for a block matrix, any number of topics: three outputs, inside S, outside, and [MASK]."""
    checks.record("W", W, BlockMatrix)
    model = W.model
    require(model, masking, TopicModel)
    assert isinstance(model, TopicModel)
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    kappa, r, q = masking.true_fraction, masking.random_fraction, masking.mask_fraction
    s, d = W.different + W.gap, W.different
    common = r * (s + (T - 1) * d) / T + q * W.mask_column + W.word_bias
    inside = kappa * (s + (tau - 1) * d) / tau + common
    outside = kappa * d + common
    mask = (1 - q) * W.mask_row + q * W.mask_mask + W.mask_bias
    if kind == "squared":
        h = 1 / (tau * v)
        return tau * v * (inside - h) ** 2 + (T - tau) * v * outside**2 + mask**2 + 1 - h
    if kind == "cross_entropy":
        counts = np.array([tau * v, (T - tau) * v, 1.0])
        return float(logsumexp(np.array([inside, outside, mask]), b=counts) - inside)
    raise ValueError(f"kind must be 'squared' or 'cross_entropy', got {kind!r}")
