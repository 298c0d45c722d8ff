"""Stacks with skip connections: logits, gradients and orders, the laws that are left, and the plateaus they stay on."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from figures.nets.four_body import four_body_model, population
from simulate.nets import gradient_flow, measured_orders, sampled_contexts, stack_gradient, train_on_population
from simulate.nets.stack_gradient import Batch, Weights, loss_and_gradient, stack_loss
from simulate.nets.stack_kernel import CONTEXTS as CONTEXTS_OF_A_BLOCK
from tests.nets import references
from theory.models import FactoredStack, PottsModel, Sequences
from theory.nets import (
    conserved_quantities,
    corrected_growth,
    escape_time,
    factored_floor,
    leading_gain,
    lower_layers,
    order_fractions,
    plateau_rate,
)
from theory.numerics import ConvergenceError
from theory.potts import k_body_floor

LAYERS = [1, 2, 3, 4]


def random_stack(n_layers, seed=0, scale=0.9, n_sites=5, n_colors=3, fields=False):
    rng = np.random.default_rng([n_layers, seed])
    stack = FactoredStack.random(n_layers, n_sites, n_colors, scale, rng, skip=True)
    return FactoredStack(
        stack.attentions, stack.values, rng.standard_normal((n_sites, n_colors)) if fields else None, skip=True
    )


@cache
def floor():
    return factored_floor(four_body_model(), np.random.default_rng(0), n_starts=4)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_logits_are_those_of_the_definition_in_loops(n_layers):
    stack, X = random_stack(n_layers, fields=True), np.eye(3)[[0, 2, 1, 1, 0]]
    X[2] = 0.0
    inputs = X.copy()
    for layer in range(n_layers):
        Y = np.zeros((5, 3))
        for i, j, a, b in np.ndindex(5, 5, 3, 3):
            Y[i, a] += stack.attentions[layer, i, j] * stack.values[layer, a, b] * X[j, b]
        X = Y if layer == n_layers - 1 else X + Y**2
    np.testing.assert_allclose(stack.logits(inputs), X + stack.fields, atol=1e-12)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_loss_is_that_of_the_logits_and_every_derivative_a_difference_quotient(n_layers):
    stack, contexts = random_stack(n_layers, fields=True), population()
    weights, batch, step = Weights.of(stack), Batch.of(contexts), 1e-5
    each, inputs = np.arange(len(contexts.states)), np.eye(3)[contexts.states]
    inputs[each, contexts.sites] = 0.0
    z = stack.logits(inputs)[each, contexts.sites]
    expected = contexts.weights @ (np.log(np.exp(z).sum(axis=1)) - (contexts.targets * z).sum(axis=1))
    loss, gradient = loss_and_gradient(weights, batch)
    assert loss == pytest.approx(expected, rel=1e-13)

    def changed(change):
        return stack_loss(weights.like(weights.flat + change), batch)

    quotients = [(changed(step * e) - changed(-step * e)) / (2 * step) for e in np.eye(len(weights.flat))]
    np.testing.assert_allclose(gradient.flat, quotients, atol=5e-8 * abs(gradient.flat).max())


def test_large_stacks_and_several_blocks_of_contexts():
    rng, R, L, C = np.random.default_rng(3), 2 * CONTEXTS_OF_A_BLOCK + 7, 17, 4
    weights = Weights.of(random_stack(3, n_sites=L, n_colors=C))
    batch = Batch.of_sequences(rng.integers(C, size=(R, L)), rng.integers(L, size=R), C)
    gradient, step = loss_and_gradient(weights, batch)[1], 1e-6 * rng.standard_normal(len(weights.flat))
    change = stack_loss(weights.like(weights.flat + step), batch) - stack_loss(weights.like(weights.flat - step), batch)
    assert change == pytest.approx(2 * gradient.flat @ step, rel=1e-6)


def test_one_layer_has_nothing_to_skip():
    stack = random_stack(1)
    plain = FactoredStack(stack.attentions, stack.values)
    assert stack_gradient(stack, population()).loss == stack_gradient(plain, population()).loss
    assert stack.degree == 2


def test_orders_of_two_layers_in_closed_form_are_those_of_all_contexts():
    stack = random_stack(2, fields=True)
    np.testing.assert_allclose(order_fractions(stack).fractions, measured_orders(stack)[:3], atol=1e-13)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_norms_are_balanced_within_layers_and_obey_one_sum_rule(n_layers):
    """The derivative by a factor of the inputs is E_N + (1/2) sum of the others, from which no ratios follow."""
    stack, contexts, step = random_stack(n_layers), population(), 1e-4
    found = stack_gradient(stack, contexts)
    along = np.sum(stack.attentions * found.attentions, axis=(1, 2))
    np.testing.assert_allclose(np.sum(stack.values * found.values, axis=(1, 2)), along, rtol=1e-11)
    each, inputs = np.arange(len(contexts.states)), np.eye(3)[contexts.states]
    inputs[each, contexts.sites] = 0.0

    def loss(factor):
        z = stack.logits(factor * inputs)[each, contexts.sites]
        return contexts.weights @ (np.log(np.exp(z).sum(axis=1)) - (contexts.targets * z).sum(axis=1))

    slope = (3 * loss(1.0) - 4 * loss(1 - step) + loss(1 - 2 * step)) / (2 * step)
    assert slope == pytest.approx(along[-1] + along[:-1].sum() / 2, rel=1e-5)


def test_nothing_replaces_the_ratios_between_layers():
    """The norms of two layers grow with equal signs from one start, and with opposite ones from another."""
    signs = set()
    for seed in range(8):
        stack = random_stack(2, seed, 0.4)
        found = stack_gradient(stack, population())
        signs.add(tuple(np.sign(np.sum(stack.attentions * found.attentions, axis=(1, 2)))))
    assert len({a == b for a, b in signs}) == 2


def test_what_is_conserved_stays_along_the_flow_and_corrected_growth_is_equal_within_layers():
    start = random_stack(3, 1)
    flow = gradient_flow(start, population(), stop_loss=1.0, max_time=200.0)
    before, after = conserved_quantities(start), conserved_quantities(flow.stack)
    np.testing.assert_allclose(after.within_layers, before.within_layers, atol=1e-6)
    assert after.between_layers.shape == (0,)
    run = train_on_population(start, population(), n_steps=50, rate=0.3)
    grown = corrected_growth(start, run.stack, run.attention_steps[-1], run.value_steps[-1])
    np.testing.assert_allclose(grown.attentions, grown.values, atol=1e-12)
    assert np.ptp(grown.ratios / np.array([4.0, 2.0, 1.0])) > 0.1


def test_small_weights_gain_what_their_last_layer_gains():
    model, stack = four_body_model(), random_stack(3)
    assert leading_gain(model, stack) == pytest.approx(leading_gain(model, stack.last_layer), rel=1e-14)
    small, size = stack.scaled(0.01), population()
    lost = np.log(3) - stack_gradient(small, size).loss
    assert lost == pytest.approx(leading_gain(model, small), rel=2e-3)
    assert plateau_rate(model).amplitude(stack) == plateau_rate(model).amplitude(stack.last_layer)


def test_the_factored_floor_is_the_least_loss_of_one_layer():
    """Second route: the loss in plain loops over the states, minimized from other starts by numerical derivatives."""
    states, probabilities = references.small_law(4, n_sites=3, n_colors=2)
    found = factored_floor(Sequences(states, 2, probabilities), np.random.default_rng(0))

    def loss(theta):
        return references.loss(
            FactoredStack([theta[:9].reshape(3, 3)], [theta[9:].reshape(2, 2)]), states, probabilities
        )

    ends = [
        minimize(loss, np.random.default_rng(seed).standard_normal(13), method="BFGS", options={"gtol": 1e-7}).fun
        for seed in range(4)
    ]
    assert found.loss == pytest.approx(min(ends), abs=1e-9)
    assert loss(np.concatenate([found.layer.attentions.ravel(), found.layer.values.ravel()])) == pytest.approx(
        found.loss, abs=1e-12
    )
    assert np.linalg.norm(found.layer.attentions) == pytest.approx(np.linalg.norm(found.layer.values), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fields", [False, True])
def test_the_gradient_of_the_factored_floor_is_as_short_as_asked_for(seed, fields):
    """Descents alone ended at 1e-9 by luck, in three of four cases, and at 1e-12 never."""
    model = four_body_model()
    found = factored_floor(model, np.random.default_rng(seed), n_starts=2, fields=fields, tol=1e-12)
    assert found.residual <= 1e-12
    rough = factored_floor(model, np.random.default_rng(seed), n_starts=2, fields=fields)
    assert found.loss == pytest.approx(rough.loss, abs=1e-12)
    flow = stack_gradient(found.layer, population())
    gradients = [flow.attentions, flow.values, *([flow.fields] if fields else [])]
    assert np.linalg.norm(np.concatenate([np.ravel(one) for one in gradients])) < 1e-11


def test_a_tolerance_that_rounding_hides_is_refused_with_advice():
    with pytest.raises(ConvergenceError, match=r"rounding hides gradients shorter than about .*: take a larger tol"):
        factored_floor(four_body_model(), np.random.default_rng(0), n_starts=1, tol=1e-18)


def test_the_factored_floor_lies_between_guessing_and_free_pairs_and_fields_lower_it():
    model = four_body_model()
    assert k_body_floor(model, 2).loss < floor().loss < np.log(3)
    assert floor().loss == pytest.approx(1.005230518602, abs=1e-10)
    with_fields = factored_floor(model, np.random.default_rng(1), n_starts=2, fields=True)
    assert k_body_floor(model, 2).loss < with_fields.loss < floor().loss
    assert stack_gradient(with_fields.layer, population()).loss == pytest.approx(with_fields.loss, abs=1e-12)
    assert abs(stack_gradient(with_fields.layer, population()).fields).max() < 1e-6


def test_the_gain_of_lower_layers_is_the_change_of_the_loss_at_the_plateau():
    """With the last layer at its floor, lower layers of size eps lower the loss by eps^4 s; s sets the blow-up time."""
    from theory.nets.law import contexts_of, law_of
    from theory.nets.skip import _LowerGain

    lower, last, contexts = random_stack(3), floor().layer, population()
    gain = _LowerGain(contexts_of(law_of(four_body_model()), np.zeros((5, 3))), last)
    expected = sum(
        gain.gradient(A[None], V[None])[0] for A, V in zip(lower.attentions[:2], lower.values[:2], strict=True)
    )
    eps = 0.05
    A = np.concatenate([eps * lower.attentions[:2], last.attentions])
    V = np.concatenate([eps * lower.values[:2], last.values])
    lost = floor().loss - stack_gradient(FactoredStack(A, V, skip=True), contexts).loss
    assert lost == pytest.approx(eps**4 * expected, rel=0.02)


@pytest.mark.parametrize(("n_layers", "seed"), [(2, 1), (3, 0), (3, 1)])
def test_lower_layers_leave_the_plateau_when_the_law_says_and_the_first_one_is_the_one_it_names(n_layers, seed):
    """Fresh starts of scale 0.05: the time to the plateau, a hundred units, is what is left of the difference."""
    start = FactoredStack.random(n_layers, 5, 3, 1.0, np.random.default_rng(seed), skip=True)
    law = lower_layers(four_body_model(), start, floor().layer)
    flow = gradient_flow(
        start.scaled(0.05), population(), stop_loss=floor().loss - 0.02, max_time=1e6, max_evaluations=60_000
    )
    assert flow.converged
    assert law.time(0.05) < flow.time < 1.03 * law.time(0.05)
    grown = flow.attention_norms[-1] - flow.attention_norms[0]
    assert np.argmax(grown[:-1]) + 1 == law.first
    assert grown[-1] > 1


def test_time_scales_with_the_start_and_layers_do_not_act_on_each_other():
    model, stack, last = four_body_model(), random_stack(3, 2), floor().layer
    found = lower_layers(model, stack, last)
    np.testing.assert_allclose(lower_layers(model, stack.scaled(0.5), last).blow_up_times, 4 * found.blow_up_times)
    assert found.time(0.5) == pytest.approx(4 * found.blow_up_times.min())
    swapped = FactoredStack(stack.attentions[[1, 0, 2]], stack.values[[1, 0, 2]], skip=True)
    np.testing.assert_allclose(lower_layers(model, swapped, last).blow_up_times, found.blow_up_times[::-1], rtol=1e-6)
    # A gauge of the plateau changes nothing, nor does the diagonal that it never reads.
    gauged = FactoredStack(2 * last.attentions + np.eye(5), last.values / 2)
    np.testing.assert_allclose(lower_layers(model, stack, gauged).blow_up_times, found.blow_up_times, rtol=1e-5)


def test_no_layer_leaves_a_plateau_that_has_learned_all_that_the_data_say():
    """A factored two-body model is learned by one layer with fields; what its descent left had given times of 1e7."""
    model = PottsModel([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[1, 0], [0, 1]], [[0.5, 0]] * 3)
    stack = FactoredStack.deterministic(n_layers=3, n_sites=3, n_colors=2, skip=True)
    for tol in (1e-6, 1e-9):
        exact = factored_floor(model, np.random.default_rng(0), n_starts=2, fields=True, tol=tol)
        assert lower_layers(model, stack, exact.layer).blow_up_times.tolist() == [np.inf, np.inf]
    other = factored_floor(model, np.random.default_rng(0), n_starts=2)
    assert np.isfinite(lower_layers(model, stack, other.layer).blow_up_times).all()
    with pytest.raises(ValueError, match="plateau must be a minimum of the loss of one layer, as from"):
        lower_layers(model, stack, other.layer.scaled(1.1))


def test_the_time_of_a_start_whose_square_is_no_number():
    stack = random_stack(2)
    found = lower_layers(four_body_model(), stack, floor().layer)
    assert (found.time(1e200), found.time(1e-200)) == (0.0, np.inf)


def test_bad_input():
    model, rng, last = four_body_model(), np.random.default_rng(0), floor().layer
    stack = random_stack(2)
    with pytest.raises(ValueError, match="skip must be True or False, got 1"):
        FactoredStack(stack.attentions, stack.values, skip=1)
    with pytest.raises(ValueError, match="skip must be False for a degree"):
        _ = stack.degree
    with pytest.raises(ValueError, match="stack must have no skip connections"):
        escape_time(model, stack)
    with pytest.raises(ValueError, match="stack must have skip connections and at least two layers"):
        lower_layers(model, FactoredStack(stack.attentions, stack.values), last)
    with pytest.raises(ValueError, match="stack must have skip connections and at least two layers"):
        lower_layers(model, random_stack(1), last)
    with pytest.raises(ValueError, match="plateau must have one layer"):
        lower_layers(model, stack, stack)
    with pytest.raises(ValueError, match="stack must have weights in every layer"):
        lower_layers(model, stack.scaled(0.0), last)
    with pytest.raises(ValueError, match="stack must have the 5 sites"):
        lower_layers(model, random_stack(2, n_sites=4), last)
    with pytest.raises(ValueError, match="n_starts must be"):
        factored_floor(model, rng, n_starts=0)
    with pytest.raises(ConvergenceError, match="max_iter"):
        factored_floor(model, rng, n_starts=1, max_iter=2)
    with pytest.raises(ConvergenceError, match="max_evaluations"):
        lower_layers(model, stack, last, max_evaluations=5)


def test_the_checkpoint_of_one_network_is_not_that_of_the_other(tmp_path):
    from simulate.core.checkpoint import CheckpointError

    contexts = sampled_contexts(np.random.default_rng(0).integers(3, size=(20, 5)), 3)
    stack = random_stack(2)
    train_on_population(stack, contexts, n_steps=3, checkpoint=tmp_path / "run")
    with pytest.raises(CheckpointError):
        train_on_population(
            FactoredStack(stack.attentions, stack.values), contexts, n_steps=3, checkpoint=tmp_path / "run"
        )
