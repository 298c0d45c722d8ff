"""Maximum-entropy clones: reference values, equal marginals, the form of the energy, and errors."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from tests.potts.reference import four_body_model, pair_model
from theory import ConvergenceError, potts
from theory.models import PottsModel
from theory.models.potts import complete_graph

FOUR = potts.enumerate_states(four_body_model(5, 3, 0.5, beta=1.0))


@pytest.mark.parametrize(("order", "divergence"), [(2, 0.02017553), (3, 0.00933024)])
def test_reference_divergences(order, divergence):
    clone = potts.maximum_entropy_clone(FOUR, order)
    assert clone.kl_divergence == pytest.approx(divergence, abs=1e-8)
    assert clone.converged


@settings(max_examples=20)
@given(st.integers(0, 100), st.integers(1, 3))
def test_marginals_agree_and_the_energy_has_no_higher_terms(seed, order):
    joint = np.random.default_rng(seed).dirichlet(np.ones(81)).reshape((3,) * 4)
    clone = potts.maximum_entropy_clone(joint, order)
    for sites in combinations(range(4), 4 - order):
        assert clone.joint.sum(axis=sites) == pytest.approx(joint.sum(axis=sites), abs=1e-12)
    energy = np.log(clone.joint)
    for sites in combinations(range(4), order + 1):  # zero-sum in more than `order` arguments: nothing
        part = energy
        for site in sites:
            part = part - part.mean(axis=site, keepdims=True)
        assert part == pytest.approx(0, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 100))
def test_divergences_add_up(seed):
    """KL(p, clone_1) = KL(p, clone_2) + KL(clone_2, clone_1), and KL(p, clone) is the difference of the entropies."""
    joint = np.random.default_rng(seed).dirichlet(np.ones(27)).reshape((3,) * 3)
    one, two = (potts.maximum_entropy_clone(joint, k) for k in (1, 2))
    between = rel_entr(two.joint, one.joint).sum()
    assert one.kl_divergence == pytest.approx(two.kl_divergence + between, abs=1e-10)
    entropies = [-np.sum(p * np.log(p)) for p in (two.joint, joint)]
    assert two.kl_divergence == pytest.approx(entropies[0] - entropies[1], abs=1e-10)


def test_a_pair_model_is_its_own_clone():
    states = potts.enumerate_states(pair_model(5, 3, 0.3, beta=0.8))
    clone = potts.maximum_entropy_clone(states, 2)
    assert clone.probabilities == pytest.approx(states.probabilities, abs=1e-10)
    assert clone.kl_divergence == pytest.approx(0, abs=1e-12)


def test_the_first_clone_is_the_product_of_the_sites():
    p = FOUR.joint
    sites = [FOUR.marginals(i) for i in range(5)]
    expected = np.einsum("a,b,c,d,e->abcde", *sites)
    assert potts.maximum_entropy_clone(p, 1).joint == pytest.approx(expected, abs=1e-14)
    assert potts.maximum_entropy_clone(p, 5).joint == pytest.approx(p, abs=1e-14)


def test_impossible_states_stay_impossible():
    joint = np.array([[0.5, 0.0], [0.0, 0.5]])
    assert potts.maximum_entropy_clone(joint, 2).joint == pytest.approx(joint)
    assert potts.maximum_entropy_clone(joint, 1).kl_divergence == pytest.approx(np.log(2))


def test_unfinished_fits():
    with pytest.raises(ConvergenceError, match="maximum_entropy_clone of order 2: max_iter after 3") as failure:
        potts.maximum_entropy_clone(FOUR, 2, max_iter=3)
    assert failure.value.solution.residual > 1e-12
    clone = potts.maximum_entropy_clone(FOUR, 2, max_iter=3, check=False)
    assert not clone.converged
    assert clone.residual > clone.tol
    assert "array" not in repr(clone)


@pytest.mark.parametrize(
    ("original", "order", "message"),
    [
        (np.full((2, 3), 1 / 6), 1, "original must have one axis of the same length for every site"),
        (np.full((2, 2), 0.5), 1, "original must be probabilities, got a sum of 2.0"),
        (np.array([[1.5, -0.5], [0, 0]]), 1, "original must be probabilities"),
        (np.full((2, 2), np.nan), 1, "original must be finite"),
        (np.array(1.0), 1, "original must"),
        (np.full((2, 2), 0.25), 3, r"order must lie in \[1, 2\]"),
        (np.full((2, 2), 0.25), 0, "order must be an integer of at least 1"),
        (np.full((2,) * 16, 2.0**-16), 8, "original must be smaller: 65536 states times 12870 marginals of 8 sites"),
        (PottsModel(complete_graph(30), np.eye(2)), 2, r"2\^30 = 10\^9.0 states"),
    ],
)
def test_bad_input(original, order, message):
    with pytest.raises(ValueError, match=message):
        potts.maximum_entropy_clone(original, order)


@pytest.mark.parametrize("tol", [np.nan, np.inf, 0.0, -1e-12, "small"])
@pytest.mark.parametrize(
    "solve",
    [
        lambda tol: potts.maximum_entropy_clone(FOUR, 2, tol=tol, max_iter=1),
        lambda tol: potts.k_body_floor(FOUR, 2, tol=tol),
        lambda tol: potts.cylinder(3, 2, 0.5, tol=tol),
    ],
)
def test_a_tolerance_that_is_none_is_refused(solve, tol):
    """Nothing exceeds nan, so that what has not converged would be returned as if it had."""
    with pytest.raises(ValueError, match="tol must"):
        solve(tol)


def test_the_last_iterate_says_that_it_has_not_converged():
    clone = potts.maximum_entropy_clone(FOUR, 2, max_iter=1, check=False)
    assert not clone.converged
    assert clone.residual > clone.tol
    assert clone.iterations == 1
