"""The analysis of sequences: its parts, and the whole on alignments whose interactions are known."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.analyse.command import main
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import (
    analyse_sequences,
    average_product_corrected,
    interaction_scores,
    ranked_pairs,
    report,
)
from figures.analyse.sequences.independent_sites import (
    color_frequencies,
    effective_field_penalties,
    penalized_log_frequencies,
)
from figures.analyse.sequences.plan import affordable_jobs, training_sizes, tried_penalties
from figures.analyse.sequences.reweighting import reweighted
from figures.analyse.sequences.split import split_clusters
from figures.analyse.sequences.table import SCORES, map_of
from figures.analyse.sequences.tasks import clustered_mean, sequence_losses
from figures.analyse.wording import duration
from figures.core.table import read_csv
from figures.potts.synthetic import ALIGNMENT, LETTERS, synthetic_model
from simulate.core import Estimate, stream
from simulate.potts import masked_loss, pseudo_likelihood
from theory.models import DensePottsModel

ENDS = (
    ".csv",
    ".pdf",
    ".png",
    "_ECs.txt",
    "_ccmpred.mat",
    "_ccmpred_raw.mat",
    "_pairs.csv",
    "_sites.csv",
    "_weights.csv",
)


def couplings(seed, L, C):
    """Symmetric blocks (L, L, C, C) with an empty diagonal."""
    J = stream(seed, "couplings", L, C).standard_normal((L, L, C, C))
    J[np.diag_indices(L)] = 0
    return J + J.transpose(1, 0, 3, 2)


def stem(n_stems=4, M=300):
    """Sequences whose sites i and 2 n_stems - 1 - i are complementary in nine of ten cases; and one free site."""
    rng = stream(0, "stem")
    half = rng.integers(0, 4, (M, n_stems))
    other = np.where(rng.random((M, n_stems)) < 0.9, 3 - half, rng.integers(0, 4, (M, n_stems)))
    return np.hstack([half, other[:, ::-1], rng.integers(0, 4, (M, 1))])


@given(seed=st.integers(0, 50), L=st.integers(3, 6), C=st.integers(2, 5))
def test_scores_are_norms_of_the_zero_sum_gauge(seed, L, C):
    J = couplings(seed, L, C)
    centered = J - J.mean(2, keepdims=True) - J.mean(3, keepdims=True) + J.mean((2, 3), keepdims=True)
    assert interaction_scores(J) == pytest.approx(np.sqrt((centered**2).sum((2, 3))))
    without = np.sqrt((centered[:, :, 1:, 1:] ** 2).sum((2, 3)))
    assert interaction_scores(J, gap=0) == pytest.approx(without)
    shift = stream(seed, "shift").standard_normal((L, L, C, 1))  # another gauge of the same model
    moved = J + shift + shift.transpose(1, 0, 3, 2)
    assert interaction_scores(moved, gap=C - 1) == pytest.approx(interaction_scores(J, gap=C - 1))


def test_average_product_correction_by_hand():
    F = np.array([[9.0, 1, 2], [1, 9, 4], [2, 4, 9]])  # the diagonal does not count: means 1.5, 2.5, 3; total 7/3
    expected = np.array([[0, 1 - 3.75 * 3 / 7, 2 - 4.5 * 3 / 7], [0, 0, 4 - 7.5 * 3 / 7], [0, 0, 0]])
    assert average_product_corrected(F) == pytest.approx(expected + expected.T)
    rank_one = np.outer([1.0, 2, 3, 4], [1.0, 2, 3, 4])
    np.fill_diagonal(rank_one, 0)
    assert abs(average_product_corrected(rank_one)).max() < 0.5 * rank_one.max()
    assert not average_product_corrected(np.zeros((3, 3))).any()


def test_pairs_are_ranked_from_a_separation():
    scores = np.array([[0.0, 9, 3, 1], [9, 0, 8, 2], [3, 8, 0, 7], [1, 2, 7, 0]])
    colors = np.zeros((4, 4, 2), int)
    assert [(p.i, p.j, p.score) for p in ranked_pairs(scores, scores, colors, 2)] == [(0, 2, 3), (1, 3, 2), (0, 3, 1)]
    assert len(ranked_pairs(scores, scores, colors, 1)) == 6


@given(sizes=st.lists(st.integers(1, 20), min_size=8, max_size=30), share=st.floats(0.3, 0.6), seed=st.integers(0, 99))
def test_clusters_are_held_out_whole(sizes, share, seed):
    clusters = np.repeat(3 * np.arange(len(sizes)), sizes)  # numbers that are not all there
    weights = np.repeat(1 / np.array(sizes), sizes)  # so that every cluster counts as one
    split = split_clusters(clusters, weights, share, np.random.default_rng(seed))
    assert not set(clusters[split.training]) & set(clusters[split.held_out])
    assert sorted([*split.training, *split.held_out]) == list(range(len(clusters)))
    assert len(set(clusters[split.held_out])) == int(share * len(sizes) + 1e-6)


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match="form 2 clusters of similar ones, too few to hold out"):
        split_clusters(np.array([0, 0, 0, 1]), np.ones(4), 0.2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="test_fraction must lie between 0 and 1, both excluded, got 1"):
        split_clusters(np.arange(4), np.ones(4), 1.0, np.random.default_rng(0))


def test_errors_know_which_sequences_are_related():
    values = stream(0, "values").standard_normal(50)
    plain = clustered_mean(values, np.ones(50), np.arange(50))
    expected = Estimate.of(values)
    assert (plain.mean, plain.stderr, plain.n) == (pytest.approx(expected.mean), pytest.approx(expected.stderr), 50)
    copies = clustered_mean(np.repeat(values, 3), np.full(150, 1 / 3), np.repeat(np.arange(50), 3))
    assert (copies.mean, copies.stderr, copies.n) == (pytest.approx(plain.mean), pytest.approx(plain.stderr), 50)


def test_losses_of_sequences_average_to_the_masked_loss():
    model = DensePottsModel(couplings(0, 5, 3))
    states = stream(0, "states").integers(0, 3, (300, 5)).astype(np.uint8)
    assert sequence_losses(model, states).mean() == pytest.approx(masked_loss(model, states).loss)


def test_plans():
    assert training_sizes(3200) == (100, 200, 400, 800, 1600, 3200)
    assert training_sizes(60) == (30, 60)
    assert training_sizes(8) == (8,)
    assert tried_penalties(101, 21)[0] == 20.0  # 0.2 (L - 1), as the programs of the field have it
    assert affordable_jobs(10, 4, 3) == 3
    with pytest.raises(
        MemoryError, match=r"of 100000 sites and 21 tokens would take .* GB are available; take fewer columns"
    ):
        affordable_jobs(100_000, 21, 2)
    assert [duration(s) for s in (40, 200, 9000)] == ["40 s", "3 min", "2.5 h"]


def test_very_many_sequences_are_reweighted_only_when_asked_for(monkeypatch):
    monkeypatch.setattr("figures.analyse.sequences.reweighting.MAX_COMPARED_SEQUENCES", 50)
    states, said = np.zeros((60, 5), np.uint8), []
    unasked = reweighted(states, 0.8, None, 1, None, said.append)
    assert np.all(unasked.weights == 1)
    assert "comparing 60 with each other would take 0 s (--reweight does it)" in said[0]
    asked = reweighted(states, 0.8, True, 1, None, said.append)
    assert asked.weights == pytest.approx(1 / 60)
    assert asked.n_clusters == 1
    assert "comparing 60 sequences with each other: about 0 s" in said[1]
    assert reweighted(states[:9], 0.8, None, 1, None, said.append).weights == pytest.approx(1 / 9)


def test_a_stem_is_found_and_helps_to_predict():
    analysis = analyse_sequences(stem(), LETTERS, min_separation=1)
    assert {(p.i, p.j) for p in analysis.pairs[:4]} == {(0, 7), (1, 6), (2, 5), (3, 4)}
    assert analysis.pairs[3].score > 3 * analysis.pairs[4].score
    assert {analysis.letters(p) for p in analysis.pairs[:4]} <= {"A-U", "U-A", "C-G", "G-C"}
    L = analysis.n_sites
    i, j = np.triu_indices(L, 1)
    norms, ranked = np.zeros((L, L)), np.zeros((L, L))
    for p in analysis.pairs:  # each pair once: the norm of its couplings, and what the correction leaves of it
        norms[[p.i, p.j], [p.j, p.i]] = p.norm
        ranked[[p.i, p.j], [p.j, p.i]] = p.score
    assert np.all(norms[i, j] > 0)
    assert ranked == pytest.approx(average_product_corrected(norms), abs=1e-12)
    assert analysis.scores[i, j] == pytest.approx(ranked[i, j])
    assert analysis.gain[-1].mean > 0.5 > 5 * analysis.gain[-1].stderr
    assert analysis.independent_loss[-1].mean == pytest.approx(np.log(4), abs=0.03)
    assert any("the penalty of the couplings is" in note and "predicts best" in note for note in analysis.notes)
    again = analyse_sequences(stem(), LETTERS, min_separation=1)
    assert again.rows == analysis.rows


def test_the_table_holds_the_map():
    scores = average_product_corrected(interaction_scores(couplings(1, 6, 3)))
    assert map_of(scores[np.triu_indices(6, 1)]) == pytest.approx(scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"identity": 1.5}, r"identity must lie in \(0, 1\], got 1.5"),
        ({"min_separation": 9}, "min_separation must be below the number of sites 9, got 9"),
        ({"min_separation": 0}, "min_separation must be an integer of at least 1, got 0"),
        ({"sizes": [1]}, "sizes must lie between 2 and"),
        ({"test_fraction": 0.0}, "test_fraction must lie between 0 and 1"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        analyse_sequences(stem(M=40), LETTERS, **({"min_separation": 1} | options))


def test_few_sequences_and_strange_colors():
    with pytest.raises(ValueError, match="need at least 10 sequences for an analysis, got 9"):
        analyse_sequences(stem(M=9), LETTERS)
    with pytest.raises(ValueError, match="all 20 sequences are equal: there is nothing to predict"):
        analyse_sequences(np.ones((20, 5), int), LETTERS)
    with pytest.raises(ValueError, match="states must be colors from 0 to 2"):
        analyse_sequences(stem(M=20), LETTERS[:3])


def test_from_a_file_to_tables_and_a_figure(tmp_path, capsys):
    path = tmp_path / "my stem.fasta"
    path.write_text("".join(f">s\n--{''.join(LETTERS[a] for a in row)}n\n" for row in stem()), encoding="ascii")
    output = tmp_path / "out"
    arguments = ["--jobs", "1", "--min-separation", "1", "--l2", "1", "--output", str(output)]
    assert main([str(path), *arguments]) == 0
    assert sorted(file.name for file in output.iterdir()) == [f"analyse_my stem.fasta{end}" for end in ENDS]
    rows = read_csv(output / "analyse_my stem.fasta.csv")
    assert (rows["curve"] == SCORES).sum() == 9 * 8 / 2
    pairs = (output / "analyse_my stem.fasta_pairs.csv").read_text(encoding="utf-8").splitlines()
    assert pairs[0] == "rank,i,j,letters,score,norm,dependence,above_noise,limit,q_value,index_i,index_j"
    first = pairs[1].split(",")
    assert int(first[1]) + int(first[2]) == 2 * 2 + 9  # in the columns of the file, two of which are gaps only
    said = capsys.readouterr().out
    for words in ("300 sequences of 9 sites, RNA (A C G U)", "3 columns of gaps only left out: 1, 2, 12", "perplexity"):
        assert words in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-separation", "9"], "figures analyse: --min-separation must be below"),
        (["--max-sequences", "5"], "need at least 10 sequences"),
    ],
)
def test_failures_are_one_line(tmp_path, capsys, arguments, message):
    path = tmp_path / "x.csv"
    np.savetxt(path, stem(M=40), fmt="%d", delimiter=",")
    assert main([str(path), "--kind", "sequences", "--output", str(tmp_path), "--jobs", "1", *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said.splitlines()[-1]
    assert "Traceback" not in said


def independent(M=300, L=16):
    """Sites that do not depend on each other, the last ones nearly conserved."""
    rng = stream(0, "independent sites")
    return np.where(rng.random((M, L)) < np.linspace(0.25, 0.999, L), 0, rng.integers(1, 4, (M, L)))


@given(seed=st.integers(0, 50), exponent=st.floats(-7, 2))
def test_sites_alone_are_shrunk_by_their_penalty(seed, exponent):
    frequencies = stream(seed, "frequencies").dirichlet(np.full(4, 0.3), 6)
    frequencies[0], penalty = np.eye(4)[0], 10.0**exponent
    logs = penalized_log_frequencies(frequencies, np.full(6, penalty))
    p, h = np.exp(logs), logs - logs.mean(axis=1, keepdims=True)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p - frequencies + 2 * penalty * h == pytest.approx(0, abs=1e-10)  # the gradient


def test_sites_alone_are_a_pair_model_without_couplings():
    states, weights = independent(60, 5), np.ones(60)
    frequencies = color_frequencies(states, weights, 4)
    fields = pseudo_likelihood(states, 4, l2=1e6, field_l2=1e-3, tol=1e-8, check=False).fields
    logs = penalized_log_frequencies(frequencies, np.full(5, 1e-3))
    assert logs - logs.mean(axis=1, keepdims=True) == pytest.approx(fields, abs=1e-5)


def test_the_effective_penalty_is_that_of_the_cheapest_couplings():
    frequencies = stream(0, "frequencies").dirichlet(np.ones(3), 4)
    varying = np.array([True, True, False, True])
    f = np.concatenate([[1.0], frequencies[[1, 3]].ravel()])  # the field, and couplings of site 0 to the two others
    penalties = np.diag([0.3] + 6 * [2.0])
    cheapest = np.linalg.solve(penalties, f) / (f @ np.linalg.solve(penalties, f))  # least penalty with f.x = 1
    found = effective_field_penalties(frequencies, varying, 2.0, 0.3)
    assert found[0] == pytest.approx(cheapest @ penalties @ cheapest)
    assert found[2] == pytest.approx(0.3)


def test_constant_columns_gain_nothing_and_are_in_no_pair():
    states = np.zeros((60, 12), int)
    states[:, [3, 8]] = stream(0, "two columns").integers(0, 4, (60, 2))
    one, two = (analyse_sequences(part, LETTERS, reweight=False, seed=1) for part in (states[:, :8], states))
    assert (one.gain[-1].mean, one.gain[-1].stderr, one.pairs) == (0.0, 0.0, [])
    assert "No two columns vary: there is nothing to rank" in report(one, "one")
    far = analyse_sequences(states[:, :8], LETTERS, reweight=False, min_separation=4)
    assert "No two columns that vary are at least 4 sites apart" in report(far, "far")
    assert abs(two.gain[-1].mean) < 0.02
    assert [(pair.i, pair.j) for pair in two.pairs] == [(3, 8)]
    assert not two.is_evidence


@pytest.mark.parametrize("l2", [None, pytest.param(100.0, marks=pytest.mark.slow)])
def test_independent_sites_gain_nothing_though_some_are_conserved(l2):
    found = analyse_sequences(independent(), LETTERS, reweight=False, l2=l2)
    assert -0.03 < found.gain[-1].mean < 2 * found.gain[-1].stderr
    assert not found.is_evidence
    assert "The ranking below is no evidence of interactions" in " ".join(report(found, "none").split())
    assert "they may resemble some that were fitted" in " ".join(report(found, "none").split())


def test_worse_than_guessing_is_said():
    states = stream(0, "noise").integers(0, 4, (40, 12))
    found = analyse_sequences(states, LETTERS, l2=0.01)
    assert found.pair_loss[-1].mean > np.log(4)
    assert "no better than uniform guessing" in " ".join(report(found, "noise").split())
    assert "none is 80 % identical to one that was fitted" in " ".join(report(found, "noise").split())


def test_fits_that_were_stopped_are_counted_in_words():
    found = analyse_sequences(stem(M=60), LETTERS, l2=0.1, max_iter=2)
    assert not found.converged
    (note,) = [note for note in found.notes if "were stopped" in note]
    assert "stopped after 2 steps, before they had quite settled (1 of all sequences, " in note
    assert " of the learning curve" in note
    assert "a stronger penalty (--l2) lets them settle" in note


@pytest.mark.slow
def test_the_shipped_alignment_is_a_sample_of_its_model():
    from simulate.potts import sample

    states = read_sequences(ALIGNMENT).states
    fresh = sample(synthetic_model(), 4 * len(states), seed=1).states
    shares = [np.array([[(s[:, i] == s[:, j]).mean() for i in range(40)] for j in range(40)]) for s in (states, fresh)]
    spread = np.sqrt(shares[1] * (1 - shares[1]) * (1 / len(states) + 1 / len(fresh)))
    assert (abs(shares[0] - shares[1]) <= 5 * spread + 1e-12).all()


@pytest.mark.slow
def test_the_strongest_pairs_of_a_riboswitch_are_its_stems():
    folder = os.environ.get("ALIGNMENTS")
    if not folder:
        pytest.skip("set ALIGNMENTS to the folder that holds RF00162.fasta")
    sequences = read_sequences(f"{folder}/RF00162.fasta")
    analysis = analyse_sequences(sequences.states, sequences.tokens, gap=sequences.gap, sizes=[400], l2=13)
    top = analysis.pairs[:20]
    bonds = {"A-U", "U-A", "C-G", "G-C", "G-U", "U-G"}
    assert sum(analysis.letters(p) in bonds for p in top) >= 19
    pairs = {(p.i, p.j) for p in analysis.pairs[:30]}
    stacked = [(p.i + 1, p.j - 1) in pairs or (p.i - 1, p.j + 1) in pairs for p in top]
    assert sum(stacked) >= 16  # by chance one in a hundred; the others stand at bulges, or are tertiary


def test_the_shipped_alignment_is_a_sample_of_the_model_beside_it():
    """Otherwise the true interactions that figures show are those of another model."""
    from figures.potts.synthetic import ALIGNMENT, LETTERS, N_SEQUENCES, synthetic_model
    from simulate.potts import sample

    drawn = np.array(list(LETTERS))[sample(synthetic_model(), N_SEQUENCES, seed=0).states]
    shipped = [line for line in ALIGNMENT.read_text(encoding="ascii").split() if not line.startswith(">")]
    assert ["".join(row) for row in drawn] == shipped
