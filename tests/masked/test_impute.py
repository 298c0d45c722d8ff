"""Filling holes: expectation maximization against plain loops, the errors it expects, and bad tables."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import Estimate, stream
from simulate.masked import holes_depend_on_values, imputation_error, impute, sample, with_holes
from simulate.masked.holes import expectation
from simulate.masked.holes.calibration import Calibration
from simulate.masked.holes.hidden import RIDGES, HiddenEntries
from simulate.masked.holes.laid import Laid, laid_holes
from simulate.masked.holes.own_rows import OwnRows
from simulate.masked.holes.pairwise import Pairwise
from simulate.masked.holes.patterns import Patterns
from simulate.masked.holes.table import holed_table
from theory.core.errors import FitError
from theory.models import AR1, Dropout


def table(seed, n=40, d=8, rate=0.3, correlation=0.8):
    rng = np.random.default_rng(seed)
    X = sample(AR1(d, correlation), n, rng)
    seen = rng.random((n, d)) >= rate
    seen[np.arange(n), rng.integers(d, size=n)] = True
    return X, seen


def plain_steps(Z, seen, lam, steps):
    """Expectation maximization row by row from the unit matrix."""
    n, d = Z.shape
    mean, covariance = np.zeros(d), np.eye(d)
    for _ in range(steps):
        filled, spread = Z.copy(), np.zeros((d, d))
        ridged = covariance + lam * np.eye(d)
        for i in range(n):
            o, h = seen[i], ~seen[i]
            weights = np.linalg.solve(ridged[np.ix_(o, o)], ridged[np.ix_(o, h)])
            filled[i, h] = mean[h] + (Z[i, o] - mean[o]) @ weights
            spread[np.ix_(h, h)] += covariance[np.ix_(h, h)] - ridged[np.ix_(h, o)] @ weights
        mean = filled.mean(axis=0)
        covariance = ((filled - mean).T @ (filled - mean) + spread) / n
    return filled, mean, covariance


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.75])  # with many holes the blocks of the entries seen are inverted
def test_the_fixed_point_is_that_of_plain_steps(rate):
    X, seen = table(0, rate=rate)
    holed = holed_table(X, seen)
    start = expectation.start_from_pairs(holed.values, seen)
    found = expectation.maximize(holed.values, Patterns.of(seen), start, 0.3, 500, 1e-9)
    filled, mean, covariance = plain_steps(holed.values, seen, 0.3, 400)
    np.testing.assert_allclose(found.filled, filled, atol=1e-7)
    np.testing.assert_allclose(found.gaussian.mean, mean, atol=1e-7)
    np.testing.assert_allclose(found.gaussian.covariance, covariance, atol=1e-7)
    assert found.steps < 60
    given = impute(X, seen, lam=0.3)
    np.testing.assert_allclose(given.table, holed.in_units(filled), atol=0.01)
    np.testing.assert_array_equal(given.table[seen], X[seen])


@pytest.mark.parametrize("size", [1, 4, 31, 33, 66, 131])  # larger blocks are halved, once or more often
def test_blocks_are_inverted_whatever_their_size(size):
    rng = np.random.default_rng(size)
    d = size + 3
    root = rng.standard_normal((d, 2 * d))
    matrix, holes = root @ root.T / d, np.zeros((3, d), dtype=bool)
    for row in holes:
        row[rng.permutation(d)[:size]] = True
    right = rng.standard_normal((2, 3, d))
    found, total = Patterns.of(~holes).solve(matrix, right, holes=True), np.zeros((d, d))
    for row, chosen in enumerate(holes):
        inverse = np.linalg.inv(matrix[np.ix_(chosen, chosen)])
        np.testing.assert_allclose(found.solved[:, row][:, chosen], right[:, row][:, chosen] @ inverse, atol=1e-10)
        np.testing.assert_allclose(found.diagonal[row, chosen], np.diagonal(inverse), rtol=1e-10)
        total[np.ix_(chosen, chosen)] += inverse
    np.testing.assert_allclose(found.total, total, atol=1e-10)
    with pytest.raises(np.linalg.LinAlgError, match="is not positive definite"):
        Patterns.of(~holes).solve(-matrix, right, holes=True)


def test_blocks_of_other_precision_are_refused():
    patterns, right = Patterns.of(np.array([[True, False], [True, True]])), np.ones((1, 2, 2))
    with pytest.raises(ValueError, match="matrix must be of dtype float64, got float32"):
        patterns.solve(np.eye(2, dtype=np.float32), right, holes=False)
    with pytest.raises(ValueError, match="right must be of dtype float64, got float32"):
        patterns.solve(np.eye(2), right.astype(np.float32), holes=False)


def test_sums_are_the_same_for_any_number_of_threads(monkeypatch):
    """Of 80 blocks of 90, which are divided into parts; the parts do not depend on the number of threads."""
    rng = np.random.default_rng(0)
    root, seen = rng.standard_normal((180, 400)), rng.random((80, 180)) < 0.5
    matrix, right = root @ root.T / 400, rng.standard_normal((1, 80, 180))
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr("numba.get_num_threads", lambda threads=threads: threads)
        found.append(Patterns.of(seen).solve(matrix, right, holes=True))
    for other in found[1:]:
        np.testing.assert_array_equal(other.total, found[0].total)
        np.testing.assert_array_equal(other.solved, found[0].solved)
    blocks = [np.linalg.inv(matrix[np.ix_(~row, ~row)]) for row in seen]
    assert np.trace(found[0].total) == pytest.approx(sum(np.trace(block) for block in blocks), rel=1e-10)


@pytest.mark.parametrize("method", ["em", "pairwise", "own_rows"])
@pytest.mark.parametrize("together", [False, True])
def test_the_order_of_the_rows_does_not_count(method, together):
    X, seen = table(8, n=60, d=10)
    if together:
        seen[::3, 2:6] = False
    order = np.random.default_rng(1).permutation(60)
    one, other = impute(X, seen, method=method), impute(X[order], seen[order], method=method)
    assert other.lam == pytest.approx(one.lam, rel=1e-9)
    np.testing.assert_allclose(other.table, one.table[order], atol=1e-6)
    np.testing.assert_allclose(other.predicted_error, one.predicted_error[order], rtol=1e-6)
    np.testing.assert_allclose(other.entry_residuals, one.entry_residuals[order], atol=1e-6)


def test_the_distance_that_is_reported_bounds_the_true_one():
    for seed, lam in ((1, 0.05), (2, 0.3), (3, 1.0)):
        X, seen = table(seed, n=30, d=12, rate=0.5)
        holed = holed_table(X, seen)
        start, patterns = expectation.start_from_pairs(holed.values, seen), Patterns.of(seen)
        exact = expectation.maximize(holed.values, patterns, start, lam, 2000, 1e-10).filled
        for tol in (0.3, 5e-3):
            found = expectation.maximize(holed.values, patterns, start, lam, 500, tol)
            assert np.sqrt(np.mean((found.filled - exact)[~seen] ** 2)) < tol


def test_a_larger_ridge_is_taken_where_the_steps_do_not_settle(monkeypatch):
    X, seen = table(11, n=20, d=10, rate=0.5)
    monkeypatch.setattr(HiddenEntries, "choose", lambda self: len(RIDGES) - 1)
    monkeypatch.setattr("simulate.masked.holes.methods.MAX_STEPS", 30)
    found = impute(X, seen)
    assert found.converged
    assert found.lam > RIDGES[-1]


def test_conditional_variances_are_those_of_a_gaussian():
    X, seen = table(4)
    found = impute(X, seen, lam=0.2)
    ridged = found._model.ridged
    i = int(np.flatnonzero((~seen).sum(axis=1) == 3)[0])
    o, h = seen[i], ~seen[i]
    block = ridged[np.ix_(h, h)] - ridged[np.ix_(h, o)] @ np.linalg.solve(ridged[np.ix_(o, o)], ridged[np.ix_(o, h)])
    line = found.calibration
    expected = (line.offset + line.slope * np.diagonal(block)) * line.factors[h] * found._scales[h] ** 2
    np.testing.assert_allclose(found.predicted_error[i, h], expected, rtol=1e-9)
    assert (found.predicted_error[seen] == 0).all()
    assert (found.predicted_error[~seen] > 0).all()


def test_hidden_entries_are_predicted_without_being_seen():
    X, seen = table(5, n=30)
    holed = holed_table(X, seen)
    weights = np.ones(8)
    first = HiddenEntries(holed.values, seen, weights)
    hidden = first.folds[0].measured
    assert not (hidden & ~seen).any()
    np.testing.assert_array_equal(sum(fold.measured.astype(int) for fold in first.folds), seen)  # each of them once
    moved = np.where(hidden, holed.values + 100, holed.values)
    again = HiddenEntries(moved, seen, weights)
    np.testing.assert_array_equal(first.folds[0].values, again.folds[0].values)
    one, two = (tried.at(0.3, 500, 1e-3).residuals[hidden] for tried in (first, again))
    np.testing.assert_allclose(two - one, 100)


def test_the_ridge_chosen_has_the_least_error_of_its_neighbors():
    X, seen = table(6, n=60, d=12)
    holed = holed_table(X, seen)
    tried = HiddenEntries(holed.values, seen, np.ones(12))
    best = tried.choose()
    assert tried.error(best) <= min(tried.error(best - 1), tried.error(best + 1))
    assert impute(X, seen).lam in RIDGES


def test_errors_expected_by_maximization_are_those_of_the_holes():
    """Of all holes, and of the quarters that the model calls the safest and the most doubtful, over 25 tables."""
    gaps, quarters = [], []
    for r in range(25):
        rng = stream(0, "expected errors", r)
        X = sample(AR1(15, 0.8), 60, rng)
        holed, seen = with_holes(X, 0.3, rng)
        found = impute(holed, lam=0.2)
        expected, true = found.predicted_error[~seen], (found.table - X)[~seen] ** 2
        gaps.append(expected.mean() - true.mean())
        order = np.argsort(expected)
        few = len(order) // 4
        quarters.append(
            [[part.sum(), true[places].sum()] for places in (order[:few], order[-few:]) for part in [expected[places]]]
        )
    gap = Estimate.of(gaps)
    assert abs(gap.mean) < 4 * gap.stderr + 0.01
    assert gap.stderr < 0.03
    safe, doubtful = np.sum(quarters, axis=0)
    assert safe[0] / safe[1] == pytest.approx(1, abs=0.25)  # the model is too sure of them
    assert doubtful[0] / doubtful[1] == pytest.approx(1, abs=0.15)
    assert doubtful[1] > 1.2 * safe[1]


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from(["em", "pairwise", "own_rows"]))
def test_units_means_and_orders_do_not_matter(seed, method):
    rng = np.random.default_rng(seed)
    X, seen = table(7, n=20, d=5)
    lam = 2.0 if method == "pairwise" else 0.3
    found = impute(X, seen, lam, method)
    scales, means = 10 ** rng.uniform(-3, 3, 5), rng.standard_normal(5)
    rows, columns = rng.permutation(20), rng.permutation(5)
    moved = (X * scales + means)[rows][:, columns]
    again = impute(moved, seen[rows][:, columns], lam, method)
    # Steps stop within a distance, and other entries are hidden after a permutation: expected errors differ.
    back = (again.table - means[columns]) / scales[columns]
    np.testing.assert_allclose(back, found.table[rows][:, columns], atol=0.01 if method == "em" else 1e-8)


@pytest.mark.parametrize("method", ["em", "pairwise", "own_rows"])
def test_the_error_of_a_column_is_the_mean_of_those_of_its_holes(method):
    """And that of the table is their mean over all holes, in units of the columns' variances."""
    X, seen = table(5, rate=[0.0, 0.05, 0.1, 0.2, 0.3, 0.3, 0.4, 0.5])
    found, holes = impute(X, seen, method=method), ~seen
    held = holes.any(axis=0)
    by_column = found.predicted_error.sum(axis=0)[held] / holes.sum(axis=0)[held]
    np.testing.assert_allclose(found.error_by_column[held], by_column, rtol=1e-12)
    relative = (found.predicted_error / found.variances)[holes].mean()
    assert found.relative_error == pytest.approx(relative, rel=1e-12)


