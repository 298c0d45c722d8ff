"""The law of norms: exact for gradient flow of any loss, and for steps of any size once the steps are subtracted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nets.references import gradient, moved, small_law
from theory import nets
from theory.models import FactoredStack


def random_stack(seed, n_layers, fields):
    rng = np.random.default_rng(seed)
    stack = FactoredStack.random(n_layers, 3, 2, 1.0, rng)
    return FactoredStack(stack.attentions, stack.values, rng.standard_normal((3, 2)) if fields else None)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4), st.booleans())
def test_any_batch_conserves_the_norms(seed, n_layers, fields):
    """Along a gradient each conserved quantity has the derivative zero, whatever the data, with or without fields."""
    stack, (states, weights) = random_stack(seed, n_layers, fields), small_law(seed)
    dA, dV = gradient(stack, states, weights)
    by_A, by_V = np.sum(stack.attentions * dA, axis=(1, 2)), np.sum(stack.values * dV, axis=(1, 2))
    scale = abs(by_A[-1]) + 1e-12
    assert by_A / scale == pytest.approx(nets.norm_ratios(n_layers) * by_A[-1] / scale, rel=1e-9, abs=1e-9)
    assert by_V / scale == pytest.approx(by_A / scale, rel=1e-9, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3))
def test_small_steps_leave_the_conserved_quantities(seed, n_layers):
    """Their change by a step is of the second order: it falls by four when the step is halved."""
    stack, (states, weights) = random_stack(seed, n_layers, False), small_law(seed)
    dA, dV = gradient(stack, states, weights)
    before = nets.conserved_quantities(stack)
    changes = []
    for rate in (1e-2, 5e-3):
        after = nets.conserved_quantities(moved(stack, dA, dV, rate))
        changes.append(
            np.concatenate([after.within_layers - before.within_layers, after.between_layers - before.between_layers])
        )
    assert changes[0] == pytest.approx(4 * changes[1], rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_large_steps_on_changing_batches_obey_the_corrected_law(n_layers):
    rng = np.random.default_rng(5)
    start = now = FactoredStack.deterministic(n_layers, 4, 3, 1.3)
    squares_A, squares_V = np.zeros(n_layers), np.zeros(n_layers)
    for _ in range(30):
        states = rng.integers(0, 3, (8, 4))
        states[:, 1] = states[:, 0]
        dA, dV = gradient(now, states, np.full(8, 1 / 8))
        now = moved(now, dA, dV, 0.5)
        squares_A += 0.25 * np.sum(dA**2, axis=(1, 2))
        squares_V += 0.25 * np.sum(dV**2, axis=(1, 2))
    grown = nets.corrected_growth(start, now, squares_A, squares_V)
    assert grown.ratios == pytest.approx(nets.norm_ratios(n_layers), rel=1e-9)
    assert grown.values == pytest.approx(grown.attentions, rel=1e-9)
    raw = nets.corrected_growth(start, now, np.zeros(n_layers), np.zeros(n_layers))
    if n_layers > 1:
        assert abs(raw.ratios - nets.norm_ratios(n_layers)).max() > 0.01  # the steps are large enough to matter


def test_ratios():
    assert nets.norm_ratios(1).tolist() == [1]
    assert nets.norm_ratios(4).tolist() == [8, 4, 2, 1]
    still = FactoredStack.deterministic(2, 3, 2)
    assert np.isnan(nets.corrected_growth(still, still, np.zeros(2), np.zeros(2)).ratios).all()


def test_bad_input():
    stack = FactoredStack.deterministic(2, 3, 2)
    with pytest.raises(ValueError, match="n_layers must be an integer of at least 1"):
        nets.norm_ratios(0)
    with pytest.raises(ValueError, match="now must have the layers, sites and colors of start"):
        nets.corrected_growth(stack, FactoredStack.deterministic(1, 3, 2), np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="value_steps must be 2 numbers >= 0"):
        nets.corrected_growth(stack, stack, np.zeros(2), np.array([1.0, -1.0]))


def test_where_nothing_has_grown_there_is_no_ratio_of_any_layer():
    stack = FactoredStack.deterministic(3, 4, 2)
    ratios = nets.corrected_growth(stack, stack, np.zeros(3), np.zeros(3)).ratios
    assert ratios.shape == (3,)
    assert np.isnan(ratios).all()
