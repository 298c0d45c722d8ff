"""The hand-written gradient of stacks: reference values, finite differences, the record's own forward, symmetries."""

import numpy as np
import pytest

from simulate.nets import MaskedContexts, enumerated_contexts, sampled_contexts, stack_gradient
from simulate.nets.stack_gradient import Batch, Weights, loss_and_gradient, stack_loss
from simulate.nets.stack_kernel import CONTEXTS as CONTEXTS_OF_A_BLOCK
from tests.nets.models import four
from theory.models import FactoredStack

CONTEXTS = enumerated_contexts(four(5, 3, 0.5))
# Two routes: tensors and back-propagation, and loops over states and contexts with differences of the loss.
REFERENCE = {
    1: (1.10328969, 0.0278465804),
    2: (1.09862696, 0.00191787604),
    3: (1.09861182, 8.43875308e-06),
}


def with_fields(n_layers, n_sites=5, n_colors=3):
    stack = FactoredStack.deterministic(n_layers, n_sites, n_colors, 1.3)
    fields = np.sin(np.arange(n_sites * n_colors)).reshape(n_sites, n_colors)
    return FactoredStack(stack.attentions, stack.values, fields)


@pytest.mark.parametrize("n_layers", REFERENCE)
def test_reference_values_of_loss_and_gradient(n_layers):
    found = stack_gradient(FactoredStack.deterministic(n_layers, 5, 3, 0.8), CONTEXTS)
    size = np.sqrt(np.sum(found.attentions**2) + np.sum(found.values**2))
    assert (found.loss, size) == pytest.approx(REFERENCE[n_layers], rel=1e-8)
    assert found.fields is None


@pytest.mark.parametrize("n_layers", [1, 2, 3, 4])
def test_every_derivative_is_a_difference_quotient(n_layers):
    weights, batch, step = Weights.of(with_fields(n_layers)), Batch.of(CONTEXTS), 1e-5
    gradient, flat = loss_and_gradient(weights, batch)[1].flat, weights.flat

    def loss(change):
        return stack_loss(weights.like(flat + change), batch)

    quotients = np.array([(loss(step * e) - loss(-step * e)) / (2 * step) for e in np.eye(len(flat))])
    np.testing.assert_allclose(gradient, quotients, atol=2e-8 * abs(gradient).max() + 1e-11)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_loss_is_that_of_the_logits_of_the_record(n_layers):
    stack, C = with_fields(n_layers), CONTEXTS.n_colors
    inputs = np.eye(C)[CONTEXTS.states]
    each = np.arange(len(inputs))
    inputs[each, CONTEXTS.sites] = 0.0
    z = stack.logits(inputs)[each, CONTEXTS.sites]
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    expected = -float(CONTEXTS.weights @ (CONTEXTS.targets * log_p).sum(axis=1))
    assert stack_gradient(stack, CONTEXTS).loss == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("n_sites", "C"), [(15, 4), (16, 4), (21, 4), (3, 17)])
def test_networks_of_any_size_and_batches_of_several_blocks(n_sites, C):
    """Large matrices are multiplied in another way, and the last block of contexts is not full."""
    rng, R = np.random.default_rng(n_sites), 2 * CONTEXTS_OF_A_BLOCK + 7
    stack = FactoredStack.random(3, n_sites, C, 0.8, rng)
    states, sites, each = rng.integers(C, size=(R, n_sites)), rng.integers(n_sites, size=R), np.arange(R)
    weights, batch = Weights.of(stack), Batch.of_sequences(states, sites, C)
    inputs = np.eye(C)[states]
    inputs[each, sites] = 0.0
    z = stack.logits(inputs)[each, sites]
    expected = np.mean(np.log(np.exp(z).sum(axis=1)) - z[each, states[each, sites]])
    loss, gradient = loss_and_gradient(weights, batch)
    assert (loss, stack_loss(weights, batch)) == pytest.approx((expected, expected), rel=1e-12)
    flat, step = weights.flat, 1e-6 * rng.standard_normal(len(weights.flat))
    change = stack_loss(weights.like(flat + step), batch) - stack_loss(weights.like(flat - step), batch)
    assert change == pytest.approx(2 * gradient.flat @ step, rel=1e-6)


