"""The error at the holes before filling them: one entry left out at a time, against fits without it."""

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.masked import imputation_error, impute, sample, with_holes
from simulate.masked.holes.entry_errors import by_column, over_entries
from simulate.masked.holes.kernel import invert_blocks
from simulate.masked.holes.own_rows import OwnRows
from simulate.masked.holes.pairwise import Pairwise
from simulate.masked.holes.patterns import Patterns
from theory.models import AR1


def holed(seed, n=15, d=6, rate=0.3):
    """Rows of mean zero, with zeros at their holes, and an entry in every row."""
    rng = np.random.default_rng(seed)
    seen = rng.random((n, d)) >= rate
    seen[np.arange(n), rng.integers(d, size=n)] = True
    return np.where(seen, sample(AR1(d, 0.6), n, rng), 0.0), seen


def covariance(values, rates, left_out=None, by_row=None):
    """The pairwise covariance by loops, with the entry `left_out` (row, column) a hole; `by_row`: without that row."""
    rows = values.copy()
    if left_out is not None:
        rows[left_out] = 0
    n, d = rows.shape
    S = np.zeros((d, d))
    for i in range(n):
        for j in range(d):
            for m in range(d):
                if i != by_row:
                    S[j, m] += rows[i, j] * rows[i, m] / (n * rates[j] * (rates[m] if j != m else 1))
    return S


@pytest.mark.parametrize("seed", [0, 1])
def test_leaving_an_entry_out_equals_the_fit_without_it(seed):
    values, seen = holed(seed)
    rates = seen.mean(axis=0)
    residuals, variances, _ = Pairwise(values, Patterns.of(seen), rates).entry_errors(2.0, left_out=False)
    for i, k in np.argwhere(seen):
        S = covariance(values, rates, (i, k)) + 2.0 * np.eye(6)
        others = seen[i] & (np.arange(6) != k)
        solved = np.linalg.solve(S[np.ix_(others, others)], S[others, k])
        assert residuals[i, k] == pytest.approx(values[i, k] - solved @ values[i, others], abs=1e-13)
        block = covariance(values, rates) + 2.0 * np.eye(6)
        direct = block[k, k] - block[k, others] @ np.linalg.solve(block[np.ix_(others, others)], block[others, k])
        assert variances[i, k] == pytest.approx(direct)
    assert (residuals[~seen] == 0).all()


def test_leaving_the_row_out_of_its_inputs_is_exact_at_holes():
    values, seen = holed(2)
    rates, n = seen.mean(axis=0), len(values)
    filled, _ = Pairwise(values, Patterns.of(seen), rates).fill(2.0)
    whole = covariance(values, rates)
    for i in range(n):
        o, h = seen[i], ~seen[i]
        # The row is left out of the input covariance up to its diagonal, whose weights are not products of rates.
        inputs = whole[np.ix_(o, o)] - np.outer(values[i, o] / rates[o], values[i, o] / rates[o]) / n
        weights = np.linalg.solve(inputs + 2.0 * np.eye(o.sum()), values[i, o])
        np.testing.assert_allclose(filled[i, h], whole[np.ix_(h, o)] @ weights, atol=1e-12)
        np.testing.assert_array_equal(filled[i, o], values[i, o])


def test_an_entry_left_out_with_its_row_errs_like_a_hole_of_a_large_table():
    values, seen = holed(3, n=800)
    rates = seen.mean(axis=0)
    residuals, _, _ = Pairwise(values, Patterns.of(seen), rates).entry_errors(1.0)
    again = values.copy()
    gaps = []
    for i, k in np.argwhere(seen)[:40]:
        again[i, k], seen[i, k] = 0.0, False
        filled, _ = Pairwise(again, Patterns.of(seen), rates).fill(1.0)
        gaps.append(values[i, k] - filled[i, k] - residuals[i, k])
        again[i, k], seen[i, k] = values[i, k], True
    assert np.max(np.abs(gaps)) < 2e-4  # of order 1/n^2


@pytest.mark.parametrize("n", [5, 40])
def test_own_rows_left_out_equal_fits_without_the_row(n):
    values, seen = holed(4, n=n)
    residuals, _ = OwnRows(values, seen).entry_errors([0.01, 0.5])
    for i, k in np.argwhere(seen)[:25]:
        rows = np.flatnonzero(seen[:, k] & (np.arange(n) != i))
        others = np.arange(6) != k
        Z = values[rows][:, others]
        for place, lam in enumerate([0.01, 0.5]):
            gram = Z.T @ Z + lam * seen[:, k].sum() * np.eye(5)
            expected = values[i, k] - np.linalg.solve(gram, Z.T @ values[rows, k]) @ values[i, others]
            assert residuals[place, i, k] == pytest.approx(expected, abs=1e-9)


