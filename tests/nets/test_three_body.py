"""Fits with interactions of three sites: gradients, the optimum of a whole distribution, and what they refuse."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.potts import FitError, make_dynamics
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.three_body import _Problem, _start, three_body, triplet_parameters
from tests.potts.reference import four_body_model
from theory import potts
from theory.models import DensePottsModel, GroupInteraction, Interaction, ManyBodyPottsModel

MODEL = four_body_model(5, 3, 0.5, 1.0)


def everything(model=MODEL, effective=1000):
    """Every state with its probability, in so many copies that they count as `effective` sequences, without noise."""
    exact = potts.enumerate_states(model)
    copies = int(np.ceil(effective * np.sum(exact.probabilities**2)))
    return np.repeat(exact.states, copies, axis=0), np.repeat(exact.probabilities, copies)


def triplets_with_pairs(seed, L=4, C=3):
    """A model with a tensor for every pair and every triplet of sites."""
    rng = stream(seed, "triplets")
    pairs = np.array([(i, j) for i in range(L) for j in range(i)])  # not in ascending order
    threes = np.array([(k, i, j) for i in range(L) for j in range(i) for k in range(j)])
    terms = [
        GroupInteraction(pairs, rng.standard_normal((len(pairs), C, C))),
        GroupInteraction(threes, rng.standard_normal((len(threes), C, C, C))),
    ]
    return ManyBodyPottsModel(L, terms, rng.standard_normal((L, C)), 0.7)


def test_a_tensor_for_every_group_gives_the_scores_of_its_definition():
    model = triplets_with_pairs(0)
    states = potts.enumerate_states(model).states
    pairs, threes = model.interactions
    expected = model.fields[np.arange(4), states].sum(axis=1)
    for term in (pairs, threes):
        for group, W in zip(term.sites, term.colors, strict=True):
            expected = expected + np.array([W[tuple(s[group])] for s in states])
    np.testing.assert_allclose(model.score(states), expected, atol=1e-12)
    # Local scores differ between two colors of a site as the scores of the two states do.
    z = model.local_scores(states)
    changed = states.copy()
    changed[:, 1] = (states[:, 1] + 1) % 3
    rows = np.arange(len(states))
    np.testing.assert_allclose(
        z[rows, 1, changed[:, 1]] - z[rows, 1, states[:, 1]], model.score(changed) - model.score(states), atol=1e-12
    )


def test_a_shared_tensor_is_the_same_model_as_a_copy_for_every_group():
    shared = MODEL.interactions[0]
    own = GroupInteraction(shared.sites, shared.strengths[:, None, None, None, None] * shared.colors)
    other = ManyBodyPottsModel(5, [own])
    states = potts.enumerate_states(MODEL).states
    np.testing.assert_allclose(other.score(states), MODEL.score(states), atol=1e-12)
    runs = [make_dynamics(model, 40, np.random.default_rng(0)) for model in (MODEL, other)]
    for chains in runs:
        chains.run(20)
    np.testing.assert_array_equal(runs[0].states, runs[1].states)
    np.testing.assert_allclose(runs[0].scores(), MODEL.score(runs[0].states), atol=1e-12)


def test_pairs_with_their_own_tensors_are_the_dense_pair_model():
    rng = stream(1, "pairs")
    J = rng.standard_normal((4, 4, 3, 3))
    J[np.diag_indices(4)] = 0
    dense = DensePottsModel(J + J.transpose(1, 0, 3, 2), rng.standard_normal((4, 3)))
    i, j = np.triu_indices(4, 1)
    own = ManyBodyPottsModel(4, [GroupInteraction(np.stack([i, j], 1), dense.couplings[i, j])], dense.fields)
    states = potts.enumerate_states(own).states
    np.testing.assert_allclose(own.local_scores(states), dense.local_scores(states), atol=1e-12)


@pytest.mark.parametrize("metropolis", [False, True])
def test_chains_of_tensors_have_the_frequencies_of_the_enumeration(metropolis):
    model = triplets_with_pairs(2)
    exact = potts.enumerate_states(model)
    n = 4000
    chains = make_dynamics(
        model, n, stream(0, "tensors", metropolis), method="metropolis" if metropolis else "heat_bath"
    )
    chains.run(60)
    counts = np.bincount(chains.states @ 3 ** np.arange(3, -1, -1), minlength=81)
    np.testing.assert_array_equal(exact.states @ 3 ** np.arange(3, -1, -1), np.arange(81))
    # Pearson's statistic of 80 degrees of freedom: mean 80, deviation 12.6; above 170 at a chance below 1e-7.
    expected = n * exact.probabilities
    assert ((counts - expected) ** 2 / expected).sum() < 170


@pytest.mark.parametrize("kind", ["full", "factored"])
def test_gradient_is_that_of_finite_differences(kind):
    rng = stream(0, "gradient", kind)
    data = Sequences.of(rng.integers(0, 3, (50, 5)), 3, rng.random(50))
    problem = _Problem(data, kind, 0.02, 0.005)
    y = _start(problem) + rng.standard_normal(len(problem.scale)) * 0.2
    direction = rng.standard_normal(len(y))
    step = 1e-5
    numeric = (problem(y + step * direction)[0] - problem(y - step * direction)[0]) / (2 * step)
    assert problem(y)[1] @ direction == pytest.approx(numeric, rel=1e-6)


def test_full_fit_of_a_whole_distribution_is_the_masked_clone():
    states, weights = everything()
    fit = three_body(states, 3, kind="full", l2=1e-9, field_l2=1e-9, weights=weights, tol=1e-6)
    exact, clone = potts.enumerate_states(MODEL), potts.enumerate_states(fit.model)
    divergence = float(np.sum(exact.probabilities * np.log(exact.probabilities / clone.probabilities)))
    assert divergence == pytest.approx(0.0093340418, abs=1e-6)  # by enumeration and Newton's method
    chosen = np.take_along_axis(fit.model.log_conditionals(exact.states), exact.states[:, :, None], axis=2)
    assert -exact.probabilities @ chosen.mean(axis=(1, 2)) == pytest.approx(1.035084227, abs=1e-7)


def test_factored_fit_finds_a_factored_energy():
    rng = stream(0, "factored energy")
    W = rng.standard_normal((3, 3, 3))
    W = sum(W.transpose(axes) for axes in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]) / 6
    sites = [(i, j, k) for k in range(5) for j in range(k) for i in range(j)]
    model = ManyBodyPottsModel(5, [Interaction(sites, rng.standard_normal(10) / 2, W)], rng.standard_normal((5, 3)) / 2)
    states, weights = everything(model, 250)
    fit = three_body(states, 3, kind="factored", l2=1e-7, field_l2=1e-7, weights=weights, tol=1e-5)
    assert isinstance(fit.model.interactions[1], Interaction)
    all_states = potts.enumerate_states(model).states
    np.testing.assert_allclose(fit.model.conditionals(all_states), model.conditionals(all_states), atol=5e-3)


def test_the_fit_is_chosen_by_the_number_of_sequences():
    assert (triplet_parameters(5, 3, "full"), triplet_parameters(5, 3, "factored")) == (80, 20)
    states = stream(0, "number of sequences").integers(0, 3, (800, 5))
    assert three_body(states, 3, tol=1e-2).kind == "full"
    assert three_body(states[:799], 3, kind="auto", tol=1e-2).kind == "factored"
    with pytest.raises(ValueError, match="at least 800 effective sequences"):  # never another kind unasked
        three_body(states[:799], 3)
    with pytest.raises(
        ValueError, match=r"at least 200 effective sequences .* 80 \(kind full\) and 20 \(kind factored\) .* 199"
    ):
        three_body(states[:199], 3, kind="auto")
    with pytest.raises(ValueError, match=r"at least 800 effective sequences .* 80 \(kind full\) .* got 799"):
        three_body(states[:799], 3, kind="full")
    with pytest.raises(ValueError, match="states must have at least 3 sites"):
        three_body(states[:, :2], 3)
    with pytest.raises(ValueError, match="l2 must be positive, got 0"):
        three_body(states, 3, l2=0.0)


def test_an_unfinished_fit_is_refused_and_can_be_had():
    states = stream(0, "unfinished").integers(0, 2, (300, 4))
    with pytest.raises(FitError, match="three_body did not reach tol = 1e-12: max_iter after 2 iterations") as raised:
        three_body(states, 2, tol=1e-12, max_iter=2)
    assert not raised.value.fit.converged
    assert not three_body(states, 2, tol=1e-12, max_iter=2, check=False).converged


def test_penalties_that_are_not_given_are_those_of_one_sequence_and_a_hundredth_of_it():
    states, weights = stream(0, "default penalties").integers(0, 2, (300, 4)), np.linspace(0.5, 2, 300)
    one = np.sum((weights / weights.sum()) ** 2)
    found = three_body(states, 2, weights=weights).model
    assert np.array_equal(found.fields, three_body(states, 2, weights=weights, l2=one, field_l2=one / 100).model.fields)
    for l2, field_l2 in ((1.1 * one, one / 100), (one, one / 90)):  # another penalty would be seen
        other = three_body(states, 2, weights=weights, l2=l2, field_l2=field_l2).model
        assert abs(other.fields - found.fields).max() > 1e-6
