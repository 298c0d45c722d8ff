"""ANOVA fractions by order: reference values, closed forms against enumeration, noise stability, symmetries."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.potts.reference import four_body_model
from theory import nets
from theory.models import FactoredStack, PottsModel
from theory.models.potts import complete_graph
from theory.nets.orders import stack_logits, true_logits, truncated


@pytest.mark.parametrize(
    ("n_layers", "fractions"),
    [
        (1, [0.59343243, 0.40656757]),
        (2, [0.38877394, 0.33938196, 0.27184411]),
        (3, [0.42129293, 0.22915939, 0.29057564, 0.052157541, 0.0068144938]),
    ],
)
def test_reference_values(n_layers, fractions):
    stack = FactoredStack.deterministic(n_layers, 5, 3, 0.8)
    assert nets.order_fractions(stack).fractions == pytest.approx(fractions, abs=5e-9)


def random_stack(seed, n_layers, n_sites, n_colors):
    rng = np.random.default_rng(seed)
    stack = FactoredStack.random(n_layers, n_sites, n_colors, 1.0, rng)
    return FactoredStack(stack.attentions, stack.values, rng.standard_normal((n_sites, n_colors)))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 2), st.integers(1, 5), st.integers(1, 3))
def test_closed_forms_agree_with_enumeration(seed, n_layers, n_sites, n_colors):
    stack = random_stack(seed, n_layers, n_sites, n_colors)
    closed = nets.order_fractions(stack).energies
    counted = nets.order_fractions(stack_logits(stack)).energies
    shared = min(closed.shape[1], counted.shape[1])
    assert closed[:, :shared] == pytest.approx(counted[:, :shared], rel=1e-9, abs=1e-12)
    assert closed[:, shared:] == pytest.approx(0, abs=1e-12)
    assert counted[:, shared:] == pytest.approx(0, abs=1e-12)


def test_enumeration_agrees_with_means_over_subsets():
    """The definition: the part of a subset of sites is the mean over all others minus the parts of smaller subsets."""
    logits = np.random.default_rng(2).standard_normal((4, 27, 3))
    found = nets.order_fractions(logits).energies
    for i in range(4):
        f = (logits[i] - logits[i].mean(axis=1, keepdims=True)).reshape(3, 3, 3, 3)
        parts = {}
        for size in range(4):
            for subset in combinations(range(3), size):
                rest = tuple(axis for axis in range(3) if axis not in subset)
                part = np.broadcast_to(f.mean(axis=rest, keepdims=True), f.shape)
                parts[subset] = part - sum(parts[smaller] for smaller in parts if set(smaller) < set(subset))
        by_order = [sum(np.sum(p**2) / 27 for subset, p in parts.items() if len(subset) == r) for r in range(4)]
        assert found[i] == pytest.approx(by_order, rel=1e-10)
        kept = sum(p for subset, p in parts.items() if len(subset) <= 1)
        assert truncated(logits[i], 1) == pytest.approx(kept.reshape(27, 3), rel=1e-9, abs=1e-12)


def test_noise_stability_of_two_layers():
    """E f(x).f(x') = sum_r rho^r sigma_r^2 if each visible site is drawn anew with probability 1 - rho."""
    stack, rng, rho, n = FactoredStack.deterministic(2, 7, 3, 1.5), np.random.default_rng(0), 0.5, 20_000
    energies = nets.order_fractions(stack).energies
    states = rng.integers(0, 3, (n, 7))
    again = np.where(rng.random((n, 7)) < rho, states, rng.integers(0, 3, (n, 7)))
    for i in range(3):
        f = []
        for each in (states, again):
            x = np.eye(3)[each]
            x[:, i] = 0.0
            z = stack.logits(x)[:, i]
            f.append(z - z.mean(axis=1, keepdims=True))
        products = np.sum(f[0] * f[1], axis=1)
        error = products.std() / np.sqrt(n)
        # Five standard errors are passed by chance in one of 1.7 million comparisons.
        assert abs(products.mean() - energies[i] @ rho ** np.arange(3)) < 5 * error
        assert abs(products.mean() - energies[i].sum()) > 5 * error


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3))
def test_gauges_do_not_count_and_permutations_follow(seed, n_layers):
    rng, stack = np.random.default_rng(seed), random_stack(seed, n_layers, 4, 3)
    energies = nets.order_fractions(stack).energies
    shifted = stack.values.copy()
    shifted[-1] += rng.standard_normal(3)
    moved = FactoredStack(stack.attentions, shifted, stack.fields + rng.standard_normal((4, 1)))
    assert nets.order_fractions(moved).energies == pytest.approx(energies, rel=1e-9, abs=1e-12)
    sites, colors = rng.permutation(4), rng.permutation(3)
    renamed = FactoredStack(
        stack.attentions[:, sites][:, :, sites], stack.values[:, colors][:, :, colors], stack.fields[sites][:, colors]
    )
    assert nets.order_fractions(renamed).energies == pytest.approx(energies[sites], rel=1e-9, abs=1e-12)


def test_orders_of_a_model():
    pair = PottsModel(complete_graph(4), np.eye(3), np.arange(12.0).reshape(4, 3), beta=0.5)
    energies = nets.order_fractions(pair).energies
    assert energies[:, 2:] == pytest.approx(0, abs=1e-13)
    assert energies[:, 0] == pytest.approx(0.25 * 2)  # fields a, a + 1, a + 2 have the squared norm 2 when centered
    four = four_body_model(5, 3, 0.5, beta=2.0)
    assert nets.order_fractions(four).fractions == pytest.approx(nets.order_fractions(true_logits(four)).fractions)


def test_logits_that_vanish_have_no_fractions():
    still = FactoredStack(np.zeros((1, 3, 3)), np.eye(2)[None])
    found = nets.order_fractions(still)
    assert not found.energies.any()
    with pytest.raises(ValueError, match="energies must not all be zero"):
        found.fractions  # noqa: B018
    with pytest.raises(ValueError, match="energies must not all be zero"):
        nets.order_fractions(np.zeros((3, 4, 2))).fractions  # noqa: B018


def test_bad_input():
    with pytest.raises(ValueError, match="network must be smaller, or a stack of at most two layers"):
        nets.order_fractions(FactoredStack.deterministic(3, 30, 3))
    with pytest.raises(ValueError, match=r"network must be logits of shape \(L, C\^\(L-1\), C\)"):
        nets.order_fractions(np.zeros((3, 8, 2)))
    with pytest.raises(ValueError, match="network must have logits below"):
        nets.order_fractions(np.full((3, 4, 2), 1e200))
    with pytest.raises(ValueError, match="network must be"):
        nets.order_fractions("stack")
