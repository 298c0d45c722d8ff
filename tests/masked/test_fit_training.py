"""Fits along training against one matrix function, or one loop of steps, for each coordinate by itself."""

import numpy as np
import pytest
from scipy.linalg import expm

from simulate.masked import fit, fit_path, fit_training, fit_training_path, one_pass
from simulate.masked.training.flow import contour
from theory.models import AR1, Descent, Flow, HeavyBall, Nesterov, OnePass, Training


def rows(n, d=8, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) @ np.linalg.cholesky(AR1(d, 0.6).matrix).T


def each_coordinate(X, solve):
    """Row k of the predictor from `solve`(second moments of the others, their moments with k)."""
    n, d = X.shape
    C, found = X.T @ X / n, np.zeros((d, d))
    for k in range(d):
        rest = np.delete(np.arange(d), k)
        found[k, rest] = solve(C[np.ix_(rest, rest)], C[rest, k])
    return found


def flow(time, lam):
    """The integral of e^(-s(C + lam)) over s from 0 to the time, as a block of the exponential of a larger matrix."""

    def solve(C, c):
        d = len(c)
        block = np.zeros((2 * d, 2 * d))
        block[:d, :d], block[:d, d:] = -(C + lam * np.eye(d)), np.eye(d)
        return expm(time * block)[:d, d:] @ c

    return solve


def test_the_contour_is_the_filter_of_the_flow():
    z, w = contour()
    x = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 200)])
    found = 2 * (w / (z + x[:, None])).sum(1).real
    exact = np.where(x > 0, -np.expm1(-x) / np.where(x > 0, x, 1), 1.0)
    np.testing.assert_allclose(found, exact, atol=2e-12)


@pytest.mark.parametrize("n", [1, 5, 8, 30])
@pytest.mark.parametrize("lam", [0.0, 0.1])
@pytest.mark.parametrize("time", [0.03, 1.0, 30.0])
def test_gradient_flow_of_each_coordinate(n, lam, time):
    X = rows(n)
    found, exact = fit_training(X, Flow(time), lam), each_coordinate(X, flow(time, lam))
    np.testing.assert_allclose(found.predictor, exact, atol=3e-12)
    np.testing.assert_allclose(found.train_error, ((X - X @ exact.T) ** 2).mean(0), atol=3e-12)
    path = fit_training_path(X, [time, 2 * time], lam)
    np.testing.assert_allclose(path.predictor(0), exact, atol=3e-12)
    np.testing.assert_allclose(path.train_error[0], found.train_error, rtol=1e-12)
    covariance = AR1(8, 0.6)
    np.testing.assert_allclose(path.test_error(0, covariance), found.test_error(covariance), rtol=1e-12)
    assert path.mean_test_errors(X)[0] == pytest.approx(found.mean_train_error, abs=1e-11)


def steps(training, lam):
    def solve(C, c):
        before = a = np.zeros(len(c))
        for k in range(1, training.steps + 1):
            if isinstance(training, Nesterov):
                ahead = a + (k - 1) / (k + 2) * (a - before)
                before, a = a, ahead + training.step * (c - C @ ahead - lam * ahead)
            else:
                momentum = getattr(training, "momentum", 0.0)
                before, a = a, a + training.step * (c - C @ a - lam * a) + momentum * (a - before)
        return a

    return solve


@pytest.mark.parametrize("training", [Descent(0.1, 30), Nesterov(0.1, 25), HeavyBall(0.1, 25, 0.7), Descent(0.2, 1)])
@pytest.mark.parametrize("lam", [0.0, 0.2])
def test_steps_of_each_coordinate(training, lam):
    X = rows(12)
    exact = each_coordinate(X, steps(training, lam))
    found = fit_training(X, training, lam)
    np.testing.assert_allclose(found.predictor, exact, atol=1e-12)
    np.testing.assert_allclose(found.train_error, ((X - X @ exact.T) ** 2).mean(0), rtol=1e-11)


def test_small_steps_are_the_flow():
    X = rows(12)
    goal = fit_training(X, Flow(1.5)).predictor
    gaps = [abs(fit_training(X, Descent(1.5 / m, m)).predictor - goal).max() for m in (400, 800)]
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.02)
    assert gaps[1] < 1e-3


