"""Computes one layer of attention on one-hot tokens without positions, with gradients derived by hand.

A query depends on the token it shows, a key on its token, so that attention is between types of tokens, weighted by
how often each occurs: the cost of a query is D, whatever the length of its document. Gradients need the logits of
those tokens alone that a query shows.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from simulate.topics.masking import MaskedDocuments
from theory.core import Array, checked, checked_fields, checks

Loss = Literal["squared", "squared_mean", "cross_entropy"]
Keys = Literal["all", "unselected"]


@dataclass(frozen=True)
class Layer:
    """Holds the weights of f_j = W_V sum_a A_aj e_a + b; A_aj is proportional to n_a exp(G[a, query_j]).

    n_a counts the keys that show token a, and G = W_K' W_Q/sqrt(d_a). `key` W_K and `query` W_Q have the shape (d_a,
    D), `value` W_V is (D, D) with [out, in], and `bias` b is (D,). Keys and queries have no bias. Raises ValueError for
    shapes that do not fit.
    """

    key: Array
    query: Array
    value: Array
    bias: Array

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.key.ndim != 2 or 0 in self.key.shape:
            raise ValueError(f"key must have shape (attention dimensions, tokens), got {self.key.shape}")
        D = self.n_tokens
        for name, shape in (("query", self.key.shape), ("value", (D, D)), ("bias", (D,))):
            checks.shaped(name, getattr(self, name), shape, " to fit key")

    @property
    def n_tokens(self) -> int:
        """The number of tokens D."""
        return int(self.key.shape[1])

    @property
    def logits(self) -> Array:
        """The attention logits G, (D, D) with [key, query]."""
        return np.asarray(self.key.T @ self.query / np.sqrt(len(self.key)))

    def arrays(self) -> dict[str, Array]:
        """Return the four arrays by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


class Weights(NamedTuple):
    """Holds the four arrays of a layer, or the derivatives by them, unchecked: training makes new ones in each step."""

    key: Array
    query: Array
    value: Array
    bias: Array


