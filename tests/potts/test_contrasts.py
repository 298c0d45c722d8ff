"""Contrasts of Potts models: exact populations against enumeration, closed forms and definitions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.models import AR1, DensePottsModel, Diagonal, Empirical, PottsModel
from theory.models.potts.gauges import zero_sum_blocks
from theory.models.potts.graphs import random_color_couplings, ring_graph
from theory.models.potts.one_hot_contrasts import ContrastPopulation, contrasts, helmert
from theory.potts.contrasts import heteroskedasticity, ring_contrasts, ring_correlation

RING_COLORS = {
    "identity": np.eye(3),
    "random": random_color_couplings(3, np.random.default_rng(1)),
    "repulsive": -np.eye(3),
    "two colors": np.array([[1.0, -0.5], [-0.5, 0.3]]),
}


def enumerated(model):
    """All states (N, L) and their probabilities."""
    states = np.array(list(product(range(model.n_colors), repeat=model.n_sites)))
    logs = model.beta * model.score(states)
    weights = np.exp(logs - logs.max())
    return states, weights / weights.sum()


def random_model(n_sites=4, n_colors=3, seed=0):
    """A dense model with fields."""
    rng = np.random.default_rng(seed)
    half = np.triu(np.ones((n_sites, n_sites)), 1)[:, :, None, None] * rng.standard_normal(
        (n_sites, n_sites, n_colors, n_colors)
    )
    couplings = half + half.transpose(1, 0, 3, 2)
    return DensePottsModel(zero_sum_blocks(couplings), rng.standard_normal((n_sites, n_colors)), 0.6)


@given(n_colors=st.integers(2, 30))
def test_helmert_is_an_orthonormal_basis_of_what_sums_to_zero(n_colors):
    H = helmert(n_colors)
    np.testing.assert_allclose(H.T @ H, np.eye(n_colors - 1), atol=1e-13)
    np.testing.assert_allclose(H @ H.T, np.eye(n_colors) - 1 / n_colors, atol=1e-13)


def test_contrasts_keep_distances():
    states = np.array([[0, 1, 2, 3], [0, 2, 2, 1], [3, 3, 3, 3]])
    x = contrasts(states, 4)
    assert x.shape == (3, 12)
    for a, b in product(range(3), repeat=2):
        assert ((x[a] - x[b]) ** 2).sum() == pytest.approx(2 * (states[a] != states[b]).sum())


@pytest.mark.parametrize("name", RING_COLORS)
@pytest.mark.parametrize(("n_sites", "beta"), [(3, 0.7), (5, 0.7), (6, 2.0), (4, 0.0)])
def test_ring_is_enumerated(name, n_sites, beta):
    U = RING_COLORS[name]
    states, weights = enumerated(PottsModel(ring_graph(n_sites), U, beta=beta))
    exact, ring = ContrastPopulation.from_states(states, len(U), weights), ring_contrasts(n_sites, U, beta)
    np.testing.assert_allclose(ring.covariance.matrix, exact.covariance.matrix, atol=1e-14)
    np.testing.assert_allclose(ring.mean, exact.mean, atol=1e-14)
    np.testing.assert_allclose(ring.variances, exact.variances, atol=1e-14)


@pytest.mark.parametrize(("n_colors", "beta"), [(2, 0.4), (3, 1.5), (6, 2.5)])
def test_ferromagnetic_ring_is_copies_of_one_covariance(n_colors, beta):
    L, mu = 11, ring_correlation(n_colors, beta)
    assert mu == pytest.approx((np.exp(beta) - 1) / (np.exp(beta) + n_colors - 1), rel=1e-14)
    r = np.abs(np.arange(L) - np.arange(L)[:, None])
    once = (mu**r + mu ** (L - r) + (n_colors - 2) * mu**L) / (1 + (n_colors - 1) * mu**L) / n_colors
    ring = ring_contrasts(L, np.eye(n_colors), beta)
    np.testing.assert_allclose(ring.covariance.matrix, np.kron(once, np.eye(n_colors - 1)), atol=1e-14)
    np.testing.assert_allclose(ring.mean, 0, atol=1e-14)


def test_long_ring_is_an_autoregression():
    ring = ring_contrasts(200, np.eye(3), 1.0)
    once = ring.covariance.matrix[:100:2, :100:2]
    np.testing.assert_allclose(once, AR1(50, ring_correlation(3, 1.0)).matrix / 3, atol=1e-14)


def test_frustrated_ring_without_temperature():
    """Three spins, no two of which like to agree: six of the eight states remain, and every pair agrees in a third."""
    ring = ring_contrasts(3, -np.eye(2), 2000.0)
    np.testing.assert_allclose(ring.covariance.matrix, 2 / 3 * np.eye(3) - 1 / 6, atol=1e-14)


@pytest.mark.parametrize("beta", [0.0, 1e-9, 30.0, 700.0, 5e4])
@pytest.mark.parametrize("sign", [1, -1])
def test_extreme_temperatures_of_a_ring(beta, sign):
    ring = ring_contrasts(40, sign * np.eye(3), beta)
    assert np.isfinite(ring.covariance.matrix).all()
    np.testing.assert_allclose(ring.variances, 2 / 3, rtol=1e-12)
    assert 0 <= ring_correlation(3, beta) <= 1


def test_sites_and_colors_may_be_renamed():
    states, weights = enumerated(random_model())
    colors, sites = np.array([2, 0, 1]), np.array([3, 1, 0, 2])
    before = ContrastPopulation.from_states(states, 3, weights)
    after = ContrastPopulation.from_states(colors[states][:, sites], 3, weights)
    np.testing.assert_allclose(after.variances, before.variances[sites], rtol=1e-12)
    np.testing.assert_allclose(after.covariance.eigenvalues, before.covariance.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(
        heteroskedasticity(after, colors[states][:, sites], weights),
        heteroskedasticity(before, states, weights)[sites],
        rtol=1e-10,
    )


def test_moments_are_those_of_numpy():
    rng = np.random.default_rng(3)
    states, weights = rng.integers(0, 3, (50, 4)), rng.random(50)
    found = ContrastPopulation.from_states(states, 3, weights)
    x = contrasts(states, 3)
    np.testing.assert_allclose(found.mean, np.average(x, axis=0, weights=weights), atol=1e-14)
    np.testing.assert_allclose(found.covariance.matrix, np.cov(x.T, aweights=weights, ddof=0), atol=1e-14)
    assert found.n_sites == 4
    equal = ContrastPopulation.from_states(states, 3)
    np.testing.assert_allclose(equal.covariance.matrix, np.cov(x.T, ddof=0), atol=1e-14)


def test_too_many_contrasts_are_refused():
    with pytest.raises(MemoryError, match="the covariance of 400000 contrasts needs"):
        ContrastPopulation.from_states(np.zeros((2, 200_000), np.int8), 3)


def test_a_constant_site_is_seen_through_rounding():
    rng = np.random.default_rng(0)
    for _ in range(30):
        states = np.column_stack([np.full(100, 2), rng.integers(0, 3, (100, 2))])
        with pytest.raises(ValueError, match=r"no variance at sites \[0\]"):
            ContrastPopulation.from_states(states, 3, rng.random(100))


def test_blocks_of_states_change_nothing(monkeypatch):
    states, weights = enumerated(random_model())
    whole = ContrastPopulation.from_states(states, 3, weights)
    monitor = heteroskedasticity(whole, states, weights)
    monkeypatch.setattr("theory.core.blocks.BLOCK", 40)
    pieces = ContrastPopulation.from_states(states, 3, weights)
    np.testing.assert_allclose(pieces.covariance.matrix, whole.covariance.matrix, atol=1e-15)
    np.testing.assert_allclose(heteroskedasticity(whole, states, weights), monitor, rtol=1e-12)


def test_heteroskedasticity_is_its_definition():
    states, weights = enumerated(random_model())
    population = ContrastPopulation.from_states(states, 3, weights)
    found, Sigma, z = (
        heteroskedasticity(population, states, weights),
        population.covariance.matrix,
        contrasts(states, 3),
    )
    z = z - population.mean
    for i in range(4):
        own, others = np.arange(2 * i, 2 * i + 2), np.delete(np.arange(8), [2 * i, 2 * i + 1])
        inner = np.linalg.inv(Sigma[np.ix_(others, others)])
        square = ((z[:, own] - z[:, others] @ inner @ Sigma[np.ix_(others, own)]) ** 2).sum(axis=1)
        leverage = np.einsum("mi,ij,mj->m", z[:, others], inner, z[:, others])
        assert found[i] == pytest.approx(weights @ (square * leverage) / (weights @ square) / 6, rel=1e-11)
    assert abs(found - 1).max() > 0.01


def test_independent_sites_are_homoskedastic():
    model = PottsModel(np.zeros((4, 4)), np.eye(3), np.random.default_rng(0).standard_normal((4, 3)))
    states, weights = enumerated(model)
    population = ContrastPopulation.from_states(states, 3, weights)
    np.testing.assert_allclose(heteroskedasticity(population, states, weights), 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: helmert(1), "n_colors must be an integer of at least 2, got 1"),
        (lambda: contrasts([0, 1], 2), r"states must have shape \(samples, sites\), got \(2,\)"),
        (lambda: contrasts([[0, 3]], 3), "states must be colors from 0 to 2, got 3"),
        (lambda: contrasts([[0.0, 1.0]], 3), "states must be integers"),
        (lambda: ContrastPopulation(np.eye(4), 3), "covariance must be a record"),
        (lambda: ContrastPopulation(Diagonal(np.ones(4)), 1), "n_colors must be an integer of at least 2, got 1"),
        (lambda: ContrastPopulation(Diagonal(np.ones(5)), 3), "2 contrasts for each of 2 or more sites, got d = 5"),
        (lambda: ContrastPopulation(Diagonal(np.ones(2)), 3), "2 contrasts for each of 2 or more sites, got d = 2"),
        (lambda: ContrastPopulation(AR1(np.inf, 0.5), 3), "needs a finite d"),
        (lambda: ContrastPopulation(Diagonal(np.ones(4)), 3, np.zeros(3)), r"mean must have shape \(4,\)"),
        (lambda: ContrastPopulation(Diagonal(np.ones(4)), 3, [0, 0, np.nan, 0]), "mean must be finite"),
        (
            lambda: ContrastPopulation(Empirical(np.diag([1.0, 1, 0, 0, 1, 1])), 3),
            r"covariance must let every site vary, got no variance at sites \[1\]",
        ),
        (lambda: ContrastPopulation.from_states([[0, 1, 2], [1, 1, 0]], 3), r"no variance at sites \[1\]"),
        (lambda: ContrastPopulation.from_states([[0, 1, 2]], 3), r"no variance at sites \[0, 1, 2\]"),
        (lambda: ContrastPopulation.from_states([[0], [1]], 2), "2 or more sites, got d = 1"),
        (
            lambda: ContrastPopulation.from_states(np.zeros((0, 3), int), 2),
            "at least one sample",
        ),
        (
            lambda: ContrastPopulation.from_states([[0, 1], [1, 0]], 2, [1.0]),
            "one number for each of 2 samples of states, got 1",
        ),
        (lambda: ContrastPopulation.from_states([[0, 1], [1, 0]], 2, [1.0, -1.0]), "weights must be >= 0"),
        (lambda: ContrastPopulation.from_states([[0, 1], [1, 0]], 2, [0.0, 0.0]), "weights must not all be zero"),
        (lambda: ring_contrasts(2, np.eye(3), 1.0), "n_sites must be an integer of at least 3, got 2"),
        (lambda: ring_contrasts(5, np.array([[0.0, 1.0], [0.0, 0.0]]), 1.0), "color_couplings must be symmetric"),
        (lambda: ring_contrasts(5, np.eye(3), -1.0), "beta must lie in"),
        (lambda: ring_contrasts(5, np.eye(1), 1.0), "n_colors must be an integer of at least 2, got 1"),
        (lambda: ring_correlation(1, 1.0), "n_colors"),
        (lambda: ring_correlation(3, np.inf), "beta must be finite"),
        (lambda: heteroskedasticity(Diagonal(np.ones(4)), [[0, 0]], 3), "population must be a record"),
        (
            lambda: heteroskedasticity(ContrastPopulation.from_states([[0, 1], [1, 0], [0, 0]], 3), [[0, 1]]),
            "population must have a non-singular covariance for this measure, got 2 directions",
        ),
        (
            lambda: heteroskedasticity(ContrastPopulation(Diagonal(np.ones(4)), 3), [[0, 1, 2]]),
            r"states must have shape \(..., 2\), got \(1, 3\)",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