def test_a_table_without_holes_is_returned_and_its_errors_are_those_of_single_entries():
    X, _ = table(8, n=100)
    found = impute(X)
    np.testing.assert_array_equal(found.table, X)
    assert (found.predicted_error == 0).all()
    assert found.relative_error == pytest.approx(np.nanmean(found.entry_residuals**2), rel=0.1)
    assert list(found.to_frame()["column"]) == list(range(8))
    assert "Imputed(table=<array (100, 8)" in repr(found)


def test_it_beats_the_mean_also_with_fewer_rows_than_columns():
    X, seen = table(9, n=20, d=40, rate=0.3)
    found = impute(X, seen)
    means = np.where(seen, X, 0).sum(axis=0) / seen.sum(axis=0)
    assert np.mean((found.table - X)[~seen] ** 2) < 0.9 * np.mean((means - X)[~seen] ** 2)


def test_too_few_steps_are_an_error_that_carries_the_result(monkeypatch):
    X, seen = table(10)
    monkeypatch.setattr("simulate.masked.holes.methods.MAX_STEPS", 3)
    monkeypatch.setattr("simulate.masked.holes.methods.DISTANCE", 1e-12)
    monkeypatch.setattr("simulate.masked.holes.imputed.DISTANCE", 1e-12)
    with pytest.raises(FitError, match=r"after 3 steps at lam = 0\.001: raise lam") as failure:
        impute(X, seen, lam=0.001)
    assert not failure.value.fit.converged
    assert impute(X, seen, lam=0.001, check=False).iterations == 3


