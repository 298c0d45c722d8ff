"""Rows that depend on each other: reference values, a second arithmetic, limits, and what single rows see."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theory
from simulate.core import stream
from tests.masked import high_precision
from theory import masked
from theory.models import (
    AR1,
    AR1Rows,
    Autocovariance,
    GivenRows,
    IndependentRows,
    Isotropic,
    LongMemoryRows,
    MaskedRegression,
    MaskedRidge,
    PointScales,
    SubjectRows,
    TwoLevel,
)

TWO = PointScales([0.4, 2.8], [0.75, 0.25])
CHAIN, N = AR1(40, 0.6), 80
SERIES, SUBJECTS = AR1Rows(N, 0.8), SubjectRows([4], 0.6, n=N)
ROWS = [SERIES, LongMemoryRows(N, 0.35), SUBJECTS, SubjectRows([1, 6, 3], 0.6, n=N), Autocovariance([1, 0.4], n=N)]


def ring(n, phi):
    """The autoregression whose last row is a neighbor of the first."""
    lag = np.arange(n)
    row = (phi**lag + phi ** (n - lag)) / (1 - phi**n)
    return GivenRows.rescaled(row[(lag[:, None] - lag) % n])


def solved(rows, lam=0.1, covariance=CHAIN, **options):
    return masked.solve(MaskedRidge(covariance, N / CHAIN.d, lam, row_dependence=rows, **options))


@pytest.mark.parametrize(
    ("alpha", "lam", "phi", "r", "kappa", "test", "train", "gcv", "following"),
    [
        (0.5, 0.01, 0.6, 0.0, 1.041325793348, 1.923217964793, 0.0003709628689224, 0.9051336036304, 1.230959254285),
        (1.0, 0.01, 0.6, 0.0, 0.152177157139, 4.149120861516, 0.0342216762094, 1.961737373431, 2.665477513269),
        (2.0, 0.1, 0.6, 0.0, 0.25, 5 / 3, 1 / 3, 25 / 27, 1.2),
        (2.0, 0.1, 0.9, 0.0, 0.6517912440496, 1.477787062475, 0.1056446496397, 0.2172752613856, 0.3880739723848),
        (4.0, 0.001, 0.9, 0.0, 0.005253536282416, 2.041349873163, 0.1893066264694, 0.3353756291981, 0.5938098959884),
        (0.5, 0.05, 0.9, 0.6, 1.299735175844, 0.8788573829709, 0.008696682411686, 0.09527176929214, 0.1723548121637),
        (1.0, 0.01, 0.9, 0.6, 0.2486665802472, 1.034584638983, 0.01101755106225, 0.1124729857604, 0.2034623345527),
        (2.0, 0.3, 0.9, 0.6, 1.17099523445, 0.7397642884202, 0.09775650176606, 0.1469765573925, 0.2547579039578),
        (4.0, 0.1, 0.6, 0.6, 0.1531330450022, 0.6302618859162, 0.2858644341659, 0.4391756899163, 0.5205240005509),
        (10.0, 0.01, 0.9, 0.6, 0.02278445558879, 0.7718963025608, 0.2004770521986, 0.2450249164369, 0.3869280252495),
    ],
)
def test_reference_values_of_an_autoregression(alpha, lam, phi, r, kappa, test, train, gcv, following):
    """By closed forms of infinitely many rows, in mpmath with 40 digits."""
    covariance = AR1(math.inf, r) if r else Isotropic(math.inf)
    point = masked.solve(MaskedRidge(covariance, alpha, lam, row_dependence=AR1Rows(math.inf, phi)))
    found = (point.effective_ridge, point.mean_test_error, point.mean_train_error, point.mean_gcv_error)
    np.testing.assert_allclose(found, (kappa, test, train, gcv), rtol=1e-12)
    np.testing.assert_allclose(point.next_row_error(), following, rtol=1e-12)
    np.testing.assert_allclose(point.leave_one_out_error, point.gcv_error, rtol=1e-12)
    np.testing.assert_allclose(point.corrected_error(), point.test_error, rtol=1e-12)


def test_one_point_in_arbitrary_precision():
    """Averages over the rows by quadrature of their spectral density, and another root finder."""
    from mpmath import cos, mp, mpf, pi, quad

    phi, alpha, lam = 0.9, 2.0, 0.1

    def rows(function):
        r = mpf(phi)
        ends = [0, mpf("0.1"), mpf("0.5"), pi]
        return quad(lambda w: function((1 - r * r) / (1 - 2 * r * cos(w) + r * r)), ends) / pi

    with mp.workdps(20):
        exact = high_precision.elliptical([1.0], [1.0], alpha, lam, rows, digits=14)
    point = masked.solve(MaskedRidge(Isotropic(math.inf), alpha, lam, row_dependence=AR1Rows(math.inf, phi)))
    found = (point.effective_ridge, point.mean_test_error, point.mean_train_error, point.mean_gcv_error)
    expected = (exact.effective_ridge, exact.test_error, exact.train_error, exact.gcv_error)
    np.testing.assert_allclose(found, [float(one) for one in expected], rtol=1e-12)


@pytest.mark.parametrize("phi", [0.6, -0.5, 0.9])
@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 3.0])
def test_the_next_row_has_two_routes(phi, steps, lam):
    """The closed form of infinitely many rows, and the matrices of 300 rows that end with the same ones."""
    point = masked.solve(MaskedRidge(AR1(math.inf, 0.5), 2.0, lam, row_dependence=AR1Rows(math.inf, phi)))
    c = AR1Rows(300, phi).next_row(steps)
    np.testing.assert_allclose(point.next_row_error(steps), point.near_error(c), rtol=1e-11)
    given = masked.solve(
        MaskedRidge(AR1(math.inf, 0.5), 2.0, lam, row_dependence=Autocovariance(phi ** np.arange(200), n=math.inf))
    )
    np.testing.assert_allclose(given.next_row_error(steps), point.next_row_error(steps), rtol=1e-10)


@pytest.mark.parametrize("rows", ROWS, ids=repr)
@pytest.mark.parametrize("exact_size", [False, True])
def test_a_copy_of_a_fitted_row_costs_its_training_error(rows, exact_size):
    """The residuals of the fitted rows have the mean squares E_k [T (1 + D T)^-2]_ii."""
    model = MaskedRidge(CHAIN, N / CHAIN.d, 0.1, row_dependence=rows)
    point = masked.solve(model, exact_size=exact_size)
    copies = [point.near_error(rows.matrix[i], rows.matrix[i, i]) for i in range(N)]
    np.testing.assert_allclose(np.mean(copies, axis=0), point.train_error, rtol=1e-9)
    assert np.all(point.train_error < point.leave_one_out_error)
    assert np.all(point.leave_one_out_error < point.test_error)


@pytest.mark.parametrize(
    "rows", [ring(N, 0.8), SUBJECTS, AR1Rows(math.inf, 0.7), LongMemoryRows(math.inf, 0.3)], ids=repr
)
@pytest.mark.parametrize("lam", [1e-3, 0.3])
def test_rows_that_are_alike_make_leave_one_out_wrong_by_the_factor_of_gcv(rows, lam):
    point = solved(rows, lam)
    np.testing.assert_allclose(point.leave_one_out_error, point.gcv_error, rtol=1e-11)
    assert np.all(point.gcv_error < 0.9 * point.test_error)


@pytest.mark.parametrize("lam", [1e-4, 0.1, 10.0])
def test_independent_rows_of_unlike_scale_are_left_out_rightly(lam):
    """A diagonal T goes through the formula; a law of scales is known to give the test error."""
    given = GivenRows(np.diag(np.tile([0.4, 0.4, 0.4, 2.8], N // 4)))
    dependent, unlike = solved(given, lam), solved(IndependentRows(), lam, row_scales=TWO)
    np.testing.assert_allclose(dependent.leave_one_out_error, dependent.test_error, rtol=1e-12)
    np.testing.assert_array_equal(unlike.leave_one_out_error, unlike.test_error)
    for name in ("test_error", "train_error", "gcv_error", "effective_ridge", "effective_share", "effective_rows"):
        np.testing.assert_allclose(getattr(dependent, name), getattr(unlike, name), rtol=1e-11)
    np.testing.assert_allclose(dependent.mean_factor, unlike.mean_factor, rtol=1e-11)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(alpha=st.floats(0.2, 5.0), lam=st.floats(1e-4, 10.0), n=st.sampled_from([math.inf, "n"]))
def test_no_dependence_is_no_dependence(alpha, lam, n):
    plain = MaskedRidge(TwoLevel(30), alpha, lam)
    count = round(plain.n) if n == "n" else n
    expected = masked.solve(plain)
    for rows in (AR1Rows(count, 0.0), LongMemoryRows(count, 0.0), IndependentRows()):
        point = masked.solve(replace(plain, row_dependence=rows))
        for name in ("test_error", "train_error", "gcv_error", "leave_one_out_error"):
            np.testing.assert_array_equal(getattr(point, name), getattr(expected, name))
        np.testing.assert_array_equal(point.next_row_error(), expected.test_error)
        assert point.effective_ridge == expected.effective_ridge
    nearly = masked.solve(replace(plain, row_dependence=AR1Rows(count, 1e-7)))
    np.testing.assert_allclose(nearly.test_error, expected.test_error, rtol=1e-10)
    np.testing.assert_allclose(nearly.leave_one_out_error, expected.test_error, rtol=1e-10)
    np.testing.assert_allclose(nearly.next_row_error(), expected.test_error, rtol=1e-10)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(phi=st.floats(-0.9, 0.9), alpha=st.floats(0.2, 0.95))
def test_interpolation_does_not_see_the_dependence(phi, alpha):
    rows = AR1Rows(math.inf, phi)
    problem = MaskedRegression(AR1(math.inf, 0.5), alpha, row_dependence=rows)
    point, plain = masked.ridgeless(problem), masked.ridgeless(AR1(math.inf, 0.5), alpha)
    np.testing.assert_allclose(point.test_error, plain.test_error, rtol=1e-12)
    assert point.effective_ridge == pytest.approx(plain.effective_ridge, rel=1e-12)
    small = masked.solve(MaskedRidge(AR1(math.inf, 0.5), alpha, 1e-9, row_dependence=rows))
    np.testing.assert_allclose(small.test_error, plain.test_error, rtol=1e-5)
    np.testing.assert_allclose(small.gcv_error, point.gcv_error, rtol=1e-5)
    np.testing.assert_allclose(small.next_row_error(), point.next_row_error(), rtol=1e-5)
    np.testing.assert_allclose(point.next_row_error(), (1 - phi * phi) * point.test_error, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("rows", [AR1Rows, LongMemoryRows])
def test_small_ridges_tend_to_the_ridgeless_limit(alpha, rows):
    n = round(40 * alpha)
    rows = rows(n, 0.4)
    limit = masked.ridgeless(MaskedRegression(CHAIN, alpha, row_dependence=rows))
    small = masked.solve(MaskedRidge(CHAIN, alpha, 1e-10, row_dependence=rows))
    c = rows.next_row()
    for found, expected in (
        (small.test_error, limit.test_error),
        (small.leave_one_out_error, limit.leave_one_out_error),
        (small.near_error(c), limit.near_error(c)),
        (small.fold_error(4, 1), limit.fold_error(4, 1)),
        (small.mean_factor, limit.mean_factor),
        (small.centered_test_error, limit.centered_test_error),
        (small.corrected_error(IndependentRows()), limit.gcv_error),
        (small.corrected_error(AR1Rows(n, 0.2)), limit.corrected_error(AR1Rows(n, 0.2))),
        (small.effective_rows, limit.effective_rows),
    ):
        np.testing.assert_allclose(found, expected, rtol=2e-5)
    if alpha > 1:
        assert limit.effective_rows == pytest.approx(rows.effective_rows(alpha), rel=1e-10)


def test_rows_that_are_repeated_are_met_exactly_by_interpolation():
    twice = SubjectRows([2, 1], 1.0, n=30)
    point = masked.ridgeless(MaskedRegression(CHAIN, 0.75, row_dependence=twice))
    alone = masked.ridgeless(MaskedRegression(CHAIN, 0.5))
    np.testing.assert_allclose(point.test_error, alone.test_error, rtol=1e-10)  # 20 different rows
    # Two rows of three have a copy among the others; a third one is left out of 20 different rows.
    np.testing.assert_allclose(point.leave_one_out_error, point.test_error / 3, rtol=1e-10)
    np.testing.assert_allclose(point.near_error(twice.further_row()), 0, atol=1e-12)
    with pytest.raises(ValueError, match="must not be singular for kriged_error"):
        point.kriged_error(twice.further_row())


def test_further_rows_of_subjects_are_the_same_in_any_number():
    few, many = (solved(SubjectRows([3, 1], 0.7, n=n)) for n in (N, math.inf))
    for group in (0, 1):
        c = [SubjectRows([3, 1], 0.7, n=n).further_row(group) for n in (N, math.inf)]
        np.testing.assert_allclose(few.near_error(c[0]), many.near_error(c[1]), rtol=1e-12)
    np.testing.assert_allclose(few.leave_one_out_error, many.leave_one_out_error, rtol=1e-12)
    assert not np.allclose(few.leave_one_out_error, few.gcv_error, rtol=1e-2)  # subjects of different size


def test_residuals_that_are_expected_leave_what_is_new_of_a_row():
    """A part c'T^-1 of the residuals is added: (1 - c'T^-1 c) E_k, and the rest is what near_error has more."""
    point = solved(SERIES)
    c = SERIES.next_row()
    new = 1 - c @ np.linalg.solve(SERIES.matrix, c)
    assert new == pytest.approx(1 - 0.8**2)
    np.testing.assert_allclose(point.kriged_error(c), new * point.test_error, rtol=1e-12)
    D = float(point.df1 / point.alpha * point.effective_ridge / point.lam)
    T = SERIES.matrix
    inner = np.linalg.inv(np.eye(N) + D * T)
    kriging = np.linalg.solve(T, c)
    more = kriging @ T @ inner @ inner @ kriging
    np.testing.assert_allclose(point.near_error(c), (new + more) * point.test_error, rtol=1e-10)
    diagonal = np.diagonal(T @ inner @ inner) / np.diagonal(inner) ** 2
    np.testing.assert_allclose(point.leave_one_out_error, diagonal.mean() * point.test_error, rtol=1e-11)


@pytest.mark.parametrize(
    ("rows", "folds", "gap", "ratio"),
    [
        (AR1Rows(160, 0.9), "loo", 0, 0.162),
        (AR1Rows(160, 0.9), "random", 0, 0.175),
        (AR1Rows(160, 0.9), 20, 0, 0.416),
        (AR1Rows(160, 0.9), 5, 0, 0.818),
        (AR1Rows(160, 0.9), 5, 5, 0.949),
        (AR1Rows(160, 0.9), 5, 15, 1.020),
        (LongMemoryRows(160, 0.4), "loo", 0, 0.449),
        (LongMemoryRows(160, 0.4), "random", 0, 0.480),
        (LongMemoryRows(160, 0.4), 5, 0, 0.703),
        (LongMemoryRows(160, 0.4), 5, 10, 0.783),
        (SubjectRows([4], 0.7, n=160), "loo", 0, 0.452),
        (SubjectRows([4], 0.7, n=160), "random", 0, 0.490),
        (SubjectRows([4], 0.7, n=160), 5, 0, 1.031),
    ],
)
def test_folds_report_what_they_were_measured_to(rows, folds, gap, ratio):
    """Over the test error of all rows, for the ring of the same correlation, and its own random folds."""
    point = masked.solve(MaskedRidge(AR1(80, 0.6), 2.0, 0.1, row_dependence=rows))
    if folds == "loo":
        found = point.leave_one_out_error
    else:
        labels = stream(0, "folds").permutation(160) % 5 if folds == "random" else folds
        found = point.fold_error(labels, gap)
    assert found.mean() / point.mean_test_error == pytest.approx(ratio, rel=0.015)


def test_folds_of_independent_rows_cost_the_error_of_fewer_rows():
    for row_scales in ({}, {"row_scales": PointScales([0.5, 1.5])}):
        point = solved(IndependentRows(), **row_scales)
        half = masked.solve(MaskedRidge(CHAIN, 1.0, 0.1, **row_scales))
        halves = np.repeat([0, 1], N // 2)
        tolerance = 1e-11 if not row_scales else 2e-2  # which scales a half has is chance
        np.testing.assert_allclose(point.fold_error(2), half.test_error, rtol=tolerance)
        np.testing.assert_array_equal(point.fold_error(halves), point.fold_error(2))
    np.testing.assert_array_equal(solved(SERIES).fold_error(list(halves), 3), solved(SERIES).fold_error(2, 3))


def test_all_rows_as_folds_are_nearly_left_out_one_by_one():
    point = masked.solve(MaskedRidge(AR1(10, 0.6), 3.0, 0.1, row_dependence=AR1Rows(30, 0.8)))
    np.testing.assert_allclose(point.fold_error(30), point.leave_one_out_error, rtol=4e-2)
    assert not np.allclose(point.fold_error(30), point.leave_one_out_error, rtol=1e-4)


def test_the_mean_costs_more_than_one_in_n():
    plain = solved(IndependentRows())
    assert plain.mean_factor == pytest.approx(1 + 1 / N, rel=1e-12)
    fewer = masked.solve(MaskedRidge(CHAIN, (N - 1) / CHAIN.d, 0.1 * N / (N - 1)))  # n - 1 contrasts, mean over n
    np.testing.assert_allclose(plain.centered_test_error, (1 + 1 / N) * fewer.test_error, rtol=1e-11)
    series = solved(AR1Rows(N, 0.9))
    assert series.mean_factor == pytest.approx(1.196, abs=6e-4)
    assert solved(AR1Rows(math.inf, 0.9)).mean_factor == pytest.approx(series.mean_factor, rel=1e-2)
    assert masked.solve(MaskedRidge(Isotropic(math.inf), 2.0, 0.1)).mean_factor == 1
    exact = masked.solve(MaskedRidge(CHAIN, 2.0, 0.1, row_dependence=SERIES), exact_size=True)
    assert exact.mean_factor.shape == (40,)


@pytest.mark.parametrize("rows", ROWS, ids=repr)
@pytest.mark.parametrize("told", [AR1Rows(N, 0.3), SubjectRows([2], 1.0, n=N)], ids=repr)
def test_a_correction_reports_what_it_is_told(rows, told):
    point = solved(rows)  # more than half of the rank of the singular one is used
    np.testing.assert_allclose(point.corrected_error(rows), point.test_error, rtol=1e-11)
    np.testing.assert_allclose(point.corrected_error(IndependentRows()), point.gcv_error, rtol=1e-11)
    D = np.exp(_root(lambda x: np.mean(told.eigenvalues / (np.exp(-x) + told.eigenvalues)) - point.df1 / point.alpha))
    t = told.eigenvalues
    expected = point.train_error / np.mean(t / (1 + t * D) ** 2)
    np.testing.assert_allclose(point.corrected_error(told), expected, rtol=1e-9)


def _root(function):
    from scipy.optimize import brentq

    return brentq(function, -20.0, 20.0, xtol=1e-14)


@pytest.mark.parametrize("rows", [SERIES, LongMemoryRows(N, -0.3), SUBJECTS], ids=repr)
def test_every_solver_follows_the_dependence(rows):
    """All that X'X says is that of independent rows with the eigenvalues of T as scales."""
    ridge = MaskedRidge(CHAIN, N / CHAIN.d, 0.1, row_dependence=rows)
    unlike = MaskedRidge(CHAIN, N / CHAIN.d, 0.1, PointScales(rows.eigenvalues))
    regression, other = (
        MaskedRegression(m.covariance, m.alpha, m.row_scales, m.row_dependence) for m in (ridge, unlike)
    )
    point, expected = masked.solve(ridge), masked.solve(unlike)
    for name in ("test_error", "train_error", "gcv_error"):
        np.testing.assert_allclose(getattr(point, name), getattr(expected, name), rtol=1e-11)
    np.testing.assert_allclose(masked.predictor(ridge), masked.predictor(unlike), rtol=1e-11, atol=1e-14)
    saddles = [masked.replica(model, 3) for model in (ridge, unlike)]
    exact = masked.solve(ridge, exact_size=True)
    assert saddles[0].test_error == pytest.approx(saddles[1].test_error, rel=1e-10)
    assert saddles[0].test_error == pytest.approx(float(exact.test_error[3]), rel=1e-9)
    assert saddles[0].train_error == pytest.approx(float(exact.train_error[3]), rel=1e-9)
    best = [masked.optimal_ridge(problem) for problem in (regression, other)]
    assert best[0].lam == pytest.approx(best[1].lam, rel=1e-9)
    at_best = masked.solve(replace(ridge, lam=best[0].lam))
    assert at_best.mean_test_error == pytest.approx(best[0].mean_test_error, rel=1e-11)
    limits = [masked.ridgeless(problem).mean_test_error for problem in (regression, other)]
    assert limits[0] == pytest.approx(limits[1], rel=1e-11)
    curve = masked.learning_curve(CHAIN, [N / CHAIN.d], [0.1], row_dependence=rows)
    assert curve.mean_test_error[0, 0] == pytest.approx(point.mean_test_error, rel=1e-12)
    assert curve.mean_gcv_error[0, 0] == pytest.approx(point.mean_gcv_error, rel=1e-12)
    rough = masked.estimate(ridge, stream(0, "dependent estimate"), probes=4, coordinates=8)
    assert rough.mean_test_error == pytest.approx(point.mean_test_error, rel=0.1)


