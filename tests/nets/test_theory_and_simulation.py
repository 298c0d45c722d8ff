"""What the theory of stacks predicts against what is measured, which share no formula."""

import numpy as np
import pytest

from simulate.nets import enumerated_contexts, gradient_flow, measured_orders, spectral_estimate, stack_gradient
from tests.nets.models import four
from theory.models import FactoredStack, PottsModel
from theory.nets import escape_time, leading_gain, order_fractions, plateau_rate, population_signal
from theory.potts import enumerate_states

MODEL = four(5, 3, 0.5)
CONTEXTS = enumerated_contexts(MODEL)


@pytest.mark.parametrize(("n_layers", "scale"), [(2, 0.2), pytest.param(3, 0.55, marks=pytest.mark.slow)])
def test_flow_leaves_the_plateau_when_the_leading_flow_blows_up(n_layers, scale):
    law = escape_time(MODEL, FactoredStack.deterministic(n_layers, 5, 3, 1.0))
    flow = gradient_flow(FactoredStack.deterministic(n_layers, 5, 3, scale), CONTEXTS, stop_loss=np.log(3) - 0.001)
    assert flow.time == pytest.approx(law.time(scale), rel=2e-3)  # the law holds for small scales


def test_orders_at_escape_are_those_of_the_direction_of_blow_up():
    law = escape_time(MODEL, FactoredStack.deterministic(2, 5, 3, 1.0))
    flow = gradient_flow(FactoredStack.deterministic(2, 5, 3, 0.02), CONTEXTS, stop_loss=np.log(3) - 1e-5)
    np.testing.assert_allclose(measured_orders(flow.stack)[:3], law.order_fractions[:3], atol=0.03)  # from .39 .34 .27


def test_one_layer_leaves_at_the_rate_of_its_top_pair():
    """Between two small gains, whose ratio is exp(2 sigma_1 t) once the other pairs have been left behind."""
    start = FactoredStack.deterministic(1, 5, 3, 1e-6)
    early, late = (gradient_flow(start, CONTEXTS, stop_loss=np.log(3) - gain).time for gain in (1e-8, 1e-6))
    assert np.log(100) / (2 * (late - early)) == pytest.approx(plateau_rate(MODEL).rate, rel=2e-3)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_leading_gain_is_what_small_weights_take_off_the_loss(n_layers):
    stack = FactoredStack.deterministic(n_layers, 5, 3, 0.8).scaled(0.02 ** (1 / n_layers**2))
    gained = np.log(3) - stack_gradient(stack, CONTEXTS).loss
    size = max(abs(stack.logits(np.eye(3)[CONTEXTS.states])).max(), 1e-12)
    assert gained == pytest.approx(leading_gain(MODEL, stack), abs=2 * size**2)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_orders_by_two_routes(n_layers):
    stack = FactoredStack.random(n_layers, 4, 3, 1.0, np.random.default_rng(n_layers))
    fractions = order_fractions(stack).fractions
    np.testing.assert_allclose(measured_orders(stack)[: len(fractions)], fractions, atol=1e-12)


def test_top_singular_value_of_many_samples_is_the_signal_of_the_population():
    i, a = np.arange(4), np.arange(3)
    J, U = np.sin(np.add.outer(i, i) ** 2) - np.diag(np.sin(4 * i**2)), np.cos(np.add.outer(a, a) ** 2)
    exact = enumerate_states(PottsModel(J, U, beta=0.5))
    counts = np.round(exact.probabilities * 1e6).astype(int)  # samples in the exact proportions: nothing is random
    assert spectral_estimate(np.repeat(exact.states, counts, axis=0), 3).top == pytest.approx(
        population_signal(exact), rel=1e-4
    )
