"""Escape from the first plateau: reference values, the full network from small starts, and starts that never escape."""

import functools
import math
import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.nets.references import FOUR, gradient, loss, small_law
from tests.potts.reference import four_body_model, pair_model
from theory import ConvergenceError, nets
from theory.models import FactoredStack, Sequences
from theory.nets.leading_gain import packed, unpacked


@functools.cache
def reference(n_layers):
    """The escape from the deterministic start, and the seconds of the processor that it took."""
    began = time.process_time()
    return nets.escape_time(FOUR, FactoredStack.deterministic(n_layers, 5, 3)), time.process_time() - began


def flow_until(stack, states, weights, goal, t_max):
    """The time at which gradient flow of the full loss reaches the loss `goal`."""

    def motion(_, theta):
        dA, dV = gradient(FactoredStack(*unpacked(theta, stack)), states, weights)
        return -packed(dA, dV)

    def reached(_, theta):
        return loss(FactoredStack(*unpacked(theta, stack)), states, weights) - goal

    reached.terminal = True
    start = packed(stack.attentions, stack.values)
    run = solve_ivp(motion, (0, t_max), start, method="LSODA", rtol=1e-8, atol=1e-10, events=reached)
    return float(run.t_events[0][0])


def test_rate_of_one_layer():
    found = nets.plateau_rate(FOUR)
    assert found.rate == pytest.approx(0.0535725929, abs=1e-10)
    stack = FactoredStack(found.attention[None], found.values[None])
    assert nets.leading_gain(FOUR, stack) == pytest.approx(found.rate, rel=1e-12)
    assert found.amplitude(stack) == pytest.approx(math.sqrt(2), rel=1e-12)


def test_escape_time_of_one_layer_follows_the_logarithm():
    """The time of the full network differs from the law by a constant of the data as the start becomes small."""
    states, weights = small_law(2, n_sites=3, n_colors=2)
    data = Sequences(states, 2, weights)
    found, start = nets.plateau_rate(data), FactoredStack.deterministic(1, 3, 2)
    shifts = []
    for scale in (1e-2, 1e-3, 1e-4):
        small = start.scaled(scale)
        seen = flow_until(small, states, weights, math.log(2) - 0.002, 1e4)
        shifts.append(found.rate * (seen - found.escape_time(small, 0.002)))
    assert abs(shifts[2] - shifts[1]) < 0.02
    assert abs(shifts[2]) < 3
    assert found.escape_time(start.scaled(1e-4), 0.002) - found.escape_time(start, 0.002) == pytest.approx(
        math.log(1e4) / found.rate
    )


@pytest.mark.parametrize(("n_layers", "expected"), [(2, 63.62181), (3, 749.87243)])
def test_reference_blow_up_times(n_layers, expected):
    found, seconds = reference(n_layers)
    assert found.blow_up_time == pytest.approx(expected, rel=2e-7)
    assert seconds < 2
    assert found.exponent == 2 ** (n_layers + 1) - 4
    assert found.lower_bound <= found.blow_up_time
    assert found.residual <= 1e-5
    assert found.converged


def test_reference_order_fractions_at_escape():
    found, _ = reference(3)
    assert found.order_fractions == pytest.approx([0.24018, 0.48496, 0.24720, 0.02740, 0.00027], abs=1e-5)


@pytest.mark.parametrize(("n_layers", "scale", "full"), [(2, 0.2, 39715.98), (3, 0.55, 978702.0)])
def test_reference_times_of_the_full_network(n_layers, scale, full):
    """Published with the law: the full flow reaches the loss log 3 - 0.001 within 0.2 % of eps^-(D-2) T_1."""
    found, _ = reference(n_layers)
    assert found.time(scale) == pytest.approx(full, rel=2e-3)


@pytest.mark.parametrize("fields", [False, True])
def test_the_full_network_escapes_at_that_time(fields):
    """The gain is so small beside the blow-up that 2 % of the time is left; with fields the plateau is sites alone."""
    states, weights = small_law(2, n_sites=3, n_colors=2)
    data = Sequences(states, 2, weights)
    stack = FactoredStack.deterministic(2, 3, 2)
    marginals = np.array([weights @ np.eye(2)[states[:, i]] for i in range(3)])
    h, plateau = (np.log(marginals), -np.mean(np.sum(marginals * np.log(marginals), axis=1))) if fields else (0, 0)
    start = FactoredStack(stack.attentions, stack.values, h if fields else None)
    found = nets.escape_time(data, start)

    def motion(_, theta):
        now = FactoredStack(*unpacked(theta[:-6], stack), theta[-6:].reshape(3, 2))
        dA, dV = gradient(now, states, weights)
        dh = np.zeros((3, 2))
        if fields:
            for i in range(3):
                x = np.eye(2)[states]
                x[:, i] = 0.0
                z = now.logits(x)[:, i]
                p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
                dh[i] = weights @ (p - np.eye(2)[states[:, i]]) / 3
        return -np.concatenate([packed(dA, dV), dh.ravel()])

    def reached(_, theta):
        now = FactoredStack(*unpacked(theta[:-6], stack), theta[-6:].reshape(3, 2))
        return loss(now, states, weights) - ((plateau if fields else math.log(2)) - 1e-3)

    reached.terminal = True
    small = start.scaled(0.25)
    first = np.concatenate([packed(small.attentions, small.values), np.zeros(6) if not fields else h.ravel()])
    run = solve_ivp(motion, (0, 1e6), first, method="LSODA", rtol=1e-7, atol=1e-10, events=reached)
    assert run.t_events[0][0] / found.time(0.25) == pytest.approx(1, abs=0.02)


