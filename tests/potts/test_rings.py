"""Rings and chains: reference values, enumeration, closed forms in high precision, extreme lengths and betas."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import potts
from theory.models import PottsModel
from theory.models.potts import random_color_couplings, ring_graph


def colors(seed: int, n_colors: int = 3) -> np.ndarray:
    return random_color_couplings(n_colors, np.random.default_rng(seed))


def chain(n_sites: int, U: np.ndarray, beta: float, periodic: bool) -> PottsModel:
    J = ring_graph(n_sites).toarray()
    if not periodic:
        J[0, -1] = J[-1, 0] = 0
    return PottsModel(J, U, beta=beta)


@settings(max_examples=25)
@given(st.integers(3, 6), st.integers(0, 50), st.sampled_from([0.0, 0.7, 3.0, 30.0]), st.booleans())
def test_against_enumeration(n_sites, seed, beta, periodic):
    U = colors(seed)
    states, ring = potts.enumerate_states(chain(n_sites, U, beta, periodic)), potts.ring(n_sites, U, beta, periodic)
    assert ring.log_partition_function == pytest.approx(states.log_partition_function, rel=1e-13)
    assert ring.mean_score == pytest.approx(states.mean_score, abs=1e-11)
    assert ring.masked_loss_floor == pytest.approx(potts.masked_loss_floor(states), abs=1e-12)
    for sites in ((0, 1), (0, 2), (1, n_sites - 1)):
        assert ring.pair(*sites) == pytest.approx(states.marginals(sites), abs=1e-12)


def test_reference_value_of_the_infinite_floor():
    assert potts.ring(math.inf, np.eye(3), 1.0).masked_loss_floor == pytest.approx(0.868992396032, abs=1e-12)


def test_short_open_chains():
    U = colors(0)
    assert potts.ring(1, U, 1.0, periodic=False).log_partition_function == pytest.approx(math.log(3))
    assert potts.ring(1, U, 1.0, periodic=False).masked_loss_floor == pytest.approx(math.log(3))
    assert potts.ring(1, U, 1.0, periodic=False).mean_score == 0
    two = PottsModel([[0.0, 1.0], [1.0, 0.0]], U, beta=1.3)
    ring = potts.ring(2, U, 1.3, periodic=False)
    assert ring.masked_loss_floor == pytest.approx(potts.masked_loss_floor(two), abs=1e-14)
    assert ring.mean_score == pytest.approx(potts.enumerate_states(two).mean_score, abs=1e-14)


@settings(max_examples=25)
@given(st.integers(2, 30), st.floats(0, 20), st.integers(1, 12))
def test_closed_forms_of_the_ferromagnet(n_colors, beta, distance):
    ring, C = potts.ring(math.inf, np.eye(n_colors), beta), n_colors
    mu = -math.expm1(-beta) / (1 + (C - 1) * math.exp(-beta))
    assert ring.mu == pytest.approx(mu, abs=1e-14)
    assert ring.correlation(distance) == pytest.approx(1 / C + (1 - 1 / C) * mu**distance, abs=1e-13)
    assert ring.mean_score_per_site == pytest.approx(1 / (1 + (C - 1) * math.exp(-beta)), abs=1e-14)
    assert ring.log_partition_function_per_site == pytest.approx(np.logaddexp(beta, math.log(C - 1)), abs=1e-13)
    assert ring.correlation(0) == 1


def test_infinite_floor_in_high_precision():
    """The formula of the infinite ferromagnet: M = T/(e^beta + C - 1), b given a and c."""
    with mpmath.workdps(30):
        M = mpmath.matrix(4, 4)
        for a in range(4):
            for b in range(4):
                M[a, b] = mpmath.exp(mpmath.mpf(2) * (a == b)) / (mpmath.exp(2) + 3)
        square, floor = M * M, mpmath.mpf(0)
        for a in range(4):
            for c in range(4):
                given_both = [M[a, b] * M[b, c] / square[a, c] for b in range(4)]
                floor -= square[a, c] / 4 * mpmath.fsum(p * mpmath.log(p) for p in given_both)
    assert potts.ring(math.inf, np.eye(4), 2.0).masked_loss_floor == pytest.approx(float(floor), abs=1e-15)


@pytest.mark.parametrize("seed", range(2))
def test_long_rings_and_open_chains_approach_the_infinite_one(seed):
    U, beta = colors(seed), 0.8
    infinite = potts.ring(math.inf, U, beta)
    for n_sites in (10**3, 10**6, 10**12):
        ring = potts.ring(n_sites, U, beta)
        assert ring.masked_loss_floor == pytest.approx(infinite.masked_loss_floor, abs=1e-12)
        assert ring.mean_score_per_site == pytest.approx(infinite.mean_score_per_site, abs=1e-12)
        assert ring.pair(3, 7) == pytest.approx(infinite.pair(0, 4), abs=1e-12)
    chain = potts.ring(100, U, beta, periodic=False)
    assert chain.masked_loss_floor == pytest.approx(infinite.masked_loss_floor, abs=0.05)
    assert chain.pair(50, 52) == pytest.approx(infinite.pair(0, 2), abs=1e-12)


def test_frustrated_rings_at_low_temperature_do_not_cancel():
    """An odd antiferromagnet has n ground states, each with one broken bond; the eigenvalues nearly cancel in its Z."""
    ring = potts.ring(5, -np.eye(2), 300.0)
    assert ring.log_partition_function == pytest.approx(-300 + math.log(10), rel=1e-14)
    assert ring.mean_score == pytest.approx(-1, rel=1e-12)
    assert ring.masked_loss_floor == pytest.approx(2 / 5 * math.log(2), rel=1e-12)  # both bonds of a site may break
    assert potts.ring(5, -np.eye(2), 1.0).mu < 0


def test_the_second_eigenvalue_may_be_negative():
    U = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])  # (1, -1, 0) has the eigenvalue 1 - e
    largest = np.linalg.eigvalsh(np.exp(U))[-1]
    assert potts.ring(math.inf, U, 1.0).mu == pytest.approx((1 - math.e) / largest, rel=1e-13)


def test_ferromagnets_at_low_temperature():
    ring = potts.ring(math.inf, np.eye(3), 700.0)
    assert 0 <= ring.masked_loss_floor < 1e-290
    assert ring.mean_score_per_site == 1
    assert ring.correlation(10**6) == pytest.approx(1)


def test_a_constant_in_the_couplings_changes_only_the_score():
    U = colors(1)
    plain, moved = (potts.ring(7, U + shift, 0.9) for shift in (0, 50))
    assert moved.masked_loss_floor == pytest.approx(plain.masked_loss_floor, abs=1e-12)
    assert moved.mean_score == pytest.approx(plain.mean_score + 7 * 50)
    assert moved.mu == pytest.approx(plain.mu, abs=1e-13)


def test_two_colors_are_an_ising_chain():
    """<s_0 s_r> = tanh(K)^r with K = beta/2 for U = identity."""
    ring = potts.ring(math.inf, np.eye(2), 1.4)
    for r in range(1, 6):
        assert 2 * ring.correlation(r) - 1 == pytest.approx(math.tanh(0.7) ** r, abs=1e-14)


def test_infinite_chain_with_two_phases_is_refused():
    U = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.1], [0.0, 0.1, 0.8]])
    with pytest.raises(ValueError, match=r"beta must be smaller for the infinite chain, got 200.0: the two largest"):
        potts.ring(math.inf, U, 200.0).masked_loss_floor  # noqa: B018
    assert potts.ring(10**6, U, 200.0).masked_loss_floor < 1e-10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, np.eye(3), 1.0), "n_sites must be an integer of at least 3 or infinity, got 2"),
        ((0, np.eye(3), 1.0, False), "n_sites must be an integer of at least 1 or infinity, got 0"),
        ((4, np.triu(np.ones((2, 2))), 1.0), "color_couplings must be symmetric"),
        ((4, np.eye(3), -1.0), r"beta must lie in \[0, inf\)"),
        ((4, np.eye(3), math.inf), "beta must be finite"),
        ((4, np.full((2, 2), np.nan), 1.0), "color_couplings must be finite"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        potts.ring(*arguments)


@pytest.mark.parametrize("sites", [(0, 0), (2, 1), (0, 5), (-1, 2), (0, 1.5)])
def test_bad_sites(sites):
    with pytest.raises(ValueError, match=r"site|^[ij] must be an integer of at least 0"):
        potts.ring(5, np.eye(2), 1.0).pair(*sites)