def test_the_best_ridge_is_larger_for_dependent_rows():
    """GCV and leave-one-out put it far below."""
    rows = AR1Rows(math.inf, 0.6)
    curve = masked.learning_curve(AR1(math.inf, 0.6), [2.0], np.geomspace(1e-3, 10, 200), row_dependence=rows)
    best = masked.optimal_ridge(MaskedRegression(AR1(math.inf, 0.6), 2.0, row_dependence=rows))
    assert best.mean_test_error <= curve.mean_test_error.min() * (1 + 1e-12)
    chosen = int(curve.mean_gcv_error.argmin())
    assert curve.lams[chosen] < best.lam / 2
    assert curve.mean_test_error[chosen, 0] == pytest.approx(1.05 * best.mean_test_error, rel=0.02)


def test_a_learning_curve_needs_infinitely_many_rows():
    rows = {"row_dependence": AR1Rows(math.inf, 0.8)}
    curve = masked.learning_curve(CHAIN, [0.5, 2.0], [0.1], **rows)
    points = [masked.solve(MaskedRidge(CHAIN, alpha, 0.1, **rows)).mean_test_error for alpha in (0.5, 2.0)]
    np.testing.assert_allclose(curve.mean_test_error[0], points, rtol=1e-12)
    with pytest.raises(ValueError, match=r"alphas must be n/d = 2 alone where row_dependence is of n = 80 .*n = inf"):
        masked.learning_curve(CHAIN, [2.0, 0.5], [0.1], row_dependence=SERIES)
    with pytest.raises(ValueError, match=r"row_dependence must be of n = alpha d = inf rows, .*; take n = inf"):
        masked.learning_curve(AR1(math.inf, 0.6), [2.0], [0.1], row_dependence=SERIES)


