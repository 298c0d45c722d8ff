"""The analysis of a matrix whose rows depend on each other: laws, splits, corrected errors, verdicts, sentences."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from figures.analyse.matrix import admitted, analyse_matrix, report
from figures.analyse.matrix.centered_rows import ridge_of_contrasts
from figures.analyse.matrix.data_theory import data_theory
from figures.analyse.matrix.dependent.laws import EXACT_ROWS, GroupLaws, SeriesLaws, contrast_law
from figures.analyse.matrix.dependent.row_order import autocovariances, far_apart, row_order
from figures.analyse.matrix.dependent.splits import LaterBlocks, WholeGroups
from figures.analyse.matrix.dependent.theory import dependent_theory, empirical_dependent_errors
from figures.analyse.matrix.dependent.verdicts import compared, repeats_shifted
from figures.analyse.matrix.dependent.whitening import whitened_rows
from figures.analyse.matrix.plan import make_plan
from simulate.core import Estimate, stream
from simulate.masked import autoregressive_rows, fit, row_blocks, sample
from theory import masked
from theory.models import AR1, AR1Rows, Empirical, GivenRows, IndependentRows, MaskedRidge, PointScales, SubjectRows

D, PHI, LAM = 20, 0.8, 0.1
COVARIANCE = AR1(D, 0.6)
OPTIONS = {"repeats": 3, "lams": [LAM, 1.0], "sizes": [15, 40, 110]}


def data(number, n=160, correlation=PHI, d=D, **laws):
    """Rows in time, of known covariance, about a mean that is not zero."""
    dependence = AR1Rows(n, correlation) if correlation else IndependentRows()
    rng = stream(0, "dependent rows", number)
    return sample(AR1(d, 0.6), n, rng, row_dependence=dependence, **laws) + np.linspace(-3, 5, d)


def error_far_away(X, lam):
    """The exact error of a fit to X about its mean on a row of the mean of `data` that is independent of all."""
    predictor = fit(X - X.mean(axis=0), lam).predictor
    residual = np.eye(D) - predictor
    off = residual @ (X.mean(axis=0) - np.linspace(-3, 5, D))
    return float(np.mean(np.diag(residual @ COVARIANCE.matrix @ residual.T) + off**2))


def series(correlation=PHI, length=1000):
    return SeriesLaws(correlation ** np.arange(length), np.array([correlation]))


def centered_eigenvalues(T):
    J = np.eye(len(T)) - 1 / len(T)
    return np.linalg.eigvalsh(J @ T @ J)[1:]


def plain(text):
    return re.sub(r"\n  +", " ", text)


@pytest.fixture(scope="module")
def analysis():
    return analyse_matrix(data(0), order="test", **OPTIONS)


@pytest.fixture(scope="module")
def alike():
    return analyse_matrix(data(1, correlation=0), order="test", **OPTIONS)


@pytest.mark.parametrize("n", [5, 60])
def test_contrasts_have_the_eigenvalues_of_rows_about_their_mean(n):
    T = AR1Rows(n, PHI).matrix
    expected, law = centered_eigenvalues(T), series().contrasts(n)
    np.testing.assert_allclose(np.sort(law.scales.nodes) * law.size, expected, rtol=1e-9)
    assert law.size == pytest.approx(expected.mean())
    assert law.mean_variance == pytest.approx(T.sum() / n**2)


@pytest.mark.parametrize("correlation", [-0.6, 0.6, 0.97, 0.99, 0.999, 0.9999])
def test_many_rows_have_the_law_of_waves(correlation):
    """From rows that forget within the table to a random walk; the correction is compared at a share of .3."""
    n = EXACT_ROWS + 100
    exact, law = centered_eigenvalues(AR1Rows(n, correlation).matrix), series(correlation).contrasts(n)
    expected = contrast_law(exact, law.mean_variance)
    assert law.size == pytest.approx(exact.mean(), rel=1e-6)
    train, gcv = np.array([0.49]), np.array([1.0])
    assert law.corrected(train, gcv) == pytest.approx(expected.corrected(train, gcv), rel=0.025)
    assert law.scales.heterogeneity == pytest.approx(expected.scales.heterogeneity, rel=0.1)


def test_groups_have_the_eigenvalues_of_their_matrix():
    T, law = SubjectRows([4], 0.6, n=80).matrix, GroupLaws(np.full(20, 4), 0.6).contrasts(80)
    expected = centered_eigenvalues(T)
    assert law.scales.heterogeneity == pytest.approx(np.mean(expected**2) / expected.mean() ** 2)
    assert law.size == pytest.approx(expected.mean())
    assert law.mean_variance == pytest.approx(T.sum() / 80**2)


def test_of_independent_rows_nothing_is_corrected():
    law = SeriesLaws(np.array([1.0]), np.zeros(0)).contrasts(50)
    gcv = np.array([[1.0, 2.0], [0.5, 0.0]])
    np.testing.assert_allclose(law.corrected(gcv * 0.49, gcv), gcv * (1 + 1 / 50), rtol=1e-9)


@pytest.mark.parametrize("share", [1e-6, 0.2, 0.9, 0.9999])
@pytest.mark.parametrize("laws", [series(), series(0.97), GroupLaws(np.full(25, 4), 0.6)])
def test_the_correction_is_that_of_the_theory_of_unlike_rows(laws, share):
    """With the root D of E[t D/(1 + t D)] = y the error is the training error over E[t/(1 + t D)^2]."""
    law = laws.contrasts(100)
    t, p = np.array(law.scales.nodes), np.array(law.scales.probabilities)
    D = brentq(lambda log_D: p @ (t / (t + np.exp(-log_D))) - share, -40, 40, xtol=1e-13)
    ratio = p @ (t / (1 + t * np.exp(D)) ** 2)
    gcv = np.array([[1.0, 0.3]])
    found = law.corrected(gcv * (1 - share) ** 2, gcv)
    np.testing.assert_allclose(found, gcv * (1 - share) ** 2 / ratio * law.mean_factor, rtol=1e-7)


def test_a_fit_that_uses_all_that_a_singular_law_has_is_left_as_it_is():
    law = GroupLaws(np.full(10, 4), 1.0).contrasts(40)
    gcv = np.array([1.0, 0.5])
    np.testing.assert_allclose(law.corrected(np.array([0.3, 0.0]), gcv), gcv * law.mean_factor, rtol=1e-12)


@pytest.mark.parametrize(
    ("laws", "dependence"),
    [(series(), AR1Rows(100, PHI)), (GroupLaws(np.full(25, 4), 0.6), SubjectRows([4], 0.6, n=100))],
)
def test_the_corrected_error_is_that_of_the_fit_by_another_route(laws, dependence):
    """There the mean is taken out by determinants, and its covariance with the residuals is kept, of order 1/n^2."""
    X = data(2, n=100)
    expected = fit(X - X.mean(axis=0), LAM).corrected_error(dependence, centered=True)
    found = fit(admitted(X).contrasts(), float(ridge_of_contrasts(LAM, 100)))
    np.testing.assert_allclose(laws.contrasts(100).corrected(found.train_error, found.gcv_error), expected, rtol=0.02)


@pytest.mark.parametrize("n", [40, 150, 300])
def test_the_error_at_any_number_of_rows_follows_from_the_rows_that_there_are(agrees, n):
    """Predicted from 150 rows, measured exactly on fits to n of the 300: the means over 60 tables agree."""
    found = []
    for number in range(60):
        X = data(100 + number, n=300)
        theory = dependent_theory(data_theory(admitted(X[:150]), np.array([0.01, 1.0]), 20), series())
        found.append(theory.mean_test_error(n, np.array([LAM]))[0] - error_far_away(X[:n], LAM))
    scale = error_far_away(data(100, n=300)[:n], LAM)
    agrees(Estimate.of(1 + np.array(found) / scale), 1.0, resolves=0.1)


def test_gcv_of_the_same_rows_is_far_from_it():
    """A wrong theory would be seen: without the correction the error is a third of the true one."""
    X = data(100, n=150)
    theory = data_theory(admitted(X), np.array([0.01, 1.0]), 20)
    assert theory.mean_test_error(150, np.array([LAM]))[0] < 0.6 * error_far_away(X, LAM)


def test_the_theory_that_takes_the_covariance_as_exact_agrees_where_it_is():
    laws, lams = series(), np.array([LAM])
    units = laws.contrasts(150).size  # the covariance of contrasts is smaller by so much
    covariance = Empirical(COVARIANCE.matrix * units)
    found = empirical_dependent_errors(covariance, laws, 150, 150, lams)[0]
    measured = Estimate.of([error_far_away(data(100 + r, n=150), LAM) for r in range(60)])
    assert abs(found - measured.mean) < 5 * measured.stderr
    assert 5 * measured.stderr < 0.05 * found


def test_and_it_is_what_the_solver_says_of_the_contrasts_with_their_dependence():
    """The contrasts of 90 rows are 89 rows with the covariance H'TH between them, H orthogonal to the mean."""
    n, T = 90, AR1Rows(90, PHI).matrix
    H = np.linalg.svd(np.eye(n) - 1 / n)[0][:, :-1]
    dependence = GivenRows.rescaled(H.T @ T @ H)
    law = series().contrasts(n)
    lam = float(ridge_of_contrasts(LAM, n)) / law.size
    model = MaskedRidge(COVARIANCE, (n - 1) / D, lam, row_dependence=dependence)
    covariance = Empirical(COVARIANCE.matrix * series().contrasts(150).size)
    found = empirical_dependent_errors(covariance, series(), 150, n, np.array([LAM]))[0]
    assert found == pytest.approx(masked.solve(model).mean_test_error * (1 + T.sum() / n**2), rel=1e-4)


