"""Rows that depend on each other: drawn with exactly their covariance, whitened again, and followed by replicates."""

from functools import partial

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import (
    fit,
    fit_path,
    mean_corrected_error,
    mean_fold_error,
    mean_gcv_error,
    mean_loo_error,
    mean_next_row_error,
    mean_test_error,
    mean_train_error,
    sample,
    top_outlier,
    whitened,
)
from simulate.masked.row_dependence import dependent_rows, symmetric_root
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
    SpikedData,
    SubjectRows,
)

N = 9
RANDOM = np.random.default_rng(0).standard_normal((N, N))
INVERTIBLE = [
    IndependentRows(),
    AR1Rows(N, -0.7),
    AR1Rows(np.inf, 0.95),
    LongMemoryRows(N, 0.45),
    LongMemoryRows(N, -0.4),
    Autocovariance([1.0, 0.4, -0.05], n=N),
    Autocovariance(np.append(1.0, 0.6 * np.cos(np.arange(1, N) / 2))),  # no circulant matrix extends it
    SubjectRows([3, 1, 2, 2, 1], -0.4),
    SubjectRows([4, 5], 0.9),
    GivenRows.rescaled(RANDOM @ RANDOM.T),
]
SINGULAR = [
    SubjectRows([4, 5], 1.0),
    SubjectRows([3, 3, 3], -0.5),
    GivenRows.rescaled(RANDOM[:, :3] @ RANDOM[:, :3].T),
    Autocovariance(np.cos(np.arange(N) / 2)),
]


@pytest.mark.parametrize("law", INVERTIBLE + SINGULAR, ids=repr)
def test_rows_are_mixed_by_a_root_of_their_covariance(law):
    law = law.resized(N)
    T = np.eye(N) if isinstance(law, IndependentRows) else law.matrix
    root = dependent_rows(law, N, np.eye)
    np.testing.assert_allclose(root @ root.T, T, atol=1e-10)
    symmetric = symmetric_root(law, np.eye(N))
    np.testing.assert_allclose(symmetric @ symmetric, T, atol=1e-10)
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("make", [AR1Rows, LongMemoryRows], ids=["AR1", "long memory"])
def test_few_rows(n, make):
    root = dependent_rows(make(n, 0.3), n, np.eye)
    np.testing.assert_allclose(root @ root.T, make(n, 0.3).matrix, atol=1e-12)


def test_columns_keep_their_covariance_and_scales_come_last():
    covariance, law, scales = AR1(3, 0.5), SubjectRows([2], 0.6, n=np.inf), PointScales([0.25, 1.75])
    X = sample(covariance, 40_000, stream(0, "kept"), row_dependence=law)
    np.testing.assert_allclose(X.T @ X / 40_000, covariance.matrix, atol=0.04)
    pairs = X.reshape(-1, 2, 3)
    np.testing.assert_allclose(pairs[:, 0].T @ pairs[:, 1] / 20_000, 0.6 * covariance.matrix, atol=0.04)
    scaled = sample(covariance, 40_000, stream(0, "kept"), row_scales=scales, row_dependence=law)
    factors = scaled / X
    np.testing.assert_allclose(factors, factors[:, :1] * np.ones(3), rtol=1e-9)
    np.testing.assert_allclose(np.unique(factors[:, 0].round(6) ** 2), [0.25, 1.75], atol=1e-5)


@pytest.mark.parametrize("inputs", ["gaussian", "rademacher"])
def test_independent_rows_are_those_of_before(inputs):
    one = sample(AR1(4, 0.5), 7, stream(0, "bits"), inputs)
    np.testing.assert_array_equal(
        one, sample(AR1(4, 0.5), 7, stream(0, "bits"), inputs, row_dependence=IndependentRows())
    )


def test_other_factors_are_mixed_by_symmetric_roots():
    law = AR1Rows(7, 0.6)
    Z = sample(Isotropic(5), 7, stream(0, "signs"), "rademacher")
    X = sample(Isotropic(5), 7, stream(0, "signs"), "rademacher", row_dependence=law)
    np.testing.assert_allclose(X, symmetric_root(law, Z), atol=1e-12)
    assert set(np.unique(Z)) == {-1.0, 1.0}


