"""One attention layer with one-hot embeddings: its population loss for any weights, and class averages of attention.

Tokens have no positions, so that a long document is described by its law over types of tokens: the attention of a query
a gives the type c the weight visible[c] exp(G[c, a]), normalized over c. With P[c, a] these weights the output is f = W
P[:, a] + b. The loss is an exact sum over pairs of a topic set and a query.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax

from theory.core import Array, Matrix, NonNegative, Result, checked, checks
from theory.models.topics import Masking, TopicModel
from theory.topics.blocks import BlockMatrix
from theory.topics.uniform_loss import Loss, documents, weights_of

Keys = Literal["all", "unselected"]


@dataclass(frozen=True, repr=False)
class AttentionAverages(Result):
    """Holds attention times the document's length, averaged over ordered pairs of positions by their class.

    The classes are pairs of the same word, of different words of one topic, and of words of different topics; uniform
    attention gives 1 in each.
    """

    same_word: float
    same_topic: float
    different_topic: float


@checked
def attention_averages(
    model: TopicModel, same_topic_weight: NonNegative, same_word_weight: NonNegative | None = None
) -> AttentionAverages:
    """Return the class averages (beta, alpha, 1)/Z of attention tied by topics, as measured on unmasked documents.

    A query puts the weight beta = `same_word_weight` (by default alpha) on its own word, alpha = `same_topic_weight` on
    other words of its topic and 1 on all others. Documents are long and have tau topics. Z = (A + tau - 1)/tau with A =
    ((v - 1) alpha + beta)/v. Derived here: of the positions of a long document a share 1/tau belongs to each of its
    topics and 1/(tau v) to each of their words, which gives the normalization Z. Raises ValueError for weights below 0,
    or so large that Z is no finite number.
    """
    alpha = same_topic_weight
    beta = alpha if same_word_weight is None else same_word_weight
    v, tau = model.words_per_topic, model.topics_per_document
    Z = (alpha * ((v - 1) / v) + beta / v + tau - 1) / tau
    if Z == 0:
        raise ValueError("same_topic_weight must be positive where a document has a single topic, got 0")
    if inf == Z:
        raise ValueError(f"same_topic_weight and same_word_weight are too large to add: got {alpha} and {beta}")
    return AttentionAverages(beta / Z, alpha / Z, 1 / Z)


@checked
def attention_logits(key_matrix: Matrix, query_matrix: Matrix) -> Array:
    """Return the attention logits G = W_K^T W_Q/sqrt(d_a), [key, query], (D, D), of W_K and W_Q, both (d_a, D).

    Source: the scaled dot product of A. Vaswani et al., Adv. Neural Inf. Process. Syst. 30 (2017).
    """
    W_K, W_Q = key_matrix, query_matrix
    if W_K.shape != W_Q.shape:
        raise ValueError(f"query_matrix must have the shape of key_matrix, {W_K.shape}, got {W_Q.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        G = W_K.T @ W_Q / sqrt(len(W_K))
    if not np.isfinite(G).all():
        raise ValueError("key_matrix and query_matrix are too large: their product is no finite number")
    return np.asarray(G)


@checked
def population_loss(
    model: TopicModel,
    masking: Masking,
    logits: ArrayLike,
    matrix: BlockMatrix | ArrayLike,
    bias: ArrayLike | None = None,
    *,
    loss: Loss = "squared",
    keys: Keys = "all",
) -> float:
    """Return the loss of a layer of attention on infinitely long documents, exactly, for any weights.

    It is averaged over all topic sets, queries and words. `logits` are G (D, D) with [key, query], where -inf excludes
    a key. `matrix` is W (D, D) or a BlockMatrix, and `bias` is (D,), by default that of the BlockMatrix or zero. `loss`
    is "squared", E |f - e_word|^2 summed over outputs, or "cross_entropy" in nats. `keys` says whether attention sees
    "all" positions, or only the "unselected" ones, which all show their true word. Derived here: without positions
    attention sees only how often each token occurs, which in long documents the topic set decides, so that the
    expectation is a finite sum over topic sets and queries. Raises ValueError above 200 000 topic sets, for shapes that
    do not fit, and where a query is left without keys.
    """
    G = _logits(model, logits)
    W, b = weights_of(model, matrix, bias)
    seen = documents(model, seen_by_keys(masking, keys))
    pairs = zip(seen.visible.T, seen.words.T, strict=True)
    with np.errstate(over="ignore", invalid="ignore"):
        value = float(np.mean([_document_loss(masking, G, W, b, xbar, mu, loss) for xbar, mu in pairs]))
    if not np.isfinite(value):
        raise ValueError("matrix and bias are too large: the loss is no finite number")
    return value


@checked
def seen_by_keys(masking: Masking, keys: Keys) -> Masking:
    """Return the masking that the keys see: none where only unselected positions are keys."""
    return masking if keys == "all" else Masking(selected=masking.selected, kept=1.0, randomized=0.0)


def query_targets(masking: Masking, words: Array) -> tuple[Array, Array]:
    """Return the law of query types (D,) and of (target, query) pairs (D, D) in a document of frequencies `words`."""
    blind = np.full(len(words), masking.randomized / (len(words) - 1))  # queries that say nothing of their target
    blind[0] = 1 - masking.kept - masking.randomized
    return masking.kept * words + blind, masking.kept * np.diag(words) + np.outer(words, blind)


def _document_loss(masking: Masking, G: Array, W: Array, b: Array, xbar: Array, mu: Array, loss: str) -> float:
    present = xbar > 0
    with np.errstate(invalid="ignore"):
        attention = softmax(G[present] + np.log(xbar[present])[:, None], axis=0)
    if not np.isfinite(attention).all():
        raise ValueError(f"logits must leave a key to every query, got none for {np.isnan(attention[0]).argmax()}")
    f = W[:, present] @ attention + b[:, None]
    queries, pairs = query_targets(masking, mu)
    if loss == "squared":
        return float((f**2).sum(axis=0) @ queries - 2 * (f * pairs).sum() + 1)
    return float(logsumexp(f, axis=0) @ queries - (f * pairs).sum())


def _logits(model: TopicModel, logits: Any) -> Array:
    G = checks.shaped("logits", checks.real_array("logits", logits), (model.n_tokens,) * 2, " (key, query)")
    if np.isnan(G).any() or np.isposinf(G).any():
        raise ValueError("logits must be finite or -inf, got nan or inf")
    return G
