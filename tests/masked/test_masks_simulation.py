"""Masking patterns, measured: fits beside slow twins, then theory against them at known power."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, replicate_values, stream
from simulate.masked import masks, sample
from theory import masked
from theory.models import AR1, RandomMasks, Scaled, SpanMask, SpanWindows, TwoLevel

LIMIT = AR1(np.inf, 0.6)
SETTINGS = {"p=.3": (0.3, 2.0, 0.01), "p=.15": (0.15, 1.0, 0.05)}  # mask_rate, alpha, lam


def few_rows(d, n, seed=0):
    rng = stream(seed, "masks")
    return sample(AR1(d, 0.6), n, rng), rng


@pytest.mark.parametrize(("n", "copies"), [(5, 1), (12, 3)])
def test_fits_solve_each_regression(n, copies):
    """Beside least squares on the rows extended by the ridge, gathered one by one."""
    d, lam, rate = 8, 0.05, 0.4
    X, rng = few_rows(d, n)
    hidden = rng.random((copies, n, d)) < rate
    fitted = masks.fit_masks(X, hidden, lam, rate)
    pairs = n * copies * rate
    for k in range(d):
        Z, y = [], []
        for mask, i in product(range(copies), range(n)):
            if hidden[mask, i, k]:
                Z.append([0.0 if hidden[mask, i, j] else X[i, j] for j in range(d)])
                y.append(X[i, k])
        rows = np.vstack([*Z, np.sqrt(pairs * lam) * np.eye(d)])
        a = np.linalg.lstsq(rows, np.append(y, np.zeros(d)), rcond=None)[0]
        np.testing.assert_allclose(fitted.predictor[k], a, atol=1e-10)
        assert fitted.train_error[k] == pytest.approx(np.sum((y - np.reshape(Z, (-1, d)) @ a) ** 2) / pairs, rel=1e-9)
    assert np.all(np.diagonal(fitted.predictor) == 0)


def test_a_coordinate_that_no_mask_hides_is_predicted_by_nothing():
    X, _ = few_rows(4, 6)
    fitted = masks.fit_masks(X, np.zeros((2, 6, 4), dtype=bool), 0.1, 0.3)
    assert np.all(fitted.predictor == 0)
    assert np.all(fitted.train_error == 0)


@pytest.mark.parametrize("odds", [1, 3])
def test_every_mask_in_its_frequency_is_the_expectation_over_masks(odds):
    """All 2^d masks, those that show v coordinates odds^v times: mask_rate 1/(1 + odds), exactly."""
    d = 4
    X, _ = few_rows(d, 7)
    patterns = [p for p in product([True, False], repeat=d) for _ in range(odds ** (d - sum(p)))]
    every = np.repeat(np.array(patterns)[:, None, :], len(X), axis=1)
    drawn = masks.fit_masks(X, every, 0.05, 1 / (1 + odds))
    expected = masks.fit_expected_masks(X, 0.05, 1 / (1 + odds))
    np.testing.assert_allclose(drawn.predictor, expected.predictor, atol=1e-12)
    np.testing.assert_allclose(drawn.train_error, expected.train_error, rtol=1e-10)


def test_many_drawn_masks_approach_the_expectation():
    X, rng = few_rows(10, 15)
    expected = masks.fit_expected_masks(X, 0.1, 0.3)

    def distance(copies):
        fitted = masks.fit_masks(X, rng.random((copies, *X.shape)) < 0.3, 0.1, 0.3)
        return np.linalg.norm(fitted.predictor - expected.predictor) / np.linalg.norm(expected.predictor)

    far, near = distance(20), distance(2000)
    assert near < 0.05
    assert 4 < far / near < 25  # like one over the root of their number


def test_the_test_error_is_that_of_new_masks():
    """200,000 new rows with new masks; 6 standard errors."""
    covariance, rate, (X, rng) = AR1(6, 0.6), 0.3, few_rows(6, 12)
    predictor = masks.fit_expected_masks(X, 0.1, rate).predictor
    rows = sample(covariance, 200_000, rng)
    inputs = np.where(rng.random(rows.shape) < rate, 0.0, rows)  # the diagonal of the predictor is zero
    squares = (rows - inputs @ predictor.T) ** 2
    exact = masks.masked_test_error(predictor, covariance, rate)
    assert np.all(abs(squares.mean(0) - exact) < 6 * squares.std(0) / np.sqrt(len(rows)))


def test_spans_are_regressed_on_their_complement():
    (X, _), span = few_rows(9, 7), np.array([2, 5, 6])
    others = np.setdiff1d(np.arange(9), span)
    a, train = masks.fit_span(X.T @ X / 7, 0.1, span)
    rows = np.vstack([X[:, others], np.sqrt(0.7) * np.eye(6)])
    targets = np.vstack([X[:, span], np.zeros((6, 3))])
    np.testing.assert_allclose(a, np.linalg.lstsq(rows, targets, rcond=None)[0].T, atol=1e-10)
    np.testing.assert_allclose(train, np.mean((X[:, span] - X[:, others] @ a.T) ** 2, axis=0), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("length", [1, 4, 11])
def test_one_inverse_serves_all_windows(alpha, length):
    """Beside each regression by its own normal equations, on the same rows."""
    model, d = SpanWindows(AR1(12, 0.6), alpha, 0.1, length), 12
    X = sample(model.covariance, round(alpha * d), stream(0, "windows"))
    found = masks.span_errors(model, d, stream(0, "windows"))
    assert found.shape == (2, 13 - length)
    for start, (test, train) in enumerate(found.T):
        span = np.arange(start, start + length)
        others = np.setdiff1d(np.arange(d), span)
        a, train_errors = masks.fit_span(X.T @ X / len(X), 0.1, span)
        residual = np.zeros((length, d))
        residual[:, span], residual[:, others] = np.eye(length), -a
        assert train == pytest.approx(train_errors.mean(), rel=1e-10)
        assert test == pytest.approx(np.trace(residual @ model.covariance.matrix @ residual.T) / length, rel=1e-10)


@pytest.mark.usefixtures("one_process_streams")
@pytest.mark.parametrize("n_masks", [None, 3])
def test_one_and_two_workers_give_the_same_bits(n_masks):
    model = RandomMasks(AR1(12, 0.6), 1.0, 0.1, 0.2, n_masks)
    one, two = (replicate_values(masks.coordinate_errors, model, 12, 5, seed=3, n_jobs=jobs) for jobs in (1, 2))
    assert one.shape == (5, 2, 12)
    np.testing.assert_array_equal(one, two)
    assert len(np.unique(one[:, 0])) == 60


@cache
def measured(model, d, replicates):
    """Mean test and train error of every replicate, (replicates, 2)."""
    names = ("random masks", repr(model), d)
    return np.array([masks.coordinate_errors(model, d, stream(0, *names, r)).mean(axis=1) for r in range(replicates)])


def in_the_limit(model, quantity, d=30, replicates=220):
    """From d and 2d: the correction is 1/d."""
    return extrapolate(*(Estimate.of(measured(model, size, replicates)[:, quantity]) for size in (d, 2 * d)))


def theory(model):
    return masked.solve(model)


@pytest.mark.parametrize("n_masks", [2, 4, pytest.param(16, marks=pytest.mark.slow), None])
@pytest.mark.parametrize("setting", SETTINGS)
def test_random_masks(agrees, setting, n_masks):
    rate, alpha, lam = SETTINGS[setting]
    model = RandomMasks(LIMIT, alpha, lam, rate, n_masks)
    agrees(in_the_limit(model, 0), theory(model).mean_test_error, resolves=0.05)
    if n_masks != 2:  # where the train error is not close to zero
        agrees(in_the_limit(model, 1), theory(model).mean_train_error, resolves=0.25 if n_masks == 4 else 0.1)


def test_a_wrong_formula_would_be_seen(agrees):
    rate, alpha, lam = SETTINGS["p=.3"]
    model = RandomMasks(LIMIT, alpha, lam, rate, 4)
    with pytest.raises(AssertionError, match="off by"):
        agrees(in_the_limit(model, 0), theory(model).mean_test_error * 1.05, resolves=0.05)
    without_noise_rows = masked.solve(RandomMasks(LIMIT, alpha, lam, rate)).mean_test_error
    with pytest.raises(AssertionError, match="off by"):
        agrees(in_the_limit(model, 0), without_noise_rows, resolves=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_one_mask_a_sample_is_off_by_one_over_d(agrees, setting):
    """The gap at d = 40 (n p = 6 and 24 rows a regression) is a finite-size effect and extrapolates away."""
    rate, alpha, lam = SETTINGS[setting]
    model = RandomMasks(LIMIT, alpha, lam, rate, 1)
    predicted = theory(model).mean_test_error
    agrees(in_the_limit(model, 0, d=40, replicates=400), predicted, resolves=0.05)
    small, large = (Estimate.of(measured(model, d, 400)[:, 0]) for d in (40, 80))
    assert small.z(predicted) > 8
    assert small.mean - predicted > 1.4 * (large.mean - predicted) > 0


@pytest.mark.parametrize("n_masks", [3, None])
@pytest.mark.parametrize("kind", ["scaled", "two level"])
def test_unequal_coordinates(agrees, kind, n_masks):
    """At its own size: of each coordinate, and of the mean; relative bias of order 1/d."""
    d = 60
    covariance = Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d)) if kind == "scaled" else TwoLevel(d)
    model = RandomMasks(covariance, 1.5, 0.1, 0.25, n_masks)
    found = theory(model).test_error
    draws = np.array([masks.coordinate_errors(model, d, stream(0, kind, str(n_masks), r))[0] for r in range(200)])
    for k in (5, 30, 55):
        agrees(Estimate.of(draws[:, k]), found[k], resolves=0.1, bias=1.5 / d * found[k])
    agrees(Estimate.of(draws.mean(axis=1)), found.mean(), resolves=0.05, bias=1.0 / d * found.mean())


@pytest.mark.parametrize("length", [3, 12])
@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_spans(agrees, alpha, length):
    """At their own size, windows side by side."""
    d = 60
    model = SpanWindows(AR1(d, 0.8), alpha, 0.05, length, step=length)
    exact = masked.solve(SpanWindows(AR1(d, 0.8), alpha, 0.05, length), exact_size=True).test_error[::length].mean()
    draws = np.array([masks.span_errors(model, d, stream(0, "span", alpha, length, r)).mean(1) for r in range(200)])
    agrees(Estimate.of(draws[:, 0]), exact, resolves=0.05, bias=0.5 / d * exact)
    if length == 12 and alpha == 2.0:
        plain = masked.solve(SpanWindows(AR1(d, 0.8), alpha, 0.05, length)).test_error[::length].mean()
        assert Estimate.of(draws[:, 0]).z(plain) < -8
    kappa = masked.solve(SpanMask(AR1(d, 0.8), alpha, 0.05, range(24, 24 + length)), exact_size=True).effective_ridge
    agrees(
        Estimate.of(draws[:, 1]), exact * (0.05 / kappa) ** 2, resolves=0.15, bias=3.0 / d * exact * (0.05 / kappa) ** 2
    )