def test_permuted_sites_and_colors_permute_the_gradient():
    stack, sites, colors = with_fields(3), [3, 0, 4, 1, 2], [2, 0, 1]
    found = stack_gradient(stack, CONTEXTS)
    moved = FactoredStack(
        stack.attentions[:, sites][:, :, sites], stack.values[:, colors][:, :, colors], stack.fields[sites][:, colors]
    )
    renamed = MaskedContexts(
        np.argsort(colors)[CONTEXTS.states[:, sites]],
        np.argsort(sites)[CONTEXTS.sites],
        CONTEXTS.weights,
        CONTEXTS.targets[:, colors],
    )
    other = stack_gradient(moved, renamed)
    assert other.loss == pytest.approx(found.loss, rel=1e-13)
    np.testing.assert_allclose(other.attentions, found.attentions[:, sites][:, :, sites], atol=1e-13)
    np.testing.assert_allclose(other.values, found.values[:, colors][:, :, colors], atol=1e-13)
    np.testing.assert_allclose(other.fields, found.fields[sites][:, colors], atol=1e-13)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_any_batch_has_the_symmetry_behind_the_law_of_norms(n_layers):
    """Scaling A_l up and V_l down, or a layer against the last one by its degree, changes no logit."""
    rng = np.random.default_rng(n_layers)
    batch = Batch.of_sequences(rng.integers(3, size=(7, 5)), rng.integers(5, size=7), 3)
    weights = Weights.of(with_fields(n_layers))
    gradient = loss_and_gradient(weights, batch)[1]
    along_attention = np.sum(weights.attentions * gradient.attentions, axis=(1, 2))
    along_values = np.sum(weights.values * gradient.values, axis=(1, 2))
    degrees = 2.0 ** np.arange(n_layers)[::-1]
    np.testing.assert_allclose(along_attention, along_values, rtol=1e-11)
    np.testing.assert_allclose(along_attention / along_attention[-1], degrees, rtol=1e-11)


def test_batches_of_sequences_add_up_to_the_counted_contexts():
    states = np.random.default_rng(0).integers(3, size=(40, 4))
    weights = Weights.of(with_fields(2, n_sites=4))
    every = Batch.of_sequences(np.repeat(states, 4, axis=0), np.tile(np.arange(4), 40), 3)
    counted = Batch.of(sampled_contexts(states, 3))
    assert len(counted.sites) < len(every.sites)
    np.testing.assert_allclose(
        loss_and_gradient(weights, every)[1].flat, loss_and_gradient(weights, counted)[1].flat, atol=1e-14
    )


def test_enumerated_contexts_are_the_conditional_laws_of_the_model():
    system = four(5, 3, 0.5)
    each = np.arange(len(CONTEXTS.states))
    np.testing.assert_allclose(CONTEXTS.targets, system.conditionals(CONTEXTS.states)[each, CONTEXTS.sites], atol=1e-13)
    assert len(each) == 5 * 3**4
    assert CONTEXTS.floor == pytest.approx(1.02794889424, abs=1e-11)  # the Bayes loss of the model, two routes


def test_weights_of_samples_count_as_repetitions():
    states = np.array([[0, 1, 2], [2, 1, 0], [0, 0, 2]])
    weighted, repeated = sampled_contexts(states, 3, [1.0, 2.0, 3.0]), sampled_contexts(states[[0, 1, 1, 2, 2, 2]], 3)
    np.testing.assert_array_equal(weighted.states, repeated.states)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-15)
    np.testing.assert_allclose(weighted.targets, repeated.targets, atol=1e-15)


def test_contexts_of_another_size_and_what_is_no_law_are_refused():
    with pytest.raises(ValueError, match="contexts must have 4 sites and 3 colors as stack has, got 5 and 3"):
        stack_gradient(FactoredStack.deterministic(1, 4, 3), CONTEXTS)
    with pytest.raises(ValueError, match="targets must sum to one"):
        MaskedContexts([[0, 1]], [0], [1.0], [[0.5, 0.6]])
    with pytest.raises(ValueError, match="weights must sum to one"):
        MaskedContexts([[0, 1]], [0], [0.5], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="sites must be from 0 to 1"):
        MaskedContexts([[0, 1]], [2], [1.0], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="model must have at most max_states = 100 states"):
        enumerated_contexts(four(5, 3, 0.5), max_states=100)
