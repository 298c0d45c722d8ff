"""Every kernel and method draws from the law of its model: 20,000 independent chains against enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from simulate.core import Estimate
from tests.potts.models_to_sample import KINDS, METHODS, dynamics, model

N_CHAINS, SWEEPS = 20_000, 40
LEAST = 1e-6  # p-value


def law(system, beta=None):
    """All states (C^L, L) and their probabilities."""
    states = np.array(list(product(range(system.n_colors), repeat=system.n_sites)))
    weights = np.exp((system.beta if beta is None else beta) * system.score(states))
    return states, weights / weights.sum()


def p_value(states, probabilities, n_colors):
    """Of Pearson's chi-square over all states."""
    numbers = np.ravel_multi_index(states.T, (n_colors,) * states.shape[1])
    return chisquare(np.bincount(numbers, minlength=len(probabilities)), len(states) * probabilities).pvalue


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_states_have_the_enumerated_law_and_no_other(kind, method):
    system = model(kind)
    chains = dynamics(kind, system, N_CHAINS, 1, method=method)
    chains.run(SWEEPS)
    assert p_value(chains.states, law(system)[1], 3) > LEAST
    assert p_value(chains.states, law(model(kind, scale=0.9))[1], 3) < LEAST


@pytest.mark.parametrize("kind", KINDS)
def test_every_chain_has_the_law_of_its_own_beta(kind):
    system, betas = model(kind), np.repeat([0.3, 1.1], N_CHAINS // 2)
    chains = dynamics(kind, system, N_CHAINS, 2, betas=betas)
    chains.run(SWEEPS)
    for beta, other in ((0.3, 1.1), (1.1, 0.3)):
        states = chains.states[betas == beta]
        assert p_value(states, law(system, beta)[1], 3) > LEAST
        assert p_value(states, law(system, other)[1], 3) < LEAST


@pytest.mark.parametrize("kind", KINDS)
def test_betas_may_be_changed_between_runs(kind):
    system = model(kind)
    chains = dynamics(kind, system, N_CHAINS, 3)
    chains.run(5)
    chains.betas[:] = 0.2
    chains.run(SWEEPS)
    assert p_value(chains.states, law(system, 0.2)[1], 3) > LEAST


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_two_colors_two_states(kind, method):
    system = model(kind, n_sites=4, n_colors=2)
    chains = dynamics(kind, system, N_CHAINS, 4, method=method)
    chains.run(SWEEPS)
    assert p_value(chains.states, law(system)[1], 2) > LEAST


@pytest.mark.parametrize("kind", KINDS)
def test_without_couplings_all_colors_are_equally_likely(kind):
    system = model(kind, n_sites=3, n_colors=11, beta=0.0)
    for method in METHODS:
        chains = dynamics(kind, system, 2000, 5, method=method)
        chains.run(3)
        counts = np.bincount(chains.states.ravel(), minlength=11)
        assert chisquare(counts).pvalue > LEAST
        assert chains.acceptance == 1.0


def test_acceptance_of_metropolis(agrees):
    """Against sum_s P(s) mean over proposals of min(1, exp(beta change)): every update of a stationary chain."""
    system = model("dense")
    states, probabilities = law(system)
    z = system.beta * system.local_scores(states)
    own = np.take_along_axis(z, states[:, :, None], axis=2)
    accepted = (np.minimum(1, np.exp(z - own)).sum(axis=2) - 1) / (system.n_colors - 1)
    chains = dynamics("dense", system, 2000, 6, method="metropolis")
    chains.run(SWEEPS)
    before = chains.snapshot()["accepted"]
    chains.run(200)
    rates = (chains.snapshot()["accepted"] - before) / (200 * system.n_sites)
    agrees(Estimate.of(rates), float(probabilities @ accepted.mean(axis=1)), resolves=0.02)
