"""An encoder in numpy: its forward pass by plain loops, its control without training, and each wrong input."""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.topics.encoder import NAMES, encode, encoder_of, random_encoder

D, HEADS, UNITS, VOCABULARY, LONGEST, LAYERS = 6, 3, 5, 9, 8, 2
SHAPES = {"up": (UNITS, D), "up_bias": (UNITS,), "down": (D, UNITS)}
TOKENS = [3, 1, 4, 1, 5]


def tiny(seed=0):
    """Random weights of an encoder, by the names of BERT's files; nothing is at a value that would hide a mistake."""
    rng = stream(seed, "tiny encoder")
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, D),
        "embeddings.position_embeddings.weight": (LONGEST, D),
        "embeddings.token_type_embeddings.weight": (2, D),
        "embeddings.LayerNorm.weight": (D,),
        "embeddings.LayerNorm.bias": (D,),
    }
    for layer in range(LAYERS):
        for field, name in NAMES.items():
            square = field in ("query", "key", "value", "output")
            shapes[f"encoder.layer.{layer}.{name}"] = SHAPES.get(field, (D, D) if square else (D,))
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()} | {"pooler.dense.bias": np.ones(D)}


def slow(tensors, tokens, epsilon):
    """The states and the attention [layer][head][key][query] of BERT, number by number."""

    def norm(x, prefix):
        scale, shift = tensors[f"{prefix}.weight"], tensors[f"{prefix}.bias"]
        mean = math.fsum(x) / D
        variance = math.fsum((v - mean) ** 2 for v in x) / D
        return [(v - mean) / math.sqrt(variance + epsilon) * a + b for v, a, b in zip(x, scale, shift, strict=True)]

    def dense(x, prefix):
        rows = zip(tensors[f"{prefix}.weight"], tensors[f"{prefix}.bias"], strict=True)
        return [math.fsum(w * v for w, v in zip(row, x, strict=True)) + bias for row, bias in rows]

    def plus(x, y):
        return [a + b for a, b in zip(x, y, strict=True)]

    def gelu(h):
        return 0.5 * h * (1 + math.erf(h / math.sqrt(2)))

    names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
    word, place, kind = (tensors[f"embeddings.{name}.weight"] for name in names)
    xs = [norm(plus(plus(word[t], place[k]), kind[0]), "embeddings.LayerNorm") for k, t in enumerate(tokens)]
    states, attention, size = [xs], [], D // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = ([dense(x, f"{at}.attention.self.{name}") for x in xs] for name in ("query", "key", "value"))
        mixed = [[] for _ in xs]
        attention.append([])
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            columns = []
            for i in range(len(xs)):
                weights = [math.exp(np.dot(q[i][part], k[j][part]) / math.sqrt(size)) for j in range(len(xs))]
                column = [w / math.fsum(weights) for w in weights]
                columns.append(column)
                mixed[i] += [math.fsum(column[j] * v[j][part][e] for j in range(len(xs))) for e in range(size)]
            attention[-1].append([list(row) for row in zip(*columns, strict=True)])
        after = [
            norm(plus(x, dense(m, f"{at}.attention.output.dense")), f"{at}.attention.output.LayerNorm")
            for x, m in zip(xs, mixed, strict=True)
        ]
        hidden = [[gelu(h) for h in dense(x, f"{at}.intermediate.dense")] for x in after]
        xs = [
            norm(plus(x, dense(h, f"{at}.output.dense")), f"{at}.output.LayerNorm")
            for x, h in zip(after, hidden, strict=True)
        ]
        states.append(xs)
    return np.array(states), np.array(attention)


@pytest.mark.parametrize("tokens", [TOKENS, [8]])
def test_states_and_attention_by_plain_loops(tokens):
    tensors = tiny()
    found = encode(encoder_of(tensors, HEADS, epsilon=0.01), tokens)
    states, attention = slow(tensors, tokens, 0.01)
    np.testing.assert_allclose(found.states, states, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found.attention, attention, rtol=1e-10)
    assert found.attention.shape == (LAYERS, HEADS, len(tokens), len(tokens))
    np.testing.assert_allclose(found.attention.sum(axis=2), 1, rtol=1e-12)


def test_single_precision_stays_single_and_is_near():
    tensors = tiny(1)
    single = {name: array.astype(np.float32) for name, array in tensors.items()}
    found, exact = (encode(encoder_of(each, HEADS), TOKENS) for each in (single, tensors))
    assert found.states.dtype == found.attention.dtype == np.float32
    np.testing.assert_allclose(found.states, exact.states, atol=2e-5)


def test_large_scores_do_not_overflow():
    tensors = tiny()
    tensors[f"encoder.layer.0.{NAMES['query_bias']}"] = np.full(D, 1e6)
    assert np.isfinite(encode(encoder_of(tensors, HEADS), TOKENS).states).all()


def test_before_training_nothing_is_known():
    encoder = encoder_of({name: array.astype(np.float32) for name, array in tiny().items()}, HEADS)
    drawn = random_encoder(encoder, stream(0, "random encoder"))
    assert drawn.words.shape == encoder.words.shape
    assert drawn.words.dtype == np.float32
    for layer in drawn.layers:
        assert (layer.norm == 1).all()
        assert (layer.attention_norm == 1).all()
        assert not any(value.any() for name, value in vars(layer).items() if name.endswith(("bias", "shift")))
    weights = np.concatenate([np.ravel(value) for layer in drawn.layers for value in (layer.query, layer.up)])
    assert weights.std() == pytest.approx(0.02, rel=0.2)  # 132 numbers: .02 within 3 standard errors
    attention = encode(drawn, TOKENS).attention
    assert abs(attention - 1 / len(TOKENS)).max() < 0.01
    assert abs(encode(encoder, TOKENS).attention - 1 / len(TOKENS)).max() > 0.1


def test_tokens_that_cannot_be_read():
    encoder = encoder_of(tiny(), HEADS)
    for tokens in ([], [0] * (LONGEST + 1), [[1, 2]]):
        with pytest.raises(ValueError, match=r"tokens must be 1 to 8 numbers, got shape"):
            encode(encoder, np.array(tokens, dtype=int))
    for tokens in ([0, VOCABULARY], [-1]):
        with pytest.raises(ValueError, match=r"tokens must be 0 to 8, got"):
            encode(encoder, tokens)


def test_weights_that_do_not_fit():
    with pytest.raises(ValueError, match="heads must divide the dimension of the embeddings, 6, got 4"):
        encoder_of(tiny(), 4)
    name = f"encoder.layer.1.{NAMES['key']}"
    missing = {key: array for key, array in tiny().items() if key != name}
    with pytest.raises(ValueError, match=rf"tensors must have '{name}', which is missing"):
        encoder_of(missing, HEADS)
    for wrong, said in (
        (np.ones((D, D + 1)), r"of shape \(6, 6\), got \(6, 7\)"),
        (np.full((D, D), np.nan), "finite numbers"),
        (np.ones((D, D), dtype=int), "finite numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            encoder_of(tiny() | {name: wrong}, HEADS)
