"""The learning curve beyond the rows of a table: against theory of the true covariance, its bars, its refusals."""

import math

import numpy as np
import pytest

from figures.analyse import rows_needed
from figures.analyse.matrix import analyse_matrix, report
from figures.analyse.matrix.centered_rows import centered_rows, table_rows
from figures.analyse.matrix.more_rows.curve import beyond, gaussian_theory, least_errors, long_curve
from figures.analyse.matrix.more_rows.lines import LIMIT, MORE
from simulate.core import Estimate, stream
from simulate.masked import sample
from theory import masked
from theory.models import AR1, Empirical, MaskedRegression

TIMES = np.array([1.0, 2, 4, 8, np.inf])


def factor_model(d):
    loadings = np.random.default_rng(5).standard_normal((d, 4))
    return Empirical(loadings @ loadings.T / 2 + 0.7 * np.eye(d))


def power_law(d):
    basis, _ = np.linalg.qr(np.random.default_rng(6).standard_normal((d, d)))
    eigenvalues = np.arange(1.0, d + 1) ** -1.2
    return Empirical((basis * eigenvalues * (d / eigenvalues.sum())) @ basis.T)


def truth(covariance, n):
    """Return the least errors of so many rows about their mean, and in the limit the conditional variances."""
    if math.isinf(n):
        return float(np.mean(masked.conditional_variances(covariance)))
    best = masked.optimal_ridge(MaskedRegression(covariance, alpha=(n - 1) / covariance.d))
    return best.mean_test_error * (1 + 1 / n)


@pytest.mark.parametrize("covariance", [AR1(24, 0.7), factor_model(24), power_law(24)], ids=["ar1", "factor", "power"])
def test_errors_of_more_rows_are_those_of_theory_with_the_true_covariance(agrees, covariance):
    n, found = 120, []
    for replicate in range(60):
        rows = table_rows(sample(covariance, n, stream(7, "more rows", replicate)) + 3)
        X = centered_rows(rows)
        found.append(least_errors(gaussian_theory(X), n * TIMES, float(X.variances.mean())))
    for at, errors in zip(TIMES, np.transpose(found), strict=True):
        expected = truth(covariance, n * at)
        agrees(Estimate.of(errors), expected, resolves=0.06, bias=0.012 * expected)


def test_the_limit_is_the_unbiased_residual_of_least_squares():
    X = sample(AR1(8, 0.6), 50, stream(1, "limit"))
    centered = X - X.mean(axis=0)
    unbiased = []
    for k in range(8):
        others = np.delete(centered, k, axis=1)
        residuals = centered[:, k] - others @ np.linalg.lstsq(others, centered[:, k])[0]
        unbiased.append(residuals @ residuals / (50 - 1 - 7))
    assert rows_needed(X).limit == pytest.approx(np.mean(unbiased), rel=0.005)


def test_bars_are_as_wide_as_predictions_scatter():
    covariance, n = AR1(12, 0.7), 80
    found = []
    for replicate in range(30):
        X = centered_rows(table_rows(sample(covariance, n, stream(2, "bars", replicate))))
        curve = long_curve(X, gaussian_theory(X), n * TIMES, replicate)
        found.append((curve.errors, curve.stderr))
    errors, stderr = np.moveaxis(found, 1, 0)
    ratio = stderr.mean(axis=0) / errors.std(axis=0, ddof=1)
    assert ((ratio > 0.7) & (ratio < 1.5)).all(), ratio  # 30 replicates know a standard deviation to 13 %


def test_the_curve_falls_and_rows_are_found_on_it():
    X = sample(AR1(20, 0.7), 100, stream(0, "docstring"))
    found = rows_needed(X)
    assert (np.diff(found.errors) < 0).all()
    assert found.rows_needed != found.rows_needed  # no target
    for place in (2, 5):
        again = rows_needed(X, target_error=float(found.errors[place]))
        assert abs(again.rows_needed - found.rows[place]) <= 1
        assert again.interval[0] <= again.rows_needed <= again.interval[1]
    assert rows_needed(X, target_error=0.99 * found.limit).rows_needed == math.inf
    assert rows_needed(X, target_error=found.mean_variance).rows_needed == 100
    scaled = rows_needed(X * np.geomspace(0.1, 10, 20), standardize=True)
    np.testing.assert_allclose(scaled.errors, rows_needed(X, standardize=True).errors, rtol=1e-6)
    assert list(found.to_frame()["error"]) == list(found.errors)


def test_with_more_columns_than_rows_the_curve_ends_at_twice_the_rows():
    X = sample(AR1(40, 0.7), 35, stream(0, "wide"))
    found = rows_needed(X, target_error=0.1)
    assert list(found.rows) == list(beyond(35, 40)) == [35, round(35 * 2**0.5), 70]
    assert math.isnan(found.limit)
    assert math.isnan(found.limit_stderr)
    assert math.isnan(found.rows_needed)
    text = report(analyse_matrix(X, repeats=2), "wide")
    assert "nothing is said of still more rows" in " ".join(text.split())


def test_near_as_many_rows_as_columns_there_are_no_bars_and_no_limit():
    """Nine tenths of 43 rows are fewer than 40 columns: the jackknife would compare unlike problems."""
    near, above = (rows_needed(sample(AR1(40, 0.7), n, stream(0, "near"))) for n in (43, 60))
    assert np.isnan(near.stderr).all()
    assert math.isnan(near.limit)
    assert near.rows[-1] == 86
    assert np.isfinite(above.stderr).all()
    assert math.isfinite(above.limit)


def test_few_rows_have_no_bars():
    found = rows_needed(sample(AR1(5, 0.7), 20, stream(0, "few")), target_error=0.3)
    assert np.isnan(found.stderr).all()
    assert np.isfinite(found.errors).all()
    assert np.isnan(found.interval).all()


def test_the_analysis_says_and_draws_it():
    analysis = analyse_matrix(sample(AR1(20, 0.7), 100, stream(0, "docstring")), repeats=2)
    text = " ".join(report(analysis, "table").split())
    assert "With twice as many rows theory expects 0.376(16), with four times as many 0.362(16), and with" in text
    assert "half of what more rows can gain needs about 280 rows" in text
    more = {line["x"]: line["theory"] for line in analysis.rows if line["curve"] == MORE}
    assert max(more) == 800
    assert more[200] == analysis.doubled_error or more[200] == pytest.approx(analysis.doubled_error, rel=1e-3)
    limits = [line["theory"] for line in analysis.rows if line["curve"] == LIMIT]
    assert limits == [analysis.more_rows.errors[-1]] * 2
    independent = report(analyse_matrix(stream(0, "noise").standard_normal((300, 4)), repeats=2), "noise")
    assert "more rows would help little" in " ".join(independent.split())


def test_bad_input():
    X = sample(AR1(5, 0.7), 40, stream(0, "bad"))
    for target in (0, -1.0, math.nan):
        with pytest.raises(ValueError, match="target_error"):
            rows_needed(X, target)
    with pytest.raises(ValueError, match="seed"):
        rows_needed(X, seed=-1)
    with pytest.raises(ValueError, match="constant"):
        rows_needed(np.column_stack([X, np.ones(40)]))
    with pytest.raises(ValueError, match="n >= 3"):
        rows_needed(X[:2])