def test_no_solver_reads_the_scales_of_rows_past_their_dependence():
    """Every one asks the record for `row_law`; the result of `solve` keeps both parts to look at single rows."""
    allowed = {"masked/solution.py": 1, "random_matrix/bbp/symmetric_part.py": 1}
    for room in ("masked", "random_matrix"):
        for path in (Path(theory.__file__).parent / room).rglob("*.py"):
            if path.parent.name == "holes":
                continue  # tables with holes have rows that do not depend on each other
            found = re.findall(r"\b(?:model|data|problem)\.row_scales\b", path.read_text())
            assert len(found) == allowed.get(str(path.relative_to(Path(theory.__file__).parent)), 0), path


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.near_error(np.ones(79)), r"covariances must have shape \(80,\), got \(79,\)"),
        (lambda p: p.near_error(np.ones(80)), "that explain .* of it"),
        (lambda p: p.near_error(0.5 * np.eye(80)[0], 0.2), "of variance 0.2 with the others"),
        (lambda p: p.near_error(np.full(80, np.nan)), "covariances must be finite"),
        (lambda p: p.near_error(np.zeros(80), 0.0), "variance must lie in"),
        (lambda p: p.kriged_error(np.ones(80)), "that explain"),
        (lambda p: p.next_row_error(0), "steps must be an integer of at least 1"),
        (lambda p: p.fold_error(1), "folds must be an integer of at least 2"),
        (lambda p: p.fold_error(81), "folds must be at most the number n = 80 of rows"),
        (lambda p: p.fold_error(np.zeros(80)), "at least 2 different ones, got 0"),
        (lambda p: p.fold_error(np.arange(79)), "the fold of every row"),
        (lambda p: p.fold_error(np.arange(80) / 2), "folds must be integers, got 0.5"),
        (lambda p: p.fold_error(2, -1), "gap must be an integer of at least 0"),
        (lambda p: p.fold_error(2, 39), "gap must leave at least 2 rows to fit, got 39, which leaves 1"),
        (lambda p: p.fold_error(2, 10**9), "gap must leave at least 2 rows"),
        (lambda p: p.corrected_error(0.5), "row_dependence must be"),
        (lambda p: p.corrected_error(SubjectRows([8], 1.0, n=80)), "rank above the degrees of freedom"),
        (lambda _: solved(SUBJECTS).next_row_error(), "SubjectRows has no next row"),
        (lambda _: solved(LongMemoryRows(math.inf, 0.3)).next_row_error(), "needs finitely many rows"),
        (lambda _: solved(IndependentRows(), row_scales=TWO).near_error([0.1]), "rows of known scales"),
        (
            lambda _: masked.solve(MaskedRidge(Isotropic(math.inf), 2.0, 0.1)).fold_error(2),
            "fold_error needs finitely many rows",
        ),
        (
            lambda _: masked.solve(MaskedRidge(CHAIN, 2.0, 0.1, TWO, AR1Rows(math.inf, 0.5))),
            "row_dependence must be of a finite n beside row_scales",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(solved(SERIES))
