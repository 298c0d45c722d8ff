"""Masked clones: reference values, the floor that they reach, their relation to the maximum-entropy clone, errors."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.potts.reference import four_body_model, pair_model
from theory import ConvergenceError, potts
from theory.models import Interaction, ManyBodyPottsModel, PottsModel

FOUR = potts.enumerate_states(four_body_model(5, 3, 0.5, beta=1.0))


@pytest.mark.parametrize(("order", "divergence"), [(1, 0.1670313346), (2, 0.0201785257), (3, 0.0093340418)])
def test_reference_divergences(order, divergence):
    clone = potts.masked_clone(FOUR, order)
    assert clone.kl_divergence == pytest.approx(divergence, abs=1e-9)
    assert clone.converged
    assert clone.joint.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize(("order", "loss", "error"), [(2, 1.041101296, 0.00053), (3, 1.035084227, 0.00068)])
def test_reference_losses_and_marginals(order, loss, error):
    clone = potts.masked_clone(FOUR, order)
    assert clone.loss == pytest.approx(loss, abs=1e-9)
    assert clone.loss == pytest.approx(potts.k_body_floor(FOUR, order, symmetric=True).loss, abs=1e-13)
    assert clone.marginal_error == pytest.approx(error, abs=5e-6)
    by_hand = max(
        0.5 * abs(clone.joint.sum(axis=rest) - FOUR.joint.sum(axis=rest)).sum()
        for rest in combinations(range(5), 5 - order)
    )
    assert clone.marginal_error == pytest.approx(by_hand, abs=1e-14)


def test_the_loss_is_that_of_the_conditionals_of_the_joint_distribution():
    clone = potts.masked_clone(FOUR, 2)
    for site in range(5):
        conditional = clone.joint / clone.joint.sum(axis=site, keepdims=True)
        assert clone.by_site[site] == pytest.approx(-np.sum(FOUR.joint * np.log(conditional)), abs=1e-12)


def test_reference_system_of_five_spins():
    """Fields .2, a ring of couplings .5, three bodies (0,1,2) .4 and (2,3,4) -.3, four bodies (0,1,3,4) .35."""
    spin = np.array([1.0, -1.0])
    product = {k: np.multiply.outer(spin, product) for k, product in ((2, spin), (3, np.outer(spin, spin)))}
    product[4] = np.multiply.outer(spin, product[3])
    ring = [[i, (i + 1) % 5] for i in range(5)]
    terms = [
        Interaction(ring, np.full(5, 0.5), product[2]),
        Interaction([[0, 1, 2], [2, 3, 4]], [0.4, -0.3], product[3]),
        Interaction([[0, 1, 3, 4]], [0.35], product[4]),
    ]
    model = ManyBodyPottsModel(5, terms, np.tile(0.2 * spin, (5, 1)))
    divergences = [potts.masked_clone(model, k).kl_divergence for k in (1, 2, 3)]
    assert divergences == pytest.approx([0.586752988, 0.042172529, 0.013928074], abs=1e-9)
    losses = [5 * potts.masked_clone(model, k).loss for k in (1, 2, 3, 4)]
    assert losses == pytest.approx([2.721417567, 1.779498018, 1.696972175, 1.644415408], abs=1e-9)


@settings(max_examples=10)
@given(st.integers(0, 50), st.integers(1, 3))
def test_it_predicts_better_and_is_further_away_than_the_maximum_entropy_clone(seed, order):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((2,) * 4)
    W = sum(W.transpose(each) for each in permutations(range(4))) / 6
    model = ManyBodyPottsModel(4, [Interaction([[0, 1, 2, 3]], [0.7], W)], rng.standard_normal((4, 2)))
    states = potts.enumerate_states(model)
    masked, entropy = potts.masked_clone(states, order), potts.maximum_entropy_clone(states, order)
    assert masked.kl_divergence >= entropy.kl_divergence - 1e-11
    conditionals = [entropy.joint / entropy.joint.sum(axis=i, keepdims=True) for i in range(4)]
    losses = [-np.sum(states.joint * np.log(conditional)) for conditional in conditionals]
    assert masked.loss <= np.mean(losses) + 1e-12


def test_both_clones_agree_where_they_must():
    first = potts.masked_clone(FOUR, 1)
    assert first.joint == pytest.approx(potts.maximum_entropy_clone(FOUR, 1).joint, abs=1e-8)
    pair = potts.enumerate_states(pair_model(5, 3, 0.3, beta=0.8))
    clone = potts.masked_clone(pair, 2)
    assert clone.probabilities == pytest.approx(pair.probabilities, abs=1e-8)
    assert clone.marginal_error < 1e-7


def test_bad_input():
    model = PottsModel([[0.0, 1.0], [1.0, 0.0]], np.eye(2))
    for order in (0, 3):
        with pytest.raises(ValueError, match="order must"):
            potts.masked_clone(model, order)
    with pytest.raises(ConvergenceError, match="max_iter after 1"):
        potts.masked_clone(FOUR, 2, max_iter=1)