def test_the_autoregression_is_continued_as_its_record_does():
    fitted = autoregressive_rows(data(3), stream(0, "a test"))
    assert fitted.order >= 1
    np.testing.assert_allclose(autocovariances(fitted, 50), fitted.dependence(50).autocovariances(50), atol=1e-12)


def test_rows_are_far_apart_from_the_lag_beyond_which_none_correlates():
    assert far_apart(0.5 ** np.arange(100)) == (4, True)
    assert far_apart(np.cos(np.arange(400)) * 0.8 ** np.arange(400)) == (10, True)  # not where it crosses zero
    assert far_apart(0.99 ** np.arange(100)) == (10, False)
    assert far_apart(np.eye(1, 50)[0]) == (1, True)


def test_later_blocks_are_later_and_far_from_the_fitted_rows():
    n, plan = 100, make_plan(100, 5, 3, test_fraction=0.2, sizes=None, repeats=None, gap=6)
    blocks = LaterBlocks.of(plan)
    held_out = []
    assert (plan.repeats, plan.n_test, plan.sizes[-1]) == (3, 6, 74)
    for repeat in range(plan.repeats):
        order = blocks.order(n, repeat)
        assert sorted(order) == list(range(n))
        block, fitted = order[n - plan.n_test :], order[: plan.sizes[-1]]
        assert fitted.max() == block.min() - 7
        assert fitted[0] == fitted.max()
        held_out += block.tolist()
    assert held_out == list(range(82, 100))


