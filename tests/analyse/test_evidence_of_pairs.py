"""What is claimed of a ranking: pairs above the scores of permuted columns, and nothing of noise."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from figures.analyse.command import main
from figures.analyse.sequences import analyse_sequences, report
from figures.analyse.sequences.evidence import default_separation, judged, n_permutations, noise_tasks, spread
from figures.analyse.sequences.residuals import (
    SHORT_SITES,
    _Others,
    _standardized,
    residual_dependence,
    signed_dependences,
)
from figures.analyse.sequences.scores import ranked_pairs
from figures.analyse.sequences.table import pairs_frame
from figures.analyse.sequences.tasks import Settings, map_task, pair_fit
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


def mapped(states, C=3, l2=1.0, weights=None):
    """Rank the pairs of one map, and return what chance makes of them too."""
    settings = Settings(C, None, l2, 0.01, 150, 3e-3)
    scores, norms, _, _, dependence, by_chance, *_ = map_task(
        states, np.ones(len(states)) if weights is None else weights, None, settings
    )
    own = dependence if len(scores) <= SHORT_SITES else None
    varying = (states != states[0]).any(axis=0)
    return ranked_pairs(scores, norms, np.zeros((*scores.shape, 2), int), 1, varying, own), by_chance


def found_pairs(states, C=3, l2=1.0):
    return mapped(states, C, l2)[0]


def evidence(states, seed, C=3, l2=1.0, weights=None):
    """Compare one map with permuted columns."""
    weights = np.ones(len(states)) if weights is None else weights
    pairs, by_chance = mapped(states, C, l2, weights)
    scores = np.zeros((states.shape[1],) * 2)
    for pair in pairs:
        scores[[pair.i, pair.j], [pair.j, pair.i]] = pair.score
    settings = Settings(C, None, l2, 0.01, 150, 3e-3)
    values = [task.function(*task.args) for task in noise_tasks(states, weights, None, settings, 1, seed)]
    return judged(values, scores, (states != states[0]).any(axis=0), pairs, 1, by_chance)


def words(found):
    return " ".join(report(found, "title").split())


@pytest.mark.slow
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
    assert "no evidence of interactions between single pairs of it" in said
    assert "by pairs nearer than 4 sites, or by a dependence that very many pairs share" in said
    left = sum(pair.score > found.pairs[9].score for pair in found.nearer)
    assert left >= 29
    assert f"Left out of this list are {left} pairs of sites nearer than 4 that score higher" in said


@pytest.mark.slow
def test_independent_columns_give_findings_at_the_stated_rate():
    # One of 20 analyses may; 10 of 24 or more do so in fewer than one of 10^6 runs, where the rate is kept.
    sizes = (4, 5, 6, 8, 12, 16, 30, 40)  # up to 24 sites another number is compared than above
    found = [evidence(independent(seed, M=50, L=sizes[seed % 8]), seed) for seed in range(24)]
    assert {one.false_alarms for one in found} == {0.05}
    assert sum(one.count > 0 for one in found) < 10


def test_one_pair_is_found_among_independent_columns():
    states = independent(1, M=200)
    states[:, 5] = np.where(stream(0, "copied").random(200) < 0.7, states[:, 2], states[:, 5])
    assert evidence(states, 0).count == 1


def test_copies_of_sequences_that_share_their_weight_are_no_findings():
    found = []
    for seed in range(12):
        times = stream(seed, "copies").integers(1, 9, 50)
        states = np.repeat(independent(seed, M=50, L=5), times, axis=0)
        found.append(evidence(states, seed, weights=np.repeat(1 / times, times)).count > 0)
    assert sum(found) < 7  # one in 10^6 where one in 20 is expected


@pytest.mark.slow
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
    i, j = np.triu_indices(30, 1)
    scores = np.zeros((30, 30))
    scores[i, j] = np.linspace(-1, 1, 435)
    varying, values = np.ones(30, bool), [np.array([0.3, 0.25, 0.0, 1.0]), np.array([0.4, 0.25, 0.0, 1.0])]
    pairs = ranked_pairs(scores, scores, np.zeros((30, 30, 2), int), 1)
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


@pytest.mark.usefixtures("undrawn")
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


def copying_chain(L, M=1000, seed=0, C=4, copy=0.85):
    """Each site copies the letter before it in 85 of 100 cases, else it is drawn anew."""
    rng = stream(seed, "copying chain", L)
    states = rng.integers(0, C, (M, L))
    for i in range(1, L):
        states[:, i] = np.where(rng.random(M) < copy, states[:, i - 1], states[:, i])
    return states.astype(np.uint8)


def copies_of_a_hidden_letter(L=6, M=1000):
    """Every site shows one hidden letter in 85 of 100 cases, so that all pairs depend on each other."""
    rng = stream(0, "hidden letter")
    return np.where(rng.random((M, L)) < 0.85, rng.integers(0, 4, (M, 1)), rng.integers(0, 4, (M, L))).astype(np.uint8)


@pytest.mark.parametrize("L", [4, 6, 8, 9, 12])
def test_neighbors_of_a_short_chain_are_found_and_no_other_pair(L):
    found = evidence(copying_chain(L), 0, 4, 0.12 * (L - 1))
    assert found.count in (L - 1, L)  # in one of 20 cases another pair lies above the limit
    pairs = found_pairs(copying_chain(L), 4, 0.12 * (L - 1))
    assert {(pair.i, pair.j) for pair in pairs[: L - 1]} == {(i, i + 1) for i in range(L - 1)}
    assert pairs[L - 2].strength > 4 * found.limit  # and by far


def test_all_pairs_of_copies_of_one_hidden_letter_are_found():
    assert evidence(copies_of_a_hidden_letter(), 0, 4, 0.6).count == 15


def test_the_report_of_a_short_chain_fits_its_gain():
    states = copying_chain(6, M=600)
    found = analyse_sequences(states, "ACGU", reweight=False, l2=0.6, sizes=[400])
    assert found.gain[-1].mean > 0.9
    said = words(found)
    assert "5 of 15 pairs have a dependence above" in said
    assert "ranked by their dependence beyond all other sites" in said
    assert "no evidence" not in said
    table = pairs_frame(found)
    names = ["rank", "i", "j", "letters", "score", "norm", "dependence", "above_noise", "limit", "q_value"]
    assert list(table.columns) == [*names, "index_i", "index_j"]
    assert list(table["above_noise"]) == [True] * 5 + [False] * 10
    assert (table["j"] - table["i"])[:5].eq(1).all()
    assert (table["dependence"] > found.evidence.limit).eq(table["above_noise"]).all()


def test_a_gain_that_no_single_pair_explains_is_no_contradiction():
    found = analyse_sequences(copies_of_a_hidden_letter(30, 300), "ACGU", reweight=False, l2=10.0, sizes=[240])
    assert found.gains
    assert not found.is_evidence
    assert "is then explained by a dependence that very many pairs share, none of which stands out" in words(found)


def test_without_other_sites_the_dependence_is_pearsons_chi_square():
    rng = stream(0, "a table of letters")
    states = np.stack([rng.integers(0, 3, 4000), rng.integers(0, 4, 4000)], axis=1).astype(np.uint8)
    states[:, 1] = np.where(rng.random(4000) < 0.1, states[:, 0], states[:, 1])
    counts = np.zeros((3, 4))
    np.add.at(counts, (states[:, 0], states[:, 1]), 1)
    fields = np.full((2, 4), -30.0)  # the letter 3 does not occur at the first site
    fields[0, :3], fields[1] = np.log(counts.sum(1)), np.log(counts.sum(0))
    expected = (chi2_contingency(counts, correction=False).statistic - 6) / np.sqrt(12)
    found = residual_dependence(np.zeros((2, 2, 4, 4)), fields, states, np.ones(4000))[0, 1]
    assert found == pytest.approx(expected, rel=0.02)  # rare letters count a little less
    assert expected > 5


def test_sequences_with_a_gap_say_nothing_about_their_pair():
    rng = stream(0, "gaps at both ends")
    states = rng.integers(1, 4, (500, 3)).astype(np.uint8)
    states[:200, :2] = 0  # two sites have their gaps together, and nothing else in common
    fields = np.log([[0.4, 0.2, 0.2, 0.2], [0.4, 0.2, 0.2, 0.2], [1e-9, 1 / 3, 1 / 3, 1 / 3]])
    couplings = np.zeros((3, 3, 4, 4))
    counted_in, left_out = (residual_dependence(couplings, fields, states, np.ones(500), gap) for gap in (None, 0))
    assert counted_in[0, 1] > 50
    assert abs(left_out[0, 1]) < 3


def test_copies_of_sequences_count_by_their_weights():
    states = copying_chain(4, 300)
    fit = pair_fit(states, np.ones(300), Settings(4, None, 0.4, 0.01, 150, 3e-3))
    plain = residual_dependence(fit.couplings, fit.fields, states, np.ones(300))
    nine = np.repeat(states, 9, axis=0)
    assert residual_dependence(fit.couplings, fit.fields, nine, np.full(2700, 1 / 9)) == pytest.approx(plain)


def test_short_sequences_that_agree_by_chance_are_noted():
    states = copying_chain(4, 400)
    weighted, equal = (analyse_sequences(states, "ACGU", reweight=r, l2=0.6, sizes=[50]) for r in (None, False))
    assert any("also agree by chance" in note and "say --no-reweight" in note for note in weighted.notes)
    assert not any("--no-reweight" in note for note in equal.notes)


def test_remainders_that_are_large_together_are_no_dependence():
    # In a few sequences two sites are hard to predict; their letters are independent there, too.
    rng, found = stream(0, "large together"), []
    for _ in range(40):
        size = np.where(np.arange(1000) < 20, 10.0, 0.1)[:, None]
        first, second = size * rng.standard_normal((2, 1000, 3))
        found.append(_standardized(first, second, np.ones(1000)))
    assert abs(np.mean(found)) < 1  # without regard to it 48 times the mean, 100 standard deviations, come out
    together = size * rng.standard_normal((1000, 3))
    assert _standardized(together, together + 0.1 * size, np.ones(1000)) > 5


@pytest.mark.parametrize(("L", "M", "copy"), [(5, 1500, 0.9), (6, 600, 0.8)])
def test_indirect_pairs_of_twenty_letters_are_not_named(L, M, copy):
    """The penalty shrinks 361 couplings of a pair; eight of the ten pairs of the first file were once named."""
    states = copying_chain(L, M, 0, 20, copy)
    l2 = 0.19 * (L - 1)
    found = evidence(states, 0, 20, l2)
    assert found.count == L - 1
    assert {(pair.i, pair.j) for pair in found_pairs(states, 20, l2)[: L - 1]} == {(i, i + 1) for i in range(L - 1)}


def test_what_shrunken_couplings_leave_is_no_dependence():
    """With sixteen times the penalty ends of a path of two once had 270 standard deviations, and now have few."""
    states = copying_chain(5, 1500, 0, 20, 0.9)
    fit = pair_fit(states, np.ones(1500), Settings(20, None, 12.2, 0.01, 150, 3e-3))
    found = residual_dependence(fit.couplings, fit.fields, states, np.ones(1500))
    i, j = np.triu_indices(5, 1)
    assert found[i, j][j - i > 1].max() < 12
    assert found[i, j][j - i == 1].min() > 50


def test_the_regression_on_the_other_sites_is_that_of_least_squares():
    """Of all sequences, and of those without a gap at either site, with as many rows of the ridge."""
    rng = stream(0, "a regression")
    states, weights = rng.integers(0, 3, (400, 4)).astype(np.uint8), rng.uniform(0.5, 2, 400)
    remainders, others = rng.standard_normal((400, 6)), _Others(states, weights, 3)
    Z = np.concatenate([np.eye(3)[states[:, k]] for k in (0, 2)], axis=1)
    kept = (states[:, 1] != 2) & (states[:, 3] > 0)
    for rows, within in ((np.ones(400, bool), 1e-10), (kept, 0.05)):
        root = np.sqrt(weights[rows])[:, None]
        A = np.concatenate([root * Z[rows], np.eye(6)])
        b = np.concatenate([root * remainders[rows], np.zeros((6, 6))])
        expected = remainders[rows] - Z[rows] @ np.linalg.lstsq(A, b)[0]
        found, spent = others.taken_off(remainders[rows], 1, 3, rows)
        assert found == pytest.approx(expected, abs=within)
    gram = Z.T @ (weights[:, None] * Z)
    assert spent == pytest.approx(np.trace(np.linalg.solve(gram + np.eye(6), gram)), rel=1e-9)


def test_random_signs_make_the_dependence_of_chance():
    """Its mean is 0 and its deviation 1, where sizes are alike; the largest of 19 is then near 2."""
    rng = stream(0, "random signs")
    states, weights = rng.integers(0, 3, (600, 5)).astype(np.uint8), np.ones(600)
    fit = pair_fit(states, weights, Settings(3, None, 1.0, 0.01, 150, 3e-3))
    trials = signed_dependences(fit.couplings, fit.fields, states, weights, None, rng)
    largest = trials.max(axis=0)[np.triu_indices(5, 1)]
    assert largest.mean() == pytest.approx(2.2, abs=0.7)  # of chi-square with 4 degrees of freedom
    first, second = rng.standard_normal((2, 500, 3))
    values = _standardized(first, second, np.ones(500), rng.choice([-1.0, 1.0], (2000, 500)))
    assert values.mean() == pytest.approx(0, abs=0.1)
    assert values.std() == pytest.approx(1, abs=0.15)


def test_the_limit_of_short_sequences_is_that_of_signs_where_these_reach_higher():
    pairs = ranked_pairs(np.eye(4), np.eye(4), np.zeros((4, 4, 2), int), 1, None, np.full((4, 4), 3.0))
    values, signed = [np.array([0.0, 0.0, 2.0, 1.0])] * 3, np.zeros((4, 4))
    assert judged(values, np.eye(4), np.ones(4, bool), pairs, 1, signed).count == 6
    signed[0, 1] = signed[1, 0] = 5.0
    found = judged(values, np.eye(4), np.ones(4, bool), pairs, 1, signed)
    assert (found.limit, found.count) == (5.0, 0)
    assert judged(values, np.eye(4), np.ones(4, bool), pairs, 2, signed).limit == 2.0  # of nearer pairs


def test_few_sequences_of_many_letters_are_said_not_to_tell_indirect_pairs():
    few, many = (copying_chain(4, M, 0, C) for M, C in ((300, 20), (300, 4)))
    said, unsaid = (
        words(analyse_sequences(states, AMINO[1:][:C], reweight=False, protein=False, l2=0.6, sizes=[100]))
        for states, C in ((few, 20), (many, 4))
    )
    assert "has 361 unknown couplings, and the sequences count as 300, fewer than 3 for each of them" in said
    assert "too few to tell direct from indirect pairs" in said
    assert "unknown couplings" not in unsaid