GOOD = np.random.default_rng(0).standard_normal((12, 4))
SEEN = np.ones((12, 4), dtype=bool)
SEEN[[0, 3, 5], [1, 2, 0]] = False


def with_entry(place, value):
    X = GOOD.copy()
    X[place] = value
    return X


def without(place):
    seen = SEEN.copy()
    seen[place] = False
    return seen


BAD = {
    "X must contain real numbers": (np.array([["a", "b"]] * 4), None),
    r"X must have shape \(samples, coordinates\)": (np.zeros(4), None),
    "at least 3 rows and 2 columns, got shape \\(2, 4\\)": (GOOD[:2], SEEN[:2]),
    "got shape \\(12, 1\\)": (GOOD[:, :1], SEEN[:, :1]),
    "seen must have one truth value for each entry of X, shape \\(12, 4\\), got shape \\(4, 12\\)": (GOOD, SEEN.T),
    "got shape \\(12, 4\\) and dtype int64": (GOOD, SEEN.astype(int)),
    "finite where it is seen, got nan at row 2, column 3": (with_entry((2, 3), np.nan), SEEN),
    "finite where it is seen, got inf at row 2, column 3": (with_entry((2, 3), np.inf), None),
    "got 0 in column 2": (GOOD, without(np.s_[:, 2])),
    "got 1 in column 2": (GOOD, without(np.s_[1:, 2])),
    "got equal entries of 7 in column 1": (with_entry(np.s_[:, 1], 7), SEEN),
    "got none in row 6 and 2 in all": (GOOD, without(np.s_[6:8])),
    "columns of size 1e-50 to": (with_entry((2, 3), 1e200), SEEN),
    "rectangular array": ([[1.0, 2.0], [3.0]], None),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_tables_are_refused_by_row_and_column(message):
    X, seen = BAD[message]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (impute, imputation_error):
            with pytest.raises(ValueError, match=message):
                function(X, seen)


def test_other_bad_arguments():
    with pytest.raises(ValueError, match="lam must be positive for a table with holes, got 0"):
        impute(GOOD, SEEN, lam=0)
    with pytest.raises(ValueError, match="method must be one of"):
        impute(GOOD, SEEN, method="knn")
    with pytest.raises(ValueError, match="lam must be above the least ridge"):
        impute(np.random.default_rng(0).standard_normal((12, 30)), lam=1e-12, method="pairwise")
    with pytest.raises(ValueError, match="lams must be a non-empty list"):
        imputation_error(GOOD, SEEN, [])
    with pytest.raises(ValueError, match=r"lams\[1\] must be positive"):
        imputation_error(GOOD, SEEN, [1.0, 0.0])
    with pytest.raises(ValueError, match="X must have 4 columns as the table, got 3"):
        impute(GOOD, SEEN).fill(GOOD[:, :3])
    with pytest.raises(ValueError, match="masked entries as well"):
        impute(np.ma.array(GOOD, mask=~SEEN), SEEN)
    masked = np.ma.array(GOOD, mask=~SEEN)
    np.testing.assert_array_equal(impute(masked).table, impute(GOOD, SEEN).table)


def test_pairs_never_seen_together_are_counted():
    X = np.random.default_rng(0).standard_normal((40, 4))
    seen = np.ones(X.shape, dtype=bool)
    seen[:20, 0] = seen[20:, 1] = False
    assert imputation_error(X, seen).pairs_never_seen == 1
    assert imputation_error(X, seen, method="own_rows").pairs_never_seen == 0


def test_holes_are_drawn_at_their_rates():
    rng = np.random.default_rng(0)
    X = np.ones((4000, 3))
    _, seen = with_holes(X, [0.0, 0.2, 0.5], rng)
    np.testing.assert_allclose(seen.mean(axis=0), [1, 0.8, 0.5], atol=0.04)
    holed, seen = with_holes(X, Dropout([1.0, 0.75, 0.25]), rng)
    np.testing.assert_allclose(seen.mean(axis=0), [1, 0.75, 0.25], atol=0.04)
    assert (seen[:, 1] >= seen[:, 2]).all()
    np.testing.assert_array_equal(np.isnan(holed), ~seen)
    assert not np.isnan(X).any()
    with pytest.raises(ValueError, match="one number, or one for each of d = 3"):
        with_holes(X, [0.1, 0.2], rng)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\)"):
        with_holes(X, 1.0, rng)
    with pytest.raises(ValueError, match="of d = 3 columns as X, got d = 2"):
        with_holes(X, Dropout([1.0, 0.5]), rng)


