"""The analysis of a matrix: exact identities, and theory against data whose covariance is known."""

import numpy as np
import pytest

from figures.analyse.matrix import admitted, analyse_matrix, report
from figures.analyse.matrix.best_ridge import loo_squares
from figures.analyse.matrix.centered_rows import centered_rows, ridge_of_contrasts, table_rows
from figures.analyse.matrix.data_theory import data_theory, empirical_errors
from figures.analyse.matrix.held_out import split_errors
from figures.analyse.matrix.plan import make_plan
from simulate.core import Estimate, stream
from simulate.masked import fit, sample
from theory import masked
from theory.models import AR1, MaskedRidge

D, N, LAM = 40, 240, 0.05
COVARIANCE = AR1(D, 0.6)
TUNING = np.geomspace(1e-3, 10, 20)


def data(number, n=N):
    """Rows of known covariance about a mean that is not zero."""
    return sample(COVARIANCE, n, stream(0, "analysis", number)) + np.linspace(-3, 5, D)


def rows(number):
    """The same as what an analysis takes."""
    return admitted(data(number))


def exact(n, lam=LAM):
    """Theory of n rows about their own mean: n - 1 degrees of freedom, and a new row about an estimated mean."""
    model = MaskedRidge(COVARIANCE, (n - 1) / D, lam * n / (n - 1))
    return masked.solve(model, exact_size=True).mean_test_error * (1 + 1 / n)


@pytest.fixture(scope="module")
def analysis():
    return analyse_matrix(data(0), repeats=6, lams=[LAM, 1.0], sizes=[20, 41, 120, 192])


def test_contrasts_have_the_centered_gram_matrix_and_predictor():
    X = data(1, n=30)
    centered = X - X.mean(axis=0)
    rows = admitted(X).contrasts().all_rows()
    np.testing.assert_allclose(rows.T @ rows, centered.T @ centered, rtol=1e-10, atol=1e-10)
    of_contrasts = fit(rows, float(ridge_of_contrasts(LAM, 30)))
    np.testing.assert_allclose(of_contrasts.predictor, fit(centered, LAM).predictor, rtol=1e-9, atol=1e-12)


def test_leave_one_out_refits_mean_and_regression():
    X = data(2, n=15)[:, :6]
    squares = np.concatenate(list(loo_squares(admitted(X), 0.3)))
    for i in range(15):
        others = np.delete(X, i, axis=0)
        centered = others - others.mean(axis=0)
        predictor = fit(centered, 0.3 * 15 / 14).predictor  # n lam is kept
        left_out = X[i] - others.mean(axis=0)
        np.testing.assert_allclose(squares[i], (left_out - predictor @ left_out) ** 2, rtol=1e-8)


@pytest.mark.parametrize("n", [20, 41, 120])
def test_held_out_error_agrees_with_theory(agrees, n):
    values = [split_errors(rows(r), np.array([LAM]), TUNING, (n,), 60, 0, r)[0, 0, 0] for r in range(200)]
    agrees(Estimate.of(values), exact(n), resolves=0.05)


@pytest.mark.parametrize("n", [60, 120, 200])
def test_gcv_of_the_training_rows_agrees_with_the_held_out_error(agrees, n):
    both = np.array([split_errors(rows(r), np.array([LAM]), TUNING, (n,), 40, 1, r)[:, 0, 0] for r in range(140)])
    agrees(Estimate.of(both[:, 1]), exact(n), resolves=0.06)
    gap = Estimate.of(both[:, 1] - both[:, 0])
    assert abs(gap.mean) < 5 * gap.stderr


@pytest.mark.parametrize("n", [20, 60, 120, 240, 480])
def test_theory_from_the_data_alone_agrees_with_the_true_one(agrees, n):
    values = [data_theory(rows(r), np.array([LAM]), 20).mean_test_error(n, np.array([LAM]))[0] for r in range(60)]
    agrees(Estimate.of(values), exact(n), resolves=0.025)


def test_the_empirical_covariance_is_optimistic_by_d_over_n():
    values = [empirical_errors(rows(r).covariance(), N, np.array([LAM]))[0] for r in range(20)]
    estimate = Estimate.of(values)
    assert estimate.mean + 5 * estimate.stderr < exact(N) * (1 - 0.5 * D / N)


