"""The lattice kernel: its law against enumeration, odd and double bonds, extreme temperatures, exact torus energies."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

from simulate.core import Estimate, stream
from simulate.potts.kernels.lattice import lattice_block_sweeps, lattice_scores, lattice_sweeps
from theory.models import SquareLatticePotts

CHAINS, SWEEPS, SMALLEST_P = 20_000, 40, 1e-6


def run(model, n_chains, n_sweeps, rng, start=None):
    """States of independent chains, random at first."""
    states = rng.integers(model.n_colors, size=(n_chains, model.n_sites)).astype(np.int16)
    if start is not None:
        states[:] = start
    generators = rng.integers(2**64, size=(n_chains, 2), dtype=np.uint64)
    betas = np.full(n_chains, model.beta)
    size = (model.rows, model.columns, model.n_colors)
    lattice_sweeps(states, generators, betas, *size, n_sweeps, 0, n_chains)
    return states


def p_value(model, states):
    """Chi-square of states against P = exp(beta S)/Z over all states, rare ones pooled."""
    every = np.array(list(itertools.product(range(model.n_colors), repeat=model.n_sites)))
    weights = np.exp(model.beta * model.score(every))
    expected = len(states) * weights / weights.sum()
    codes = states.astype(np.int64) @ model.n_colors ** np.arange(model.n_sites)[::-1]
    counts = np.bincount(codes, minlength=len(every))
    rare = expected < 10
    if rare.any():
        expected = np.append(expected[~rare], expected[rare].sum())
        counts = np.append(counts[~rare], counts[rare].sum())
    return chisquare(counts, expected).pvalue


@pytest.mark.parametrize(("rows", "columns", "n_colors"), [(2, 2, 3), (3, 3, 2), (2, 3, 3), (4, 2, 2)])
def test_law_and_that_the_test_would_see_an_error(rows, columns, n_colors):
    model = SquareLatticePotts(rows, columns, n_colors, 0.6)
    states = run(model, CHAINS, SWEEPS, stream(0, "lattice law", rows, columns))
    assert p_value(model, states) > SMALLEST_P
    assert p_value(model.at(0.9 * model.beta), states) < SMALLEST_P


@pytest.mark.parametrize(
    ("size", "n_colors", "exact"), [((4, 4), 3, -1.71006228), ((8, 8), 2, -1.74579455), ((6, 6), 3, -1.67373587)]
)
def test_energy_of_the_critical_torus(agrees, size, n_colors, exact):
    """Exact: traces of the row transfer matrix."""
    model = SquareLatticePotts(*size, n_colors, math.log(1 + math.sqrt(n_colors)))
    rng, chains = stream(1, "torus", n_colors, model.n_sites), 100
    states = run(model, chains, 300, rng)
    generators, energies = rng.integers(2**64, size=(chains, 2), dtype=np.uint64), np.zeros(chains)
    for _ in range(200):
        lattice_sweeps(states, generators, np.full(chains, model.beta), *size, n_colors, 4, 0, chains)
        energies -= lattice_scores(states, *size) / model.n_sites / 200
    agrees(Estimate.of(energies), exact, resolves=0.02)


@pytest.mark.parametrize("size", [(2, 2), (2, 5), (3, 4), (5, 5)])
def test_scores_are_those_of_the_record(size):
    model = SquareLatticePotts(*size, 4)
    states = stream(2).integers(4, size=(7, model.n_sites)).astype(np.int16)
    np.testing.assert_array_equal(lattice_scores(states, *size), model.score(states))


def test_infinite_temperature_is_uniform():
    states = run(SquareLatticePotts(3, 3, 7, 0.0), 2000, 1, stream(3), start=0)
    assert chisquare(np.bincount(states.ravel(), minlength=7)).pvalue > SMALLEST_P


@pytest.mark.parametrize("beta", [50.0, 1e3, 1e300])
def test_cold_chains_keep_the_majority(beta):
    model = SquareLatticePotts(4, 4, 5, beta)
    assert np.all(run(model, 50, 5, stream(4), start=3) == 3)
    one_wrong = np.full(16, 3)
    one_wrong[5] = 1
    assert np.all(run(model, 50, 1, stream(5), start=one_wrong) == 3)


def test_threads_may_split_the_chains_anywhere():
    rng = stream(6)
    states, generators = (
        rng.integers(3, size=(9, 16)).astype(np.int16),
        rng.integers(2**64, size=(9, 2), dtype=np.uint64),
    )
    betas, size = np.linspace(0, 2, 9), (4, 4, 3)
    whole, split = states.copy(), states.copy()
    lattice_sweeps(whole, generators.copy(), betas, *size, 6, 0, 9)
    again = generators.copy()
    for first, last in ((5, 9), (0, 5)):
        lattice_sweeps(split, again, betas, *size, 2, first, last)
        lattice_sweeps(split, again, betas, *size, 4, first, last)
    np.testing.assert_array_equal(whole, split)


@pytest.mark.parametrize("size", [(4, 6, 3), (3, 5, 4), (2, 2, 2), (1, 7, 20), (3, 4, 1000)])
@pytest.mark.parametrize("n_chains", [1, 8, 65, 130])
def test_chains_abreast_are_those_in_turn_to_the_last_bit(size, n_chains):
    rng = stream(0, "abreast", *size, n_chains)
    rows, columns, n_colors = size
    states = rng.integers(n_colors, size=(n_chains + 2, rows * columns)).astype(np.int16)
    generators = rng.integers(2**64, size=(n_chains + 2, 2), dtype=np.uint64)
    betas = rng.permutation(np.geomspace(1e-3, 300, n_chains + 2))
    found = []
    for sweeps in (lattice_sweeps, lattice_block_sweeps):
        own, words = states.copy(), generators.copy()
        sweeps(own, words, betas, *size, 7, 1, n_chains + 1)
        found.append((own, words))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found[1][0][[0, -1]], states[[0, -1]])  # other chains stay as they are
    assert n_chains == 1 or (found[1][0][1:-1] != states[1:-1]).any()
