"""The Curie-Weiss model: phases of the infinite system, exact sums of finite ones, and one against the other."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from simulate.core import Estimate, stream
from theory import potts
from theory.models import potts as records


@pytest.mark.parametrize(
    ("n_colors", "critical", "spinodal"), [(3, 2.772588722, 2.745643577), (5, 3.696784963, 3.564501808)]
)
def test_reference_transitions(n_colors, critical, spinodal):
    assert potts.curie_weiss_critical_beta(n_colors) == pytest.approx(critical, abs=1e-9)
    assert potts.curie_weiss_spinodals(n_colors) == (pytest.approx(spinodal, abs=1e-9), n_colors)


def test_reference_values():
    assert potts.curie_weiss(3, 3.0).order_parameter == pytest.approx(0.716375266636, abs=1e-12)
    finite = potts.finite_curie_weiss(60, 3, 2.9)
    assert finite.energy_per_site == pytest.approx(-0.260521624585, abs=1e-12)
    assert finite.largest_fraction == pytest.approx(0.66564422553, abs=1e-11)


@given(st.integers(3, 200))
def test_coexistence(n_colors):
    """At the critical beta both phases have the same weight; the jump and the latent heat are the closed forms."""
    both = potts.curie_weiss(n_colors, potts.curie_weiss_critical_beta(n_colors))
    disordered, unstable, ordered = both.branches
    assert ordered.log_weight == pytest.approx(0, abs=1e-13)
    assert both.order_parameter == pytest.approx(potts.curie_weiss_jump(n_colors), abs=1e-11)
    latent = disordered.energy_per_site - ordered.energy_per_site
    assert latent == pytest.approx(potts.curie_weiss_latent_heat(n_colors), abs=1e-11)
    assert [branch.stability for branch in both.branches] == ["stable", "unstable", "stable"]
    assert unstable.log_weight < 0


def log_weight(s: float | np.ndarray, q: int, beta: float) -> float | np.ndarray:
    major, minor = (1 + (q - 1) * s) / q, (1 - s) / q
    energy = beta / 2 * (major**2 + (q - 1) * minor**2)
    return energy - major * np.log(major) - (q - 1) * minor * np.log(minor) - beta / (2 * q) - np.log(q)


@settings(max_examples=40)
@given(st.integers(2, 30), st.floats(0.5, 30))
def test_branches_solve_the_equation_and_the_best_one_is_stable(n_colors, beta):
    phases = potts.curie_weiss(n_colors, beta)
    for branch in phases.branches:
        s, decay = branch.order_parameter, math.exp(-beta * branch.order_parameter)
        assert s == pytest.approx((1 - decay) / (1 + (n_colors - 1) * decay), abs=1e-11)
        if s < 1 - 1e-9:
            assert branch.log_weight == pytest.approx(log_weight(s, n_colors, beta), abs=1e-12)
    best = log_weight(np.linspace(0, 1 - 1e-9, 2001), n_colors, beta).max()
    assert phases.stable.log_weight >= best - 1e-9
    assert phases.log_partition_function_per_site >= beta / (2 * n_colors) + math.log(n_colors) - 1e-12


def test_number_and_kind_of_branches():
    def kinds(n_colors: int, beta: float) -> list[str]:
        return [branch.stability for branch in potts.curie_weiss(n_colors, beta).branches]

    assert kinds(3, 2.74) == ["stable"]
    assert kinds(3, 2.75) == ["stable", "unstable", "metastable"]
    assert kinds(3, 2.9) == ["metastable", "unstable", "stable"]
    assert kinds(3, 3.0) == ["unstable", "stable"]
    assert kinds(2, 2.0) == ["stable"]
    assert kinds(2, 2.1) == ["unstable", "stable"]
    assert kinds(3, 0.0) == ["stable"]


@pytest.mark.parametrize("n_colors", [3, 5, 50])
def test_ordered_spinodal_is_the_least_beta_of_an_ordered_solution(n_colors):
    def beta_of(s: float) -> float:
        return math.log((1 + (n_colors - 1) * s) / (1 - s)) / s

    least = minimize_scalar(beta_of, bounds=(1e-3, 1 - 1e-9), method="bounded", options={"xatol": 1e-10})
    assert potts.curie_weiss_spinodals(n_colors)[0] == pytest.approx(least.fun, rel=1e-12)


def test_two_colors_are_the_ising_model():
    """m = tanh(K m) with K = beta/2 and m = s; continuous at beta = 2, m^2 about 3 (beta - 2)/2 just above."""
    m = potts.curie_weiss(2, 2.6).order_parameter
    assert m == pytest.approx(math.tanh(1.3 * m), abs=1e-14)
    assert (potts.curie_weiss_critical_beta(2), potts.curie_weiss_spinodals(2), potts.curie_weiss_jump(2)) == (
        2,
        (2, 2),
        0,
    )
    assert potts.curie_weiss(2, 2 + 1e-8).order_parameter == pytest.approx(math.sqrt(1.5e-8), rel=1e-3)


def test_low_temperatures():
    phase = potts.curie_weiss(3, 1e4)
    assert (phase.order_parameter, phase.largest_fraction, phase.energy_per_site) == (1, 1, -0.5)
    assert phase.log_partition_function_per_site == pytest.approx(5e3)


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(2, 3), st.floats(0, 6))
def test_finite_systems_against_enumeration(n_sites, n_colors, beta):
    states = potts.enumerate_states(records.curie_weiss(n_sites, n_colors, beta))
    finite = potts.finite_curie_weiss(n_sites, n_colors, beta)
    counts = (states.states[:, :, None] == np.arange(n_colors)).sum(axis=1)
    assert finite.log_partition_function == pytest.approx(states.log_partition_function, abs=1e-12)
    assert finite.energy_per_site == pytest.approx(-states.mean_score / n_sites, abs=1e-13)
    of_one = np.bincount(counts[:, 0], states.probabilities, n_sites + 1)
    assert finite.occupation_distribution == pytest.approx(of_one, abs=1e-13)
    largest = np.bincount(counts.max(axis=1), states.probabilities, n_sites + 1)
    assert finite.largest_distribution == pytest.approx(largest, abs=1e-13)


def test_finite_systems_with_many_colors_by_sums_over_compositions():
    """All compositions of 12 sites, weights in exact integers times one exponential."""
    N, q, beta = 12, 5, 3.5
    total, energy = 0.0, 0.0
    for first in product(range(N + 1), repeat=q - 1):
        if (last := N - sum(first)) >= 0:
            n = (*first, last)
            pairs = sum(k * (k - 1) for k in n)
            weight = math.factorial(N) / math.prod(map(math.factorial, n)) * math.exp(beta * pairs / (2 * N))
            total, energy = total + weight, energy - weight * pairs / (2 * N**2)
    finite = potts.finite_curie_weiss(N, q, beta)
    assert finite.log_partition_function == pytest.approx(math.log(total), abs=1e-12)
    assert finite.energy_per_site == pytest.approx(energy / total, abs=1e-13)


def test_distributions_are_normalized():
    finite = potts.finite_curie_weiss(120, 4, 3.2)
    assert finite.occupation_distribution.sum() == pytest.approx(1, abs=1e-12)
    assert finite.largest_distribution.sum() == pytest.approx(1, abs=1e-12)
    assert (finite.largest_distribution >= 0).all()
    assert finite.largest_distribution[:30].sum() == 0
    assert finite.occupation_distribution @ np.arange(121) == pytest.approx(30, rel=1e-12)


def test_a_first_order_transition_has_two_peaks():
    largest = potts.finite_curie_weiss(240, 3, potts.curie_weiss_critical_beta(3)).largest_distribution
    peaks = [n for n in range(1, 240) if largest[n] > max(largest[n - 1], largest[n + 1])]
    assert len(peaks) == 2
    assert peaks[1] / 240 == pytest.approx((1 + 2 * potts.curie_weiss_jump(3)) / 3, abs=0.03)


@pytest.mark.parametrize("beta", [2.0, 3.5])
def test_finite_systems_approach_the_infinite_one(beta):
    infinite = potts.curie_weiss(3, beta)
    small, large = (potts.finite_curie_weiss(n, 3, beta) for n in (500, 1000))
    extrapolated = 2 * large.energy_per_site - small.energy_per_site
    assert extrapolated == pytest.approx(infinite.energy_per_site, abs=1e-5)
    assert large.log_partition_function / 1000 == pytest.approx(infinite.log_partition_function_per_site, abs=5e-3)


def test_finite_system_against_a_heat_bath(agrees):
    """Many systems of 30 sites at once, each site in turn drawn from its conditional."""
    N, q, beta = 30, 3, 2.0
    rng = stream(0, "Curie-Weiss heat bath")
    states = rng.integers(q, size=(4000, N))
    counts = (states[:, :, None] == np.arange(q)).sum(axis=1)
    for i in np.tile(np.arange(N), 30):
        counts -= np.eye(q, dtype=int)[states[:, i]]
        cumulative = np.cumsum(np.exp(beta * counts / N), axis=1)
        draw = rng.random(4000) * cumulative[:, -1]
        states[:, i] = (draw[:, None] > cumulative[:, :-1]).sum(axis=1)
        counts += np.eye(q, dtype=int)[states[:, i]]
    finite = potts.finite_curie_weiss(N, q, beta)
    agrees(Estimate.of(-(counts * (counts - 1)).sum(axis=1) / (2 * N**2)), finite.energy_per_site, resolves=0.03)
    agrees(Estimate.of(counts.max(axis=1) / N), finite.largest_fraction, resolves=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: potts.curie_weiss(1, 1.0), "n_colors must be an integer of at least 2"),
        (lambda: potts.curie_weiss(3, -1.0), "beta must lie in"),
        (lambda: potts.curie_weiss(3, math.inf), "beta must be finite"),
        (lambda: potts.finite_curie_weiss(0, 3, 1.0), "n_sites must be an integer of at least 1"),
        (lambda: potts.finite_curie_weiss(5000, 3, 1.0), "n_sites must be at most 4000 for exact sums, got 5000"),
        (lambda: potts.finite_curie_weiss(10, 3, math.nan), "beta must be finite, got nan"),
        (lambda: potts.curie_weiss_critical_beta(2.5), "n_colors must be an integer"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
