"""Corrected GCV: against the eigenvalues of T and J T J themselves, fits against paths, and measured errors."""

import numpy as np
import pytest
from scipy.optimize import brentq

from simulate.core import Estimate, stream
from simulate.masked import autoregressive_rows, fit, fit_path, mean_corrected_error, mean_test_error, sample
from simulate.masked import corrected as module
from simulate.masked.corrected import correction, row_modes
from simulate.masked.row_scales import draw_row_scales
from theory.models import (
    AR1,
    AR1Rows,
    Autocovariance,
    GivenRows,
    IndependentRows,
    LongMemoryRows,
    MaskedRidge,
    PointScales,
    SubjectRows,
)

N = 30
RANDOM = np.random.default_rng(0).standard_normal((N, N))
SINGULAR = GivenRows.rescaled(RANDOM[:, :20] @ RANDOM[:, :20].T)
PAIRS_AND_MORE = SubjectRows([3, 1, 2, 4], 0.7, n=N)
LAWS = [
    AR1Rows(N, 0.9),
    AR1Rows(N + 1, -0.6),
    LongMemoryRows(N, 0.35),
    Autocovariance([1.0, 0.5], n=N),
    PAIRS_AND_MORE,
    SubjectRows([10, 20], 1.0),
    GivenRows(PAIRS_AND_MORE.matrix),
    SINGULAR,
    GivenRows(np.diag(np.repeat([1e-4, 2 - 1e-4], N // 2))),
]
SCALES = PointScales([0.4, 2.8], [0.75, 0.25])


def written_out(T, share, centered):
    """The correction by the eigenvalues of T or J T J, and about the mean its variance by the matrices themselves."""
    n = len(T)
    J = np.eye(n) - 1 / n if centered else np.eye(n)
    t, vectors = np.linalg.eigh(J @ T @ J)
    t[t < 1e-12 * t[-1]] = 0
    D = np.exp(brentq(lambda x: np.mean(t * np.exp(x) / (1 + t * np.exp(x))) - share, -40, 40, xtol=1e-14))
    factor = (1 - share) ** 2 / np.mean(t / (1 + t * D) ** 2)
    if not centered:
        return factor
    c = vectors.T @ (J @ T.sum(axis=1))
    return factor * (1 + (T.sum() - np.sum(c**2 * (2 * D + D * D * t) / (1 + D * t) ** 2)) / n**2)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_correction_is_that_of_the_eigenvalues(law, centered):
    modes = row_modes(law, centered)
    rank = np.linalg.matrix_rank((np.eye(law.size) - centered / law.size) @ law.matrix, tol=1e-9)
    assert modes.share == pytest.approx(rank / law.size)
    shares = np.array([1e-3, 0.03, 0.4, 0.9, 0.97]) * modes.share
    expected = [written_out(law.matrix, share, centered) for share in shares]
    np.testing.assert_allclose(correction(modes, shares, "lam"), expected, rtol=1e-7)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("correlation", [0.3, 0.8, -0.5])
def test_many_rows_with_a_short_memory_are_told_by_fewer(correlation, centered, monkeypatch):
    law, shares = AR1Rows(701, correlation), np.geomspace(1e-3, 0.98, 9)
    short = row_modes(law, centered)
    assert len(short.counts) < 701
    assert short.n == pytest.approx(701)
    found = correction(short, shares, "lam")
    monkeypatch.setattr(module, "FEWEST_ROWS", 10_000)
    exact = row_modes(law, centered)
    assert len(exact.counts) == 701
    np.testing.assert_allclose(found, correction(exact, shares, "lam"), rtol=1e-9)


def test_rows_whose_inverse_has_a_long_memory_are_taken_whole():
    """The spectral density of a moving average of neighbors vanishes at one frequency."""
    assert len(row_modes(Autocovariance([1.0, 0.5], n=400), True).counts) == 400
    assert len(row_modes(Autocovariance([1.0, 0.4], n=400), True).counts) < 400


@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("law", [IndependentRows(), AR1Rows(np.inf, 0.0), SubjectRows([1], 0.3, n=np.inf)], ids=repr)
def test_independent_rows_are_corrected_by_nothing(n, law):
    X = sample(AR1(20, 0.6), n, stream(0, "independent", n))
    found, path = fit(X, 0.1), fit_path(X, [0.1, 1.0])
    np.testing.assert_array_equal(found.corrected_error(law), found.gcv_error)
    np.testing.assert_array_equal(path.corrected_error(law), path.gcv_error)


def test_independent_rows_about_their_mean_have_one_row_less_and_a_mean_that_is_off():
    """About their mean n independent rows are n - 1, and a new row is 1 + 1/n times as far from that mean."""
    X = sample(AR1(8, 0.6), 25, stream(0, "about the mean"))
    X -= X.mean(axis=0)
    found = fit(X, 0.1)
    left = 1 - 25 / 24 * (1 - np.sqrt(found.train_error / found.gcv_error))
    expected = (1 + 1 / 25) * found.train_error * 25 / 24 / left**2
    np.testing.assert_allclose(found.corrected_error(IndependentRows(), centered=True), expected, rtol=1e-8)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 20), (25, 40)])
