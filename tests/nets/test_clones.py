"""Clones of sampled data: their laws, their marginals, and the conditional distributions that have no joint law."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.nets import clone, clone_of_stack, marginal_mismatches
from simulate.nets.marginals import subsets
from simulate.nets.random_scan import StackChains
from simulate.potts import FitError, MixingError, masked_loss, pseudo_likelihood, sample
from tests.potts.reference import four_body_model
from theory import potts
from theory.models import FactoredStack, GroupInteraction, ManyBodyPottsModel

MODEL = four_body_model(5, 3, 0.5, 1.0)
CLONES = {1: "sites", 2: "pairs", 3: "full"}


@pytest.fixture(scope="module")
def original():
    return sample(MODEL, 4000, seed=0).states


@pytest.mark.parametrize("order", CLONES)
def test_a_clone_keeps_marginals_up_to_its_order(original, order):
    found = clone(original, 3, order, seed=1)
    assert found.converged
    assert found.kind == CLONES[order]
    assert found.has_joint_law
    assert found.states.shape == original.shape
    assert [each.order for each in found.marginals] == [1, 2, 3]
    for each in found.marginals:
        if each.order <= order:  # over 5 or 10 sets of sites; two independent samples would show 1.0
            assert each.mean < 1.3 * each.noise
    exact = potts.enumerate_states(MODEL)
    law = potts.enumerate_states(found.model)
    divergence = float(np.sum(exact.probabilities * np.log(exact.probabilities / law.probabilities)))
    # Exact values of the whole distribution; a fit of n numbers to M samples adds about n/2M, here at most .02.
    assert divergence == pytest.approx({1: 0.1670313, 2: 0.0201785, 3: 0.0093340}[order], abs=0.03)
    assert divergence > {1: 0.16, 2: 0.018, 3: 0.008}[order]


@pytest.mark.parametrize("order", [2, 3])
def test_default_penalties_are_those_of_the_number_of_sequences(original, order):
    """1/M_eff for couplings, a hundredth of it for fields, where M_eff is 1/sum w^2 of the weights."""
    weights = 1.0 + np.arange(1600) % 2
    effective = weights.sum() ** 2 / np.sum(weights**2)
    options = {"seed": 1, "weights": weights, "n_samples": 64}
    default = clone(original[:1600], 3, order, **options)
    given = clone(original[:1600], 3, order, l2=1 / effective, field_l2=0.01 / effective, **options)
    np.testing.assert_allclose(default.model.fields, given.model.fields, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(default.states, given.states)
    for other in ({"l2": 2 / effective}, {"field_l2": 1 / effective}):
        changed = clone(original[:1600], 3, order, **options, **other)
        assert abs(changed.model.fields - default.model.fields).max() > 1e-5


def test_what_a_clone_of_order_one_has_lost_is_seen_in_pairs(original):
    first, second, _ = clone(original, 3, 1, seed=1).marginals
    assert first.mean < 1.3 * first.noise
    assert second.mean > 2 * second.noise


def test_a_clone_is_the_same_for_the_same_seed(original):
    runs = [clone(original[:300], 3, 2, seed=seed, n_samples=50).states for seed in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.any(runs[0] != runs[2])


def test_weights_count():
    states = np.array([[0, 0]] * 50 + [[1, 1]] * 50)
    weighted = clone(states, 2, 1, seed=0, weights=[1.0] * 50 + [9.0] * 50, n_samples=2000)
    assert weighted.states.mean() == pytest.approx(0.9, abs=0.06)  # six standard errors


def test_orders_that_there_are_not(original):
    for order in (0, 4, -1):
        with pytest.raises(ValueError, match=f"order must be 1, 2 or 3, .* got {order}"):
            clone(original, 3, order, seed=0)
    with pytest.raises(ValueError, match="order must be at most the number of sites 2, got 3"):
        clone(original[:, :2], 3, 3, seed=0)
    with pytest.raises(ValueError, match=r"at least 800 effective sequences .*triplets='factored' takes fewer"):
        clone(original[:799], 3, 3, seed=0)
    with pytest.raises(ValueError, match="at least 200 effective sequences"):
        clone(original[:199], 3, 3, seed=0, triplets="factored")


def test_one_table_for_all_triplets_is_never_taken_unasked():
    """Every triplet has a table of its own: one table for all learns less than half of what they say beyond pairs."""
    rng = stream(0, "own tables of triplets")
    sites = np.array([(i, j, k) for k in range(5) for j in range(k) for i in range(j)])
    tables = rng.standard_normal((10, 3, 3, 3))
    for axis in (1, 2, 3):
        tables -= tables.mean(axis=axis, keepdims=True)
    law = ManyBodyPottsModel(5, [GroupInteraction(sites, tables)])
    exact = potts.enumerate_states(law)
    data = sample(law, 4000, seed=1).states

    def loss(fitted):
        return masked_loss(fitted, exact.states, weights=exact.probabilities).loss

    full = clone(data, 3, 3, seed=0, n_samples=100)
    shared = clone(data, 3, 3, seed=0, n_samples=100, triplets="factored")
    assert (full.kind, full.reservation) == ("full", "")
    assert (shared.kind, shared.converged) == ("factored", True)
    assert "all triplets share one table" in shared.reservation
    assert shared.reservation in str(shared)
    assert loss(full.model) < loss(law) + 0.04
    pairs = pseudo_likelihood(data, 3).model
    assert loss(shared.model) > loss(pairs) - 0.5 * (loss(pairs) - loss(law))
    assert loss(pairs) - loss(law) > 0.15


def test_fits_and_chains_that_are_not_finished(original):
    with pytest.raises(FitError):
        clone(original[:200], 3, 2, seed=0, max_iter=1, tol=1e-9)
    unfinished = clone(original[:200], 3, 2, seed=0, max_iter=1, tol=1e-9, check=False)
    assert not unfinished.converged
    assert unfinished.reason.startswith("the fit has not converged")
    copies = np.repeat([[0] * 8, [1] * 8], 200, axis=0)  # two phases, with nothing in between
    with pytest.raises(MixingError):
        clone(copies, 2, 2, seed=0, l2=1e-6, max_sweeps=2000)


def test_marginals_by_hand():
    first = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    second = np.array([[0, 0], [1, 1]])
    alone, together = marginal_mismatches(first, second, 2).mismatches
    assert (alone.mean, alone.largest, alone.n_subsets) == (0, 0, 2)
    assert (together.mean, together.largest, together.n_subsets) == (0.5, 0.5, 1)
    weighted = marginal_mismatches(first, second, 2, weights=[1, 0, 0, 3]).mismatches
    assert weighted[0].largest == pytest.approx(0.25)
    assert marginal_mismatches(first, first, 2).to_frame().shape == (2, 5)


def test_noise_is_what_two_samples_of_one_law_show():
    rng = stream(0, "noise of marginals")
    first, second = rng.integers(0, 3, (2, 3000, 12))
    for each in marginal_mismatches(first, second, 3).mismatches:
        assert each.mean == pytest.approx(each.noise, rel={1: 0.8, 2: 0.4, 3: 0.3}[each.order])


def test_sets_of_sites_are_all_or_different_ones():
    rng = np.random.default_rng(0)
    assert len(subsets(6, 3, 100, rng)) == 20
    some = subsets(30, 3, 50, rng)
    assert len({tuple(sites) for sites in some}) == 50
    assert all(len(set(sites)) == 3 and max(sites) < 30 for sites in some)


def test_chains_of_one_layer_with_a_joint_law_have_its_frequencies():
    rng = stream(0, "stack chains")
    A = rng.standard_normal((4, 4))
    A, V = A + A.T, rng.standard_normal((3, 3))
    V = V + V.T
    np.fill_diagonal(A, 0)
    stack = FactoredStack(A[None] / 2, V[None] / 2, rng.standard_normal((4, 3)) / 2)
    exact = potts.enumerate_states(potts_model(stack))
    chains = StackChains(stack, rng.integers(0, 3, (3000, 4)), rng)
    chains.run(60)
    place = 3 ** np.arange(3, -1, -1)
    counts, expected = np.bincount(chains.states @ place, minlength=81), 3000 * exact.probabilities
    kept = expected > 5
    statistic = ((counts - expected) ** 2 / expected)[kept].sum()
    assert statistic < kept.sum() + 6.5 * np.sqrt(2 * kept.sum()) + 20  # a chance below 1e-6
    conditional = exact_scores(stack, chains.states)
    np.testing.assert_allclose(chains.scores(), conditional, atol=1e-10)


def potts_model(stack):
    from theory.models import PottsModel

    return PottsModel(stack.attentions[0], stack.values[0], stack.fields)


def exact_scores(stack, states):
    logs = potts_model(stack).log_conditionals(states.astype(int))
    return np.take_along_axis(logs, states[:, :, None].astype(int), axis=2).sum(axis=(1, 2))


def test_a_stack_says_that_it_has_no_joint_law():
    original = stream(0, "stack").integers(0, 3, (160, 4))
    stack = FactoredStack.deterministic(2, 4, 3, scale=0.8)
    found = clone_of_stack(stack, original, seed=0)
    assert found.converged
    assert not found.has_joint_law
    assert found.model is None
    assert (found.kind, found.order) == ("stack", 3)
    assert "no joint law" in str(found)
    with pytest.raises(ValueError, match="states must have 4 sites, as the stack, got 3"):
        clone_of_stack(stack, original[:, :3], seed=0)


def test_a_stack_whose_chains_have_not_mixed_makes_a_clone_only_on_request():
    """Its one layer is a strong ferromagnet: chains from one color and from random states stay apart."""
    A = 3.0 * (np.ones((6, 6)) - np.eye(6))
    stack, original = FactoredStack(A[None], np.eye(3)[None]), stream(0, "stack").integers(0, 3, (40, 6))
    with pytest.raises(MixingError):
        clone_of_stack(stack, original, seed=0, max_sweeps=600)
    found = clone_of_stack(stack, original, seed=0, max_sweeps=600, check=False)
    assert not found.converged
    assert found.states.shape == (40, 6)


def test_noise_by_hand_is_at_most_twice_the_frequency():
    """Of colors that hardly weigh, a normal difference would be larger than the frequencies can differ."""
    states, others, weights = np.array([[0], [1], [2], [1]]), np.array([[0], [0], [0], [3]]), [97.0, 1.0, 1.0, 1.0]
    w = np.array(weights) / 100
    noise = 0.0
    for p, q in zip((w[0], w[1] + w[3], w[2], 0.0), (0.75, 0.0, 0.0, 0.25), strict=True):
        mean = (p + q) / 2
        normal = np.sqrt(2 / np.pi) * np.sqrt(mean * (1 - mean) * (np.sum(w**2) + 1 / 4))
        assert (normal > 2 * mean) == (mean < 0.2)
        noise += min(normal, 2 * mean) / 2
    (found,) = marginal_mismatches(states, others, 4, weights=weights).mismatches
    assert found.noise == pytest.approx(noise, rel=1e-12)
    assert found.mean == pytest.approx((0.22 + 0.02 + 0.01 + 0.25) / 2, rel=1e-12)
