"""Runs an encoder with the weights of another program: layers of attention in numpy, as BERT has them.

The layers are those of arXiv:1810.04805: LayerNorm after each sum (post-norm), several heads, and units with GELU. The
weights come by the names of that program's files, so that any file of this architecture can be read.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from theory.core import Count, Positive, checked, checks

Tensor: TypeAlias = NDArray[np.floating[Any]]  # of the precision of the weights
EPSILON = 1e-12  # that LayerNorm adds to a variance
START_SCALE = 0.02  # standard deviation of the weights before training, as arXiv:1810.04805 and its program have it


@dataclass(frozen=True, eq=False, repr=False)
class EncoderLayer:
    """Holds one layer: matrices (out, in) and biases (out,), with d the dimension and u the number of hidden units.

    Query, key, value and `output` are (d, d), `up` is (u, d) and `down` is (d, u). Each LayerNorm has a scale and a
    shift (d,), `attention_norm` after attention and `norm` after the hidden units.
    """

    query: Tensor
    query_bias: Tensor
    key: Tensor
    key_bias: Tensor
    value: Tensor
    value_bias: Tensor
    output: Tensor
    output_bias: Tensor
    attention_norm: Tensor
    attention_shift: Tensor
    up: Tensor
    up_bias: Tensor
    down: Tensor
    down_bias: Tensor
    norm: Tensor
    shift: Tensor


NAMES = {
    "query": "attention.self.query.weight",
    "query_bias": "attention.self.query.bias",
    "key": "attention.self.key.weight",
    "key_bias": "attention.self.key.bias",
    "value": "attention.self.value.weight",
    "value_bias": "attention.self.value.bias",
    "output": "attention.output.dense.weight",
    "output_bias": "attention.output.dense.bias",
    "attention_norm": "attention.output.LayerNorm.weight",
    "attention_shift": "attention.output.LayerNorm.bias",
    "up": "intermediate.dense.weight",
    "up_bias": "intermediate.dense.bias",
    "down": "output.dense.weight",
    "down_bias": "output.dense.bias",
    "norm": "output.LayerNorm.weight",
    "shift": "output.LayerNorm.bias",
}


@dataclass(frozen=True, eq=False, repr=False)
class Encoder:
    """Holds an encoder: embeddings `words` (vocabulary, d), `positions` (longest, d), `kind` (d,), and its layers.

    `kind` is added at each position: the vector of the first segment of a text. LayerNorm with `norm` and `shift` (d,)
    follows. Every layer has `heads` heads.
    """

    words: Tensor
    positions: Tensor
    kind: Tensor
    norm: Tensor
    shift: Tensor
    layers: tuple[EncoderLayer, ...]
    heads: int
    epsilon: float = EPSILON

    @property
    def longest(self) -> int:
        """The largest number of tokens that it can read."""
        return len(self.positions)


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """Holds what an encoder makes of n tokens.

    `states` (layers + 1, n, d) are the vectors after the embeddings and after each layer; `attention` (layers, heads,
    key, query) has columns of sum 1.
    """

    states: Tensor
    attention: Tensor


@checked
def encoder_of(tensors: Mapping[str, Tensor], heads: Count, *, epsilon: Positive = EPSILON) -> Encoder:
    """Return the encoder with these weights, by the names of BERT's files (`embeddings.word_embeddings.weight`, ...).

    As many layers are taken as there are numbers; what is not of the encoder (a pooler, a decoder) is left. Raises
    ValueError for weights that are missing, not finite or of another shape, and for heads that do not divide d.
    """
    words = _tensor(tensors, "embeddings.word_embeddings.weight", (None, None))
    d = words.shape[1]
    if d % heads:
        raise ValueError(f"heads must divide the dimension of the embeddings, {d}, got {heads}")
    units = len(_tensor(tensors, f"encoder.layer.0.{NAMES['up']}", (None, d)))
    size = {"up": (units, d), "up_bias": (units,), "down": (d, units)}
    layers: list[EncoderLayer] = []
    while any(name.startswith(f"encoder.layer.{len(layers)}.") for name in tensors):
        weights = {
            field: _tensor(
                tensors,
                f"encoder.layer.{len(layers)}.{name}",
                size.get(field, (d, d) if field in ("query", "key", "value", "output") else (d,)),
            )
            for field, name in NAMES.items()
        }
        layers.append(EncoderLayer(**weights))
    return Encoder(
        words=words,
        positions=_tensor(tensors, "embeddings.position_embeddings.weight", (None, d)),
        kind=_tensor(tensors, "embeddings.token_type_embeddings.weight", (None, d))[0],
        norm=_tensor(tensors, "embeddings.LayerNorm.weight", (d,)),
        shift=_tensor(tensors, "embeddings.LayerNorm.bias", (d,)),
        layers=tuple(layers),
        heads=heads,
        epsilon=epsilon,
    )


@checked
def random_encoder(encoder: Encoder, rng: np.random.Generator) -> Encoder:
    """Draws an encoder of the same shape as before any training, to compare with: it knows of no words.

    Matrices and embeddings are independent normal numbers of standard deviation .02, biases and shifts are 0, and
    scales are 1.
    """

    def drawn(record: Any, name: str) -> Any:
        given = getattr(record, name)
        if name.endswith("norm"):
            return np.ones_like(given)
        if name.endswith(("bias", "shift")):
            return np.zeros_like(given)
        return (START_SCALE * rng.standard_normal(given.shape)).astype(given.dtype)

    vectors = {name: drawn(encoder, name) for name in ("words", "positions", "kind", "norm", "shift")}
    layers = tuple(
        EncoderLayer(**{field.name: drawn(layer, field.name) for field in fields(layer)}) for layer in encoder.layers
    )
    return Encoder(**vectors, layers=layers, heads=encoder.heads, epsilon=encoder.epsilon)


@checked
def encode(encoder: Encoder, tokens: Sequence[int] | NDArray[np.integer[Any]]) -> Encoding:
    """Return states and attention of `tokens` (n,), numbers in the vocabulary, in the precision of the weights.

    Nothing is added to the tokens: whoever calls adds the marks of start and end. Raises ValueError for none or more
    tokens than the encoder has positions, and for numbers outside the vocabulary.
    """
    given = checks.integer_array("tokens", tokens if len(tokens) else np.zeros(0, dtype=int))
    n = given.size
    if given.ndim != 1 or not 1 <= n <= encoder.longest:
        raise ValueError(f"tokens must be 1 to {encoder.longest} numbers, got shape {given.shape}")
    if given.min() < 0 or given.max() >= len(encoder.words):
        raise ValueError(f"tokens must be 0 to {len(encoder.words) - 1}, got {given.min()} to {given.max()}")
    x = encoder.words[given] + encoder.positions[:n] + encoder.kind
    x = _normalized(x, encoder.norm, encoder.shift, encoder.epsilon)
    states, attention = [x], []
    for layer in encoder.layers:
        mixed, weights = _attended(layer, x, encoder.heads)
        x = _normalized(x + mixed, layer.attention_norm, layer.attention_shift, encoder.epsilon)
        hidden = x @ layer.up.T + layer.up_bias
        hidden *= (1 + erf(hidden / math.sqrt(2))) / 2  # GELU: h times the normal distribution function
        x = _normalized(x + hidden @ layer.down.T + layer.down_bias, layer.norm, layer.shift, encoder.epsilon)
        states.append(x)
        attention.append(weights)
    return Encoding(states=np.array(states), attention=np.array(attention))


def _attended(layer: EncoderLayer, x: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    """Return what attention adds to x (n, d), and the attention (heads, key, query)."""
    n, d = x.shape

    def split(weight: Tensor, bias: Tensor) -> Tensor:
        return np.asarray((x @ weight.T + bias).reshape(n, heads, d // heads).transpose(1, 0, 2))

    queries, keys = split(layer.query, layer.query_bias), split(layer.key, layer.key_bias)
    scores = queries @ keys.transpose(0, 2, 1) / math.sqrt(d // heads)  # (heads, query, key)
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores, out=scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed = (weights @ split(layer.value, layer.value_bias)).transpose(1, 0, 2).reshape(n, d)
    return mixed @ layer.output.T + layer.output_bias, weights.transpose(0, 2, 1)


def _normalized(x: Tensor, scale: Tensor, shift: Tensor, epsilon: float) -> Tensor:
    """LayerNorm over the last axis."""
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = (centered * centered).mean(axis=-1, keepdims=True)
    return np.asarray(centered / np.sqrt(variance + epsilon) * scale + shift)


def _tensor(tensors: Mapping[str, Tensor], name: str, shape: tuple[int | None, ...]) -> Tensor:
    if name not in tensors:
        raise ValueError(f"tensors must have {name!r}, which is missing")
    array = np.asarray(tensors[name])
    fits = array.ndim == len(shape) and all(have == want for have, want in zip(array.shape, shape, strict=True) if want)
    if not fits or 0 in array.shape:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise ValueError(f"tensors must have {name!r} of shape ({wanted}), got {array.shape}")
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"tensors must be finite numbers, not so in {name!r} (dtype {array.dtype})")
    return array