def rejections(kind, tables=25, n=120, d=15):
    count = 0
    for r in range(tables):
        rng = stream(0, "holes depend", kind, r)
        X = sample(AR1(d, 0.8), n, rng)
        rates = np.full((n, d), 0.2)
        if kind == "rows":
            rates = rng.choice([0.05, 0.35], size=(n, 1))
        elif kind == "driver":
            rates = np.where(np.arange(d) == 0, 0.0, 0.3 + 0.2 * np.tanh(2 * X[:, :1]))
        elif kind == "own":
            rates = np.where(X > 0.8, 0.7, 0.05)
        seen = rng.random((n, d)) >= rates
        count += holes_depend_on_values(X, seen, rng).p_value <= 0.05
    return count


def test_holes_at_random_are_called_dependent_at_the_level_and_others_always():
    assert rejections("random") <= 6  # of 25 at a level of 0.05: more have a probability of 2e-4
    assert rejections("rows") <= 6  # rows of few and of many holes are no dependence on values
    assert rejections("driver", 8) == rejections("own", 8) == 8


def test_p_values_of_the_sequential_permutation_test_are_uniform():
    rng = stream(0, "permutation p-values")
    values = [holes_depend_on_values(rng.standard_normal((40, 2)), rng.random((40, 2)) < 0.8, rng) for _ in range(150)]
    p = np.concatenate([one.p_values for one in values])
    for level in (0.05, 0.2, 0.5):
        share = np.mean(p <= level)
        assert abs(share - level) < 3.5 * np.sqrt(level * (1 - level) / len(p))


