"""Span masks: reference numbers, dense linear algebra, and one coordinate as the special case."""

import sys

import numpy as np
import pytest

from tests.families import FINITE, REGULAR, D
from theory import masked
from theory.models import AR1, Diagonal, Empirical, MaskedRidge, SpanMask, SpanWindows

WINDOWS_OF_5 = [  # alpha, the centered window, the mean over the 60 windows that tile d = 300
    (0.5, 1.0386, 1.0526),
    (1.0, 0.8905, 0.9038),
    (2.0, 0.6704, 0.6806),
]
WINDOWS_OF_20 = [(0.5, 1.7497), (1.0, 1.5260), (2.0, 1.1645)]  # the mean over 15 windows, exact_size
SPANS = [[4], [0, 1, 2], [30, 7, 19, 8, 2]]


@pytest.mark.parametrize(("alpha", "centered", "tiled"), WINDOWS_OF_5)
def test_short_spans(alpha, centered, tiled):
    covariance = AR1(300, 0.8)
    point = masked.solve(SpanMask(covariance, alpha, 0.05, range(148, 153)))
    assert point.mean_test_error == pytest.approx(centered, abs=5.1e-5)
    windows = masked.solve(SpanWindows(covariance, alpha, 0.05, 5)).test_error
    assert windows.shape == (296,)
    assert windows[148] == pytest.approx(point.mean_test_error, rel=1e-12)
    assert windows[::5].mean() == pytest.approx(tiled, abs=5.1e-5)


@pytest.mark.parametrize(("alpha", "tiled"), WINDOWS_OF_20)
def test_long_spans(alpha, tiled):
    windows = masked.solve(SpanWindows(AR1(300, 0.8), alpha, 0.05, 20), exact_size=True).test_error
    assert windows[::20].mean() == pytest.approx(tiled, abs=5.1e-5)


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("exact_size", [False, True])
@pytest.mark.parametrize("name", REGULAR)
def test_spans_are_regressed_on_what_is_left(name, exact_size, span):
    sigma, alpha, lam = REGULAR[name].matrix, 0.8, 0.05
    others = np.setdiff1d(np.arange(D), span)
    inner, cross = sigma[np.ix_(others, others)], sigma[np.ix_(others, span)]
    # kappa, and df2 with the samples it belongs to, of the regression or of all d
    size = D - len(span) if exact_size else D
    whole = MaskedRidge(Empirical(inner if exact_size else sigma), alpha * D / size, lam)
    ridge = masked.solve(whole)
    a = np.linalg.solve(inner + ridge.effective_ridge * np.eye(len(others)), cross).T
    errors = sigma[np.ix_(span, span)] - a @ cross - (a @ cross).T + a @ inner @ a.T
    found = masked.solve(SpanMask(REGULAR[name], alpha, lam, span), exact_size=exact_size)
    np.testing.assert_allclose(found.predictor[:, others], a, atol=1e-9)
    assert np.all(found.predictor[:, span] == 0)
    np.testing.assert_allclose(found.error_matrix, errors / (1 - ridge.df2 / whole.alpha), atol=1e-9, rtol=1e-8)
    assert found.effective_ridge == pytest.approx(ridge.effective_ridge, rel=1e-9)
    np.testing.assert_allclose(found.train_error, found.test_error * (lam / found.effective_ridge) ** 2, rtol=1e-12)
    assert found.mean_test_error == pytest.approx(np.trace(found.error_matrix) / len(span))
    assert found.converged
    assert found.residual <= 1e-12


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("exact_size", [False, True])
def test_one_coordinate_is_the_masked_regression(name, exact_size):
    plain = masked.solve(MaskedRidge(FINITE[name], 0.8, 0.05), exact_size=exact_size)
    windows = masked.solve(SpanWindows(FINITE[name], 0.8, 0.05, 1), exact_size=exact_size).test_error
    np.testing.assert_allclose(windows, plain.test_error, rtol=1e-8)
    one = masked.solve(SpanMask(FINITE[name], 0.8, 0.05, [5]), exact_size=exact_size)
    assert one.mean_train_error == pytest.approx(plain.train_error[5], rel=1e-8)


@pytest.mark.parametrize("exact_size", [False, True])
def test_all_windows_are_the_single_ones(exact_size):
    covariance, b = REGULAR["scaled"], 4
    windows = masked.solve(SpanWindows(covariance, 1.2, 0.03, b), exact_size=exact_size).test_error
    single = [
        masked.solve(SpanMask(covariance, 1.2, 0.03, range(k, k + b)), exact_size=exact_size).mean_test_error
        for k in range(D - b + 1)
    ]
    np.testing.assert_allclose(windows, single, rtol=1e-9)


def test_windows_in_pieces_are_the_same(monkeypatch):
    whole = masked.solve(SpanWindows(REGULAR["scaled"], 1.2, 0.03, 4), exact_size=True).test_error
    # the function of that name hides the module in its package
    monkeypatch.setattr(sys.modules["theory.masked.masks.span_mask"], "ENTRIES", 1000)
    np.testing.assert_allclose(
        masked.solve(SpanWindows(REGULAR["scaled"], 1.2, 0.03, 4), exact_size=True).test_error, whole, rtol=1e-10
    )


def test_the_order_of_a_span_is_that_of_its_errors():
    covariance = REGULAR["scaled"]
    one, two = (
        masked.solve(SpanMask(covariance, 1.0, 0.1, span), exact_size=True) for span in ([3, 9, 20], [20, 3, 9])
    )
    np.testing.assert_allclose(two.error_matrix, one.error_matrix[np.ix_([2, 0, 1], [2, 0, 1])], atol=1e-12)
    order = np.random.default_rng(1).permutation(D)
    permuted = Empirical(covariance.matrix[np.ix_(order, order)])
    moved = [int(np.flatnonzero(order == k)[0]) for k in (3, 9, 20)]
    found = masked.solve(SpanMask(permuted, 1.0, 0.1, moved), exact_size=True)
    np.testing.assert_allclose(found.error_matrix, one.error_matrix, rtol=1e-8, atol=1e-12)


def test_a_longer_span_hides_more():
    errors = [
        masked.solve(SpanMask(AR1(200, 0.8), 4.0, 0.01, range(100 - b, 100 + b))).mean_test_error for b in (1, 3, 8, 20)
    ]
    assert np.all(np.diff(errors) > 0)


def test_all_but_one_coordinate_may_be_hidden():
    """One unknown: kappa of a single variance s, kappa - kappa s/((s + kappa) n) = lam with n samples."""
    found = masked.solve(SpanMask(Diagonal([2.0, 1.0, 3.0]), 2.0, 0.1, [1, 2]), exact_size=True)
    k, n = found.effective_ridge, 6
    assert k * (1 - 2 / (2 + k) / n) == pytest.approx(0.1, rel=1e-10)
    np.testing.assert_allclose(found.test_error, np.array([1.0, 3.0]) / (1 - (2 / (2 + k)) ** 2 / n), rtol=1e-10)


@pytest.mark.parametrize("lam", [1e-10, 1e6])
@pytest.mark.parametrize("alpha", [1e-2, 1.0, 1e3])
def test_extremes_are_finite(alpha, lam):
    for exact_size in (False, True):
        windows = masked.solve(SpanWindows(AR1(30, 0.8), alpha, lam, 5), exact_size=exact_size).test_error
        assert np.all(np.isfinite(windows))
        assert windows.min() > 0