def test_folds_hold_out_each_row_once_with_a_gap_on_both_sides():
    folds = list(LaterBlocks(1, 1, 1, 4).folds(50))
    np.testing.assert_array_equal(np.concatenate([block for block, _ in folds]), np.arange(50))
    block, far = folds[2]
    assert (block[0], block[-1]) == (20, 29)
    assert set(far) == set(range(16)) | set(range(34, 50))


def test_groups_are_never_divided_between_fitted_and_held_out_rows():
    groups = stream(0, "groups").integers(0, 12, 60)
    groups = np.unique(groups, return_inverse=True)[1]
    splits, spare = WholeGroups(groups, 0), int(np.bincount(groups).max()) - 1
    plan = make_plan(60, 5, 3, test_fraction=0.2, sizes=None, repeats=None, spare=spare)
    for repeat in range(5):
        order = splits.order(60, repeat)
        assert not set(groups[order[: plan.sizes[-1]]]) & set(groups[order[-plan.n_test :]])
    folds = list(splits.folds(60))
    assert sorted(np.concatenate([block for block, _ in folds])) == list(range(60))
    assert not any(set(groups[block]) & set(groups[far]) for block, far in folds)


def test_a_gap_that_leaves_no_rows_is_refused():
    with pytest.raises(ValueError, match=r"gap must be at most 30, so that two rows are left to be fitted, got 31"):
        make_plan(40, 5, 3, test_fraction=0.2, sizes=None, repeats=None, gap=31)