@dataclass(frozen=True)
class Batch:
    """Holds queries of several documents, sorted by the token they show.

    `keys` (documents, D) says how often each token is a key; `document` and `shown` (queries,) are the document of each
    query and the token that it shows; `targets` (queries, D) is the weight of a query for each hidden token, and all
    weights sum to 1. Raises ValueError for shapes that do not fit and for indices that are none.
    """

    keys: Array
    document: NDArray[np.int64]
    shown: NDArray[np.int64]
    targets: Array

    def __post_init__(self) -> None:
        checked_fields(self)
        for name, array in (("keys", self.keys), ("targets", self.targets)):
            if array.ndim != 2:
                raise ValueError(f"{name} must have two axes, got shape {array.shape}")
        n, D = self.targets.shape
        if self.keys.shape[1] != D:
            raise ValueError(f"keys must have {D} columns (tokens) as targets, got {self.keys.shape[1]}")
        for name, index, count in (("document", self.document, len(self.keys)), ("shown", self.shown, D)):
            if index.shape != (n,) or (n and (index.min() < 0 or index.max() >= count)):
                raise ValueError(f"{name} must be {n} indices from 0 to {count - 1}, got shape {index.shape}")
        if (self.shown[1:] < self.shown[:-1]).any():
            raise ValueError("shown must be sorted")

    @classmethod
    def unchecked(cls, keys: Array, document: NDArray[np.int64], shown: NDArray[np.int64], targets: Array) -> "Batch":
        """Make a batch of arrays that need no checks, which take longer than a step of a small layer."""
        made = object.__new__(cls)
        made.__dict__.update(keys=keys, document=document, shown=shown, targets=targets)
        return made

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The first query of each token that is shown: queries are sorted by it."""
        changes = np.flatnonzero(self.shown[1:] != self.shown[:-1])
        return np.concatenate([np.zeros(min(1, len(self.shown)), changes.dtype), changes + 1])

    @cached_property
    def times(self) -> NDArray[np.intp]:
        """How many queries show each of these tokens."""
        ends = np.concatenate([self.first[1:], [len(self.shown)]])
        return np.asarray(ends[: len(self.first)] - self.first)

    @cached_property
    def counts(self) -> Array:
        """How often each token is a key of each query, (queries, D)."""
        return np.asarray(self.keys[self.document])

    @cached_property
    def weight(self) -> Array:
        """The weight of each query, (queries, 1)."""
        return np.asarray(self.targets.sum(axis=1, keepdims=True))


@checked
def batch_of(masked: MaskedDocuments, keys: Keys = "all") -> Batch:
    """Return the queries of masked documents; those of equal document and shown token are merged, their targets add.

    `keys` says whether attention sees "all" positions, or only the "unselected" ones.
    """
    return queries_of(masked, keys)


def queries_of(masked: MaskedDocuments, keys: Keys) -> Batch:
    """Return what `batch_of` returns, without its checks of types, which would be a part of the time of a step."""
    n_documents, n_tokens = masked.visible.shape
    code = masked.shown * n_documents + masked.document
    queries, which = np.unique(code, return_inverse=True)
    targets = np.bincount(which * n_tokens + masked.target, masked.times, len(queries) * n_tokens)
    shown, document = np.divmod(queries, n_documents)
    counts = masked.visible if keys == "all" else masked.unselected
    return Batch.unchecked(
        counts.astype(float), document, shown, targets.reshape(-1, n_tokens) / max(masked.n_selected, 1)
    )


def attend(logits: Array, batch: Batch) -> Array:
    """Return the share of attention of each query on each type of token, (queries, D); zero where there are no keys.

    It is a softmax with counts: scipy's would give nan in a document without keys.
    """
    return _shares(logits.T[batch.shown], batch.counts)


def _shares(logits: Array, count: Array) -> Array:
    """Return counts times exp of logits (queries, D), normalized in each row; zero in rows without a key."""
    score = np.where(count > 0, logits, -np.inf)
    top = score.max(axis=1, keepdims=True)
    weight = count * np.exp(score - np.where(np.isfinite(top), top, 0.0))
    total = weight.sum(axis=1, keepdims=True)
    return np.asarray(weight / np.where(total > 0, total, 1.0))


@checked
def layer_loss(layer: Layer, batch: Batch, loss: Loss) -> float:
    """Return the mean loss over selected positions.

    `loss` is "squared", |f - e_target|^2 summed over outputs; "squared_mean", their mean; or "cross_entropy" in nats.
    Raises ValueError for a layer and a batch of different numbers of tokens.
    """
    _require_match(layer, batch)
    return loss_of(layer, batch, loss)


def loss_of(layer: Layer | Weights, batch: Batch, loss: Loss) -> float:
    """Compute the same as the public function, for a layer and a batch that were checked before."""
    return _output_loss(_Queries(layer, batch).attention @ layer.value.T + layer.bias, batch, loss)[0]


@checked
def loss_and_gradient(layer: Layer, batch: Batch, loss: Loss) -> tuple[float, Layer]:
    """Return the loss as `layer_loss` and its derivatives by the four arrays, as a Layer."""
    _require_match(layer, batch)
    value, gradient = gradient_of(layer, batch, loss)
    return value, Layer(*gradient)


def gradient_of(layer: Layer | Weights, batch: Batch, loss: Loss) -> tuple[float, Weights]:
    """Compute the same as the public function, for a layer and a batch that were checked before."""
    queries = _Queries(layer, batch)
    attention = queries.attention
    value, by_output = _output_loss(attention @ layer.value.T + layer.bias, batch, loss)
    by_attention = by_output @ layer.value
    by_score = attention * (by_attention - (attention * by_attention).sum(axis=1, keepdims=True))
    by_logits = queries.summed(by_score) / np.sqrt(len(layer.key))  # (D, tokens shown) with [key, query]
    # Tokens that no query shows have no derivative.
    by_query = np.zeros_like(layer.query)
    by_query[:, queries.shown] = layer.key @ by_logits
    return value, Weights(
        key=queries.of_layer @ by_logits.T,
        query=by_query,
        value=by_output.T @ attention,
        bias=by_output.sum(axis=0),
    )


class _Queries:
    """The queries of a batch with the attention that a layer gives them, from the tokens that they show alone.

    Sampled documents show a few hundred different tokens: with the logits of all D tokens as queries, the time of a
    step of training would grow as D^3. `shown` (s,) are those tokens, `of_layer` (d_a, s) their columns of W_Q.
    """

    def __init__(self, layer: Layer | Weights, batch: Batch) -> None:
        self.first = batch.first
        self.shown = batch.shown[self.first]
        self.of_layer = layer.query[:, self.shown]
        logits = layer.key.T @ self.of_layer / np.sqrt(len(layer.key))
        self.attention = _shares(np.repeat(logits.T, batch.times, axis=0), batch.counts)

    def summed(self, by_score: Array) -> Array:
        """Sum rows of the same query, into (D, s) with [key, query]."""
        if not len(self.first):
            return np.zeros((by_score.shape[1], 0))
        return np.asarray(np.add.reduceat(by_score, self.first, axis=0).T)


def _require_match(layer: Layer, batch: Batch) -> None:
    if layer.n_tokens != batch.targets.shape[1]:
        raise ValueError(f"layer must have the {batch.targets.shape[1]} tokens of batch, got {layer.n_tokens}")
    for name, array in layer.arrays().items():
        if not np.isfinite(array).all():
            raise ValueError(f"layer must be finite, got other numbers in {name}")


def _output_loss(f: Array, batch: Batch, loss: Loss) -> tuple[float, Array]:
    """Return the loss of outputs f (queries, D), and its derivative by them."""
    targets, weight = batch.targets, batch.weight
    if loss == "cross_entropy":
        log_p = log_softmax(f, axis=1)
        return -float(np.vdot(targets, log_p)), np.asarray(weight * np.exp(log_p) - targets)
    scale = 1 / f.shape[1] if loss == "squared_mean" else 1.0
    weighted = weight * f
    # The square is multiplied out: targets are weighted means of unit vectors, each of which has the square 1.
    value = np.vdot(weighted, f) - 2 * np.vdot(targets, f) + weight.sum()
    return float(scale * value), 2 * scale * (weighted - targets)