def test_at_all_rows_the_theory_of_the_data_is_gcv():
    X = data(3)
    theory = data_theory(admitted(X), np.array([LAM]), 20)
    fitted = fit(admitted(X).contrasts(), float(ridge_of_contrasts(LAM, N)))
    assert theory.mean_test_error(N, np.array([LAM]))[0] == pytest.approx(fitted.mean_gcv_error * (1 + 1 / N), rel=1e-6)
    assert theory.effective_ridge(LAM) == pytest.approx(fitted.effective_ridge, rel=0.05)
    assert 0 < theory.degrees_of_freedom(LAM) < D - 1


def test_beyond_the_reach_of_the_data_the_theory_is_nan():
    theory = data_theory(admitted(data(4, n=20)), np.array([1e-3]), 10)
    assert np.isnan(theory.mean_test_error(1000, np.array([1e-3]))).all()


@pytest.mark.usefixtures("one_process_streams")
def test_result_does_not_depend_on_the_number_of_jobs(analysis):
    parallel = analyse_matrix(data(0), repeats=6, lams=[LAM, 1.0], sizes=[20, 41, 120, 192], n_jobs=2)
    np.testing.assert_array_equal(parallel.test_error, analysis.test_error)
    np.testing.assert_array_equal(parallel.gcv_error, analysis.gcv_error)
    assert parallel.rows == analysis.rows


def test_another_seed_is_another_split(analysis):
    other = analyse_matrix(data(0), repeats=6, lams=[LAM, 1.0], sizes=[20, 41, 120, 192], seed=1)
    assert not np.array_equal(other.test_error, analysis.test_error)
    assert other.column_error == pytest.approx(analysis.column_error)


def test_permuted_columns_are_predicted_as_well(analysis):
    order = stream(0, "order").permutation(D)
    names = [f"column {k + 1}" for k in order]
    permuted = analyse_matrix(data(0)[:, order], names, repeats=6, lams=[LAM, 1.0], sizes=[20, 41, 120, 192])
    np.testing.assert_allclose(permuted.column_error, analysis.column_error[order], rtol=1e-6)
    np.testing.assert_allclose(permuted.test_error, analysis.test_error, rtol=1e-6)
    assert permuted.best.gcv == analysis.best.gcv


def test_best_ridge_by_three_routes_and_the_tuned_curve(analysis):
    optimum = masked.optimal_ridge(COVARIANCE, (N - 1) / D).lam
    for lam in (analysis.best.gcv, analysis.best.leave_one_out):
        assert optimum / 3 < lam < 3 * optimum
    assert 0 < analysis.best.empirical_theory < optimum  # its covariance hides noise
    tuned = analysis.test_error.mean(axis=0)[:, -1]
    assert (np.diff(tuned) < 0).all()
    assert (tuned < 1.03 * analysis.test_error.mean(axis=0)[:, :-1].min(axis=1)).all()
    assert analysis.doubled_error < analysis.theory[-1, -1]


def test_report_names_columns_and_compares(analysis):
    text = report(analysis, "title")
    assert "They predict worst: " in text
    assert "The best ridge for all rows is lam = " in text
    assert text.count("lam by GCV") == 4
    assert report(analysis, "title", "markdown").count("\n| ") == 13


def test_constant_columns_are_named_or_dropped():
    X = data(5, n=40)
    X[:, [3, 7]] = 1e6 / 3
    with pytest.raises(ValueError, match="2 constant columns: 'column 4', 'column 8'; see drop_constant"):
        analyse_matrix(X)
    found = analyse_matrix(X, drop_constant=True, repeats=2, sizes=[30], lams=[0.1])
    assert found.d == D - 2
    assert "column 4" not in found.names


@pytest.mark.parametrize("unit", [1e-20, 1e-6, 1.0, 1e20])
def test_a_column_is_constant_up_to_rounding_in_any_unit(unit):
    X = unit * data(5, n=40)
    X[:, 3] = unit * (1e3 + 1e-13 * np.arange(40))  # rounded, the steps at 1000 are 1.1e-13
    X[:, 7] = unit * (1e3 + 1e-8 * np.arange(40))
    assert centered_rows(table_rows(X)).constant == (3,)


def test_standardized_columns_have_no_units():
    X = data(6, n=60)
    options = {"standardize": True, "repeats": 2, "sizes": [40], "lams": [0.1]}
    plain, scaled = (analyse_matrix(X * factor, **options) for factor in (1.0, np.geomspace(1e-3, 1e3, D)))
    np.testing.assert_allclose(scaled.test_error, plain.test_error, rtol=1e-6)
    assert plain.mean_variance == pytest.approx(1)


