"""What is claimed of a ranking: pairs above the scores of permuted columns, and nothing of noise."""

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.sequences import analyse_sequences, report
from figures.analyse.sequences.evidence import default_separation, judged, n_permutations, noise_tasks, spread
from figures.analyse.sequences.scores import ranked_pairs
from figures.analyse.sequences.tasks import Settings, map_task
from simulate.core import stream

AMINO = tuple("-ACDEFGHIKLMNPQRSTVWY")


def chain(M=400, L=30):
    """A Markov chain of three letters, each repeated with probability .75."""
    rng = stream(0, "chain of letters")
    states = rng.integers(0, 3, (M, L))
    for i in range(1, L):  # a new letter is the old one in a third of the cases
        states[:, i] = np.where(rng.random(M) < 0.625, states[:, i - 1], states[:, i])
    return states


def independent(seed, M=100, L=8, C=3):
    """Columns that do not depend on each other, each with frequencies of its own."""
    rng = stream(seed, "independent columns")
    return np.stack([rng.choice(C, M, p=p) for p in rng.dirichlet(np.ones(C), L)], axis=1).astype(np.uint8)


def evidence(states, seed):
    """Compare one map with permuted columns."""
    weights, settings = np.ones(len(states)), Settings(3, None, 1.0, 0.01, 150, 3e-3)
    scores = map_task(states, weights, None, settings)[0]
    varying = (states != states[0]).any(axis=0)
    pairs = ranked_pairs(scores, scores, np.zeros((*scores.shape, 2), int), 1, varying)
    values = [task.function(*task.args) for task in noise_tasks(states, weights, None, settings, 1, seed)]
    return judged(values, scores, varying, pairs, 1)


def words(found):
    return " ".join(report(found, "title").split())


def test_the_pairs_of_a_chain_are_its_neighbors():
    found = analyse_sequences(chain(), "ABC", l2=3.0, sizes=[300])
    assert found.min_separation == 1
    assert found.evidence.count == 29
    assert all(p.j - p.i == 1 for p in found.pairs[:29])
    assert "29 of 435 pairs score above" in words(found)
    assert "5 % of alignments without interactions would have a pair above it" in words(found)
    assert "All pairs of sites that vary are ranked, neighbors too. The score of a pair is the Frobenius norm" in words(
        found
    )


def test_a_chain_without_its_neighbors_gives_no_finding():
    found = analyse_sequences(chain(), "ABC", l2=3.0, sizes=[300], min_separation=4)
    assert not found.is_evidence
    assert found.gains  # of all pairs: it says nothing of those that are listed
    said = words(found)
    assert "None of 351 pairs scores above" in said
    assert "The ranking below is no evidence of interactions" in said
    assert "strongest interactions" not in said
    left = sum(pair.score > found.pairs[9].score for pair in found.nearer)
    assert left >= 29
    assert f"Left out of this list are {left} pairs of sites nearer than 4 that score higher" in said


def test_independent_columns_give_findings_at_the_stated_rate():
    # One of 20 analyses may; 12 of 40 or more do so in fewer than one of 10^6 runs, where the rate is kept.
    found = [evidence(independent(seed), seed) for seed in range(40)]
    assert {one.false_alarms for one in found} == {0.05}
    assert sum(one.count > 0 for one in found) < 12


def test_one_pair_is_found_among_independent_columns():
    states = independent(1, M=200)
    states[:, 5] = np.where(stream(0, "copied").random(200) < 0.7, states[:, 2], states[:, 5])
    assert evidence(states, 0).count == 1


def test_copies_of_sequences_make_noise_no_smaller():
    states, settings = independent(2, M=200, L=12), Settings(3, None, 1.0, 0.01, 150, 3e-3)
    copied = np.repeat(states, 9, axis=0)
    plain, weighted, unweighted = (
        np.median([task.function(*task.args)[1] for task in noise_tasks(each, weights, None, settings, 1, 0)])
        for each, weights in ((states, np.ones(200)), (copied, np.full(1800, 1 / 9)), (copied, np.ones(1800)))
    )
    assert weighted == pytest.approx(plain, rel=0.3)  # 66 scores in each of 19: the medians are known to some percent
    assert unweighted < 0.6 * plain


def test_what_scatters_more_than_permuted_columns_widens_the_limit():
    i, j = np.triu_indices(9, 1)
    scores = np.zeros((9, 9))
    scores[i, j] = np.linspace(-1, 1, 36)
    varying, values = np.ones(9, bool), [np.array([0.3, 0.25, 1.0]), np.array([0.4, 0.25, 1.0])]
    pairs = ranked_pairs(scores, scores, np.zeros((9, 9, 2), int), 1)
    found = judged(values, scores, varying, pairs, 1)
    assert found.widening == pytest.approx(4)
    assert found.limit == pytest.approx(1.6)
    assert found.count == 0
    narrow = judged(values, 0.1 * scores, varying, pairs, 1)
    assert narrow.widening == 1
    assert narrow.count == sum(pair.score > 0.4 for pair in pairs)
    assert spread(np.array([1.0])) == 0


@pytest.mark.parametrize(
    ("tokens", "protein", "separation"),
    [
        (AMINO, None, 4),
        (("-", "A", "C", "D"), None, 4),
        (("-", "A", "C", "G", "U"), None, 1),
        (("A", "C", "G", "T"), None, 1),
        (tuple("ABC"), None, 1),
        (("0", "1"), None, 1),
        (tuple("ACD"), False, 1),
        (tuple("AC"), True, 4),
    ],
)
def test_only_proteins_are_ranked_from_four_sites(tokens, protein, separation):
    assert default_separation(tokens, 30, protein) == separation


def test_short_proteins_are_ranked_from_their_ends():
    assert default_separation(AMINO, 3) == 2


def test_a_protein_file_says_why_neighbors_are_left_out(tmp_path, capsys):
    rng = stream(0, "a protein")
    states = rng.integers(0, 4, (60, 6))
    path = tmp_path / "p.fasta"
    path.write_text("".join(f">s\n{''.join('DEKW'[a] for a in row)}\n" for row in states), encoding="ascii")
    assert main([str(path), "--l2", "1", "--jobs", "1", "--output", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "ranked that are at least 4 sites apart, since nearer residues of a protein touch along the chain" in said
    assert main([str(path), "--alphabet", "DEKW", "--l2", "1", "--jobs", "1", "--output", str(tmp_path)]) == 0
    assert "All pairs of sites that vary are ranked" in " ".join(capsys.readouterr().out.split())


def test_long_fits_are_repeated_less_often():
    assert n_permutations(400, 30) == 19
    assert n_permutations(3000, 171) == 9
