"""Population loss of one attention layer with one-hot embeddings, any weights: an exact sum over (topic set, query).

Tokens have no positions, so a long document is its law over token types: attention of a query a puts on the type c
the weight visible[c] exp(G[c, a]), normalized over c. The output is f = W P[:, a] + b.
"""

from math import sqrt
from typing import Any, Literal

import numpy as np
from scipy.special import logsumexp, softmax

from theory.models import checks
from theory.models.arrays import Array
from theory.models.topics import Masking, TopicModel
from theory.topics.sectors import require
from theory.topics.uniform_loss import Kind, documents, weights_of

Keys = Literal["all", "unselected"]


def attention_logits(key_matrix: Any, query_matrix: Any) -> Array:
    """G = W_K^T W_Q/sqrt(d_a), [key, query]: (D, D). W_K and W_Q: (d_a, D)."""
    W_K, W_Q = checks.finite_array("key_matrix", key_matrix, 2), checks.finite_array("query_matrix", query_matrix, 2)
    if W_K.shape != W_Q.shape:
        raise ValueError(f"query_matrix must have the shape of key_matrix, {W_K.shape}, got {W_Q.shape}")
    return W_K.T @ W_Q / sqrt(len(W_K))


def population_loss(
    model: TopicModel,
    masking: Masking,
    logits: Any,
    matrix: Any,
    bias: Any = None,
    *,
    kind: Kind = "squared",
    keys: Keys = "all",
) -> float:
    """Loss averaged over all topic sets, queries and words; `logits` G (D, D) [key, query], W (D, D) or a BlockMatrix.

    `keys`: attention sees "all" positions, or the "unselected" ones only, which all show their true word. The squared
    loss is summed over outputs. Logits -inf exclude a key. ValueError above 200 000 topic sets.
    """
    require(model, masking, TopicModel)
    G = _logits(model, logits)
    W, b = weights_of(model, matrix, bias)
    if kind not in ("squared", "cross_entropy"):
        raise ValueError(f"kind must be 'squared' or 'cross_entropy', got {kind!r}")
    seen = documents(model, seen_by_keys(masking, keys))
    pairs = zip(seen.visible.T, seen.words.T, strict=True)
    return float(np.mean([_document_loss(masking, G, W, b, xbar, mu, kind) for xbar, mu in pairs]))


def seen_by_keys(masking: Masking, keys: Keys) -> Masking:
    """The masking of the keys: none where only unselected positions are keys."""
    if keys not in ("all", "unselected"):
        raise ValueError(f"keys must be 'all' or 'unselected', got {keys!r}")
    return masking if keys == "all" else Masking(selected=masking.selected, kept=1.0, randomized=0.0)


def query_targets(masking: Masking, words: Array) -> tuple[Array, Array]:
    """Of a document with word frequencies `words` (D,): the probability of each query type (D,), and that of each
    (target, query) pair (D, D)."""
    blind = np.full(len(words), masking.randomized / (len(words) - 1))  # queries that say nothing of their target
    blind[0] = 1 - masking.kept - masking.randomized
    return masking.kept * words + blind, masking.kept * np.diag(words) + np.outer(words, blind)


def _document_loss(masking: Masking, G: Array, W: Array, b: Array, xbar: Array, mu: Array, kind: str) -> float:
    present = xbar > 0
    with np.errstate(invalid="ignore"):
        attention = softmax(G[present] + np.log(xbar[present])[:, None], axis=0)
    if not np.isfinite(attention).all():
        raise ValueError(f"logits must leave a key to every query, got none for {np.isnan(attention[0]).argmax()}")
    f = W[:, present] @ attention + b[:, None]
    queries, pairs = query_targets(masking, mu)
    if kind == "squared":
        return float((f**2).sum(axis=0) @ queries - 2 * (f * pairs).sum() + 1)
    return float(logsumexp(f, axis=0) @ queries - (f * pairs).sum())


def _logits(model: TopicModel, logits: Any) -> Array:
    G = np.asarray(logits, dtype=float)
    D = model.n_tokens
    if G.shape != (D, D):
        raise ValueError(f"logits must have shape ({D}, {D}) (key, query), got {G.shape}")
    if np.isnan(G).any() or np.isposinf(G).any():
        raise ValueError("logits must be finite or -inf, got nan or inf")
    return G