def test_independent_rows_are_called_dependent_in_one_table_of_a_hundred():
    """More than 6 of 100 have a probability of 1e-4."""
    found = [row_order(admitted(data(r, 40, 0, 6)), "test", None, None, r) for r in range(100)]
    assert sum(one.laws is not None for one in found) <= 6


def test_dependent_rows_are_found_and_named(analysis):
    found = analysis.dependent_rows
    assert found.order.test.p_value == 0.005
    assert found.order.test.values[0] == pytest.approx(PHI, abs=0.1)
    assert 20 < found.effective_rows < 80
    assert (found.drift, found.too_large, found.shifted, found.few, found.unlike_ratio) == (False,) * 4 + (None,)
    text = plain(report(analysis, "title"))
    assert re.search(r"Successive rows resemble each other \(correlation 0\.[78]\d+\(\d+\) at lag 1", text)
    assert "rows in random order do so with probability 0.005 at most)" in text
    assert "160 rows are worth about" in text
    assert "If the rows are sorted by a column, or stand by kinds, that alone can do it: shuffle them" in text
    assert re.search(r"GCV reports an error of \S+ and leave-one-out \S+\. The error on rows far from these is", text)
    assert f"5 blocks with gaps of {analysis.plan.gap} rows" in text
    assert "by corrected GCV" in text
    assert "the outliers are too many" in text


def test_corrected_error_is_near_the_true_one_and_gcv_is_not(analysis):
    found, true = analysis.dependent_rows, error_far_away(data(0), analysis.best.chosen)
    assert found.corrected == pytest.approx(true, rel=0.2)
    assert found.gcv < 0.75 * true
    assert found.loo.mean < 0.75 * true
    assert found.blocked_error.mean == pytest.approx(true, rel=0.4)
    assert analysis.best.chosen > 2 * analysis.best.gcv
    assert found.at_best <= found.at_gcv
    assert analysis.column_error.mean() == pytest.approx(found.corrected)


def test_splits_are_later_blocks_and_the_theory_is_that_of_the_rows(analysis):
    assert analysis.plan.gap == analysis.dependent_rows.order.gap > 3
    assert analysis.dependent_rows.corrected_error.shape == analysis.test_error.shape
    ratio = analysis.dependent_rows.corrected_error.mean(axis=0) / analysis.theory
    assert np.nanmax(abs(np.log(ratio))) < 0.4
    assert np.nanmax(analysis.gcv_error.mean(axis=0)[:, 0] / analysis.theory[:, 0]) < 0.75


def test_table_and_report_show_what_is_corrected(analysis):
    choice = {line["curve"] for line in analysis.rows if line["panel"] == "choice of the ridge for all rows"}
    assert choice >= {"GCV", "leave-one-out", "corrected GCV", "held-out blocks", "best by corrected GCV"}
    assert not {"best by GCV", "best by leave-one-out"} & choice
    assert analysis.labels[-1] == r"$\lambda$ by corrected GCV"
    assert report(analysis, "title", "markdown").splitlines()[2].count("|") == 13