def test_the_column_that_drives_the_holes_is_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    seen = np.ones((300, 5), dtype=bool)
    seen[:, 4] = X[:, 2] < 0.7
    found = holes_depend_on_values(X, seen, rng)
    assert list(found.columns) == [2]
    assert found.p_values[2] == 1 / 2000  # no permutation of 1999 reaches it
    assert found.strongest(1)[0][:2] == (2, 4)
    assert found.strongest(1)[0][2] > 0.5  # missing where it is large
    nothing = holes_depend_on_values(X, np.ones((300, 5), dtype=bool), rng)
    assert nothing.p_value == 1
    assert nothing.strongest() == []


def test_a_column_with_holes_of_which_no_entry_can_be_hidden():
    X = np.random.default_rng(3).standard_normal((40, 3))
    X[:, 2] += X[:, 1]
    X[2:, 2] = np.nan  # all holes are in a column of two entries, of which none is hidden
    found = impute(X)
    assert found.converged
    assert np.isfinite(found.table).all()
    assert np.isfinite([found.lam, found.relative_error, *found.error_by_column, *found.stderr]).all()
    few = [[1.0, 2.0, np.nan], [2.0, np.nan, 3.0], [np.nan, 1.0, 2.0]]
    for lam in (None, 0.1):
        with pytest.raises(ValueError, match="X must have 3 entries or more in some column for method 'em'"):
            impute(few, lam=lam)
    assert np.isfinite(impute(few, method="own_rows").table).all()