def test_a_path_is_corrected_as_single_fits_are(n, d, centered):
    law = AR1Rows(n, 0.8)
    X = sample(AR1(d, 0.5), n, stream(0, "path", n), row_dependence=law)
    X[:, 3] = 0.0  # has no error, and no degrees of freedom of its own
    if centered:
        X -= X.mean(axis=0)
    lams = np.array([1.0, 0.02, 0.1, 30.0])
    path = fit_path(X, lams)
    found = path.corrected_error(law, centered)
    assert found.shape == (4, d)
    for i, lam in enumerate(lams):
        np.testing.assert_allclose(found[i], fit(X, lam).corrected_error(law, centered), rtol=1e-7, atol=1e-25)
    assert path.best("corrected", law, centered) == found.mean(axis=1).argmin()


def test_coordinates_whose_degrees_of_freedom_differ_little_are_corrected_together(monkeypatch):
    X = sample(AR1(40, 0.6), 200, stream(0, "together"), row_dependence=AR1Rows(200, 0.8))
    path = fit_path(X, [0.1, 1.0])
    found = path.corrected_error(AR1Rows(200, 0.8))
    monkeypatch.setattr(module, "SMALL_OFFSET", 0.0)
    alone = path.corrected_error(AR1Rows(200, 0.8))
    np.testing.assert_allclose(found, alone, rtol=1e-9)
    assert not np.array_equal(found, alone)


def test_the_corrected_error_chooses_a_larger_and_better_ridge():
    covariance, law = AR1(60, 0.6), AR1Rows(120, 0.9)
    path = fit_path(sample(covariance, 120, stream(0, "choice"), row_dependence=law), np.geomspace(1e-2, 30, 30))
    errors = path.mean_test_errors(covariance)
    chosen = {by: path.best(by, law) for by in ("gcv", "loo", "corrected")}
    assert path.lams[chosen["corrected"]] > 3 * path.lams[chosen["gcv"]]
    assert errors[chosen["corrected"]] < 1.02 * errors.min() < 1.04 * errors.min() < errors[chosen["loo"]]


ROWS = {
    "independent": (0.0, False),
    "0.6": (0.6, False),
    "0.9": (0.9, False),
    "unlike": (0.0, True),
    "both": (0.6, True),
}
REPORTED = {  # leave-one-out and GCV errors over the error, with their allowed distances
    "independent": (1.0, 1.0),
    "0.6": (0.56, 0.56),
    "0.9": (0.15, 0.15),
    "unlike": (0.99, 0.565),
    "both": (0.6, 0.34),
}


@pytest.mark.parametrize("rows", ROWS)
def test_what_cross_validation_reports_of_dependent_and_unlike_rows(rows, agrees):
    """Dependence makes both too small in the same proportion, unlike scales GCV alone; the corrected error is right."""
    correlation, unlike = ROWS[rows]
    d, n = 60, 120
    covariance, law = AR1(d, 0.6), AR1Rows(n, correlation)
    found = []
    for i in range(50):
        rng = stream(0, "reported", rows, i)
        X = sample(covariance, n, rng, row_dependence=law)
        roots = np.sqrt(draw_row_scales(SCALES, n, rng)) if unlike else np.ones(n)
        one = fit(roots[:, None] * X, 0.05)
        T = GivenRows.rescaled(roots[:, None] * law.matrix * roots) if unlike else law
        errors = (one.loo_error.mean(), one.mean_gcv_error, one.corrected_error(T).mean())
        found.append(np.array(errors) / one.mean_test_error(covariance))
    loo, gcv, corrected = (Estimate.of(column) for column in np.transpose(found))
    assert abs(loo.mean - REPORTED[rows][0]) < 0.04
    assert abs(gcv.mean - REPORTED[rows][1]) < 0.03
    agrees(corrected, 1.0, resolves=0.155, bias=1 / d)


