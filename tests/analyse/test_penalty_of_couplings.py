"""The choice of the penalty: a search that stops early finds what trying all penalties finds."""

import os

import numpy as np
import pytest

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences.plan import tried_penalties
from figures.analyse.sequences.reweighting import Reweighting, reweighted
from figures.analyse.sequences.split import split_clusters
from figures.analyse.sequences.tasks import Settings
from figures.analyse.sequences.tuning import SEARCH, Validation, search_task, tuned
from simulate.core import stream, sweep


def stem(M=200):
    """Sequences whose sites i and 7 - i are complementary in nine of ten cases."""
    rng = stream(0, "stem")
    half = rng.integers(0, 4, (M, 4))
    other = np.where(rng.random((M, 4)) < 0.9, 3 - half, rng.integers(0, 4, (M, 4)))
    return np.hstack([half, other[:, ::-1]])


def chain(M=200, L=12):
    """A Markov chain of three letters, each repeated with probability .75."""
    rng = stream(0, "chain")
    states = rng.integers(0, 3, (M, L))
    for i in range(1, L):
        states[:, i] = np.where(rng.random(M) < 0.625, states[:, i - 1], states[:, i])
    return states


def unrelated(M=60, L=10):
    """Columns without any interaction."""
    return stream(0, "unrelated").integers(0, 4, (M, L))


def both_searches(states, n_colors, *, own=None, n_threads=1):
    """The chosen penalty, its note, the number of fits, and the penalty of least loss of all that may be tried."""
    states = np.ascontiguousarray(states, np.uint8)
    own = own or Reweighting(np.ones(len(states)), np.arange(len(states)), None)
    settings, seen = Settings(n_colors, own.identity, 0.0, 0.01, 150, 3e-3), []

    def watched(tasks):
        seen.extend(tasks)
        values = sweep(seen)
        seen.append(len(values[SEARCH]))
        return values

    training = split_clusters(own.clusters, own.weights, 0.2, stream(0, "held-out sequences")).training
    n_sites = states.shape[1]
    found, note = tuned(states, own, training, settings, n_sites, stream(0, "validation"), watched, n_threads)
    task, count = seen
    data, penalties, rough = task.args
    assert task.key == SEARCH
    every = [search_task(data, (l2,), rough)[0] for l2 in penalties]
    assert penalties == tried_penalties(n_sites, n_colors)
    return found.l2, note, count, penalties[int(np.argmin(every))]


@pytest.mark.parametrize(
    ("states", "n_colors"), [(stem(), 4), (stem(60), 4), (chain(), 3), (chain(50), 3), (unrelated(), 4)]
)
def test_the_penalty_is_the_best_of_all(states, n_colors):
    chosen, _, _, best = both_searches(states, n_colors)
    assert chosen == best


def test_penalties_beyond_the_best_are_left_out_and_the_note_says_so():
    chosen, note, count, _ = both_searches(stem(), 4)
    tried = tried_penalties(8, 4)
    assert count == tried.index(chosen) + 2 < len(tried)
    assert note.startswith(f"the penalty of the couplings is {chosen:g}")
    assert "; stronger ones were not tried, since the last one predicts worse)" in note
    _, note, count, best = both_searches(unrelated(), 4)
    assert (count, best) == (4, tried_penalties(10, 4)[-1])
    assert f"is {best:g}, the strongest of those tried, so that a stronger one may be better. It predicts" in note


def test_the_choice_does_not_depend_on_threads():
    assert both_searches(stem(), 4) == both_searches(stem(), 4, n_threads=2)


def test_the_search_stops_at_the_first_loss_that_rises():
    states = np.ascontiguousarray(stem(), np.uint8)
    data = Validation(states[:150], states[150:], np.ones(50), np.arange(50))
    settings = Settings(4, None, 0.0, 0.01, 150, 2e-2)
    losses = search_task(data, (1.0, 30.0, 1000.0, 3000.0), settings)
    assert len(losses) == 2
    assert losses[1] > losses[0]


def test_too_few_clusters_to_choose_a_penalty_are_named_with_a_cure():
    states, related = stem(60).astype(np.uint8), Reweighting(np.full(60, 1 / 60), np.zeros(60, int), 0.8)
    settings = Settings(4, 0.8, 0.0, 0.01, 150, 3e-3)
    said = (
        r"to choose the penalty of the couplings the sequences form 1 cluster .* 25 % of them .*that penalty \(--l2\)"
    )
    with pytest.raises(ValueError, match=said):
        tuned(states, related, np.arange(60), settings, 8, np.random.default_rng(0), sweep)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "penalty", "fits"), [("RF00162.fasta", 16.5, 3), ("DHFR.a2m", 34.0, 2)])
def test_families_get_the_penalty_of_the_whole_search(name, penalty, fits):
    folder = os.environ.get("ALIGNMENTS")
    if not folder:
        pytest.skip(f"set ALIGNMENTS to the folder that holds {name}")
    sequences = read_sequences(f"{folder}/{name}")
    states = np.ascontiguousarray(sequences.states, np.uint8)
    states = states[:, (states != states[0]).any(axis=0)]
    own = reweighted(states, 0.8, None, 1, None, print)
    chosen, _, count, best = both_searches(states, len(sequences.tokens), own=own)
    assert (chosen, count) == (penalty, fits)
    assert best == chosen
