"""Every kernel against a sweep in numpy that takes its conditionals from the model and the same random numbers."""

import numpy as np
import pytest

from simulate.potts.kernels import draws, many_chains, rows_of_eight, samplers, sweeps
from tests.potts.models_to_sample import KINDS, METHODS, dynamics, model

SPLITMIX64 = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
MASK = 2**64 - 1


def mixed(x):
    """The output function of splitmix64 on Python integers."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def uniform(keys, place):
    """Number `place` of a chain's stream."""
    return (mixed(mixed((int(keys[0]) + place * 0x9E3779B97F4A7C15) & MASK) ^ int(keys[1])) >> 11) * 2.0**-53


def sweep(system, states, keys, number, order, metropolis):
    """One sweep in place: z from the model's own local scores."""
    for i in order:
        z = system.beta * system.local_scores(states)[:, i]
        for c, row in enumerate(z):
            place, old = 2 * (number * system.n_sites + i), states[c, i]
            u = uniform(keys[c], place)
            if metropolis:
                step = int(2 * u) if system.n_colors == 2 else 1 + int(u * (system.n_colors - 1))
                new = (old + step) % system.n_colors
                states[c, i] = new if uniform(keys[c], place + 1) < np.exp(min(0, row[new] - row[old])) else old
            else:
                weights = np.exp(row - row.max())
                states[c, i] = np.searchsorted(np.cumsum(weights)[:-1], u * weights.sum(), side="right")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n_sites", "n_colors", "n_chains"), [(7, 5, 70), (4, 9, 1), (6, 2, 20), (9, 4, 33), (6, 2, 150)]
)
def test_states_are_those_of_the_twin(kind, method, n_sites, n_colors, n_chains):
    system = model(kind, n_sites, n_colors)
    chains = dynamics(kind, system, n_chains, 11, method=method)
    states, keys = chains.states, chains.snapshot()["keys"]
    order = getattr(chains, "order", range(n_sites))
    for number in range(3):
        sweep(system, states, keys, number, map(int, order), method == "metropolis")
    chains.run(3)
    np.testing.assert_array_equal(chains.states, states)


@pytest.mark.parametrize(("n_sites", "n_colors", "n_chains"), [(5, 300, 450), (26, 80, 40)])
def test_couplings_beyond_the_cache_give_the_same_states(n_sites, n_colors, n_chains):
    system = model("dense", n_sites, n_colors)
    assert n_sites * n_colors**2 > sweeps.CACHED_NUMBERS
    chains = dynamics("dense", system, n_chains, 13)
    states, keys = chains.states, chains.snapshot()["keys"]
    sweep(system, states, keys, 0, range(n_sites), False)
    chains.run(1)
    np.testing.assert_array_equal(chains.states, states)


@pytest.mark.parametrize("metropolis", [False, True])
@pytest.mark.parametrize("n_colors", [2, 8, 11, 21, 40, 150])
def test_few_and_many_chains_add_the_same_numbers_in_the_same_order(n_colors, metropolis):
    """Rows of eight, sixteen and 24 numbers, several slabs, and a table that is larger than what is read ahead."""
    rng, n_sites = np.random.default_rng(5), 9
    J = rows_of_eight.single_precision(rng.standard_normal((n_sites, n_sites, n_colors, n_colors)))
    h, betas = rng.standard_normal((n_sites, n_colors)).astype(np.float32), np.ones((3, 24), np.float32)
    keys = rng.integers(2**64, size=(3, 24, 2), dtype=np.uint64)
    states = rng.integers(n_colors, size=(3, 12, 24)).astype(np.int16)
    found = []
    for kernel in (sweeps.dense_sweeps, many_chains.many_chain_sweeps):
        moved, accepted = states.copy(), np.zeros((3, 24), np.int64)
        kernel(J, h, betas, keys, moved, accepted, 0, 3, metropolis)
        found.append((moved, accepted))
    assert np.any(found[0][0] != states)
    np.testing.assert_array_equal(found[1][0], found[0][0])
    np.testing.assert_array_equal(found[1][1], found[0][1])


@pytest.mark.parametrize(("n_chains", "kernel"), [(15, "dense_sweeps"), (16, "many_chain_sweeps")])
def test_the_kernel_is_chosen_by_the_number_of_chains(n_chains, kernel, monkeypatch):
    asked = []
    for name in ("dense_sweeps", "many_chain_sweeps"):
        monkeypatch.setattr(samplers, name, lambda *_, name=name: asked.append(name))
    dynamics("dense", model("dense"), n_chains, 14).run(1)
    assert asked == [kernel]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_model(kind):
    system = model(kind, 9, 4)
    chains = dynamics(kind, system, 101, 12)
    chains.run(2)
    np.testing.assert_allclose(chains.scores(), system.score(chains.states), rtol=1e-12, atol=1e-12)


def test_the_stream_is_splitmix64_mixed_once_more():
    seeds = [(1234567 + n * 0x9E3779B97F4A7C15) & MASK for n in range(1, 6)]
    made = [int(draws._mixed(np.uint64(seed))) for seed in seeds]
    assert made == SPLITMIX64  # the published first outputs for the seed 1234567
    assert draws._uniform(np.uint64(5), np.uint64(2**63 + 9), np.uint64(1000)) == uniform((5, 2**63 + 9), 1000)


def test_numbers_of_neighboring_places_and_keys_are_independent():
    numbers = np.array([[uniform((17 + key, 3), place) for place in range(200)] for key in range(200)])
    assert abs(numbers.mean() - 0.5) < 5 * np.sqrt(1 / 12 / numbers.size)
    for neighbor in (numbers[:, 1:] * numbers[:, :-1], numbers[1:] * numbers[:-1]):
        assert abs(neighbor.mean() - 0.25) < 5 * np.sqrt(7 / 144 / neighbor.size)


def test_exponential_is_that_of_numpy():
    x = np.concatenate([np.linspace(-87, 0, 20001), -np.logspace(-8, 0, 2000)]).astype(np.float32)[None]
    made = x.copy()
    draws._exponentials(made, np.empty(x.shape[1], np.int32))
    np.testing.assert_allclose(made, np.exp(x.astype(float)), rtol=2e-7)
