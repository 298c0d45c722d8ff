"""Masked loss, perplexity and accuracy of every kind of model, against masking each site by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import stream
from simulate.potts import masked_loss, site_independent
from simulate.potts.inference.sequence_losses import sequence_losses
from tests.potts.populations import population
from tests.potts.reference import four_body_model, pair_model
from theory.models import DensePottsModel, PottsModel, SquareLatticePotts

PAIR = pair_model(6, 3, 0.3, beta=0.8)
FOUR = four_body_model(5, 3, 0.5, beta=1.0)
MODELS = {
    "factored": PAIR,
    "dense": DensePottsModel.of(PAIR),
    "many-body": FOUR,
    "lattice": SquareLatticePotts(2, 3, 4, beta=0.7),
}


def states_of(model, n_samples=30, seed=0):
    return np.random.default_rng(seed).integers(0, model.n_colors, (n_samples, model.n_sites))


@pytest.mark.parametrize("name", MODELS)
def test_every_site_is_masked_in_turn(name):
    """Route two: the scores of all C completions of a masked state."""
    model = MODELS[name]
    states, weights = states_of(model), np.random.default_rng(1).random(30)
    loss, hits = np.zeros(model.n_sites), np.zeros(model.n_sites)
    for state, weight in zip(states, weights / weights.sum(), strict=True):
        for i, own in enumerate(state):
            completions = np.tile(state, (model.n_colors, 1))
            completions[:, i] = range(model.n_colors)
            scores = model.beta * model.score(completions)
            loss[i] += weight * (np.log(np.exp(scores).sum()) - scores[own])
            hits[i] += weight * (np.argmax(np.round(scores, 10)) == own)
    found = masked_loss(model, states, weights)
    np.testing.assert_allclose(found.by_site, loss, rtol=1e-12)
    assert found.loss == pytest.approx(loss.mean())
    assert found.perplexity == pytest.approx(np.exp(loss.mean()))
    if name != "lattice":  # where equal scores are told apart by rounding
        np.testing.assert_allclose(found.accuracy_by_site, hits, atol=1e-12)


@pytest.mark.parametrize(("model", "floor"), [(PAIR, 0.797026199763), (FOUR, 1.02794889424)])
def test_the_model_itself_has_the_least_loss_its_floor(model, floor):
    states, p = population(model)
    assert masked_loss(model, states, p).loss == pytest.approx(floor, abs=1e-11)
    for beta in (0.9, 1.1):
        assert masked_loss(model.at(model.beta * beta), states, p).loss > floor


def test_a_model_without_scores_guesses():
    model = DensePottsModel(np.zeros((4, 4, 5, 5)))
    found = masked_loss(model, np.tile([0, 1, 2, 3], (7, 1)))
    assert found.loss == pytest.approx(np.log(5))
    assert found.perplexity == pytest.approx(5)
    np.testing.assert_allclose(found.accuracy_by_site, [1, 0, 0, 0], atol=1e-12)  # the first of equal colors
    assert found.accuracy == pytest.approx(0.25, abs=1e-12)
    assert repr(found) == "MaskedLoss(loss=1.60944, perplexity=5, accuracy=0.25, n_samples=7)"


def test_blocks_of_samples_do_not_show(monkeypatch):
    whole = masked_loss(PAIR, states_of(PAIR, 50))
    monkeypatch.setattr("theory.core.blocks.BLOCK", 7 * 18)
    np.testing.assert_allclose(masked_loss(PAIR, states_of(PAIR, 50)).by_site, whole.by_site, rtol=1e-13)


def test_integer_weights_repeat_samples():
    states, copies = states_of(PAIR), np.random.default_rng(2).integers(0, 3, 30)
    repeated = masked_loss(PAIR, np.repeat(states, copies, axis=0))
    np.testing.assert_allclose(masked_loss(PAIR, states, copies).by_site, repeated.by_site, rtol=1e-12)
    np.testing.assert_array_equal(masked_loss(PAIR, states, np.full(30, 7)).by_site, masked_loss(PAIR, states).by_site)


@given(seed=st.integers(0, 50), scale=st.floats(1e-200, 1e200))
@settings(max_examples=20)
def test_independent_sites_have_their_entropies(seed, scale):
    rng = np.random.default_rng(seed)
    states, weights = rng.integers(0, 3, (20, 4)), scale * rng.random(20)
    model = site_independent(states, 3, pseudocount=1e-9, weights=weights)
    f = np.array([[weights[states[:, i] == a].sum() for a in range(3)] for i in range(4)]) / weights.sum()
    entropies = -np.sum(f * np.log(np.maximum(f, 1e-300)), axis=1)
    found = masked_loss(model, states, weights)
    np.testing.assert_allclose(found.by_site, entropies, atol=1e-7)
    np.testing.assert_allclose(found.accuracy_by_site, f.max(axis=1), atol=1e-12)


def test_pseudocounts_are_added_to_counts():
    model = site_independent(np.array([[0, 2], [1, 2], [1, 2]]), 3, pseudocount=0.5)
    np.testing.assert_allclose(model.conditionals([0, 0])[0], np.array([1.5, 2.5, 0.5]) / 4.5)
    np.testing.assert_allclose(model.conditionals([0, 0])[1], np.array([0.5, 0.5, 3.5]) / 4.5)
    assert len(model.edges) == 0
    assert site_independent(np.zeros((2, 2800), dtype=int), 21).n_sites == 2800  # couplings would be 27 GB


@pytest.mark.parametrize(
    ("model", "states", "weights", "message"),
    [
        ("PAIR", states_of(PAIR), None, r"model must be a record of theory.models \(Potts\), got str"),
        (PAIR, states_of(PAIR)[:, :5], None, r"states must have shape \(..., 6\), got \(30, 5\)"),
        (PAIR, states_of(PAIR)[0], None, r"states must have shape \(samples, sites\) with at least one sample, got"),
        (PAIR, states_of(PAIR)[:0], None, r"at least one sample, got \(0, 6\)"),
        (PAIR, states_of(PAIR) + 1, None, "states must be colors from 0 to 2, got 3 at index"),
        (PAIR, states_of(PAIR), np.zeros(30), "weights must not all be zero"),
        (PAIR, states_of(PAIR), np.ones(29), "weights must have one number for each of 30 samples of states, got 29"),
        (PottsModel(np.zeros((6, 6)), np.eye(3)), states_of(PAIR), [np.nan] * 30, "weights must be finite"),
    ],
)
def test_bad_input_is_named(model, states, weights, message):
    with pytest.raises(ValueError, match=message):
        masked_loss(model, states, weights)


@pytest.mark.parametrize(
    ("pseudocount", "message"),
    [
        (0, "pseudocount = 0 leaves color 1 no probability at site 0: it never occurs there"),
        (-1, r"pseudocount must lie in \[0, inf\), got -1"),
    ],
)
def test_bad_pseudocounts_are_named(pseudocount, message):
    with pytest.raises(ValueError, match=message):
        site_independent(np.array([[0, 1], [0, 0]]), 2, pseudocount)


def test_a_table_has_one_row_for_each_site():
    found = masked_loss(PAIR, states_of(PAIR))
    frame = found.to_frame()
    assert list(frame.columns) == ["site", "loss", "accuracy"]
    np.testing.assert_array_equal(frame.site, np.arange(6))
    np.testing.assert_array_equal(frame.loss, found.by_site)
    np.testing.assert_array_equal(frame.accuracy, found.accuracy_by_site)


@pytest.mark.parametrize(("L", "C", "M"), [(2, 2, 1), (7, 20, 600), (40, 4, 300)])
def test_losses_of_sequences_are_those_of_the_conditionals(L, C, M):
    rng = stream(0, "losses of sequences", L, C)
    J = np.triu(np.ones((L, L)), 1)[:, :, None, None] * rng.standard_normal((L, L, C, C))
    model = DensePottsModel(J + J.transpose(1, 0, 3, 2), rng.standard_normal((L, C)), 0.4)
    states = rng.integers(C, size=(M, L))
    logs = model.log_conditionals(states)
    expected = -np.take_along_axis(logs, states[:, :, None], axis=2).mean(axis=(1, 2))
    np.testing.assert_allclose(sequence_losses(model, states), expected, rtol=3e-6)
    certain = model.at(200.0)  # of most colors, whose losses are far below the rounding of logits
    logs = certain.log_conditionals(states)
    expected = -np.take_along_axis(logs, states[:, :, None], axis=2).mean(axis=(1, 2))
    np.testing.assert_allclose(sequence_losses(certain, states), expected, rtol=0, atol=1e-7 * abs(logs).max())
    with pytest.raises(ValueError, match="states must"):
        sequence_losses(model, np.full((1, L), C))