def test_a_second_seed_splits_the_same_blocks(analysis):
    again = analyse_matrix(data(0), order="test", seed=5, **OPTIONS)
    np.testing.assert_array_equal(again.test_error, analysis.test_error)


def test_of_independent_rows_nothing_changes_but_one_line(alike):
    untested = analyse_matrix(data(1, correlation=0), **OPTIONS)
    assert alike.rows == untested.rows
    assert alike.dependent_rows is None
    assert (alike.best, alike.plan) == (untested.best, untested.plan)
    lines = plain(report(alike, "title")).splitlines()
    others = plain(report(untested, "title")).splitlines()
    changed = [(a, b) for a, b in zip(lines, others, strict=True) if a != b]
    assert len(changed) == 1
    assert changed[0][0].startswith("Successive rows do not resemble each other, as far as one can tell (correlation ")
    assert changed[0][1] == "Whether successive rows resemble each other was not tested, as was asked for."


def test_rows_in_time_are_split_by_blocks_even_if_they_are_independent():
    found = analyse_matrix(data(1, correlation=0), order="time", gap=7, **OPTIONS)
    assert (found.plan.gap, found.dependent_rows) == (7, None)
    assert "a mean over 3 blocks of later rows" in plain(report(found, "title"))


def test_fewer_rows_than_can_be_tested_are_not():
    found = analyse_matrix(data(4, n=19), order="test", repeats=2, lams=[LAM], sizes=[12])
    assert "cannot be tested on fewer than 20 rows." in plain(report(found, "title"))


def test_rows_of_groups_are_compared_and_held_out_with_their_group():
    groups = np.repeat(np.arange(40), 4)
    X = sample(COVARIANCE, 160, stream(0, "groups"), row_dependence=SubjectRows([4], 0.6, n=160))
    order = stream(0, "order").permutation(160)
    names = np.array([f"person {g}" for g in groups])[order]
    found = analyse_matrix(X[order], order="test", groups=names, **OPTIONS)
    rows = found.dependent_rows
    assert rows.order.laws.correlation == pytest.approx(0.6, abs=0.1)
    assert found.plan.gap is None
    assert rows.gcv < 0.95 * rows.corrected
    text = plain(report(found, "title"))
    assert re.search(r"Rows of one group resemble each other \(correlation 0\.[56]", text)
    assert "5 sets of groups held out whole" in text
    assert "sorted by a column" not in text
    white = analyse_matrix(X[order], order="test", groups=names, whiten_rows=True, **OPTIONS)
    assert white.dependent_rows is None
    assert white.row_order.before.laws is not None
    shuffled = [stream(r, "shuffled").permutation(names) for r in range(12)]  # half correlate above zero by chance
    assert sum(row_order(admitted(X[order]), "test", labels, None, 0).laws is not None for labels in shuffled) <= 1
    alone = analyse_matrix(X[order], order="test", groups=shuffled[0], repeats=2, lams=[LAM])
    assert alone.plan.sizes[-1] == 160 - 32 - 3  # a group that would be divided is left out
    assert "Rows of one group do not resemble each other" in plain(report(alone, "title"))


def test_groups_about_their_own_means_depend_on_each_other_and_gcv_is_too_small():
    groups = np.repeat(np.arange(50), 3)
    X = sample(COVARIANCE, 150, stream(0, "own means"))
    X -= np.repeat(X.reshape(50, 3, D).mean(axis=1), 3, axis=0)
    found = analyse_matrix(X, order="test", groups=groups, **OPTIONS)
    rows = found.dependent_rows
    assert rows.order.laws.correlation == pytest.approx(-0.5, abs=1e-5)
    assert rows.effective_rows == pytest.approx(100, rel=0.02)  # the contrasts that are left
    assert 1.02 * rows.gcv < rows.corrected == pytest.approx(rows.blocked_error.mean, rel=0.1)
    text = plain(report(found, "title"))
    assert "Rows of one group depend on each other (correlation -0.500" in text
    assert "and more than 15000 for the means" in text


