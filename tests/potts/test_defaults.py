"""The defaults that numbers depend on, and the counts that results return."""

import inspect

import numpy as np
import pytest

from simulate import nets, potts
from simulate.core import stream
from simulate.potts import factored_attention, make_dynamics, sample, temper_ladder
from simulate.potts.inference.three_body import three_body
from tests.potts.reference import pair_model
from theory.potts import enumerate_states

DEFAULTS = {
    potts.factored_attention: {"fields": True, "l2": None, "field_l2": None, "restarts": 0, "tol": 1e-5},
    potts.mean_field: {"pseudocount": 0.5},
    potts.pseudo_likelihood: {"l2": 0.01, "field_l2": 1e-4, "symmetric": True, "gauge": "zero_sum", "tol": 1e-4},
    potts.sample: {"n_chains": None, "burn_in": None, "thin": None, "betas": None, "max_sweeps": 300_000},
    potts.sequence_weights: {"identity": 0.8},
    potts.site_independent: {"pseudocount": 0.5},
    potts.temper_ladder: {"hottest": 0.0, "n_chains": 16, "n_sweeps": 300, "rounds": 6},
    potts.train: {"batch_size": 256, "learning_rate": 0.01, "optimizer": "adam", "masks": "every", "fields": True},
    three_body: {"kind": "full", "l2": None, "field_l2": None, "tol": 1e-4},
    nets.clone: {"triplets": "full", "l2": None, "field_l2": None, "tol": 1e-4, "tempering": False},
    nets.clone_of_stack: {"n_chains": 16, "max_sweeps": 20_000},
    nets.marginal_mismatches: {"effective_size": None, "max_subsets": 2000, "seed": 0},
    nets.spectral_estimate: {"whitened": False},
    nets.train_encoder_on_population: {"rate": 3e-3, "precision": "float32"},
    nets.train_encoder_on_sequences: {"rate": 3e-3, "batch_size": 256, "precision": "float32"},
    nets.train_on_population: {"rate": 0.1, "optimizer": "gradient_descent"},
    nets.train_on_sequences: {"rate": 0.1, "batch_size": 256, "optimizer": "gradient_descent"},
}
STATES = stream(0, "defaults").integers(3, size=(900, 4))
STATES[:, 3] = STATES[:, 1]
WEIGHTS = 1.0 + np.arange(900) % 3
EFFECTIVE = WEIGHTS.sum() ** 2 / np.sum(WEIGHTS**2)


@pytest.mark.parametrize("function", DEFAULTS, ids=lambda each: each.__name__)
def test_defaults(function):
    found = inspect.signature(function).parameters
    assert {name: found[name].default for name in DEFAULTS[function]} == DEFAULTS[function]


def couplings(fit):
    return np.concatenate([fit.model.local_scores(STATES[:50]).ravel()])


@pytest.mark.parametrize("name", ["l2", "field_l2"])
def test_penalties_of_triplets_are_those_of_the_number_of_sequences(name):
    options = {"weights": WEIGHTS, "tol": 1e-6}
    given = {"l2": 1 / EFFECTIVE, "field_l2": 0.01 / EFFECTIVE}
    found = couplings(three_body(STATES, 3, **options))
    np.testing.assert_allclose(couplings(three_body(STATES, 3, **given, **options)), found, atol=1e-9)
    changed = couplings(three_body(STATES, 3, **(given | {name: 3 * given[name]}), **options))
    assert abs(changed - found).max() > 1e-4


@pytest.mark.parametrize("name", ["l2", "field_l2"])
def test_penalties_of_factored_attention_are_those_that_are_stated(name):
    given = {"l2": 0.01 / EFFECTIVE, "field_l2": 0.01 / EFFECTIVE}  # a hundredth of what one sample weighs
    found = factored_attention(STATES, 3, weights=WEIGHTS)
    same = factored_attention(STATES, 3, weights=WEIGHTS, **given)
    np.testing.assert_allclose(couplings(same), couplings(found), atol=1e-9)
    changed = factored_attention(STATES, 3, weights=WEIGHTS, **(given | {name: 30 * given[name]}))
    assert abs(couplings(changed) - couplings(found)).max() > 1e-5


def test_a_run_counts_what_it_did():
    """With everything given nothing is to be found: sweeps are burn-in and thinned samples, chain by chain."""
    model = pair_model(5, 3, 0.3, 0.5)
    chains = sample(model, 96, seed=1, n_chains=8, burn_in=500, thin=7)
    assert (chains.burn_in, chains.thin, chains.n_chains) == (500, 7, 8)
    assert chains.sweeps == chains.iterations == 500 + 96 // 8 * 7
    found = sample(model, 96, seed=1, n_chains=8)
    # The round that was accepted is as long as all before it.
    assert found.sweeps == 2 * found.burn_in + 12 * found.thin
    assert 0.5 * 96 < found.effective_sample_size < 2 * 96
    np.testing.assert_allclose(found.scores, model.score(found.states), rtol=1e-5, atol=1e-5)


def test_acceptance_of_metropolis_is_exact():
    """The mean of min(1, ratio of weights) over states, sites and the other colors."""
    model = pair_model(4, 3, 0.3, 0.8)
    exact = enumerate_states(model)
    logs = model.log_conditionals(exact.states)
    own = np.take_along_axis(logs, exact.states[:, :, None], axis=2)
    accepted = (np.minimum(1, np.exp(logs - own)).sum(axis=2) - 1) / 2  # over the two other colors
    expected = exact.probabilities @ accepted.mean(axis=1)
    chains = make_dynamics(model, 4000, stream(2), method="metropolis")
    chains.run(200)  # of which 20 before equilibrium
    assert chains.acceptance == pytest.approx(expected, rel=0.01)


def test_a_ladder_counts_its_trials():
    ladder = temper_ladder(pair_model(5, 3, 0.3, 1.2), rounds=1, n_sweeps=40)
    assert ladder.iterations == 1
    assert len(ladder.swap_rates) == len(ladder.betas) - 1
    assert ladder.residual == pytest.approx(max(0, max(ladder.swap_rates.max() - 0.9, 0.2 - ladder.swap_rates.min())))
