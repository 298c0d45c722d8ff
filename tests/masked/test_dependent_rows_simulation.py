"""Rows that depend on each other, drawn and fitted: errors of new, next and left-out rows, of folds and about means."""

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import fit
from theory import masked
from theory.models import AR1, AR1Rows, GivenRows, LongMemoryRows, MaskedRidge, PointScales, SubjectRows
from theory.models.joint_rows import joint_rows
from theory.models.row_scales import GAUSSIAN

TWO = PointScales([0.4, 2.8], [0.75, 0.25])
RESOLVED = {"new": 0.06, "train": 0.2, "gcv": 0.16, "loo": 0.16, "near": 0.15, "folds": 0.25, "mean": 0.2}
LAM, ALPHA, FOLDS, GAP = 0.1, 2.0, 4, 3


def root(matrix):
    """The symmetric root of a covariance."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(eigenvalues, 0))) @ vectors.T


def predicted(model, c, folds, gap):
    point = masked.solve(model, exact_size=True)
    return np.array(
        [
            point.mean_test_error,
            point.mean_train_error,
            point.mean_gcv_error,
            point.leave_one_out_error.mean(),
            point.near_error(c).mean(),
            point.fold_error(folds, gap).mean(),
            point.centered_test_error.mean(),
        ]
    )


def measured(X, covariance, kriging, left, folds, gap):
    """The same means over coordinates for one draw, written out: nothing of the theory is used.

    A row near the fitted ones is c'T^-1 X, `kriging` times X, and an independent rest with the share `left` of Sigma.
    """
    found = fit(X, LAM)
    residuals = X - X @ found.predictor.T
    new = found.test_error(covariance)
    near = left * new + (kriging @ residuals) ** 2
    total, numbers = 0.0, np.arange(len(X))
    for fold in folds:
        apart = abs(numbers[:, None] - fold).min(axis=1) > gap
        predictor = fit(X[apart], LAM).predictor
        total += ((X[fold] - X[fold] @ predictor.T) ** 2).sum()
    mean = X.mean(axis=0)
    centered = fit(X - mean, LAM)
    about = centered.test_error(covariance) + (mean - centered.predictor @ mean) ** 2
    return [
        new.mean(),
        found.mean_train_error,
        found.mean_gcv_error,
        found.loo_error.mean(),
        near.mean(),
        total / X.size,
        about.mean(),
    ]


def settings(name, n):
    """The dependence, the scales, the covariances of a row near the fitted ones, and the folds with their gap."""
    blocks = np.array_split(np.arange(n), FOLDS)
    match name:
        case "autoregression":
            rows = AR1Rows(n, 0.9)
            return rows, GAUSSIAN, rows.next_row(), blocks, GAP
        case "long memory":
            rows = LongMemoryRows(n, 0.35)
            return rows, GAUSSIAN, rows.next_row(2), blocks, 0
        case "subjects":
            rows = SubjectRows([4], 0.6, n=n)
            return rows, GAUSSIAN, rows.further_row(1), [np.flatnonzero(rows.groups % FOLDS == k) for k in range(4)], 0
        case "unequal subjects":
            rows = SubjectRows([1, 6, 3, 2], 0.7, n=n)
            random = stream(0, "random folds", n).permutation(n) % FOLDS
            return rows, GAUSSIAN, rows.further_row(1), [np.flatnonzero(random == k) for k in range(FOLDS)], 0
        case "unlike rows of a series":
            rows = AR1Rows(n, 0.6)
            return rows, TWO, joint_rows(TWO, rows).matrix[n // 2] / 2, blocks, GAP
    raise AssertionError(name)


@pytest.mark.parametrize(
    "name",
    [
        "autoregression",
        "long memory",
        "subjects",
        pytest.param("unequal subjects", marks=pytest.mark.slow),
        pytest.param("unlike rows of a series", marks=pytest.mark.slow),
    ],
)
def test_errors_of_all_kinds_of_rows(name, agrees):
    """Ratios to the prediction at sizes d and 2d are extrapolated to infinite size, where all are 1."""
    ratios = []
    for d, runs in ((24, 120), (48, 60)):
        n, covariance = round(ALPHA * d), AR1(d, 0.6)
        rows, scales, c, folds, gap = settings(name, n)
        model = MaskedRidge(covariance, ALPHA, LAM, scales, rows)
        T = joint_rows(scales, rows).matrix
        kriging = np.linalg.solve(T, c)
        labels = np.empty(n, int)
        for k, fold in enumerate(folds):
            labels[fold] = k
        expected = predicted(model, c, labels, gap)
        left, right = root(T), root(covariance.matrix)
        draws = (stream(0, "dependent", name, d, i).standard_normal((n, d)) for i in range(runs))
        found = [measured(left @ z @ right, covariance, kriging, 1 - c @ kriging, folds, gap) for z in draws]
        ratios.append(np.array(found) / expected)
    for column, kind in enumerate(RESOLVED):
        near, far = (Estimate.of(values[:, column]) for values in ratios)
        agrees(extrapolate(near, far), 1.0, resolves=RESOLVED[kind])


def test_a_prediction_with_the_expected_residual(agrees):
    """The next row, drawn with the fitted ones: its error less what neighbors tell is (1 - c'T^-1 c) of a new row's."""
    n, d, phi = 40, 20, 0.8
    covariance = AR1(d, 0.6)
    point = masked.solve(MaskedRidge(covariance, n / d, LAM, row_dependence=AR1Rows(n, phi)), exact_size=True)
    c = AR1Rows(n, phi).next_row()
    left, right, kriging = root(AR1Rows(n + 1, phi).matrix), root(covariance.matrix), np.zeros(n)
    kriging[-1] = phi  # c'T^-1 of an autoregression
    plain, kriged = [], []
    for i in range(600):
        X = left @ stream(0, "kriging", i).standard_normal((n + 1, d)) @ right
        predictor = fit(X[:n], LAM).predictor
        residuals = X - X @ predictor.T
        plain.append(np.mean(residuals[n] ** 2))
        kriged.append(np.mean((residuals[n] - kriging @ residuals[:n]) ** 2))
    agrees(Estimate.of(plain), point.near_error(c).mean(), resolves=0.2)
    agrees(Estimate.of(kriged), point.kriged_error(c).mean(), resolves=0.15)


def test_the_order_of_scales_beside_a_series_matters_little():
    """The theory takes one order of the scales: others change errors by less than one in a hundred at 160 rows."""
    n, covariance = 160, AR1(80, 0.6)
    rows = AR1Rows(n, 0.6)
    point = masked.solve(MaskedRidge(covariance, 2.0, LAM, TWO, rows))
    scales = np.repeat([0.4, 2.8], [3 * n // 4, n // 4])
    others = []
    for i in range(12):
        roots = np.sqrt(stream(0, "order of scales", i).permutation(scales))
        given = GivenRows(roots[:, None] * rows.matrix * roots)
        one = masked.solve(MaskedRidge(covariance, 2.0, LAM, row_dependence=given))
        others.append([one.mean_test_error, one.mean_gcv_error, one.leave_one_out_error.mean()])
    expected = [point.mean_test_error, point.mean_gcv_error, point.leave_one_out_error.mean()]
    spread = np.std(others, axis=0) / expected
    assert np.all(spread < [0.01, 0.03, 0.03])
    np.testing.assert_array_less(abs(np.mean(others, axis=0) / expected - 1), 4 * spread)