@pytest.mark.parametrize("shape", [(3, 2), (4, 60), (12, 2), (30, 30), (31, 30)])
def test_any_shape_is_analyzed(shape):
    X = stream(0, "shape", *shape).standard_normal(shape)
    found = analyse_matrix(X, repeats=2)
    assert np.isfinite(found.test_error).all()
    assert (found.best.empirical_theory is None) == (shape[0] - 1 <= shape[1])
    assert report(found, "title")


def test_fitted_exactly_is_said_of_no_more_rows_than_columns():
    noted = []
    for n in (5, 6):  # 5 columns: 4 unknowns, and n - 1 rows about their mean
        X = stream(0, "exactly", n).standard_normal((n, 5))
        rows = admitted(X).contrasts().all_rows()
        left = np.linalg.lstsq(rows[:, 1:], rows[:, 0], rcond=None)[1]
        noted.append("fitted exactly" in str(analyse_matrix(X, repeats=2).notes))
        assert noted[-1] == (left.sum() < 1e-20)
    assert noted == [True, False]


def test_theory_begins_at_ten_training_rows():
    X = data(9, n=60)[:, :4]
    found = analyse_matrix(X, repeats=2, sizes=[2, 9, 10, 40], lams=[0.1])
    for theory in (found.theory, found.empirical_theory):
        assert np.isfinite(theory).all(axis=1).tolist() == [False, False, True, True]
    assert min(line["x"] for line in found.rows if line["theory"] and line["curve"] == found.labels[0]) == 10
    few = analyse_matrix(X[:9], repeats=2)
    assert few.doubled_error is None
    assert few.best.empirical_theory is None


def test_gcv_of_two_columns_by_hand():
    """Three rows are two contrasts: x = (-1, 0, 1) and y = (1, -2, 1) about their means, uncorrelated.

    Then nothing is predicted; |x|^2 = 2 and |y|^2 = 6 are residuals, and with n lam = 3 the hat matrices have traces
    h = 6/(6 + 3) of x on y, 2/(2 + 3) of y on x. GCV is |residual|^2/2 / (1 - h/2)^2, times 3/2 for the mean.
    """
    X = np.array([[4.0, -3.0], [5.0, -6.0], [6.0, -3.0], [12.0, 3.0]])  # the last row is 7 off both means
    seed = next(s for s in range(100) if stream(s, "split", 0).permutation(4)[-1] == 3)
    measured = split_errors(admitted(X), np.array([1.0]), np.array([1.0]), (3,), 1, seed, 0)
    of_x, of_y = 1.0 / (1 - 1 / 3) ** 2, 3.0 / (1 - 1 / 5) ** 2
    assert measured[1, 0, 0] == pytest.approx(1.5 * (of_x + of_y) / 2, rel=1e-12)
    assert measured[0, 0, 0] == pytest.approx(49, rel=1e-12)  # predicted by the means of the three


def test_columns_that_are_copies_of_each_other():
    X = data(7, n=100)[:, :5]
    found = analyse_matrix(np.hstack([X, X]), repeats=2)
    assert found.best.gcv_at_edge  # the smaller the better: each column is known from its copy
    assert found.explained.min() > 0.999


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.zeros((5, 3)) + 1j, {}, "real numbers"),
        (np.zeros(5), {}, "shape"),
        (np.zeros((2, 3)), {}, "shape"),
        (np.array([[1, 2], [3, np.nan], [5, 6]]), {}, r"got nan at row 1, column 1 \(1 in all\)"),
        (data(8, n=10), {"names": ["a"]}, "names must be 40"),
        (data(8, n=10) * 1e90, {}, "rescale"),
        (data(8, n=10), {"lams": [0.0]}, "lams must be positive"),
        (data(8, n=10), {"sizes": [9]}, "sizes must lie between 2 and 8"),
        (data(8, n=10), {"repeats": 1}, "repeats must be >= 2"),
        (data(8, n=10), {"test_fraction": 1.0}, "test_fraction must lie"),
    ],
)
def test_what_cannot_be_analyzed_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        analyse_matrix(X, **options)


def test_plans_are_cut_to_the_budget_and_say_so():
    plan = make_plan(100_000, 2000, 5, test_fraction=0.2, sizes=None, repeats=None)
    assert plan.repeats == 4
    assert plan.n_test == 4000
    assert len(plan.notes) == 2
    assert make_plan(100_000, 2000, 5, test_fraction=0.2, sizes=None, repeats=9).repeats == 9
    assert 2001 in plan.sizes  # the interpolation peak
