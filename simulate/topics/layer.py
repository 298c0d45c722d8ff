"""One layer of attention on one-hot tokens without positions, with its gradients derived by hand.

A query depends on the token it shows, a key on its token, so that attention is between types of tokens, weighted by
how often each occurs: the cost of a query is D, whatever the length of its document.
"""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simulate.topics.masking import MaskedDocuments
from theory.models.arrays import Array

Loss = Literal["squared", "squared_mean", "cross_entropy"]
Keys = Literal["all", "unselected"]


@dataclass(frozen=True)
class Layer:
    """f_j = W_V sum_a A_aj e_a + b, A_aj proportional to n_a exp(G[a, query_j]), G = W_K' W_Q/sqrt(d_a).

    `key` and `query` (d_a, D), `value` (D, D) with [out, in], `bias` (D,). Keys and queries have no bias.
    """

    key: Array
    query: Array
    value: Array
    bias: Array

    @property
    def logits(self) -> Array:
        """G, (D, D) with [key, query]."""
        return np.asarray(self.key.T @ self.query / np.sqrt(len(self.key)))

    def arrays(self) -> dict[str, Array]:
        """The four by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True)
class Batch:
    """Queries of several documents, sorted by the token they show.

    `keys` (documents, D): how often each token is a key; `document` and `shown` (queries,): where and what a query is;
    `targets` (queries, D): its weight for each hidden token; all weights sum to 1.
    """

    keys: Array
    document: NDArray[np.int64]
    shown: NDArray[np.int64]
    targets: Array


def batch_of(masked: MaskedDocuments, keys: Keys = "all") -> Batch:
    """Queries of equal document and shown token merged: their targets add up."""
    n_documents, n_tokens = masked.visible.shape
    code = masked.shown * n_documents + masked.document
    queries, which = np.unique(code, return_inverse=True)
    targets = np.bincount(which * n_tokens + masked.target, masked.times, len(queries) * n_tokens)
    shown, document = np.divmod(queries, n_documents)
    counts = masked.visible if keys == "all" else masked.unselected
    return Batch(counts.astype(float), document, shown, targets.reshape(-1, n_tokens) / max(masked.n_selected, 1))


def attend(logits: Array, batch: Batch) -> Array:
    """Share of attention of each query on each type of token, (queries, D); zero where a document has no keys."""
    count = batch.keys[batch.document]
    score = np.where(count > 0, logits.T[batch.shown], -np.inf)
    top = score.max(axis=1, keepdims=True)
    weight = count * np.exp(score - np.where(np.isfinite(top), top, 0.0))
    total = weight.sum(axis=1, keepdims=True)
    return np.asarray(weight / np.where(total > 0, total, 1.0))


def layer_loss(layer: Layer, batch: Batch, loss: Loss) -> float:
    """Mean over selected positions: |f - e_target|^2 (summed over outputs, or their mean), or the cross-entropy."""
    return _output_loss(attend(layer.logits, batch) @ layer.value.T + layer.bias, batch.targets, loss)[0]


def loss_and_gradient(layer: Layer, batch: Batch, loss: Loss) -> tuple[float, Layer]:
    """The loss and its derivatives by the four arrays."""
    attention = attend(layer.logits, batch)
    value, by_output = _output_loss(attention @ layer.value.T + layer.bias, batch.targets, loss)
    by_attention = by_output @ layer.value
    by_score = attention * (by_attention - (attention * by_attention).sum(axis=1, keepdims=True))
    by_logits = _summed_by_query(by_score, batch.shown) / np.sqrt(len(layer.key))
    return value, Layer(
        key=layer.query @ by_logits.T,
        query=layer.key @ by_logits,
        value=by_output.T @ attention,
        bias=by_output.sum(axis=0),
    )


def _output_loss(f: Array, targets: Array, loss: Loss) -> tuple[float, Array]:
    """The loss of outputs f (queries, D), and its derivative by them."""
    weight = targets.sum(axis=1, keepdims=True)
    if loss == "cross_entropy":
        top = f.max(axis=1, keepdims=True)
        power = np.exp(f - top)
        total = power.sum(axis=1, keepdims=True)
        value = (weight * (top + np.log(total))).sum() - np.vdot(targets, f)
        return float(value), weight * (power / total) - targets
    scale = 1 / f.shape[1] if loss == "squared_mean" else 1.0
    weighted = weight * f
    value = np.vdot(weighted, f) - 2 * np.vdot(targets, f) + weight.sum()
    return float(scale * value), 2 * scale * (weighted - targets)


def _summed_by_query(by_score: Array, shown: NDArray[np.int64]) -> Array:
    """(D, D) with [key, query], from rows sorted by their query."""
    summed = np.zeros((by_score.shape[1], by_score.shape[1]))
    if len(shown):
        first = np.flatnonzero(np.diff(shown, prepend=-1))
        summed[shown[first]] = np.add.reduceat(by_score, first, axis=0)
    return summed.T