def test_one_pass_row_by_row():
    X, step = rows(20), 0.6
    exact = np.zeros((8, 8))
    for x in X:
        exact += step / 8 * np.outer(x - exact @ x, x)
        np.fill_diagonal(exact, 0.0)
    np.testing.assert_allclose(one_pass(X, step), exact, atol=1e-13)
    found = fit_training(X, OnePass(step))
    np.testing.assert_allclose(found.predictor, exact, atol=1e-13)


@pytest.mark.parametrize("n", [5, 30])
def test_long_training_ends_at_the_ridge_and_its_estimates_at_cross_validation(n):
    X, lam = rows(n), 0.3
    path, ridge = fit_training_path(X, [300.0], lam), fit(X, lam)
    np.testing.assert_allclose(path.predictor(0), ridge.predictor, atol=1e-12)
    np.testing.assert_allclose(path.gcv_error[0], ridge.gcv_error, rtol=1e-10)
    # The estimate of a ridge is (lam' h) with the trace of all columns, where GCV has that of the other columns.
    shared = fit_path(X, [lam])
    factor = shared.effective_ridge[0] / lam
    np.testing.assert_allclose(path.test_estimate[0], ridge.train_error * factor**2 * own_ratio(X, lam), rtol=1e-9)


def own_ratio(X, lam):
    """The ratio of (h - L h') K^2 to the train error times (kappa/L)^2, which is 1: train = L^2 [Q C Q]_kk/Q_kk^2."""
    C = X.T @ X / len(X)
    Q = np.linalg.inv(C + lam * np.eye(len(C)))
    energy = np.diag(Q @ C @ Q) / np.diag(Q) ** 2
    return energy / fit(X, lam).train_error


def test_short_training_changes_nothing():
    X = rows(9)
    path = fit_training_path(X, [1e-9])
    variances = (X**2).mean(0)
    for found in (path.train_error[0], path.test_estimate[0], path.gcv_error[0]):
        np.testing.assert_allclose(found, variances, rtol=1e-6)


def test_columns_of_zeros_and_copies():
    X = rows(10)
    X[:, 2] = 0.0
    X[:, 5] = X[:, 4]
    found = fit_training(X, Flow(2.0))
    np.testing.assert_allclose(found.predictor, each_coordinate(X, flow(2.0, 0.0)), atol=3e-12)
    assert found.train_error[2] == pytest.approx(0, abs=1e-20)


def test_permuted_columns_and_units():
    X, order = rows(10), np.random.default_rng(1).permutation(8)
    plain = fit_training_path(X, [0.5, 5.0], 0.1)
    permuted = fit_training_path(X[:, order], [0.5, 5.0], 0.1)
    scaled = fit_training_path(10 * X, [0.005, 0.05], 10.0)
    for name in ("train_error", "test_estimate", "gcv_error"):
        np.testing.assert_allclose(getattr(permuted, name), getattr(plain, name)[:, order], rtol=1e-9)
        np.testing.assert_allclose(getattr(scaled, name), 100 * getattr(plain, name), rtol=1e-9)
    np.testing.assert_allclose(scaled.predictor(1), plain.predictor(1), atol=1e-11)


def test_wrong_input_is_refused_by_name():
    X = rows(10)
    with pytest.raises(ValueError, match="times must be positive"):
        fit_training_path(X, [1.0, 0.0])
    for time in (1e-300, 1e300):
        with pytest.raises(ValueError, match="times, and that of training, must be from"):
            fit_training(X, Flow(time))
    with pytest.raises(ValueError, match="training must have a step below"):
        fit_training(X, Descent(1e3, 400))
    with pytest.raises(ValueError, match="step must be smaller"):
        one_pass(np.tile(X, (400, 1)), 1e4)
    with pytest.raises(ValueError, match="lam must be 0 for OnePass"):
        fit_training(X, OnePass(0.1), lam=0.1)
    with pytest.raises(ValueError, match="training must be Flow, Descent"):
        fit_training(X, Training())
    with pytest.raises(ValueError, match=r"i must lie in 0\.\.0, an index of times"):
        fit_training_path(X, [1.0]).predictor(1)
    with pytest.raises(ValueError, match="target must have d = 8"):
        fit_training(X, Flow(1.0)).test_error(AR1(7, 0.5))


