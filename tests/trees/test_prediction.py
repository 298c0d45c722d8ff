"""Losses of counting predictors: in plain loops, reference values, and what held-out words say of sparse contexts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.trees import markov_loss, neighbor_loss, prediction_loss, read_text, remainder_loss
from simulate.trees.contexts import Contexts
from tests.trees.references import losses
from theory.models import NumberText

SMALL = read_text(NumberText(7300, first=1700))
# Of the words up to a million: plug-in bits and the share that is guessed.
ORACLES = {
    2: (3.432805, 0.254),
    4: (2.932519, 0.329),
    12: (2.685856, 0.363),
    36: (2.379142, 0.405),
    180: (2.194027, 0.419),
    900: (2.042793, 0.436),
}


@pytest.fixture(scope="module")
def million():
    return read_text(NumberText(10**6))


@pytest.mark.parametrize("where", ["blocks", "end"])
@pytest.mark.parametrize(
    ("offsets", "modulus"), [((), 1), ((-1,), 1), ((-1, -2), 1), ((-1, 1), 1), ((), 12), ((1, -2, 5), 36), ((-3,), 1)]
)
def test_losses_are_those_of_plain_loops(offsets, modulus, where):
    found = prediction_loss(SMALL, offsets, modulus, held_out=where)
    bits, accuracy, held_out, held_out_accuracy, unseen = losses(SMALL.words(), 1700, offsets, modulus, where)
    assert found.bits == pytest.approx(bits, rel=1e-12)
    assert found.accuracy == accuracy
    assert found.held_out_bits == pytest.approx(held_out, rel=1e-12)
    assert found.held_out_accuracy == held_out_accuracy
    assert found.unseen == unseen


def test_plug_in_losses_are_the_reference_values(million):
    """The reference takes H(words with contexts) - H(contexts), each over all places where it lies inside the text."""
    nothing, one, two, both = (markov_loss(million, k) for k in (0, 1, 2)), None, None, neighbor_loss(million)
    nothing, one, two = nothing
    assert (nothing.bits, nothing.accuracy) == pytest.approx((3.692945, 0.209867), abs=1e-6)
    assert (one.bits, one.accuracy) == pytest.approx((3.542017, 0.238802), abs=2e-5)
    assert two.bits == pytest.approx(3.143765, abs=2e-5)
    assert both.bits == pytest.approx(3.351075, abs=2e-5)


@pytest.mark.parametrize("modulus", ORACLES)
def test_oracles_are_the_reference_values(million, modulus):
    found = remainder_loss(million, modulus)
    assert found.bits == pytest.approx(ORACLES[modulus][0], abs=1e-6)
    assert found.accuracy == pytest.approx(ORACLES[modulus][1], abs=6e-4)
    assert found.n_contexts == modulus
    assert found.unseen == 0


def test_longer_contexts_look_better_by_plug_in_and_are_worse_held_out(million):
    orders = [markov_loss(million, k) for k in range(6)]
    plug_in, held_out = ([getattr(each, name) for each in orders] for name in ("bits", "held_out_bits"))
    assert (np.diff(plug_in) < 0).all()
    assert plug_in[5] < held_out[5] - 1
    assert np.argmin(held_out) == 3
    assert all(each.held_out_bits > each.bits - 0.01 for each in orders)
    assert (np.diff([each.unseen for each in orders]) >= 0).all()


def test_later_numbers_are_harder(million):
    for M in (1, 4, 36):
        here, later = (remainder_loss(million, M, held_out=where).held_out_bits for where in ("blocks", "end"))
        assert here + 0.02 < later < here + 0.1


def test_a_bounded_context_cannot_beat_the_oracle_of_a_multiple(million):
    """A finer remainder tells more: plug-in losses fall along divisors, and so do these held out."""
    found = [remainder_loss(million, M) for M in (1, 2, 4, 12, 36, 180)]
    for name in ("bits", "held_out_bits"):
        assert (np.diff([getattr(each, name) for each in found]) < 0).all()


@settings(max_examples=10)
@given(st.lists(st.integers(-6, 6).filter(bool), max_size=3, unique=True), st.integers(1, 40))
def test_bounds(offsets, modulus):
    found = prediction_loss(SMALL, offsets, modulus)
    assert 0 <= found.bits <= np.log2(SMALL.vocabulary.n_words)
    assert found.bits <= found.held_out_bits + 0.1
    assert 0 < found.held_out_accuracy <= 1
    assert found.n_contexts <= found.n_targets
    assert prediction_loss(SMALL, offsets, 1).bits >= found.bits - 1e-12  # knowing the remainder too is no loss


@pytest.mark.parametrize(
    ("offsets", "modulus", "message"),
    [
        ((0,), 1, "offsets must be different integers"),
        ((1, 1), 1, "offsets must be different integers"),
        ((1001,), 1, "offsets must be different integers"),
        (tuple(range(1, 12)), 1, "offsets and modulus must leave room"),
        ((), 0, "modulus must be"),
        ((), 10**6 + 1, "modulus must be"),
    ],
)
def test_contexts_that_make_no_sense_are_refused(offsets, modulus, message):
    with pytest.raises(ValueError, match=message):
        prediction_loss(SMALL, offsets, modulus)


def test_texts_that_are_too_short_are_refused():
    with pytest.raises(ValueError, match="text must be long enough to hold out"):
        markov_loss(read_text(NumberText(900)), 0)
    with pytest.raises(ValueError, match="offsets must leave two words"):
        prediction_loss(read_text(NumberText(900)), [-900])


def test_two_words_are_enough_for_contexts():
    """One is learned from and the other is predicted; with a single one there would be nothing to learn from."""
    text = read_text(NumberText(4000, first=3100))  # numbers from 4000 to 4999 are held out
    assert len(Contexts(text, (-899,), 1).places) == 2
    found = prediction_loss(text, [-899])
    assert (found.n_targets, found.n_held_out, found.n_contexts) == (2, 1, 2)
    assert 0 < found.held_out_bits < np.inf
    for offsets in ([-900], [900]):
        with pytest.raises(ValueError, match="offsets must leave two words"):
            prediction_loss(text, offsets)