def test_an_entry_is_left_out_of_the_mean_of_its_column_too():
    """With all other centered inputs as they were: exactly for own rows, up to terms of order 1/n for pairs."""
    rng = np.random.default_rng(7)
    n, d = 12, 20  # leverages are large, so that the mean of the targets moves what is predicted
    X, seen = sample(AR1(d, 0.8), n, rng), rng.random((n, d)) >= 0.1
    values = np.where(seen, X - np.where(seen, X, 0).sum(axis=0) / seen.sum(axis=0), 0.0)
    counts, rates = seen.sum(axis=0), seen.mean(axis=0)
    own, shifts = (found[0] for found in OwnRows(values, seen).entry_errors([0.1]))
    pairs, _, of_pairs = Pairwise(values, Patterns.of(seen), rates).entry_errors(1.0)
    gaps, crude = [], []
    for i, k in np.argwhere(seen):
        shift = values[i, k] / (counts[k] - 1)
        again, without = values.copy(), seen.copy()
        again[seen[:, k], k] += shift
        again[i, k], without[i, k] = 0.0, False
        inputs, rows = again.copy(), without[:, k]
        inputs[:, k] = 0
        gram = inputs[rows].T @ inputs[rows] + 0.1 * counts[k] * np.eye(d)
        predicted = inputs[i] @ np.linalg.solve(gram, inputs[rows].T @ again[rows, k])
        assert own[i, k] + shifts[i, k] * shift == pytest.approx(values[i, k] + shift - predicted, abs=1e-10)
        filled, _ = Pairwise(again, Patterns.of(without), rates).fill(1.0)
        true = values[i, k] + shift - filled[i, k]
        gaps.append((pairs[i, k] + of_pairs[i, k] * shift) ** 2 - true**2)
        crude.append((pairs[i, k] + shift) ** 2 - true**2)
    assert abs(np.mean(gaps)) < 0.01
    assert np.mean(crude) < -0.05  # without the shift of what is predicted errors look too small


def test_the_least_ridge_is_where_the_covariance_becomes_definite():
    values, seen = holed(5, n=8, d=6, rate=0.4)
    rates = seen.mean(axis=0)
    least = Pairwise(values, Patterns.of(seen), rates).least_ridge
    assert least == pytest.approx(-np.linalg.eigvalsh(covariance(values, rates))[0], rel=1e-6)
    assert least > 0
    X = np.where(seen, values, np.nan)
    found = imputation_error(X, lams=None)
    assert found.lams.min() > found.least_ridge > 0
    with pytest.raises(ValueError, match=r"lams\[1\] must be above the least ridge"):
        imputation_error(X, lams=[5.0, found.least_ridge / 2])


@pytest.mark.parametrize("method", ["pairwise", "own_rows"])
@pytest.mark.parametrize(("n", "rate"), [(30, 0.2), (90, 0.5)])
def test_predicted_errors_are_those_of_the_holes(method, n, rate):
    """Of both the mean over 30 tables; means, scales, and the ridge are found from each table itself."""
    ratios, scores = [], []
    for r in range(30):
        rng = stream(0, "holes", n, rate, r)
        X = sample(AR1(20, 0.8), n, rng)
        holed_rows, seen = with_holes(X, rate, rng)
        if not (seen.any(axis=1).all() and seen.sum(axis=0).min() > 2):
            continue
        found = impute(holed_rows, method=method)
        errors = (found.table - X)[~seen] ** 2
        by_row = np.where(seen, 0, (found.table - X) ** 2).sum(axis=1)
        expected = found.predicted_error.sum() / (~seen).sum()
        realized = errors.mean()
        noise = np.sqrt(np.sum((by_row - realized * (~seen).sum(axis=1)) ** 2)) / (~seen).sum()
        ratios.append(expected - realized)
        stderr = found.relative_stderr / found.relative_error * expected
        scores.append((expected - realized) / np.hypot(noise, stderr))
    estimate = Estimate.of(ratios)
    assert abs(estimate.mean) < 4 * estimate.stderr
    assert np.mean(np.abs(scores) < 1.96) > 0.78  # 0.95 but for a chance of 1e-3 among 30


def test_standard_errors_are_clustered_by_rows():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 1)) * np.ones((400, 8))  # all entries of a row err alike
    mean, stderr = over_entries(rows, np.ones(rows.shape, dtype=bool))
    assert mean == pytest.approx(np.mean(rows**2))
    assert stderr == pytest.approx(np.std(rows[:, 0] ** 2) / np.sqrt(399), rel=1e-6)
    column, of_column = by_column(rows, np.ones(rows.shape, dtype=bool))
    np.testing.assert_allclose(column, mean)
    np.testing.assert_allclose(of_column, stderr)


@pytest.mark.parametrize("method", ["pairwise", "own_rows", "em"])
def test_holes_of_a_single_column_are_known_as_well_as_that_column(method):
    """No other column helps to know the mean error of holes that are all in one, of which only ten entries are seen."""
    X = sample(AR1(6, 0.6), 120, stream(0, "one column with holes"))
    X[10:, 2] = np.nan
    found = impute(X, method=method, lam=1.0)
    assert found.relative_error == pytest.approx(found.error_by_column[2] / found.variances[2])
    assert found.relative_stderr == pytest.approx(found.stderr[2] / found.variances[2])
    assert (
        found.relative_stderr > 0.2 * found.relative_error
    )  # ten squares of Gaussian numbers: .45, less what is common
    if method != "em":
        left_out = imputation_error(X, lams=[1.0], method=method)
        assert left_out.hole_error[0] == pytest.approx(left_out.error[0, 2] / left_out.variances[2])
        assert left_out.hole_stderr[0] == pytest.approx(left_out.stderr[0, 2] / left_out.variances[2])
        assert left_out.mean_stderr[0] < left_out.hole_stderr[0] / 2


def test_one_kernel_serves_every_number_of_holes():
    """It takes seconds to compile, and numpy finds a few holes in an array of another kind than many."""
    for row in ([True, False, False], [True, True, False], [False] * 3):
        Patterns.of(np.array([row])).solve(np.eye(3), np.ones((1, 1, 3)), holes=False)
    assert len(invert_blocks.signatures) == 1