def test_tables():
    path = fit_training_path(rows(10), [1.0, 2.0])
    assert list(path.to_frame()["time"]) == [1.0, 2.0]
    assert list(fit_training(rows(10), Flow(1.0)).to_frame()) == ["coordinate", "train_error"]
    assert "training=Flow(time=1.0)" in repr(fit_training(rows(10), Flow(1.0)))


@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize(("time", "lam"), [(0.3, 0.0), (5.0, 0.1), (200.0, 0.0)])
@pytest.mark.parametrize("centered", [False, True])
def test_rows_left_out_of_training(n, time, lam, centered):
    """The other rows are trained again, about their own mean or about zero, with their weight 1/n."""
    X = rows(n) + (3 if centered else 0)
    given = X - X.mean(0) if centered else X
    found = fit_training_path(given, [time], lam).loo_residuals(0, given, centered=centered)
    for i in range(n):
        others = np.delete(X, i, 0)
        mean = others.mean(0) if centered else 0.0
        again = fit_training(others - mean, Flow(time * (n - 1) / n), lam * n / (n - 1)).predictor
        left = X[i] - mean
        assert abs(found[i] - (left - again @ left)).max() < 1e-10
    some = [2, 0]
    assert fit_training_path(given, [time], lam).loo_residuals(0, given[some], centered) == pytest.approx(found[some])


@pytest.mark.parametrize("n", [3, 7, 30])
def test_few_rows_have_the_errors_of_their_predictor(n):
    """Of 30 columns and few rows the modes of the smaller Gram matrix are taken."""
    X = rows(n, 30)
    path = fit_training_path(X, [0.2, 2.0, 20.0])
    for i in range(3):
        predictor = path.predictor(i)
        assert path.train_error[i] == pytest.approx(((X - X @ predictor.T) ** 2).mean(0), rel=1e-9, abs=1e-12)
        assert abs(predictor - each_coordinate(X, flow(path.times[i], 0.0))).max() < 1e-10


def test_other_times_of_a_path_are_those_of_another_path():
    path, times = fit_training_path(rows(12), [1.0, 10.0], 0.1), [0.4, 3.0]
    again, other = path.at(times), fit_training_path(rows(12), times, 0.1)
    assert again.test_estimate == pytest.approx(other.test_estimate, rel=1e-10)
    assert again.predictor(1) == pytest.approx(other.predictor(1), rel=1e-9, abs=1e-12)
    assert again.times.tolist() == times
    assert again.lam == 0.1


def test_rows_larger_than_memory_have_the_same_path():
    X = rows(40)
    blocks, whole = (fit_training_path(one, [0.5, 5.0]) for one in ([X[:25], X[25:]], X))
    assert blocks.test_estimate == pytest.approx(whole.test_estimate, rel=1e-10)


def test_wrong_rows_and_indices_are_refused_by_name():
    path = fit_training_path(rows(12), [1.0])
    with pytest.raises(ValueError, match="rows"):
        path.loo_residuals(0, rows(5, 7))
    with pytest.raises(ValueError, match=r"i must lie in 0\.\.0, an index of times, got 1"):
        path.loo_residuals(1, rows(12))
    with pytest.raises(ValueError, match="times"):
        path.at([0.0])


@pytest.mark.parametrize(("make", "limit"), [
    (lambda step: Descent(step, 3), 2.0),
    (lambda step: HeavyBall(step, 3, 0.5), 3.0),
    (lambda step: Nesterov(step, 3), 4 / 3),
])  # fmt: skip
def test_unstable_steps_are_refused_before_numbers_overflow(make, limit):
    """Even three steps, whose result is finite; the message names the largest stable step of these data."""
    X, lam = rows(12), 0.2
    largest = limit / (np.linalg.eigvalsh(X.T @ X / 12)[-1] + lam)
    fit_training(X, make(0.999 * largest), lam)
    with pytest.raises(ValueError, match=f"training must have a step below {largest:.6g}"):
        fit_training(X, make(1.001 * largest), lam)
