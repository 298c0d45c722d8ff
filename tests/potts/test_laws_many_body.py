"""Interactions of three and four sites: the law of the chains, tempering where they do not mix, and refusal."""

from itertools import combinations

import numpy as np
import pytest

from simulate.potts import MixingError, sample
from tests.potts.models_to_sample import METHODS, _symmetric, dynamics
from tests.potts.test_laws import LEAST, N_CHAINS, SWEEPS, law, p_value
from theory.models import Interaction, ManyBodyPottsModel


def many_body(orders, n_sites=5, n_colors=3, scale=1.0, beta=1.0):
    """All groups of each order, with strengths of either sign and random symmetric tensors."""
    rng, interactions = np.random.default_rng(11), []
    for order in orders:
        groups = np.array(list(combinations(range(n_sites), order)))
        tensor = _symmetric(rng.standard_normal((n_colors,) * order)) * np.sqrt(order)
        interactions.append(Interaction(groups, scale * rng.standard_normal(len(groups)), tensor))
    return ManyBodyPottsModel(n_sites, interactions, beta=beta)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("orders", "beta"), [((3,), 0.7), ((4,), 0.7), ((2, 3, 4), 0.5)])
def test_states_have_the_enumerated_law_and_no_other(orders, beta, method):
    """So hot that the rarest state is expected about once, so cold that the other law is told with power 1 - 1e-6."""
    system = many_body(orders, beta=beta)
    chains = dynamics("many_body", system, N_CHAINS, 1, method=method)
    chains.run(SWEEPS)
    assert p_value(chains.states, law(system)[1], 3) > LEAST
    assert p_value(chains.states, law(many_body(orders, scale=0.9, beta=beta))[1], 3) < LEAST


def frozen():
    """One group of four sites whose equal colors weigh so much that chains stay in the color where they started."""
    tensor = np.zeros((3,) * 4)
    tensor[(np.arange(3),) * 4] = 1.0
    return ManyBodyPottsModel(6, [Interaction([[0, 1, 2, 3], [2, 3, 4, 5]], [1.0, 1.0], tensor)], beta=14.0)


def test_chains_that_stay_where_they_started_are_refused():
    with pytest.raises(MixingError, match="betas='auto'"):
        sample(frozen(), 400, seed=1, max_sweeps=2_000)


@pytest.mark.slow
def test_tempering_brings_them_to_their_law():
    chains = sample(frozen(), 4_000, seed=1, betas="auto")
    assert chains.converged
    equal = np.all(chains.states == chains.states[:, :1], axis=1)
    states, probabilities = law(frozen())
    expected = float(probabilities[np.all(states == states[:, :1], axis=1)].sum())
    counts = np.bincount(chains.states[equal, 0], minlength=3)
    assert equal.mean() == pytest.approx(expected, abs=0.01)
    size = chains.effective_sample_size / 3  # of each of the three colors, equally likely by symmetry
    assert np.all(abs(counts / equal.sum() - 1 / 3) < 5.5 * np.sqrt(2 / 9 / (3 * size)))
