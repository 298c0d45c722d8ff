"""The gain over the first plateau: reference values, moments against back-propagation, gauges and permutations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nets.references import FOUR, gradient, loss, masked_inputs, small_law
from theory import nets, potts
from theory.models import FactoredStack, PottsModel, Sequences
from theory.models.potts import complete_graph
from theory.nets.law import contexts_of, law_of
from theory.nets.leading_gain import OfContexts, OfThirdMoments, gain_of


@pytest.mark.parametrize(
    ("n_layers", "gain", "reference_loss", "norm"),
    [
        (1, -0.00157513466, 1.10328969, 0.0278465804),
        (2, 6.0496055e-05, 1.09862696, 0.00191787604),
        (3, 4.7060804e-07, 1.09861182, 8.43875308e-06),
    ],
)
def test_reference_values(n_layers, gain, reference_loss, norm):
    stack = FactoredStack.deterministic(n_layers, 5, 3, 0.8)
    assert nets.leading_gain(FOUR, stack) == pytest.approx(gain, rel=1e-8)
    assert loss(stack, FOUR.states, FOUR.probabilities) == pytest.approx(reference_loss, abs=5e-9)
    dA, dV = gradient(stack, FOUR.states, FOUR.probabilities)
    assert np.sqrt(np.sum(dA**2) + np.sum(dV**2)) == pytest.approx(norm, rel=1e-8)


@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("n_layers", [1, 2, 3, 4])
def test_gradients_of_moments_and_of_contexts_are_those_of_plain_loops(n_layers, fields):
    states, weights = small_law(3, n_sites=4, n_colors=3)
    law = law_of(Sequences(states, 3, weights))
    baseline = law.baseline(fields)
    stack = FactoredStack.deterministic(n_layers, 4, 3, 1.1)
    plain = gradient(stack, states, weights, baseline)
    for gain in (gain_of(law, n_layers, fields), OfContexts(contexts_of(law, baseline))):
        S, by_A, by_V = gain.gradient(stack.attentions, stack.values)
        assert by_A == pytest.approx(-plain[0], rel=1e-9, abs=1e-15)
        assert by_V == pytest.approx(-plain[1], rel=1e-9, abs=1e-15)
        by_states = 0.0
        for i in range(4):
            z = stack.logits(masked_inputs(states, 3, i))[:, i]
            by_states += weights @ np.sum((np.eye(3)[states[:, i]] - baseline[i]) * z, axis=1) / 4
        assert pytest.approx(by_states, rel=1e-9) == S


@pytest.mark.parametrize("size", [1, 7, 11, 1000])
def test_contexts_are_the_same_in_blocks_of_any_size(size):
    """Blocks of so many contexts: they end within the contexts of one site, or hold those of several sites."""
    states, weights = small_law(5, n_sites=3, n_colors=3)
    law, stack = law_of(Sequences(states, 3, weights)), FactoredStack.deterministic(3, 3, 3, 1.1)
    gain = OfContexts(contexts_of(law, law.baseline(False)), most=size * 9)
    assert len(gain.blocks) == -(-27 // size)
    _, by_A, by_V = gain.gradient(stack.attentions, stack.values)
    plain = gradient(stack, states, weights, law.baseline(False))
    assert by_A == pytest.approx(-plain[0], rel=1e-9, abs=1e-15)
    assert by_V == pytest.approx(-plain[1], rel=1e-9, abs=1e-15)


def test_two_layers_take_moments_where_these_are_fewer_than_contexts():
    rng = np.random.default_rng(0)
    kinds = [type(gain_of(law_of(Sequences(rng.integers(0, 4, (M, 6)), 4)), 2, False)) for M in (5, 500)]
    assert kinds == [OfContexts, OfThirdMoments]


@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_it_is_the_leading_term_of_the_loss(n_layers, fields):
    """The loss minus that of the plateau, plus S, falls like the square of the logits."""
    states, weights = small_law(4, n_sites=3, n_colors=3)
    data = Sequences(states, 3, weights)
    stack = FactoredStack.deterministic(n_layers, 3, 3, 1.0)
    marginals = law_of(data).marginals()
    h = np.log(marginals) if fields else np.zeros((3, 3))
    plateau = -np.mean(np.sum(marginals * np.log(marginals), axis=1)) if fields else np.log(3)
    rest = []
    for scale in (0.2, 0.1):
        small = stack.scaled(scale ** (1 / stack.degree))
        small = FactoredStack(small.attentions, small.values, h if fields else None)
        rest.append(loss(small, states, weights) - plateau + nets.leading_gain(data, small))
    assert rest[0] / rest[1] == pytest.approx(4, rel=0.35)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3))
def test_it_does_not_see_gauges_and_follows_permutations(seed, n_layers):
    rng = np.random.default_rng(seed)
    states, weights = small_law(seed, n_sites=3, n_colors=3)
    stack = FactoredStack.random(n_layers, 3, 3, 1.0, rng)
    S = nets.leading_gain(Sequences(states, 3, weights), stack)
    # A number for each color that is read, added to all predicted colors of the last values, shifts all logits alike.
    shifted = stack.values.copy()
    shifted[-1] += rng.standard_normal(3)
    assert nets.leading_gain(Sequences(states, 3, weights), FactoredStack(stack.attentions, shifted)) == pytest.approx(
        S, rel=1e-9, abs=1e-14
    )
    sites, colors = rng.permutation(3), rng.permutation(3)
    renamed = FactoredStack(stack.attentions[:, sites][:, :, sites], stack.values[:, colors][:, :, colors])
    data = Sequences(np.argsort(colors)[states[:, sites]], 3, weights)
    assert nets.leading_gain(data, renamed) == pytest.approx(S, rel=1e-9, abs=1e-14)


def test_moments_are_means_over_states():
    states, weights = small_law(1, n_sites=3, n_colors=2)
    data, x = Sequences(states, 2, weights), np.eye(2)[states]
    K, T = nets.second_moments(data), nets.third_moments(data, fields=True)
    assert K[0, :, 2] == pytest.approx(np.einsum("n,na,nb->ab", weights, x[:, 0] - 0.5, x[:, 2]))
    centered = x[:, 1] - weights @ x[:, 1]
    expected = np.einsum("n,na,nb,nc->abc", weights, centered, x[:, 0], x[:, 2])
    assert T[1, :, 0, :, 2] == pytest.approx(expected)
    assert not K[1, :, 1].any()
    assert not T[1, :, 1].any()
    assert not T[1, :, :, :, 1].any()


def test_a_model_its_enumeration_and_its_states_are_the_same_data():
    model = PottsModel(complete_graph(3), np.eye(2), [[0.0, 0.3]] * 3)
    states = potts.enumerate_states(model)
    stack = FactoredStack.deterministic(2, 3, 2)
    gains = [nets.leading_gain(one, stack) for one in (model, states)]
    repeated = Sequences(np.vstack([states.states] * 2), 2, np.tile(states.probabilities, 2))
    assert [*gains, nets.leading_gain(repeated, stack)] == pytest.approx([gains[0]] * 3, rel=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="stack must have the 5 sites and 3 colors of model, got 4 sites and 3 colors"):
        nets.leading_gain(FOUR, FactoredStack.deterministic(1, 4, 3))
    large = Sequences(np.zeros((2, 600), dtype=int), 2)
    with pytest.raises(ValueError, match="model must have fewer sites or colors"):
        nets.third_moments(large)
    with pytest.raises(ValueError, match=r"3\^40 = 10\^19.1 states"):
        nets.second_moments(PottsModel(complete_graph(40), np.eye(3)))
    with pytest.raises(ValueError, match="n_colors must be an integer of at least 1"):
        Sequences([[0, 0]], 0)
