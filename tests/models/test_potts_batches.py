"""Batches of states: one shape, one normalization of weights, one way to take them in blocks."""

import numpy as np
import pytest

from simulate.potts import mean_field, site_independent
from theory.models.potts import ContrastPopulation, PottsModel
from theory.models.potts.batches import blocks, checked_samples, normalized_weights
from theory.potts import heteroskedasticity

STATES = np.array([[0, 1], [1, 0], [1, 1], [0, 2], [2, 0], [2, 2], [1, 2]])
WEIGHTS = np.array([3.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.5])


def ring_model():
    return PottsModel([[0, 1], [1, 0]], np.eye(3))


@pytest.mark.parametrize(("count", "each", "most"), [(0, 5, 10), (1, 100, 10), (7, 1, 3), (6, 2, 4), (5, 1, 100)])
def test_blocks_cover_all_items_in_order(count, each, most):
    found = list(blocks(count, each, most))
    assert [i for block in found for i in range(count)[block]] == list(range(count))
    assert all(block.stop <= count for block in found)
    assert all((block.stop - block.start) * each <= max(most, each) for block in found)


def test_blocks_are_as_few_as_fit():
    assert [(block.start, block.stop) for block in blocks(7, 2, 6)] == [(0, 3), (3, 6), (6, 7)]


@pytest.mark.parametrize("scale", [1e307, 1e-307, 5e-324])
def test_weights_of_extreme_sizes_count_as_their_ratios(scale):
    weights = np.array([3.0, 1.0]) * scale
    np.testing.assert_allclose(normalized_weights(weights, 2), [0.75, 0.25], rtol=1e-15)


def test_all_that_counts_samples_uses_one_normalization():
    """Weights whose sum overflows mean the same to fits, to populations and to means over samples."""
    huge = WEIGHTS * 5e307
    np.testing.assert_allclose(
        site_independent(STATES, 3, weights=huge).fields, site_independent(STATES, 3, weights=WEIGHTS).fields
    )
    np.testing.assert_allclose(
        mean_field(STATES, 3, weights=huge).couplings, mean_field(STATES, 3, weights=WEIGHTS).couplings
    )
    population, same = (ContrastPopulation.from_states(STATES, 3, weights) for weights in (WEIGHTS, huge))
    np.testing.assert_allclose(same.covariance.matrix, population.covariance.matrix, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(
        heteroskedasticity(population, STATES, huge), heteroskedasticity(population, STATES, WEIGHTS), rtol=1e-12
    )


def test_samples_are_not_copied():
    assert checked_samples("states", STATES, 3, 2) is STATES


@pytest.mark.parametrize(
    ("states", "n_sites", "message"),
    [
        (STATES[0], None, r"seen must have shape \(samples, sites\) with at least one sample, got \(2,\)"),
        (STATES[:0], None, r"with at least one sample, got \(0, 2\)"),
        (STATES, 3, r"seen must have shape \(..., 3\), got \(7, 2\)"),
        (STATES * 2, None, "seen must be colors from 0 to 2, got 4"),
    ],
)
def test_bad_samples_are_named(states, n_sites, message):
    with pytest.raises(ValueError, match=message):
        checked_samples("seen", states, 3, n_sites)


@pytest.mark.parametrize(
    "call",
    [
        lambda masked: checked_samples("states", masked, 3),
        lambda masked: mean_field(masked, 3),
        lambda masked: ContrastPopulation.from_states(masked, 3),
        lambda masked: ring_model().score(masked),
    ],
)
def test_masked_states_are_refused(call):
    """The values under a mask are not data."""
    with pytest.raises(ValueError, match="states must have no masked entries, got 1 of them"):
        call(np.ma.masked_array(STATES, np.arange(STATES.size).reshape(STATES.shape) == 3))