def test_a_new_row_about_the_mean_of_dependent_rows(agrees):
    """The mean of 80 rows with correlation .9 between neighbors is off by a fifth of the variance, not by 1/80."""
    d, n, law = 40, 80, AR1Rows(80, 0.9)
    covariance = AR1(d, 0.6)
    ratios = []
    for i in range(60):
        X = sample(covariance, n, stream(0, "about the mean", i), row_dependence=law)
        mean = X.mean(axis=0)
        one = fit(X - mean, 0.1)
        errors = one.test_error(covariance) + (mean - one.predictor @ mean) ** 2
        ratios.append(one.corrected_error(law, centered=True).mean() / errors.mean())
    agrees(Estimate.of(ratios), 1.0, resolves=0.12, bias=1 / d)


def test_replicates_measure_the_corrected_error(agrees):
    model = MaskedRidge(AR1(50, 0.6), 1.0, 0.1, row_dependence=SubjectRows([5], 0.6, n=np.inf))
    gaps = [
        mean_corrected_error(model, 50, stream(0, "replicate", i))
        / mean_test_error(model, 50, stream(0, "replicate", i))
        for i in range(40)
    ]
    agrees(Estimate.of(gaps), 1.0, resolves=0.15, bias=1 / 50)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correlation", "n", "low"), [(0.0, 50, 0), (0.3, 50, 0), (0.6, 50, 0.05), (0.6, 100, 0.02), (0.9, 100, 0.1)]
)
def test_a_dependence_that_is_estimated_from_the_same_rows(correlation, n, low, agrees):
    """The corrected error with an estimated autoregression, about the mean, where GCV is up to ten times too small.

    It is too low by the share `low`, which was measured once, as the estimated memory is shorter than the true one.
    """
    d = 50
    covariance, law = AR1(d, 0.6), AR1Rows(n, correlation)
    ratios = []
    for i in range(100):
        X = sample(covariance, n, stream(0, "estimated", correlation, n, i), row_dependence=law)
        mean = X.mean(axis=0)
        one = fit(X - mean, 0.05)
        errors = one.test_error(covariance) + (mean - one.predictor @ mean) ** 2
        corrected = one.corrected_error(autoregressive_rows(X).dependence(n), centered=True)
        ratios.append(corrected.mean() / errors.mean())
    agrees(Estimate.of(ratios), 1.0 - low, resolves=0.25, bias=2 / d)


def test_interpolated_rows_without_a_mean_have_a_limit():
    """At lam = 0 and n < d D is infinite, and GCV is too small by the factor mean(1/t)."""
    law = AR1Rows(12, 0.7)
    X = sample(AR1(20, 0.5), 12, stream(0, "interpolated"), row_dependence=law)
    found = fit(X, 0.0)
    np.testing.assert_allclose(found.corrected_error(law), found.gcv_error * np.mean(1 / law.eigenvalues), rtol=1e-6)
    np.testing.assert_allclose(found.corrected_error(law), fit(X, 1e-7).corrected_error(law), rtol=1e-4)


X = sample(AR1(20, 0.5), 12, stream(0, "bad"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit(X - X.mean(axis=0), 0.0).corrected_error(AR1Rows(12, 0.5), True), "lam must be pos"),
        (lambda: fit(X - X.mean(axis=0), 1e-12).corrected_error(AR1Rows(12, 0.5), True), "lam must be larger"),
        (lambda: fit_path(X - X.mean(axis=0), [0.0]).corrected_error(AR1Rows(12, 0.5), True), "lams must be positive"),
        (lambda: fit(X, 0.0).corrected_error(SubjectRows([4, 8], 1.0)), "lam must be positive"),
        (lambda: fit(X, 1e-3).corrected_error(SubjectRows([4, 8], 1.0)), "lam must be larger"),
        (lambda: fit(X, 0.1).corrected_error(AR1(12, 0.5)), "row_dependence must be a record"),
        (lambda: fit(X, 0.1).corrected_error(SINGULAR), "row_dependence must be one of n = 12 rows"),
        (lambda: fit(X, 0.1).corrected_error(IndependentRows(), "yes"), "centered must be True or False"),
        (lambda: fit_path(X, [0.1]).best("corrected"), "row_dependence must be given"),
        (lambda: fit_path(X, [0.1]).best("blocks", IndependentRows()), "by must be one of"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_too_many_rows_of_a_long_memory_are_refused_before_anything_is_allocated():
    fitted = fit(np.random.default_rng(0).standard_normal((10**6, 2)), 0.1)
    with pytest.raises(MemoryError, match=r"the eigendecomposition of LongMemoryRows\(n=1000000, memory=0.2\) needs"):
        fitted.corrected_error(LongMemoryRows(10**6, 0.2))