def test_a_start_with_a_loss_above_the_plateau_turns_first():
    stack = FactoredStack.deterministic(2, 5, 3)
    turned = FactoredStack(stack.attentions, stack.values * np.array([1, -1])[:, None, None])
    signs = [nets.leading_gain(FOUR, one) > 0 for one in (stack, turned)]
    assert sorted(signs) == [False, True]
    assert all(nets.escape_time(FOUR, one).converged for one in (stack, turned))


@pytest.mark.parametrize("n_layers", [2, 3])
def test_directions_that_hardly_turn_any_more_cost_no_further_steps(n_layers):
    """In samples without structure the flow has slow directions: to follow these takes 8364 and 3301 gradients."""
    rng = np.random.default_rng(1)
    data, stacks = Sequences(rng.integers(0, 6, (100, 6)), 6), [FactoredStack.random(n, 6, 6, 1.0, rng) for n in (2, 3)]
    found = nets.escape_time(data, stacks[n_layers - 2], max_evaluations=2000)
    assert found.converged
    assert nets.escape_time(data, found.direction).gain == pytest.approx(found.gain, rel=1e-9)


def test_times_scale_with_the_start_and_follow_its_best_direction():
    stack = FactoredStack.deterministic(2, 5, 3)
    found, _ = reference(2)
    tiny = nets.escape_time(FOUR, stack.scaled(1e-3))
    assert tiny.blow_up_time == pytest.approx(found.time(1e-3), rel=1e-6)
    along = nets.escape_time(FOUR, found.direction)
    assert along.blow_up_time == pytest.approx(along.lower_bound, rel=1e-6)
    norms = [np.sum(found.direction.attentions[layer] ** 2) for layer in range(2)]
    assert norms == pytest.approx([1 / 3, 1 / 6], abs=1e-6)  # d_l/D


@pytest.mark.parametrize("n_layers", [2, 3])
def test_starts_that_never_escape(n_layers):
    """Independent uniform sites give no gain, and two layers of zeros no gradient."""
    stack = FactoredStack.deterministic(n_layers, 5, 3)
    found = nets.escape_time(four_body_model(5, 3, 0.5, beta=0.0), stack)
    assert not found.converged
    assert found.blow_up_time == math.inf
    still = FactoredStack(np.zeros_like(stack.attentions), stack.values)
    assert nets.escape_time(FOUR, still).blow_up_time == math.inf


def test_bad_input():
    with pytest.raises(ValueError, match=r"stack must have at least two layers, got 1: .* plateau_rate"):
        nets.escape_time(FOUR, FactoredStack.deterministic(1, 5, 3))
    with pytest.raises(ValueError, match="stack must have weights that are not all zero"):
        nets.escape_time(FOUR, FactoredStack(np.zeros((2, 5, 5)), np.zeros((2, 3, 3))))
    with pytest.raises(ValueError, match="stack must have the 5 sites"):
        nets.escape_time(FOUR, FactoredStack.deterministic(2, 4, 3))
    with pytest.raises(ValueError, match=r"stack must have weights nearer to one: the time to escape would be exp"):
        nets.escape_time(FOUR, FactoredStack.deterministic(3, 5, 3, 1e-30))
    with pytest.raises(ConvergenceError, match="raise max_evaluations"):
        nets.escape_time(FOUR, FactoredStack.deterministic(2, 5, 3), max_evaluations=10)
    rate = nets.plateau_rate(pair_model(4, 3, 0.3, 0.5))
    with pytest.raises(ValueError, match="stack must have one layer and 4 sites"):
        rate.amplitude(FactoredStack.deterministic(2, 4, 3))
    with pytest.raises(ValueError, match="gain must lie in"):
        rate.escape_time(FactoredStack.deterministic(1, 4, 3), 0.0)
