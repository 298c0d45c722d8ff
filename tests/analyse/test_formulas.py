"""Every number that the analyses report, against one that is computed in another way."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from figures.analyse.matrix import admitted, analyse_matrix
from figures.analyse.matrix import report as matrix_report
from figures.analyse.matrix.analyse import _with_best
from figures.analyse.matrix.best_ridge import LeaveOneOut, _vertex, best_ridge
from figures.analyse.matrix.centered_rows import ridge_of_contrasts
from figures.analyse.matrix.data_theory import data_theory, empirical_errors, trusted
from figures.analyse.matrix.plan import BUDGET, MIN_ROWS, _work, make_plan
from figures.analyse.matrix.spectrum.analyse import matrix_spectrum
from figures.analyse.matrix.spectrum.noise_part import noise_part
from figures.analyse.matrix.spectrum.record import CORRELATION, COVARIANCE, MASKED
from figures.analyse.matrix.spectrum.report import _compared, _largest, subspace_overlap
from figures.analyse.matrix.spectrum.table import INDEPENDENT, LIMIT, NOISE, spectrum_rows
from figures.analyse.sequences import analyse_sequences
from figures.analyse.sequences import report as sequence_report
from figures.analyse.sequences.reweighting import Reweighting
from figures.analyse.sequences.scores import strongest_colors
from figures.analyse.sequences.tasks import Settings, learning_task, pair_fit, sequence_losses
from figures.analyse.sequences.tuning import tuned
from figures.analyse.text import analyse_corpus, contrast_frame
from figures.analyse.text import report as text_report
from figures.analyse.text.plan import planned_thresholds, words_of_a_topic
from simulate.core import Estimate, stream
from simulate.masked import fit, sample
from simulate.topics import gibbs_lda, sample_topic_documents
from simulate.topics.contrast import topic_membership
from theory import masked
from theory.models import AR1, Empirical, MaskedRidge
from theory.models.topics import TopicModel

# matrices


def regressions(X, lam):
    """For each column of X about its mean: residuals of its regression on the others, trace of its hat matrix."""
    centered, n = X - X.mean(axis=0), len(X)
    for k in range(X.shape[1]):
        others = np.delete(centered, k, axis=1)
        hat = others @ np.linalg.solve(others.T @ others + n * lam * np.eye(others.shape[1]), others.T)
        yield centered[:, k] - hat @ centered[:, k], np.trace(hat)


def test_the_best_ridge_by_theory_minimizes_the_theory_of_as_many_rows():
    """Of n rows about their mean, where n is small: n rows and n - 1 contrasts have ridges that differ by 9 %."""
    X = sample(AR1(3, 0.5), 12, stream(0, "few rows"))
    covariance = admitted(X).covariance()
    assert covariance.matrix == pytest.approx(np.cov(X.T))
    loo = LeaveOneOut(np.ones(1), (Estimate(1.0, 0.1, 12),), np.zeros(covariance.d))
    found = best_ridge((1.0, False), (1.0, False), loo, covariance, 12).empirical_theory
    near = found * np.geomspace(0.8, 1.25, 9)
    errors = empirical_errors(covariance, 12, near)
    a, b, _ = np.polyfit(np.log(near / found), errors, 2)
    assert a > 0
    assert -b / (2 * a) == pytest.approx(0, abs=0.02)


def test_the_theory_with_the_empirical_covariance_is_that_of_contrasts():
    covariance = Empirical(np.cov(sample(AR1(4, 0.5), 30, stream(0, "empirical")).T))
    expected = masked.solve(MaskedRidge(covariance, 11 / 4, 0.2 * 12 / 11)).mean_test_error
    assert empirical_errors(covariance, 12, np.array([0.2]))[0] == pytest.approx(expected * 13 / 12)


def test_degrees_of_freedom_and_effective_ridge_are_of_the_regressions():
    X = sample(AR1(6, 0.5), 50, stream(0, "degrees of freedom"))
    theory = data_theory(admitted(X), np.array([0.01, 0.3, 3.0]), 10)
    for lam in (0.02, 0.3, 2.0):
        df = np.mean([h for _, h in regressions(X, lam)])
        assert theory.degrees_of_freedom(lam) == pytest.approx(df, rel=1e-3)
        assert theory.effective_ridge(lam) == pytest.approx(lam * 50 / 49 / (1 - df / 49), rel=1e-3)
    gcv = np.mean([(r @ r) / 50 / (1 - (1 + h) / 50) ** 2 for r, h in regressions(X, 0.3)])
    # The same mean of rows; a new row is predicted about a mean that is known to 1/n
    assert theory.mean_test_error(50, np.array([0.3]))[0] == pytest.approx(gcv * 49 / 50 * 51 / 50, rel=1e-3)


def test_the_ridge_by_leave_one_out_is_the_vertex_of_a_parabola():
    lams = np.array([0.1, 0.3, 1.0, 3.0, 10.0])
    errors = tuple(Estimate(2 + (np.log(lam) - 0.4) ** 2, 0.1, 9) for lam in lams)
    assert _vertex(LeaveOneOut(lams, errors, np.zeros(2))) == pytest.approx(np.exp(0.4))


@pytest.fixture(scope="module")
def analysis():
    return analyse_matrix(
        sample(AR1(8, 0.6), 60, stream(0, "analysis")), repeats=2, lams=[0.1, 1.0], sizes=[20, 30, 48]
    )


def test_shares_and_errors_of_an_analysis(analysis):
    assert analysis.converged
    assert len(analysis.to_frame()) == len(analysis.rows)
    assert analysis.explained == pytest.approx(
        [1 - e / v for e, v in zip(analysis.column_error, analysis.variances, strict=True)]
    )
    assert (analysis.theory[:, -1] <= analysis.theory[:, :-1].min(axis=1) + 1e-12).all()
    theory = data_theory(admitted(sample(AR1(8, 0.6), 60, stream(0, "analysis"))), np.array([1e-5, 1e2]), 20)
    grid = np.geomspace(1e-3, 10, 400)
    assert analysis.doubled_error == pytest.approx(np.nanmin(theory.mean_test_error(120, grid)), rel=1e-3)


def test_the_report_says_by_how_much_theory_is_off(analysis):
    shape = analysis.theory.shape
    measured = np.stack([np.full(shape, 2.0 - 1e-9), np.full(shape, 2.0 + 1e-9)])
    theory = np.full(shape, 2.2)
    theory[0, 0] = 3.0
    changed = replace(
        analysis,
        test_error=measured,
        theory=theory,
        empirical_theory=np.full(shape, 1.5),
        column_error=np.full(8, 0.4),
        variances=np.full(8, 1.6),
    )
    said = " ".join(matrix_report(replace(changed, show_theory=True), "title").split())
    assert f"lam = 0.1 20 2.5 {Estimate.of(measured[:, 0, 0])} 3 +50.0% 1.5 -25.0%" in said
    assert "differs from the held-out errors by 10.0 % (median)" in said
    assert "and by 25.0 % when it takes the covariance of the data as exact" in said
    assert "is 0.4 on average, where predicting the mean of the column leaves 1.6: 75.0 % of the variance" in said


def test_repeats_fill_the_budget():
    plan = make_plan(20_000, 400, 5, test_fraction=0.2, sizes=None, repeats=None)
    work = sum(_work(size, 400, plan.n_test, 5) for size in plan.sizes)
    assert 4 < plan.repeats < 20
    assert plan.repeats * work <= BUDGET < (plan.repeats + 1) * work


# spectra


@pytest.fixture(scope="module")
def spectrum():
    rng = stream(0, "spectrum")
    rows = rng.standard_normal((150, 20)) * np.linspace(0.5, 2, 20)
    rows += 4 * rng.standard_normal((150, 1)) * np.linspace(1, -1, 20)
    return rows, matrix_spectrum(rows, [f"c{k}" for k in range(20)], 0.3)


def test_directions_are_right_eigenvectors(spectrum):
    rows, found = spectrum
    covariance = np.cov(rows.T)
    predictor = fit(admitted(rows).contrasts(), float(ridge_of_contrasts(0.3, len(rows)))).predictor
    matrices = {MASKED: predictor, COVARIANCE: covariance, CORRELATION: covariance / np.diagonal(covariance)}
    for method, matrix in matrices.items():
        one = found[method]
        assert matrix @ one.directions == pytest.approx(one.directions * one.eigenvalues, abs=1e-8)
        assert np.linalg.norm(one.directions, axis=0) == pytest.approx(1)


def test_the_noise_of_standardized_columns_is_white():
    """Independent columns of any variances: the correlation matrix has the Marchenko-Pastur law."""
    for seed in range(6):  # one sample in a hundred has an outlier by chance
        X = stream(seed, "independent").standard_normal((200, 40)) * np.geomspace(0.1, 10, 40)
        found = matrix_spectrum(X, [str(k) for k in range(40)], 0.3)
        if found.noise.removed == 0:
            break
    edge = (1 + np.sqrt(40 / 199)) ** 2
    assert found[CORRELATION].independent.high == pytest.approx(edge, rel=1e-6)
    assert found[CORRELATION].noise.high == pytest.approx(edge, rel=1e-6)
    variances = X.var(axis=0, ddof=1)
    assert found.noise.variances == pytest.approx(variances)
    assert found[MASKED].noise.high == pytest.approx(found[MASKED].independent.high, rel=0.05)


def test_the_noise_part_is_unbiased():
    """Five strong directions take 5 of 60 rows, and a sixth of every column: 8 % and 17 % if it were forgotten."""
    ratios = []
    for r in range(60):
        rng = stream(r, "noise part")
        basis = np.linalg.qr(rng.standard_normal((30, 5)))[0]
        X = rng.standard_normal((60, 30)) + 30 * rng.standard_normal((60, 5)) @ basis.T
        found = noise_part(X.T @ X / 60, 60)
        if found.removed == 5:  # one sample in a hundred has one more outlier by chance
            ratios.append(found.variances.mean())
    assert len(ratios) > 48
    estimate = Estimate.of(ratios)
    assert estimate.stderr < 0.009
    assert abs(estimate.mean - 1) < 0.025 + 5 * estimate.stderr


def test_overlaps_angles_and_names_of_directions(spectrum):
    _, found = spectrum
    one = found[COVARIANCE]
    same = replace(one, noise=replace(one.noise, high=0.0, high_margin=1e-9))  # all directions are outliers
    assert subspace_overlap(same, same) == (pytest.approx(1), 20)
    assert subspace_overlap(one, one) == (pytest.approx(1), 1)
    names = tuple(f"c{k}" for k in range(20))
    assert _largest(one.directions[:, -1], names) == _largest(-one.directions[:, -1], names)
    assert _compared(np.array([0.5, 0.1]), 0) == "60 degrees from direction 1 of PCA"
    assert _compared(np.array([0.1, 0.5]), 0) == "84 degrees from direction 1 of PCA, 60 from its direction 2"


def test_predicted_ranks_begin_behind_the_outliers(spectrum):
    _, found = spectrum
    rows = [entry for entry in spectrum_rows(found) if entry["panel"] == COVARIANCE]
    for curve, outliers in ((NOISE, found[COVARIANCE].outliers), (INDEPENDENT, 0)):
        ranks = [entry["x"] for entry in rows if entry["curve"] == curve]
        assert max(ranks) == pytest.approx(20, abs=1e-3)
        assert min(ranks) == pytest.approx(max(outliers, 0.5), abs=1e-3)
    assert found[COVARIANCE].outliers >= 1
    noise = found[COVARIANCE].noise
    assert noise.high_margin > 0
    assert {entry["theory"] for entry in rows if entry["curve"] == LIMIT} == {noise.high + noise.high_margin}


# sequences


def states(M, L, C=3):
    """Sequences whose sites depend on their left neighbors."""
    rng = stream(0, "states", M, L, C)
    found = rng.integers(0, C, (M, L))
    for i in range(1, L):
        found[:, i] = np.where(rng.random(M) < 0.5, found[:, i - 1], found[:, i])
    return found.astype(np.uint8)


SETTINGS = Settings(n_colors=3, identity=None, l2=1.0, field_l2=0.5, max_iter=500, tol=1e-8)


def test_penalties_are_for_the_effective_number_of_sequences():
    once = states(40, 5)
    plain = pair_fit(once, np.ones(40), SETTINGS)
    twice = pair_fit(np.repeat(once, 2, axis=0), np.full(80, 0.5), SETTINGS)
    assert twice.couplings == pytest.approx(plain.couplings, abs=1e-6)
    assert twice.fields == pytest.approx(plain.fields, abs=1e-6)


def test_the_loss_of_sites_alone_is_the_penalized_optimum():
    training, held_out = states(40, 2), states(30, 2)
    training[:, 1] = held_out[:, 1] = 0  # one site varies: no pair
    found = learning_task(training, held_out, np.ones(30), np.arange(30), SETTINGS)
    counts = np.bincount(training[:, 0], minlength=3)

    def log_probabilities(h):
        return h - np.log(np.exp(h).sum())

    def penalized(h):
        return -counts @ log_probabilities(h) + SETTINGS.field_l2 * h @ h

    h = minimize(penalized, np.zeros(3), tol=1e-12).x
    constant = minimize(lambda h: -40 * log_probabilities(h)[0] + SETTINGS.field_l2 * h @ h, np.zeros(3), tol=1e-12).x
    losses = (-log_probabilities(h)[held_out[:, 0]] - log_probabilities(constant)[0]) / 2
    assert found[3] == pytest.approx(losses.mean(), abs=1e-6)
    assert found[4] == pytest.approx(losses.std(ddof=1) / np.sqrt(30), abs=1e-6)
    assert found[0] == found[3]
    assert found[6] == 0


def test_constant_sites_count_in_the_loss_of_the_pair_model():
    training, held_out = states(60, 6), states(30, 6)
    training[:, 4:] = held_out[:, 4:] = 1
    found = learning_task(training, held_out, np.ones(30), np.arange(30), SETTINGS)
    pair = sequence_losses(pair_fit(training[:, :4].copy(), np.ones(60), SETTINGS).model, held_out[:, :4]).mean()
    constant = learning_task(training[:, 4:], held_out[:, 4:], np.ones(30), np.arange(30), SETTINGS)[3]
    assert found[0] == pytest.approx((4 * pair + 2 * constant) / 6, abs=1e-9)
    assert found[6] == pytest.approx(found[3] - found[0])


def test_training_sequences_are_weighted_among_themselves():
    """With an identity of 1 copies count as one: twice the sequences are the same as once."""
    training, held_out = states(60, 4), states(30, 4)
    training = np.unique(training, axis=0)
    near = replace(SETTINGS, identity=0.75)
    similar = (training[:, None] == training).mean(axis=2) >= 0.75
    assert near.weights(training) == pytest.approx(1 / similar.sum(axis=1))
    once = learning_task(training, held_out, np.ones(30), np.arange(30), SETTINGS)
    copies = np.concatenate([training, training[:20], training[:5]])
    twice = learning_task(copies, held_out, np.ones(30), np.arange(30), replace(SETTINGS, identity=1.0))
    assert twice == pytest.approx(once, abs=1e-7)
    assert learning_task(copies, held_out, np.ones(30), np.arange(30), SETTINGS) != pytest.approx(once, abs=1e-4)


def test_the_best_ridge_takes_the_place_of_its_near_neighbors():
    """Those within a factor of 3 on either side; all others to two digits."""
    lams = np.array([0.01234, 0.5, 1.0, 5.0, 30.0])
    assert _with_best(lams, 1.234).tolist() == [0.012, 1.234, 5.0, 30.0]
    assert _with_best(lams, 20.0).tolist() == [0.012, 0.5, 1.0, 5.0, 20.0]


def test_predictions_of_few_rows_are_left_out():
    predict = trusted(lambda n, lams: n * lams)
    assert predict(MIN_ROWS, np.array([0.5, 2.0])).tolist() == [0.5 * MIN_ROWS, 2.0 * MIN_ROWS]
    assert np.isnan(predict(MIN_ROWS - 1, np.array([0.5, 2.0]))).all()


@pytest.mark.parametrize(
    ("losses", "best", "edge"),
    [
        ((3.0, 1.0, 2.0), 0.4, ""),
        ((1.0, 2.0), 0.1, ", the weakest of those tried, so that a weaker one may be better"),
        ((4.0, 3.0, 2.0, 1.0), 6.4, ", the strongest of those tried, so that a stronger one may be better"),
    ],
)
def test_the_penalty_of_least_loss_is_chosen(losses, best, edge):
    colors = states(200, 6)
    own = Reweighting(np.ones(200), np.arange(200), None)
    found, note = tuned(
        colors,
        own,
        np.arange(150),
        SETTINGS,
        6,
        np.random.default_rng(0),
        lambda tasks: {task.key: np.array(losses) for task in tasks},
    )
    assert found.l2 == best  # of .01 (C - 1)(L - 1) times 1, 4, 16 and 64
    assert note.startswith(f"the penalty of the couplings is {best}{edge}. It predicts best")
    assert f"tried: {', '.join(('0.1', '0.4', '1.6', '6.4')[: len(losses)])}" in note


def test_evidence_and_perplexity():
    found = analyse_sequences(states(60, 6), "ACG", min_separation=1, l2=1.0, reweight=False)
    assert found.converged
    for gain, loss, evidence in ((0.13, 1.0, True), (0.11, 1.0, False), (0.13, 1.1, False)):
        changed = replace(found, gain=(Estimate(gain, 0.06, 9),), pair_loss=(Estimate(loss, 0.1, 9),), sizes=(48,))
        assert changed.gains == evidence
    changed = replace(found, pair_loss=(Estimate(np.log(2), 0.1, 9),), independent_loss=(Estimate(np.log(3), 0.1, 9),))
    said = " ".join(sequence_report(changed, "title").split())
    assert "choose among 2.000 equally likely letters (this number is its perplexity)" in said
    assert "from the column alone it is as hard as among 3.000" in said
    uniform = [entry["theory"] for entry in found.rows if entry["curve"] == "uniform"]
    assert uniform == pytest.approx([np.log(3)] * 2)


@pytest.mark.parametrize("gap", [None, 0, 2])
def test_strongest_colors_leave_out_gaps(gap):
    J = stream(0, "strongest").standard_normal((4, 4, 3, 3))
    J[:, :, 0, :] += 5  # a gauge, which changes nothing
    J = J + J.transpose(1, 0, 3, 2)
    found = strongest_colors(J, gap=gap)
    centered = J - J.mean(2, keepdims=True) - J.mean(3, keepdims=True) + J.mean((2, 3), keepdims=True)
    for i in range(4):
        for j in set(range(4)) - {i}:
            pairs = [(a, b) for a in range(3) for b in range(3) if gap not in (a, b)]
            assert tuple(found[i, j]) == max(pairs, key=lambda ab, i=i, j=j: centered[i, j, ab[0], ab[1]])


# text


@pytest.fixture(scope="module")
def corpus():
    model = TopicModel(n_topics=4, words_per_topic=8, topics_per_document=2)
    return sample_topic_documents(model, 80, stream(0, "documents"), length=40).counts


OPTIONS = {"topics": 4, "sweeps": 20, "permutations": 100, "dimension": 6, "thresholds": [0.1, 0.2]}


def test_topics_are_those_of_the_sampler(corpus):
    found = analyse_corpus(corpus, [f"w{k}" for k in range(32)], **OPTIONS)
    fitted = gibbs_lda(corpus, 4, stream(0, "topics"), sweeps=20)
    assert found.shares == pytest.approx(fitted.document_topics.mean(axis=0))
    assert found.perplexity == fitted.perplexity[fitted.best]
    assert found.perplexity == min(fitted.perplexity)
    assert [words[0] for words in found.topics] == [f"w{k}" for k in fitted.topic_words.argmax(axis=1)]


def test_tables_hold_what_was_measured(corpus):
    found = analyse_corpus(corpus, [f"w{k}" for k in range(32)], **OPTIONS)
    frame = contrast_frame(found.comparisons)
    for (_, line), one in zip(frame.iterrows(), found.comparisons, strict=True):
        own = one.contrast
        assert (line["same"], line["different"]) == (own.same.mean, own.different.mean)
        assert line["difference"] == pytest.approx(line["same"] - line["different"])
        assert line["z"] == pytest.approx((line["difference"] - line["permuted_mean"]) / line["permuted_sd"])
        assert (line["same_stderr"], line["different_stderr"]) == (own.same.stderr, own.different.stderr)
    permuted = [entry for entry in found.rows if entry["curve"] == "permuted topics"]
    plain = frame[(frame["measured"] == "embedding") & (frame["rule"] == "no overlap")]
    assert [entry["simulation"] for entry in permuted] == list(plain["permuted_mean"])
    assert [entry["stderr"] for entry in permuted] == list(plain["permuted_sd"])


def test_controls_that_fail_are_said_aloud(corpus):
    found = analyse_corpus(corpus, [f"w{k}" for k in range(32)], **OPTIONS)
    assert "came back exactly" in text_report(found, "title")
    random = [one for one in found.comparisons if one.source == "random embedding"]
    high = replace(random[0], contrast=replace(random[0].contrast, null_mean=-50.0, null_sd=1.0))
    low = replace(random[0], contrast=replace(random[0].contrast, null_mean=random[0].contrast.difference.mean))
    assert "as by chance" in text_report(replace(found, comparisons=(low,)), "title")
    said = " ".join(text_report(replace(found, comparisons=(high,), planted=False), "title").split())
    assert "DID NOT COME BACK" in said
    assert "MORE THAN BY CHANCE" in said


def test_thresholds_that_can_leave_no_pairs_are_refused_and_no_others():
    for threshold in (0.05, 0.31, 0.5, 0.9):
        selected = topic_membership(stream(0, "phi").random((1, 20)), threshold).sum()
        assert words_of_a_topic(threshold, 20) == selected
    assert words_of_a_topic(0.29, 100) == topic_membership(stream(0, "phi").random((1, 100)), 0.29).sum() == 30
    phi = np.vstack([np.arange(20.0), -np.arange(20.0)])  # two topics that agree as little as they can
    kept = topic_membership(phi, 17.5 / 20)  # 18 of 20 words each: 2 of each topic are not selected by the other
    assert kept.sum(axis=1).tolist() == [2, 2]
    assert planned_thresholds([17.5 / 20, 0.06], 20, 20) == (0.06, 17.5 / 20)
    for threshold in (18.5 / 20, 0.04):
        with pytest.raises(ValueError, match="thresholds must select at least 2 words"):
            planned_thresholds([threshold], 20, 20)
    assert topic_membership(phi, 18.5 / 20).sum(axis=1).tolist() == [1, 1]  # a single word has no pair