@pytest.mark.parametrize("law", INVERTIBLE, ids=repr)
def test_whitened_rows_are_independent_again(law):
    """Whitening the columns of a root of T gives an orthogonal matrix, by a lower triangular map."""
    root = dependent_rows(law.resized(N), N, np.eye)
    found = whitened(root, law)
    np.testing.assert_allclose(found @ found.T, np.eye(N), atol=1e-9)
    map_of_rows = whitened(np.eye(N), law)
    np.testing.assert_allclose(map_of_rows, np.tril(map_of_rows), atol=1e-12)


@pytest.mark.parametrize("law", SINGULAR, ids=repr)
def test_rows_that_determine_others_are_not_whitened(law):
    with pytest.raises(ValueError, match="row_dependence must have an invertible matrix"):
        whitened(RANDOM, law)


def test_whitened_rows_have_a_smaller_error_and_gcv_is_right(agrees):
    """At n = 2d and correlation .9 the best error of whitened rows is 17 % below that of the rows as they are.

    `optimal_ridge` of independent rows, and of rows whose scales are the eigenvalues of T, has the ratio .827.
    """
    d, n, law = 50, 100, AR1Rows(100, 0.9)
    covariance, lams = AR1(d, 0.6), np.geomspace(0.03, 10, 13)
    best, reported = [], []
    for i in range(40):
        X = sample(covariance, n, stream(0, "whitened", i), row_dependence=law)
        plain, white = (fit_path(rows, lams) for rows in (X, whitened(X, law)))
        best.append(white.mean_test_errors(covariance).min() / plain.mean_test_errors(covariance).min())
        reported.append(white.mean_gcv_error[3] / white.mean_test_errors(covariance)[3])
    assert np.mean(best) == pytest.approx(0.827, abs=0.015)
    agrees(Estimate.of(reported), 1.0, resolves=0.12, bias=1 / d)


# Limits at infinite size for AR(1) coordinates and rows: test error, training error, GCV and leave-one-out, next row.
# They solve kappa, D and the closed forms of the moments over frequencies of both spectra with mpmath at 40 digits.
REFERENCES = [
    (2.0, 0.1, 0.9, 0.0, (1.477787062475, 0.1056446496397, 0.2172752613856, 0.3880739723848)),
    pytest.param(
        *(4.0, 0.1, 0.6, 0.6, (0.6302618859162, 0.2858644341659, 0.4391756899163, 0.5205240005509)),
        marks=pytest.mark.slow,
    ),
]
MEASURED = (mean_test_error, mean_train_error, mean_gcv_error, mean_next_row_error)


@pytest.mark.parametrize(("alpha", "lam", "phi", "r", "limits"), REFERENCES)
def test_errors_tend_to_their_limits(alpha, lam, phi, r, limits, agrees):
    model = MaskedRidge(AR1(np.inf, r), alpha, lam, row_dependence=AR1Rows(np.inf, phi))
    for measured, limit, resolves in zip(MEASURED, limits, (0.12, 0.12, 0.15, 0.3), strict=True):
        near, far = (
            Estimate.of([measured(model, d, stream(0, measured.__name__, alpha, d, i)) for i in range(80)])
            for d in (30, 60)
        )
        agrees(extrapolate(near, far), limit, resolves=resolves)


def test_folds_and_single_rows_report_what_theory_says(agrees):
    """At d = 40; for twice the size the largest distance was half a percent."""
    model = MaskedRidge(AR1(40, 0.6), 2.0, 0.1, row_dependence=AR1Rows(80, 0.9))
    point = masked.solve(model)
    cases = [
        (mean_loo_error, point.leave_one_out_error),
        (partial(mean_fold_error, folds=5), point.fold_error(5)),
        (partial(mean_fold_error, folds=4, gap=5), point.fold_error(4, 5)),
    ]
    for measured, expected in cases:
        found = Estimate.of([measured(model, 40, stream(0, "folds", i)) for i in range(50)])
        agrees(found, float(np.mean(expected)), resolves=0.3, bias=0.02 * float(np.mean(expected)))


def test_leaving_one_row_out_reports_what_gcv_does():
    """All rows are alike but for those at the ends, so that both are wrong in the same proportion."""
    model = MaskedRidge(AR1(80, 0.6), 2.0, 0.1, row_dependence=AR1Rows(160, 0.9))
    loo, gcv, error = (
        np.mean([measured(model, 80, stream(0, "same", i)) for i in range(10)])
        for measured in (mean_loo_error, mean_gcv_error, mean_test_error)
    )
    assert loo == pytest.approx(gcv, rel=0.01)
    assert loo < 0.25 * error