def test_whitened_rows_are_independent_and_predict_better(analysis):
    X = data(0)
    white = analyse_matrix(X, order="test", whiten_rows=True, **OPTIONS)
    assert white.dependent_rows is None
    assert white.plan.gap is None
    assert white.row_order.test.p_value > 0.01
    assert "After whitening they do not, as far as one can tell" in plain(report(white, "title"))
    order = white.row_order.before.fitted.order
    assert white.n == 160 - order
    assert white.mean_variance == pytest.approx(1, rel=0.2)  # as the rows have
    rows, _ = whitened_rows(admitted(X), row_order(admitted(X), "test", None, None, 0), 0)
    assert error_far_away_of(rows.rows.all_rows(), white.best.chosen) < error_far_away(X, analysis.best.chosen)


def error_far_away_of(rows, lam):
    residual = np.eye(D) - fit(rows - rows.mean(axis=0), lam).predictor
    return float(np.mean(np.diag(residual @ COVARIANCE.matrix @ residual.T)))


def test_whitening_leaves_rows_as_they_are_that_do_not_depend(alike):
    found = analyse_matrix(data(1, correlation=0), order="test", whiten_rows=True, **OPTIONS)
    assert found.rows == alike.rows
    assert "nothing was whitened, since rows were not found to depend on each other" in found.notes


def test_blocks_of_rows_give_what_rows_in_memory_do(analysis):
    X = data(0)
    parts = row_blocks(lambda: iter([X[:50], X[50:51], X[51:]]))
    found = analyse_matrix(parts, order="test", **OPTIONS)
    np.testing.assert_allclose(found.test_error, analysis.test_error, rtol=1e-7)
    assert found.dependent_rows.corrected == pytest.approx(analysis.dependent_rows.corrected, rel=1e-6)
    assert found.dependent_rows.blocked_error.mean == pytest.approx(analysis.dependent_rows.blocked_error.mean)
    in_memory, in_blocks = (
        whitened_rows(x, row_order(x, "test", None, None, 0), 0)[0] for x in map(admitted, (X, parts))
    )
    np.testing.assert_allclose(np.concatenate(list(in_blocks.rows)), in_memory.rows.all_rows(), atol=1e-9)


def test_large_tables_are_tested_on_runs_of_rows():
    X = admitted(data(5, n=2600, d=4, correlation=0.3))
    found = row_order(X, "test", None, None, 0)
    assert (found.tested, found.n) == (2000, 2600)
    assert found.laws is not None
    assert found.test.values[0] == pytest.approx(0.3, abs=0.1)


def test_rows_that_differ_in_scale_too_are_corrected_for_both():
    """AR(1) rows of scales .4 and 2.8: GCV reports 2/3 of the true error, leave-one-out 4/5."""
    X = data(6, n=300, correlation=0.6, d=40, row_scales=PointScales([0.4, 2.8], [0.75, 0.25]))
    found = analyse_matrix(X, order="test", repeats=2, lams=[LAM], sizes=[100])
    rows = found.dependent_rows
    assert rows.unlike_ratio.mean > 1.2
    assert rows.order.fitted.autocovariance[1] == pytest.approx(0.6, abs=0.08)
    residual = np.eye(40) - fit(X - X.mean(axis=0), found.best.chosen).predictor
    true = float(np.mean(np.diag(residual @ AR1(40, 0.6).matrix @ residual.T)))
    assert rows.corrected == pytest.approx(true, rel=0.15)
    assert rows.gcv < 0.75 * true
    text = plain(report(found, "title"))
    assert "The rows differ in scale, too: leave-one-out is" in text
    assert "and leave-one-out does not." not in text


