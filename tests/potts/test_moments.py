"""Every sampler of Potts models against an exact moment, to one percent: what a chi-square of few draws may not see."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.nets.random_scan import StackChains
from simulate.potts import TemperedDynamics, make_dynamics, sample_ring
from tests.potts.models_to_sample import KINDS, METHODS, dynamics, model
from tests.potts.reference import pair_model
from theory import potts
from theory.models import FactoredStack, PottsModel, SquareLatticePotts
from theory.models.potts import ring_graph

CHAINS, RECORDS, APART, BURN_IN = 12_000, 40, 3, 40


def score_of(chains, records=RECORDS, apart=APART, burn_in=BURN_IN):
    """The mean score of a run of independent chains, and its standard error from the means of the chains."""
    chains.run(burn_in)
    means = np.zeros(len(chains.states))
    for _ in range(records):
        chains.run(apart)
        means += chains.scores() / records
    return means.mean(), means.std() / np.sqrt(len(means))


def assert_to_one_percent(found, system):
    """One percent of what the couplings do to the mean score must be four errors, and the mean lie within four."""
    mean, error = found
    exact, free = (potts.enumerate_states(each).mean_score for each in (system, system.at(0.0)))
    assert error < 0.0025 * abs(exact - free)
    assert abs(mean - exact) < 4 * error


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        pytest.param(kind, method, marks=pytest.mark.slow if method == "metropolis" else ())
        for kind in KINDS
        for method in METHODS
        if method != "colored" or kind in ("sparse", "many_body")
    ],
)
def test_mean_score_of_every_kernel(kind, method):
    system = model(kind, n_sites=5, beta=0.9)
    chains = dynamics(kind, system, CHAINS, 3, method=method)
    assert_to_one_percent(score_of(chains), system)


@pytest.mark.parametrize("method", ["heat_bath", pytest.param("metropolis", marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_colors", [2, 5])
def test_mean_score_with_few_and_with_more_colors(n_colors, method):
    """Products of up to four colors have a kernel of their own; with two colors Metropolis proposes either."""
    system = pair_model(5, n_colors, 0.3, 0.7)
    chains = dynamics("product", system, CHAINS, 4, method=method)
    assert_to_one_percent(score_of(chains), system)


@pytest.mark.parametrize("method", ["heat_bath", pytest.param("metropolis", marks=pytest.mark.slow)])
def test_mean_score_of_the_lattice(method):
    system = SquareLatticePotts(3, 3, 3, beta=0.8)
    found = score_of(make_dynamics(system, CHAINS, stream(5, method), method=method))
    assert_to_one_percent(found, system)


def test_mean_scores_of_all_temperatures():
    """Exchanged by the wrong rate the cold replicas would be too hot, and the hot ones too cold."""
    system = pair_model(5, 3, 0.3, 1.2)
    betas = np.array([0.6, 0.9, 1.2])
    chains = TemperedDynamics(system, 8000, stream(6), betas=betas)
    chains.run(BURN_IN)
    means = np.zeros((8000, 3))
    for _ in range(60):
        chains.run(2)
        means += chains.all_scores() / 60
    for k, beta in enumerate(betas):
        own = means[:, k]
        assert_to_one_percent((own.mean(), own.std() / np.sqrt(len(own))), system.at(float(beta)))


def test_mean_score_of_exact_rings():
    U = np.array([[1.0, 0.2, -0.5], [0.2, 0.0, 0.4], [-0.5, 0.4, 0.7]])
    states = sample_ring(7, U, 0.9, 200_000, stream(7))
    scores = U[states, np.roll(states, -1, axis=1)].sum(axis=1)
    found = scores.mean(), scores.std() / np.sqrt(len(scores))
    assert_to_one_percent(found, PottsModel(ring_graph(7), U, beta=0.9))


def test_pair_frequencies_of_exact_rings():
    """P(s_0 = a, s_r = b) = (T^r)_ab (T^(L - r))_ba/Z at all distances r, and P(s_i = a) = (T^L)_aa/Z at all sites."""
    L, M, U = 7, 300_000, np.array([[1.0, 0.2, -0.5], [0.2, 0.0, 0.4], [-0.5, 0.4, 0.7]])
    states, T = sample_ring(L, U, 0.9, M, stream(9)), np.exp(0.9 * U)
    around = np.linalg.matrix_power(T, L)
    for r in range(L):
        alone, exact = np.bincount(states[:, r], minlength=3) / M, np.diag(around) / np.trace(around)
        assert np.all(abs(alone - exact) < 5 * np.sqrt(exact * (1 - exact) / M))
    for r in range(1, L):
        pairs = np.bincount(3 * states[:, 0] + states[:, r], minlength=9).reshape(3, 3) / M
        exact = np.linalg.matrix_power(T, r) * np.linalg.matrix_power(T, L - r).T / np.trace(around)
        assert np.all(abs(pairs - exact) < 5 * np.sqrt(exact * (1 - exact) / M))


def test_mean_score_of_stacks_in_random_order():
    """One symmetric layer has the conditional distributions of a pair model, whose score is known."""
    A, V = np.array([[0, 0.8, -0.4], [0.8, 0, 0.6], [-0.4, 0.6, 0]]), np.array([[1.0, -0.5], [-0.5, 0.9]])
    system = PottsModel(A, V)
    chains = StackChains(FactoredStack(A[None], V[None]), stream(8).integers(2, size=(16_000, 3)), stream(8))
    chains.run(10)
    means = np.zeros(16_000)
    for _ in range(20):
        chains.run(2)
        means += system.score(chains.states) / 20
    found = means.mean(), means.std() / np.sqrt(len(means))
    assert_to_one_percent(found, system)
