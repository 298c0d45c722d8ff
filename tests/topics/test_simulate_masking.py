"""Masks drawn on counts: what must add up, and the law against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from simulate.core import stream
from simulate.topics import mask_documents
from theory.models.topics import Masking

PASSES = 1e-6
MASKINGS = [
    Masking(selected=0.3, kept=0.2, randomized=0.25),
    Masking(selected=1, kept=0.2, randomized=0.1),
    Masking(selected=0.4, kept=0, randomized=0),
    Masking(selected=0.4, kept=0.3, randomized=0.7),
    Masking(selected=0.4, kept=1, randomized=0),
]


@given(st.integers(0, 10**6), st.sampled_from(MASKINGS), st.integers(1, 6), st.integers(1, 5))
def test_nothing_is_lost(seed, masking, n_documents, n_words):
    rng = stream(seed, "counts")
    counts = rng.integers(6, size=(n_documents, n_words))
    counts[:, 0] += 1
    masked = mask_documents(counts, masking, rng)
    hidden, shown = np.zeros_like(masked.visible), np.zeros_like(masked.visible)
    np.add.at(hidden, (masked.document, masked.target), masked.times)
    np.add.at(shown, (masked.document, masked.shown), masked.times)
    assert np.array_equal(masked.unselected[:, 1:] + hidden[:, 1:], counts)
    assert np.array_equal(masked.unselected + shown, masked.visible)
    assert masked.n_selected == hidden.sum()
    assert (masked.times > 0).all()
    assert not hidden[:, 0].any()
    assert not masked.unselected[:, 0].any()


@pytest.mark.parametrize("masking", MASKINGS)
def test_law_of_shown_and_true_tokens(masking):
    """Each position: not selected, or selected, its word true, random or hidden; one document, three words.

    So many words that keeping a fifth less passes in less than one run of 10^9.
    """
    counts = np.array([[40_000, 20_000, 60_000]])
    masked = mask_documents(counts, masking, stream(0, "law", masking.selected, masking.kept))
    seen = np.zeros((5, 4))  # shown token, or not selected; true token
    np.add.at(seen, (masked.shown, masked.target), masked.times)
    seen[4] = masked.unselected[0]
    p, c, r = masking.selected, masking.kept, masking.randomized

    def misses(c, r):
        law = np.vstack([np.full(3, 1 - c - r), c * np.eye(3) + r / 3, np.full(3, 1 / p - 1)]) * p
        assert np.allclose(law.sum(axis=0), 1)
        expected = (law * counts)[law > 1e-12]
        return chisquare(seen[:, 1:][law > 1e-12], expected).pvalue

    assert seen[:, 1:].sum() == 120_000
    assert misses(c, r) > PASSES
    if 0.1 < c < 1:
        assert misses(0.8 * c, r) < PASSES


def test_masks_differ_between_draws_and_are_reproduced():
    counts, masking = np.full((3, 4), 20), MASKINGS[0]
    first, again = (mask_documents(counts, masking, stream(0, "draw")).visible for _ in range(2))
    rng = stream(0, "draw")
    mask_documents(counts, masking, rng)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, mask_documents(counts, masking, rng).visible)