def test_the_order_of_entries_does_not_decide_which_of_them_are_safe():
    rng = np.random.default_rng(2)
    variances = rng.choice([0.2, 0.5, 0.9], 100, p=[0.3, 0.4, 0.3])  # the median lies among entries of one variance
    squares = (0.3 + 0.5 * variances) * rng.standard_normal(100) ** 2
    line = Calibration.line(squares, variances)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(100)
        rounded = variances[order] * (1 + 1e-15 * rng.standard_normal(100))
        np.testing.assert_allclose(Calibration.line(squares[order], rounded), line, rtol=1e-9)
    assert 0.1 < line[1] < squares.mean() / variances.mean()  # not one of the bounds, which are always the same


@pytest.mark.parametrize("method", ["pairwise", "own_rows"])
def test_the_order_of_the_rows_changes_no_expected_error(method):
    X, seen = table(5, n=60, d=6, rate=0.2)
    order = np.random.default_rng(1).permutation(60)
    one, two = (impute(X[rows], seen[rows], 0.4, method) for rows in (np.arange(60), order))
    np.testing.assert_allclose(two.predicted_error, one.predicted_error[order], rtol=1e-9)
    np.testing.assert_allclose(two.stderr, one.stderr, rtol=1e-9)


def missing_together(seen, rng):
    seen[rng.random(len(seen)) < 0.3, :4] = False


def rows_that_end_early(seen, rng):
    for row in rng.permutation(len(seen))[: len(seen) // 2]:
        seen[row, rng.integers(4, seen.shape[1]) :] = False


@pytest.mark.parametrize("delete", [missing_together, pytest.param(rows_that_end_early, marks=pytest.mark.slow)])
def test_holes_that_come_together_err_as_expected(delete):
    """Entries hidden one at a time, or a tenth, gave 0.84 ("em"), 0.75 and 0.45 of the true error of the first."""
    ratios = []
    for seed in range(25):
        rng = stream(seed, "holes together", delete.__name__)
        X = sample(AR1(12, 0.7), 200, rng)
        seen = np.ones(X.shape, dtype=bool)
        delete(seen, rng)
        found = [impute(X, seen, lam, method) for method, lam in (("em", 0.1), ("pairwise", None), ("own_rows", 0.1))]
        ratios.append([one.predicted_error[~seen].mean() / ((one.table - X)[~seen] ** 2).mean() for one in found])
        assert all(one.matched > 0.9 for one in found)
    mean, stderr = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1) / 5
    assert (stderr < 0.042).all()
    assert (abs(mean - 1) < 3.75 * stderr + 0.05).all()  # Student's t of 24 degrees of freedom at a level of 1e-3
    assert (mean > 0.9).all()


def test_several_entries_hidden_in_a_row_equal_fits_without_it():
    X, seen = table(4, n=40, d=8, rate=0.2)
    holed = holed_table(X, seen)
    Z, n, d, rates = holed.values, 40, 8, holed.rates
    hidden = np.zeros((n, d), dtype=bool)
    for row in range(n):
        hidden[row, np.flatnonzero(seen[row])[1:4]] = True
    laid = Laid(seen, np.arange(n), np.arange(n), hidden, hidden, 1.0)
    pairs, _, _ = Pairwise(Z, Patterns.of(seen), rates).laid_errors(2.0, laid)
    own, _ = OwnRows(Z, seen).laid_errors([0.1], laid)
    whole = Pairwise(Z, Patterns.of(seen), rates).covariance
    for row, k in np.argwhere(hidden):
        left = seen[row] & ~hidden[row]
        inputs = Z[row] / rates
        cross = (whole[k] - inputs[k] * inputs / n)[left]
        among = (whole + 2.0 * np.eye(d) - np.outer(inputs, inputs) / n)[np.ix_(left, left)]
        assert pairs[row, k] == pytest.approx(Z[row, k] - cross @ np.linalg.solve(among, Z[row, left]), abs=1e-12)
        rows, others = seen[:, k] & (np.arange(n) != row), np.arange(d) != k
        gram = Z[rows][:, others].T @ Z[rows][:, others] + 0.1 * seen[:, k].sum() * np.eye(d - 1)
        weights = np.linalg.solve(gram, Z[rows][:, others].T @ Z[rows, k])
        assert own[0, row, k] == pytest.approx(Z[row, k] - weights @ np.where(left, Z[row], 0.0)[others], abs=1e-12)