def test_windows_of_one_series_that_overlap_are_named():
    noise = stream(0, "windows").standard_normal(200)
    for i in range(2, 200):
        noise[i] += 1.4 * noise[i - 1] - 0.8 * noise[i - 2]
    X = np.lib.stride_tricks.sliding_window_view(noise, 8)
    assert repeats_shifted(admitted(X))
    assert repeats_shifted(admitted(X[:, ::-1]))
    assert not repeats_shifted(admitted(data(0)))
    found = analyse_matrix(X, order="test", repeats=2, lams=[LAM], sizes=[100])
    assert "Most columns repeat their neighbor one row later" in plain(report(found, "title"))


def test_a_walk_is_said_to_drift():
    X = np.cumsum(stream(0, "walk").standard_normal((150, 6)), axis=0)
    found = analyse_matrix(X, order="test", repeats=2, lams=[LAM], sizes=[60])
    assert found.dependent_rows.drift
    assert not found.dependent_rows.order.reached
    text = plain(report(found, "title"))
    assert "The rows may drift: " in text
    assert "still correlate by more than 0.1" in text


def test_few_rows_of_few_columns_are_said_to_be_too_few():
    X = data(7, n=30, d=2, correlation=0.9)
    found = analyse_matrix(X, order="test", repeats=2, lams=[LAM], sizes=[12])
    assert found.dependent_rows.few
    assert "The table is too small to know how its rows depend on each other" in plain(report(found, "title"))


def test_blocks_are_compared_with_what_is_reported_beyond_their_bars():
    reported = np.full(6, 2.0)
    scatter = np.exp([0.1, -0.1, 0.05, -0.05, 0.02, -0.02])
    assert compared(2 * reported * scatter, reported)[1:] == (True, False)
    assert compared(reported / 2 * scatter, reported)[1:] == (False, True)
    assert compared(1.2 * reported * scatter, reported)[1:] == (False, False)  # too little to matter
    assert compared(2 * reported * scatter**20, reported)[1:] == (False, False)  # within the bars
    assert compared(2 * reported * scatter, reported)[0].mean == pytest.approx(2)


def test_what_the_blocks_say_against_the_corrected_error_is_written(analysis):
    found = analysis.dependent_rows
    worse = replace(found, drift=True, later_worse=True, fits_later=Estimate(2.5, 0.2, 5))
    text = plain(report(replace(analysis, dependent_rows=worse), "title"))
    assert "the later blocks are predicted with 2.50(20) times the corrected error of the rows before them" in text
    text = plain(report(replace(analysis, dependent_rows=replace(found, too_large=True)), "title"))
    assert f"go by the error of blocks with a gap, {found.blocked_error}." in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ["a"] * 30}, "groups must have at least two different labels"),
        ({"groups": list(range(30))}, "groups must have a label that occurs twice"),
        ({"groups": [1, 2]}, r"groups must have one label for each row, shape \(30,\), got \(2,\)"),
        ({"order": "time", "gap": 29}, "gap must be at most 22"),
    ],
)
def test_groups_and_gaps_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        analyse_matrix(data(8, n=30, d=3), **{"order": "test", **options})


def test_lines_of_a_photograph_depend_on_each_other_and_drift():
    """GCV reports a third of the error of later lines at most; the corrected error is nearer, and is doubted."""
    from sklearn.datasets import load_sample_image

    X = load_sample_image("china.jpg").mean(axis=2)[::2, ::42]
    found = analyse_matrix(X, order="test", standardize=True, repeats=2, lams=[LAM], sizes=[60, 150])
    rows = found.dependent_rows
    assert rows.order.test.values[0] > 0.8
    assert rows.gcv < 0.7 * rows.corrected
    assert rows.gcv < 0.7 * rows.blocked_error.mean
    assert rows.drift


def test_people_in_no_order_are_independent_and_wines_by_kind_are_not():
    from sklearn.datasets import load_diabetes, load_wine

    options = {"order": "test", "standardize": True, "repeats": 2, "lams": [LAM], "sizes": [60]}
    people, wines = (analyse_matrix(load().data, **options) for load in (load_diabetes, load_wine))
    assert people.dependent_rows is None
    assert people.row_order.test.p_value > 0.01
    assert wines.dependent_rows is not None