def test_the_next_row_is_averaged_as_if_it_were_drawn(agrees):
    """Two rows more are drawn than are fitted, and the squared error of the second one is measured."""
    d, n = 5, 12
    model = MaskedRidge(AR1(d, 0.6), n / d, 0.1, row_dependence=AR1Rows(np.inf, 0.8))
    exact = Estimate.of([mean_next_row_error(model, d, stream(0, "exact", i), 2) for i in range(300)])
    drawn = []
    for i in range(700):
        X = sample(model.covariance, n + 2, stream(0, "drawn", i), row_dependence=AR1Rows(n + 2, 0.8))
        drawn.append(fit(X[:n], 0.1).mean_test_error(X[-1:]))
    agrees(Estimate.of(drawn), exact.mean, resolves=0.5, bias=4 * exact.stderr)
    assert abs(exact.mean / mean_test_error(model, d, stream(0)) - 1) > 0.05


def test_a_next_row_of_independent_rows_is_any_row():
    model = MaskedRidge(AR1(6, 0.6), 2.0, 0.1)
    assert mean_next_row_error(model, 6, stream(0)) == mean_test_error(model, 6, stream(0))


def test_replicates_take_dependences_of_any_number_of_rows():
    covariance = AR1(20, 0.6)
    one = MaskedRidge(covariance, 1.5, 0.1, row_dependence=AR1Rows(30, 0.8))
    many = MaskedRidge(covariance, 1.5, 0.1, row_dependence=AR1Rows(np.inf, 0.8))
    for measured in (mean_test_error, mean_corrected_error, mean_next_row_error):
        assert measured(one, 20, stream(0)) == measured(many, 20, stream(0))
        assert np.isfinite(measured(one, 12, stream(0)))
    assert mean_fold_error(one, 20, stream(0), 5, 2) == mean_fold_error(many, 20, stream(0), 5, 2)
    least_squares = MaskedRegression(covariance, 3.0, row_dependence=AR1Rows(60, 0.8))
    assert mean_corrected_error(least_squares, 20, stream(0)) > mean_gcv_error(least_squares, 20, stream(0))


@pytest.mark.parametrize(
    ("alpha", "strength", "eigenvalue", "overlap"), [(1.0, 4.4, 7.68, 0.598), (3.0, 2.275, 4.14, 0.681)]
)
def test_spikes_are_drawn_in_dependent_rows(alpha, strength, eigenvalue, overlap):
    """At 2.5 times their threshold; beside the limits for rows whose scales are the eigenvalues of T.

    At d = 200 earlier draws were at 7.52(12) and .566(17), 4.09(4) and .678(7).
    """
    law = AR1Rows(np.inf, 0.5)
    data = SpikedData(Isotropic(np.inf), None, strength=strength, alpha=alpha, method="pca", row_dependence=law)
    found = np.array([top_outlier(data, 150, stream(0, "spike", alpha, i)) for i in range(24)])
    errors = found.std(axis=0, ddof=1) / np.sqrt(24)
    assert abs(found[:, 0].mean() - eigenvalue) < 4 * errors[0] + 0.2
    assert abs(found[:, 1].mean() - overlap) < 4 * errors[1] + 0.04


FIXED = MaskedRidge(AR1(6, 0.6), 1.5, 0.1, row_dependence=GivenRows.rescaled(RANDOM @ RANDOM.T))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample(AR1(3, 0.5), 4, stream(0), row_dependence=AR1(4, 0.5)), "row_dependence must be a record"),
        (
            lambda: sample(AR1(3, 0.5), 4, stream(0), row_dependence=FIXED.row_dependence),
            "row_dependence must be one of",
        ),
        (lambda: mean_test_error(FIXED, 8, stream(0)), "row_dependence must be one of n = 12 rows"),
        (lambda: mean_next_row_error(FIXED, 6, stream(0)), "model must have rows in time"),
        (lambda: mean_next_row_error(FIXED, 6, stream(0), steps=0), "steps must be"),
        (
            lambda: mean_next_row_error(MaskedRidge(AR1(6, 0.5), 2.0, 0.1, PointScales([0.5, 1.5])), 6, stream(0)),
            "model must have rows of equal scale",
        ),
        (lambda: mean_fold_error(FIXED, 6, stream(0), 1), "folds must be"),
        (lambda: whitened(RANDOM[:5], FIXED.row_dependence), "row_dependence must be one of n = 5 rows"),
        (lambda: whitened(RANDOM[:, 0], AR1Rows(9, 0.5)), "X must have shape"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
