"""Sequence weights against all pairs counted in plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from simulate.core import stream
from simulate.potts import sequence_weights
from simulate.potts.inference import weights
from simulate.potts.inference.weights import allowed_differences, comparison_seconds, similarity


def families(seed, M, L, n_colors, change):
    """Copy of a few ancestors, each site redrawn with probability `change`."""
    rng = stream(seed, "families", M, L, n_colors)
    ancestors = rng.integers(0, n_colors, (max(1, M // 5), L))
    copies = ancestors[rng.integers(0, len(ancestors), M)]
    return np.where(rng.random((M, L)) < change, rng.integers(0, n_colors, (M, L)), copies)


def resembles(states, limit):
    """(M, M) the definition."""
    return (states[:, None, :] != states[None, :, :]).sum(axis=2) <= limit


@given(
    seed=st.integers(0, 1000),
    M=st.integers(1, 40),
    L=st.sampled_from((1, 5, 63, 64, 65, 130)),
    n_colors=st.sampled_from((1, 2, 5, 8, 9, 21, 32, 33, 200)),
    tenths=st.integers(1, 10),
)
def test_weights_and_clusters_are_those_of_all_pairs(seed, M, L, n_colors, tenths):
    states = families(seed, M, L, n_colors, 0.15)
    found = similarity(states, tenths / 10)
    near = resembles(states, (10 - tenths) * L // 10)
    assert np.array_equal(found.counts, near.sum(axis=1))
    assert np.array_equal(found.clusters, relabeled(connected_components(near)[1]))
    assert found.effective_number == pytest.approx((1 / near.sum(axis=1)).sum())


def relabeled(labels):
    """Numbered by first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def test_more_sequences_than_a_tile_for_any_number_of_threads(capsys, monkeypatch):
    monkeypatch.setattr(weights, "PACKED_SEQUENCES", 512)
    states = families(0, 1300, 70, 5, 0.12).astype(np.int8)
    near = np.array([(states != row).sum(axis=1) <= 14 for row in states])
    for threads in (1, 2, 3):
        found = similarity(states, n_threads=threads, progress="comparing")
        assert np.array_equal(found.counts, near.sum(axis=1))
        assert np.array_equal(found.clusters, relabeled(connected_components(near)[1]))
    assert "comparing: 13 tasks" in capsys.readouterr().err


def test_a_chain_of_resemblances_through_all_blocks_is_one_cluster():
    """Each sequence differs from the one before in one site, and they come in an order that mixes two chains."""
    steps = np.tril(np.ones((400, 400), np.uint8), -1)
    states = np.vstack([steps, 2 + steps])
    found = similarity(stream(0, "order").permutation(states), 1 - 1 / 400, n_threads=2)
    assert np.bincount(found.clusters).tolist() == [400, 400]
    assert sorted(found.counts) == [2] * 4 + [3] * 796


def test_identity_is_the_decimal_number_that_is_written():
    assert 1 - 0.8 < 0.2  # where one of five sites would not be allowed to differ
    assert allowed_differences(5, 0.8) == 1
    assert allowed_differences(100, 0.9) == 10
    assert allowed_differences(107, 0.8) == 21
    assert allowed_differences(107, 1.0) == 0


def test_copies_share_one_weight_and_distinct_sequences_have_one_each():
    states = np.repeat(np.eye(10, 30, dtype=np.int8), 3, axis=0)
    assert sequence_weights(states, 1.0) == pytest.approx(1 / 3)
    assert similarity(states, 1.0).effective_number == pytest.approx(10)
    assert sequence_weights(states, 0.5) == pytest.approx(1 / 30)


def a_clock_that_ticks_with_each_comparison(monkeypatch, *, pairs_per_second, tick):
    """Replace the clock of the processor by one that counts the pairs that are compared, in whole ticks (seconds)."""
    seconds = 0.0
    compare = weights.similarity

    def counted(states):
        nonlocal seconds
        seconds += len(states) * (len(states) - 1) / 2 / pairs_per_second
        return compare(states)

    monkeypatch.setattr(weights, "similarity", counted)
    monkeypatch.setattr(weights.time, "process_time", lambda: seconds // tick * tick)


@pytest.mark.parametrize("M", [400, 20_000])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_time_that_is_predicted_grows_with_the_number_of_pairs(monkeypatch, M, n_threads):
    a_clock_that_ticks_with_each_comparison(monkeypatch, pairs_per_second=2e6, tick=1e-6)
    predicted = comparison_seconds(np.zeros((M, 20), np.uint8), n_threads=n_threads)
    threads = n_threads if M > weights.TIMED_SEQUENCES else 1
    assert predicted == pytest.approx(M * (M - 1) / 2 / 2e6 / threads, rel=1e-3)


def test_a_coarse_clock_predicts_a_time_above_zero(monkeypatch):
    a_clock_that_ticks_with_each_comparison(monkeypatch, pairs_per_second=2e6, tick=0.01)
    assert comparison_seconds(np.zeros((60, 20), np.uint8)) == pytest.approx(60 * 59 / 2 / 2e6, rel=0.3)
    assert comparison_seconds(np.zeros((400, 20), np.uint8)) == pytest.approx(400 * 399 / 2 / 2e6, rel=0.3)


@pytest.mark.parametrize(
    ("states", "identity", "message"),
    [
        (np.zeros((3, 4)), 0.8, "states must be integers"),
        (np.array([[0, -1]]), 0.8, "got -1 at index"),
        (np.zeros((0, 4), int), 0.8, r"at least one sample, got \(0, 4\)"),
        (np.zeros(4, int), 0.8, r"states must have shape \(samples, sites\)"),
        (np.zeros((3, 4), int), 0.0, r"identity must lie in \(0, 1\], got 0"),
        (np.zeros((3, 4), int), 1.2, r"identity must lie in \(0, 1\], got 1.2"),
        (np.zeros((3, 4), int), np.nan, "identity must be a real number, got nan"),
    ],
)
def test_bad_input_is_named(states, identity, message):
    with pytest.raises(ValueError, match=message):
        sequence_weights(states, identity)
    with pytest.raises(ValueError, match="n_threads must be an integer of at least 1, got 0"):
        sequence_weights(np.zeros((3, 4), int), n_threads=0)
