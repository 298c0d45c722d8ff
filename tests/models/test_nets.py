"""Records of attention networks: weights that fit together, the order of what a stack computes, settings."""

from itertools import product

import numpy as np
import pytest

from theory.models import FactoredStack, VanillaEncoder


def test_logits_are_those_of_the_definition():
    stack = FactoredStack.random(3, 4, 3, 0.9, np.random.default_rng(0))
    stack = FactoredStack(stack.attentions, stack.values, np.arange(12.0).reshape(4, 3))
    states = np.array(list(product(range(3), repeat=4)))
    inputs = np.eye(3)[states]
    inputs[:, 1] = 0.0
    X = inputs
    for layer in range(3):
        Y = np.zeros_like(X)
        for i, a in product(range(4), range(3)):
            for j, b in product(range(4), range(3)):
                Y[:, i, a] += stack.attentions[layer, i, j] * stack.values[layer, a, b] * X[:, j, b]
        X = Y**2
    assert stack.logits(inputs) == pytest.approx(Y + stack.fields, rel=1e-12)
    assert stack.logits(inputs[5]) == pytest.approx(stack.logits(inputs)[5], rel=1e-12)


@pytest.mark.parametrize("n_layers", [1, 2, 3, 4])
def test_logits_are_homogeneous_in_the_weights(n_layers):
    stack = FactoredStack.deterministic(n_layers, 4, 2, 1.2)
    inputs = np.eye(2)[[0, 1, 1, 0]]
    assert stack.scaled(1.5).logits(inputs) == pytest.approx(1.5**stack.degree * stack.logits(inputs), rel=1e-12)
    assert stack.max_order == 2 ** (n_layers - 1) + 1
    assert stack.degree == 2 * (2**n_layers - 1)


def test_deterministic_weights_are_counted_through_the_layers():
    stack = FactoredStack.deterministic(2, 2, 3, 0.5)
    assert stack.attentions[0, 1, 0] == pytest.approx(0.5 * np.sin(9.0) / np.sqrt(2))
    assert stack.values[0, 0, 0] == pytest.approx(0.5 * np.sin(25.0) / np.sqrt(3))
    assert stack.attentions[1, 0, 0] == pytest.approx(0.5 * np.sin(14.0**2) / np.sqrt(2))
    assert stack.n_parameters == 26


def test_random_weights_have_the_stated_variances():
    stack = FactoredStack.random(4, 40, 30, 2.0, np.random.default_rng(1))
    assert np.var(stack.attentions) == pytest.approx(4 / 40, rel=0.1)  # a relative standard deviation of 0.018
    assert np.var(stack.values) == pytest.approx(4 / 30, rel=0.12)  # a relative standard deviation of 0.024


def test_weights_are_copies_that_cannot_be_written():
    A = np.ones((1, 2, 2))
    stack = FactoredStack(A, np.ones((1, 2, 2)))
    A[:] = 7.0
    assert stack.attentions.max() == 1.0
    with pytest.raises(ValueError, match="read-only"):
        stack.attentions[0, 0, 0] = 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((0, 2, 2)), np.ones((0, 2, 2))), "attentions must be a non-empty array"),
        ((np.ones((1, 2, 3)), np.ones((1, 2, 2))), r"attentions must have shape \(layers, sites, sites\), got"),
        ((np.ones((2, 2, 2)), np.ones((1, 3, 3))), r"values must have shape \(2, colors, colors\)"),
        ((np.ones((1, 2, 2)), np.ones((1, 3, 2))), r"values must have shape \(1, colors, colors\)"),
        ((np.ones((1, 2, 2)), np.ones((1, 3, 3)), np.ones((3, 2))), r"fields must have shape \(2, 3\)"),
        ((np.full((1, 2, 2), np.nan), np.ones((1, 3, 3))), "attentions must be finite"),
        ((np.ones((17, 2, 2)), np.ones((17, 2, 2))), "attentions must have at most 16 layers, got 17"),
        ((np.full((2, 2, 2), 1e60), np.ones((2, 2, 2))), "attentions and values must keep all logits below 1e"),
    ],
)
def test_weights_that_make_no_stack(arguments, message):
    with pytest.raises(ValueError, match=message):
        FactoredStack(*arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_layers": 0}, "n_layers must be an integer of at least 1, got 0"),
        ({"n_layers": 17}, "n_layers must be at most 16"),
        ({"scale": 0.0}, "scale must lie in"),
        ({"scale": 1e200}, "scale must be at most 1e"),
    ],
)
def test_sizes_that_make_no_stack(change, message):
    with pytest.raises(ValueError, match=message):
        FactoredStack.deterministic(**{"n_layers": 1, "n_sites": 3, "n_colors": 2} | change)
    with pytest.raises(ValueError, match=message):
        FactoredStack.random(
            **{"n_layers": 1, "n_sites": 3, "n_colors": 2, "scale": 1.0} | change, rng=np.random.default_rng(0)
        )


def test_inputs_that_are_no_sequences():
    stack = FactoredStack.deterministic(1, 3, 2)
    with pytest.raises(ValueError, match=r"inputs must have shape \(..., 3, 2\), got \(2, 3\)"):
        stack.logits(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"inputs must lie in \[0, 1\]"):
        stack.logits(np.full((3, 2), 2.0))
    with pytest.raises(ValueError, match=r"inputs must lie in \[0, 1\]"):
        stack.logits(np.full((3, 2), np.nan))


@pytest.mark.parametrize(("layers", "width", "count"), [(1, 16, 2355), (2, 16, 4515), (2, 32, 17219)])
def test_parameters_of_an_encoder(layers, width, count):
    settings = {"n_sites": 5, "n_colors": 3, "n_layers": layers, "n_heads": 2, "width": width, "mlp_ratio": 2}
    encoder = VanillaEncoder(**settings)
    assert encoder.n_parameters == count
    assert VanillaEncoder(**settings, final_norm=True).n_parameters == count + 2 * width
    bare = VanillaEncoder(**settings, attention_only=True)
    assert count - bare.n_parameters == layers * (2 * width + 4 * width**2 + 2 * width + width)


def test_settings_that_make_no_encoder():
    settings = {"n_sites": 5, "n_colors": 3, "n_layers": 1, "n_heads": 2, "width": 16}
    with pytest.raises(ValueError, match="n_heads must divide width = 16, got 3"):
        VanillaEncoder(**settings | {"n_heads": 3})
    for name in settings:
        with pytest.raises(ValueError, match=f"{name} must be an integer"):
            VanillaEncoder(**settings | {name: 0})
    with pytest.raises(ValueError, match="attention_only must be True or False"):
        VanillaEncoder(**settings, attention_only="no")
