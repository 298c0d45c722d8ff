"""Single-site updates of many Potts chains: beside the Gibbs sampler of adabmDCA (torch, single precision, one thread).

21 colors, 1000 chains. Products J_ij U_ab and sparse graphs are given to the peer as the written-out tensor it takes.
Run by `make bench`. Times are shown, never asserted.
"""

import time
from itertools import permutations

import numpy as np
import pytest

from simulate.potts.dynamics import make_dynamics
from tests.benchmarks.timing import seconds
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel
from theory.models.potts import random_graph

pytest.importorskip("pytest_benchmark")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch

N_COLORS, N_CHAINS = 21, 1000


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


def ours(benchmark, model, **options):
    """Seconds of an update."""
    chains = make_dynamics(model, N_CHAINS, np.random.default_rng(0), **options)
    benchmark.pedantic(chains.run, args=(1,), rounds=5, warmup_rounds=1)
    return benchmark.stats.stats.min / (model.n_sites * N_CHAINS)


def peer(model, n_sites):
    """Seconds of an update of the peer."""
    torch = pytest.importorskip("torch", reason="the peer, adabmDCA, needs torch, which is not installed")
    sampling = pytest.importorskip("adabmDCA.sampling", reason="the peer, adabmDCA, is not installed")
    torch.set_num_threads(1)
    couplings = DensePottsModel.of(model).couplings if isinstance(model, PottsModel) else model.couplings
    given = {
        "bias": torch.zeros((n_sites, N_COLORS)),
        "coupling_matrix": torch.tensor(couplings.transpose(0, 2, 1, 3).astype(np.float32).copy()),
    }
    states = torch.tensor(np.random.default_rng(0).integers(N_COLORS, size=(N_CHAINS, n_sites)))
    chains = torch.nn.functional.one_hot(states, N_COLORS).float()
    sampler = sampling.prepare_sampler("gibbs", torch.device("cpu"))
    sampler(chains, given, 1, 1.0)  # compiles
    return seconds(lambda: sampler(chains, given, 1, 1.0), 3) / (n_sites * N_CHAINS)


@pytest.mark.parametrize("method", ["heat_bath", "metropolis"])
@pytest.mark.parametrize("n_sites", [100, 200])
@pytest.mark.parametrize("kind", MODELS)
def test_updates_beside_adabmdca(benchmark, show, kind, n_sites, method):
    model = MODELS[kind](n_sites)
    update = ours(benchmark, model, method=method)
    theirs = peer(model, n_sites)
    title = f"{kind} {method} L={n_sites} C={N_COLORS}, {N_CHAINS} chains"
    show(title, ns_an_update=1e9 * update, adabmDCA_ns=1e9 * theirs, times_faster=theirs / update)


@pytest.mark.parametrize("n_sites", [100, 200])
@pytest.mark.parametrize("kind", MODELS)
def test_two_threads_beside_one(benchmark, show, kind, n_sites):
    model = MODELS[kind](n_sites)
    chains = {n: make_dynamics(model, N_CHAINS, np.random.default_rng(0), n_threads=n) for n in (1, 2)}
    rounds = {n: [] for n in chains}
    benchmark.pedantic(chains[1].run, args=(1,), rounds=1, warmup_rounds=1)
    for _ in range(7):  # in turn, so that another load of the machine meets both
        for n, each in chains.items():
            start = time.perf_counter()
            each.run(1)
            rounds[n].append(time.perf_counter() - start)
    one, two = (min(rounds[n]) / (n_sites * N_CHAINS) for n in (1, 2))
    show(f"{kind} L={n_sites}, threads", one_ns=1e9 * one, two_ns=1e9 * two, times_faster=one / two)


@pytest.mark.parametrize("kind", MODELS)
def test_scores_beside_a_sweep(benchmark, show, kind):
    model = MODELS[kind](200)
    chains = make_dynamics(model, N_CHAINS, np.random.default_rng(0))
    benchmark.pedantic(chains.scores, rounds=3, warmup_rounds=1)
    chains.run(1)
    sweep = seconds(lambda: chains.run(1), 3)
    show(
        f"scores {kind} L=200", seconds=benchmark.stats.stats.min, sweep=sweep, share=benchmark.stats.stats.min / sweep
    )


@pytest.mark.parametrize("order", [2, 3, 4])
def test_groups_of_many_sites_beside_pairs(benchmark, show, order):
    """CPU time with three groups a site, beside the kernel of pairs on a graph with three neighbors a site."""
    rng, n_sites, n_colors = np.random.default_rng(0), 100, 10
    groups = np.stack([rng.choice(n_sites, order, replace=False) for _ in range(3 * n_sites // order)])
    tensor = rng.standard_normal((n_colors,) * order)
    tensor = sum(tensor.transpose(axes) for axes in permutations(range(order)))
    model = ManyBodyPottsModel(n_sites, [Interaction(groups, rng.standard_normal(len(groups)), 0.1 * tensor)])
    U = rng.standard_normal((n_colors, n_colors))
    pairs = PottsModel(random_graph(n_sites, 3.0, rng), (U + U.T) / 2)
    chains = [make_dynamics(each, N_CHAINS, np.random.default_rng(0)) for each in (model, pairs)]
    benchmark.pedantic(chains[0].run, args=(1,), rounds=1, warmup_rounds=1)
    chains[1].run(1)  # compiles
    rounds = [[seconds(lambda one=one: one.run(5), 1, time.process_time) for one in chains] for _ in range(7)]
    update, pair = (min(each) / (5 * n_sites * N_CHAINS) for each in zip(*rounds, strict=True))
    show(
        f"groups of {order} sites, L={n_sites} C={n_colors}",
        ns_an_update=1e9 * update,
        ns_a_visit=1e9 * update * n_sites / groups.size,
        pairs_ns_an_update=1e9 * pair,
        times_slower=update / pair,
    )
