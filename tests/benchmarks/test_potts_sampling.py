"""Sampling of Potts models with L sites and 21 colors, 1000 chains at once, beside adabmDCA (torch, single precision).

Times of an update are those of one site of one chain. The peer updates one random site of all chains at a time, by the
same rule as ours. Products J_ij U_ab and sparse graphs are given to it as the written-out tensor that it takes.
"""

from itertools import permutations

import numpy as np
import pytest

from simulate.potts.dynamics import make_dynamics
from tests.benchmarks.machinery.jobs import Peer
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel
from theory.models.potts import random_graph

SUBJECT = "Potts models, sampling"
N_COLORS, N_CHAINS = 21, 1000
# Ours by its name in adabmDCA, and its rule.
METHODS = {"heat_bath": ("gibbs", "Gibbs"), "metropolis": ("metropolis", "Metropolis")}
GOALS = {"dense": ("7 times", "4 times"), "product": ("12 times", "10 times"), "sparse": ("12 times", "10 times")}


def factored(n_sites):
    """Dense random couplings at a temperature where chains move."""
    rng = np.random.default_rng(0)
    J = np.triu(rng.standard_normal((n_sites, n_sites)) / np.sqrt(n_sites), 1)
    U = rng.standard_normal((N_COLORS, N_COLORS))
    return PottsModel(J + J.T, (U + U.T) / 2)


def sparse(n_sites):
    """A random graph with three neighbors a site."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((N_COLORS, N_COLORS))
    return PottsModel(random_graph(n_sites, 3.0, rng), (U + U.T) / 2)


MODELS = {"dense": lambda n_sites: DensePottsModel.of(factored(n_sites)), "product": factored, "sparse": sparse}


def chains_of(model, **options):
    """A function of no arguments that makes one sweep of all chains."""
    chains = make_dynamics(model, N_CHAINS, np.random.default_rng(0), **options)
    return lambda: chains.run(1)


def adabmdca(kind, n_sites, sampler):
    import torch
    from adabmDCA import sampling

    torch.set_num_threads(1)
    model = MODELS[kind](n_sites)
    couplings = DensePottsModel.of(model).couplings if isinstance(model, PottsModel) else model.couplings
    given = {
        "bias": torch.zeros((n_sites, N_COLORS)),
        "coupling_matrix": torch.tensor(couplings.transpose(0, 2, 1, 3).astype(np.float32).copy()),
    }
    states = torch.tensor(np.random.default_rng(0).integers(N_COLORS, size=(N_CHAINS, n_sites)))
    chains = torch.nn.functional.one_hot(states, N_COLORS).float()
    sweep = sampling.prepare_sampler(sampler, torch.device("cpu"))
    return lambda: sweep(chains, given, 1, 1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_sites", [100, 200])
@pytest.mark.parametrize("kind", MODELS)
def test_updates(jobs, kind, n_sites, method):
    sampler, rule = METHODS[method]
    goal, limit = GOALS[kind]
    jobs.compare(
        f"update of a site, {kind} couplings, {method.replace('_', ' ')}, L = {n_sites}",
        chains_of(MODELS[kind](n_sites), method=method),
        {f"adabmDCA, {rule} at one site of all chains": Peer(lambda: adabmdca(kind, n_sites, sampler), made=True)},
        per=float(n_sites * N_CHAINS),
        goal=goal,
        limit=limit,
    )


def test_growth_with_colors(jobs):
    """The couplings of 80 colors, 105 MB, are read from memory once in every sweep, in a fifth of its time."""

    def make(n_colors):
        rng = np.random.default_rng(0)
        J = rng.standard_normal((64, 64, n_colors, n_colors), np.float32)
        J[range(64), range(64)] = 0
        return chains_of(DensePottsModel((J + J.transpose(1, 0, 3, 2)) / 16))

    jobs.grows("growth of the time of a sweep with the colors, dense couplings, L = 64", (40, 80), make)


@pytest.mark.parametrize("n_sites", [100, 200])
@pytest.mark.parametrize("kind", MODELS)
def test_two_threads_beside_one(jobs, kind, n_sites):
    model = MODELS[kind](n_sites)
    jobs.compare(
        f"update of a site on two threads, wall time, {kind} couplings, L = {n_sites}",
        chains_of(model, n_threads=2),
        beside={"ours, one thread": chains_of(model)},
        per=float(n_sites * N_CHAINS),
        clock="wall",
        goal="1.7 times",
    )


@pytest.mark.parametrize("kind", MODELS)
def test_scores_beside_a_sweep(jobs, kind):
    model = MODELS[kind](200)
    chains = make_dynamics(model, N_CHAINS, np.random.default_rng(0))
    jobs.compare(
        f"scores of all colors of 1000 chains, {kind} couplings, L = 200",
        chains.scores,
        beside={"ours, a sweep": chains_of(model)},
    )


@pytest.mark.parametrize("order", [2, 3, 4])
def test_groups_of_many_sites_beside_pairs(jobs, order):
    """Three groups a site, beside the kernel of pairs on a graph with three neighbors a site."""
    rng, n_sites, n_colors = np.random.default_rng(0), 100, 10
    groups = np.stack([rng.choice(n_sites, order, replace=False) for _ in range(3 * n_sites // order)])
    tensor = rng.standard_normal((n_colors,) * order)
    tensor = sum(tensor.transpose(axes) for axes in permutations(range(order)))
    model = ManyBodyPottsModel(n_sites, [Interaction(groups, rng.standard_normal(len(groups)), 0.1 * tensor)])
    U = rng.standard_normal((n_colors, n_colors))
    pairs = PottsModel(random_graph(n_sites, 3.0, rng), (U + U.T) / 2)
    jobs.compare(
        f"update of a site in groups of {order}, L = {n_sites}, {n_colors} colors",
        chains_of(model),
        beside={"ours, pairs": chains_of(pairs)},
        per=float(n_sites * N_CHAINS),
    )


@pytest.mark.parametrize("kind", MODELS)
def test_growth_with_sites(jobs, kind):
    goal = "" if kind == "sparse" else "power 2.2"
    jobs.grows(
        f"growth of the time of a sweep with L, {kind} couplings",
        (50, 100, 200),
        lambda n: chains_of(MODELS[kind](n)),
        goal=goal,
    )