def test_laid_holes_are_those_of_a_row_that_sees_less():
    rng = np.random.default_rng(2)
    seen = rng.random((80, 9)) > 0.1
    missing_together(seen, rng)
    laid = laid_holes(seen)
    assert laid is not None
    for row, like, hidden, measured in zip(laid.rows, laid.like, laid.hidden, laid.measured, strict=True):
        assert (seen[row] >= hidden).all()
        assert (~seen[like] >= hidden).all()
        assert (hidden >= measured).all()
    counts = np.zeros(seen.shape, dtype=int)
    np.add.at(counts, laid.rows, laid.measured.astype(int))
    assert counts.max() == 1  # no entry is measured twice
    np.testing.assert_allclose(laid.weights[:, laid.columns].sum(axis=0), (laid.weights > 0).sum(axis=0)[laid.columns])


def test_each_hole_counts_as_much_as_another_whatever_entries_stand_for_it():
    """One entry of a column stands for the holes of three rows of one pattern, another for that of a single row."""
    seen = np.ones((8, 4), dtype=bool)
    seen[:3, :2] = False
    seen[3, 0] = False
    hidden = np.array([[True, True, False, False], [True, False, False, False]])
    laid = Laid(seen, np.array([4, 5]), np.array([0, 3]), hidden, hidden, 1.0)
    assert laid.weights[4, 0] == pytest.approx(1.5)
    assert laid.weights[5, 0] == pytest.approx(0.5)
    assert laid.weights[4, 1] == pytest.approx(1.0)
    assert laid.weights.sum() == pytest.approx(3.0)


def test_holes_that_lie_apart_are_left_out_one_at_a_time():
    for seed in range(20):
        assert laid_holes(np.random.default_rng(seed).random((100, 12)) > 0.3) is None


def test_single_entries_laid_are_those_that_are_left_out():
    X, seen = table(8, n=60)
    holed = holed_table(X, seen)
    rows, columns = np.nonzero(seen)
    hidden = np.zeros((len(rows), seen.shape[1]), dtype=bool)
    hidden[np.arange(len(rows)), columns] = True
    laid = Laid(seen, rows, rows, hidden, hidden, 1.0)
    pairwise, own_rows = Pairwise(holed.values, Patterns.of(seen), holed.rates), OwnRows(holed.values, seen)
    for one, two in zip(pairwise.entry_errors(1.0), pairwise.laid_errors(1.0, laid), strict=True):
        np.testing.assert_allclose(two, one, atol=1e-12)
    for one, two in zip(own_rows.entry_errors([0.1, 1.0]), own_rows.laid_errors([0.1, 1.0], laid), strict=True):
        np.testing.assert_allclose(two, one, atol=1e-12)


def test_rows_whose_holes_no_other_row_could_show_are_counted():
    """Two questionnaires without a common question: no row shows what half of the others lack."""
    X = sample(AR1(8, 0.7), 60, np.random.default_rng(3))
    seen = np.ones(X.shape, dtype=bool)
    seen[:30, :4], seen[30:, 4:] = False, False
    assert impute(X, seen, 1.0, "own_rows").matched == 0


@pytest.mark.parametrize("method", ["em", "pairwise"])
def test_a_ridge_that_rounding_outweighs_is_refused_by_name(method):
    X, seen = table(4, n=6, d=8, rate=0.2)
    seen[:2] = True
    with pytest.raises(ValueError, match=r"^lam must be"):
        impute(X, seen, 1e-300, method)
