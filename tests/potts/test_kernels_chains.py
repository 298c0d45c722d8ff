"""Chains do not depend on threads, on one another or on where a run was cut; extreme models have no accidents."""

import numpy as np
import pytest

from simulate.potts.dynamics import make_dynamics
from simulate.potts.kernels.samplers import DenseChains, GroupChains, LatticeChains, ProductChains
from tests.potts.models_to_sample import KINDS, METHODS, dynamics, lattice, model
from theory.models import DensePottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import complete_graph, ring_graph

EVERY = (*KINDS, "lattice")


def system_of(kind, n_colors=5):
    return lattice() if kind == "lattice" else model(kind, 6, n_colors)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("kind", "n_colors"), [*((kind, 5) for kind in EVERY), ("product", 3)])
def test_any_number_of_threads_gives_the_same_states(kind, n_colors, method):
    runs = []
    for n_threads in (1, 2, 3):
        chains = dynamics(kind, system_of(kind, n_colors), 150, 21, method=method, n_threads=n_threads)
        chains.run(4)
        runs.append((chains.states, chains.scores(), chains.acceptance))
    for states, scores, acceptance in runs[1:]:
        np.testing.assert_array_equal(states, runs[0][0])
        np.testing.assert_array_equal(scores, runs[0][1])
        assert acceptance == runs[0][2]


@pytest.mark.parametrize("kind", ["sparse", "many_body"])
def test_threads_share_the_sites_of_a_single_chain(kind):
    runs = []
    for n_threads in (1, 2, 3):
        chains = dynamics(kind, model(kind, 200, 4), 1, 22, method="colored", n_threads=n_threads)
        chains.run(5)
        runs.append(chains.states)
    assert len(np.unique(runs[0])) > 1
    np.testing.assert_array_equal(runs[1], runs[0])
    np.testing.assert_array_equal(runs[2], runs[0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", EVERY)
def test_a_run_cut_and_resumed_elsewhere_is_the_run(kind, method):
    system = system_of(kind)
    whole = dynamics(kind, system, 90, 23, method=method)
    whole.run(9)
    cut = dynamics(kind, system, 90, 23, method=method)
    cut.run(2)
    cut.run(0)
    kept = cut.snapshot()
    cut.run(1)  # changes nothing in what was kept
    other = dynamics(kind, system, 90, 99, method=method)
    other.run(1)
    other.restore(kept)
    other.run(7)
    np.testing.assert_array_equal(other.states, whole.states)
    assert other.acceptance == whole.acceptance


@pytest.mark.parametrize(("kind", "n_colors"), [*((kind, 5) for kind in EVERY), ("product", 3)])
def test_a_chain_does_not_depend_on_the_others(kind, n_colors):
    """The 100 chains of three colors have another kernel than three of them, whose sums differ by rounding alone."""
    system = system_of(kind, n_colors)
    many, few = dynamics(kind, system, 100, 24), dynamics(kind, system, 3, 24)
    kept = many.snapshot()
    few.restore({name: value[60:63] if value.ndim else value for name, value in kept.items()})
    many.run(5)
    few.run(5)
    np.testing.assert_array_equal(few.states, many.states[60:63])


def test_the_kernels_of_one_model_draw_the_same_chains():
    system = model("product", 12, 6)
    runs = [dynamics("product", system, 64, 25), dynamics("sparse", system, 64, 25)]
    runs.append(dynamics("dense", DensePottsModel.of(system), 64, 25))
    for chains in runs:
        chains.run(10)
    assert [type(chains) for chains in runs] == [ProductChains, GroupChains, DenseChains]
    for chains in runs[1:]:
        np.testing.assert_array_equal(chains.states, runs[0].states)


def test_the_kernel_is_chosen_by_the_couplings():
    rng, U = np.random.default_rng(0), np.eye(8)
    chosen = {
        ProductChains: PottsModel(complete_graph(60), U),
        GroupChains: PottsModel(ring_graph(60), U),
        DenseChains: model("dense"),
        LatticeChains: lattice(),
    }
    for sampler, system in chosen.items():
        assert isinstance(make_dynamics(system, 2, rng), sampler)
    assert isinstance(make_dynamics(lattice(), 2, rng, method="metropolis"), GroupChains | ProductChains)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["dense", "product", "sparse"])
def test_couplings_of_a_thousand_freeze_the_chains(kind, method):
    J = 1e3 * complete_graph(2)
    system = PottsModel(J, np.eye(5), beta=2.0)
    system = DensePottsModel.of(system) if kind == "dense" else system
    chains = dynamics(kind, system, 200, 26, method=method)
    chains.run(60)
    states = chains.states
    np.testing.assert_array_equal(states[:, 0], states[:, 1])
    assert set(states[:, 0]) == set(range(5))
    np.testing.assert_array_equal(chains.scores(), 1e3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["dense", "product", "sparse"])
@pytest.mark.parametrize(("n_sites", "n_colors", "n_chains"), [(1, 2, 1), (1, 1, 3), (2, 260, 2), (5, 1, 1)])
def test_smallest_and_widest_models(kind, method, n_sites, n_colors, n_chains):
    fields = np.zeros((n_sites, n_colors))
    fields[:, -1] = 500.0
    system = PottsModel(complete_graph(n_sites), np.eye(n_colors), fields)
    system = DensePottsModel.of(system) if kind == "dense" else system
    chains = dynamics(kind, system, n_chains, 27, method=method)
    chains.run(4 if method != "metropolis" else 1500)
    np.testing.assert_array_equal(chains.states, n_colors - 1)  # the field leaves one color
    assert chains.states.dtype == np.int16
    assert chains.states.shape == (n_chains, n_sites)


def test_one_chain_of_a_large_lattice_of_neighbors():
    system = SquareLatticePotts(30, 31, 21, beta=3.0).pair_model
    chains = make_dynamics(system, 1, np.random.default_rng(28), method="colored")
    chains.run(30)
    assert chains.scores()[0] > 2 * 30 * 31 / 4  # far above the 1/21 of random colors
