"""Fits by gradients alone, and what truncated steps are made of: compiled conjugate gradients, matrices in blocks."""

import contextlib
import dataclasses

import numpy as np
import pytest

import simulate.glm.changes as changes
import simulate.glm.own_loss
import simulate.glm.smooth
import simulate.glm.truncated_newton as truncated
from simulate.glm import FitError, fit, fit_multiclass
from simulate.glm.conjugate_gradients_kernel import conjugate_gradients
from simulate.glm.samples import Samples, single
from simulate.glm.secants import Goal, by_secants, secant_step
from tests.glm.test_truncated_newton import Huber, Softened, data, gradient


@pytest.mark.parametrize("loss", ["logistic", "poisson", Huber()])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_samples_need_gradients_alone(monkeypatch, loss, bias, order):
    """No conjugate gradients of all samples, and the minimum is that of truncated steps."""
    X, y = data(20_000, 20, loss if loss == "poisson" else "logistic")
    X = np.asarray(X, order=order)
    if not isinstance(loss, str):
        y = X[:, 0] + np.random.default_rng(1).standard_normal(len(y))
    options = {"bias": bias, "argument": "margin" if isinstance(loss, str) else "residual"}
    with monkeypatch.context() as patch:
        patch.setattr(truncated._Descent, "fine", lambda *_: pytest.fail("steps by gradients did not reach the end"))
        found = fit(X, y, loss, 0.1, **options)
    assert found.iterations <= 12
    monkeypatch.setattr(truncated._Descent, "secants", lambda *_: None)
    expected = fit(X, y, loss, 0.1, **options)
    assert found.weights == pytest.approx(expected.weights, rel=1e-8, abs=1e-9)
    assert found.bias == pytest.approx(expected.bias, rel=1e-8, abs=1e-9)
    assert found.train_loss == pytest.approx(expected.train_loss, rel=1e-12)


@pytest.mark.parametrize("n", [1, 37, 1030])
@pytest.mark.parametrize("k", [0, 2])
def test_changes_are_exact_to_single_precision_of_themselves(monkeypatch, n, k):
    """Their error is 1e-7 of what has changed since the base, in blocks of rows as in one."""
    rng = np.random.default_rng(0)
    X, offsets = rng.standard_normal((n, 30)), 1.0 * (rng.random((n, k)) < 0.5)
    A, diagonal = np.hstack((X, offsets)), np.append(np.full(30, 0.7), np.zeros(k))
    for block in (2**20, 600):
        monkeypatch.setattr(changes, "BLOCK", block)
        near = changes.Changes(Samples(X, offsets), single(Samples(X, offsets)), diagonal, lambda h, _: np.tanh(1 - h))
        base, move = rng.standard_normal(30 + k), rng.standard_normal(30 + k)
        for size, x in ((1.0, base), (1.0, base), (1e-2, base + 1e-2 * move), (1e-5, base + 1e-5 * move)):
            place = near.near(x)
            h = A @ x
            assert place.h == pytest.approx(h, abs=1e-5 * size)
            assert place.gradient == pytest.approx(diagonal * x - A.T @ np.tanh(1 - h), abs=1e-6 * n * size)
            assert place.length == pytest.approx(np.linalg.norm(place.gradient))
            if size == 1.0:
                place = near.exact(x)
                assert place.gradient == pytest.approx(diagonal * x - A.T @ np.tanh(1 - h), abs=1e-13 * n)
                assert place.by_weights == pytest.approx(np.linalg.norm(place.gradient[:30]))


class Misled(changes.Changes):
    """Changes that say nonsense until a base is near."""

    def near(self, x):
        place = super().near(x)
        return place if self.pull.any() else dataclasses.replace(place, length=1e9)


def test_single_precision_that_misleads_is_corrected():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 6))
    samples, ridge, H = Samples(A, np.zeros((500, 0))), np.full(6, 0.5), A.T @ A + 0.5 * np.eye(6)
    target, goal = A.sum(axis=1), Goal(1e-10, 0.0)
    for kind, most in ((changes.Changes, 9), (Misled, 10)):
        near = kind(samples, single(samples), ridge, lambda h, _: target - h)
        start = dataclasses.replace(near.near(np.zeros(6)), length=np.linalg.norm(A.T @ target))
        place, taken, last = by_secants(near, start, lambda r: np.linalg.solve(H, r) / 1.1, start.length, goal, 50)
        assert taken <= most
        assert last < 1e-9
        assert place.x == pytest.approx(np.linalg.solve(H, A.T @ target), rel=1e-9)


def test_the_end_is_seen_in_double_precision():
    """Also where single precision would have met the goal."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 6))
    samples, target, H = Samples(A, np.zeros((500, 0))), A.sum(axis=1), A.T @ A + np.eye(6)
    near = changes.Changes(samples, single(samples), np.ones(6), lambda h, _: target - h)
    start = near.near(np.full(6, 0.5))
    place, *_ = by_secants(near, start, lambda r: np.linalg.solve(H, r), 1e3, Goal(1e-3, 0.0), 50)
    assert place.x is near.x
    assert place.h == pytest.approx(A @ place.x, rel=1e-14)
    place, *_ = by_secants(near, start, lambda r: np.linalg.solve(H, r), 1e3, Goal(1e-3, 0.0), 1)
    assert place.x is near.x


def test_a_matrix_that_is_no_help_ends_the_descent():
    """Steps of a thousandth never halve the gradient: the end is the start, by a gradient in double precision."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 6))
    samples, target = Samples(A, np.zeros((500, 0))), A.sum(axis=1)
    near = changes.Changes(samples, single(samples), np.ones(6), lambda h, _: target - h)
    start = near.near(np.ones(6) / 2)
    place, taken, last = by_secants(near, start, lambda r: 1e-6 * r, 1e3, Goal(1e-10, 0.0), 50)
    assert np.array_equal(place.x, start.x)
    assert taken == 3
    assert np.isinf(last)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("lam", [1e-3, 0.1])
def test_columns_that_are_nearly_alike(monkeypatch, loss, lam):
    """All columns share a large part, so that single precision says little of what sets them apart."""
    X, y = data(9000, 10, loss)
    X = X + 30 * X[:, :1]
    y = y if loss == "logistic" else np.minimum(y, 20)
    found = fit(X, y, loss, lam)
    monkeypatch.setattr(simulate.glm.smooth, "SMALL", np.inf)
    whole = fit(X, y, loss, lam)
    assert np.linalg.norm(found.weights - whole.weights) < 1e-8 * np.linalg.norm(whole.weights)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_a_part_that_misleads_does_no_harm(monkeypatch, loss):
    """Each sample of the part is one of another law, so that no matrix of it serves, and no step by it is taken."""
    monkeypatch.setattr(truncated, "by_secants", lambda *_: pytest.fail("a step that ascends was taken"))
    X, y = data(20_000, 20, loss)
    X[::20] *= 0.01
    lam = 0.1
    found = fit(X, y, loss, lam)
    tied, back, rounding, _ = gradient(found, X, y, loss, lam)
    assert np.linalg.norm(tied - back) < 1e-9 * np.linalg.norm(tied) + rounding


@pytest.mark.parametrize("lam", [1e60, 1e160, 1e300])
def test_a_ridge_beside_which_products_vanish(lam):
    """Weights are as good as zero, and biases are the logarithms of the shares, up to what all have in common."""
    X, classes = np.random.default_rng(0).standard_normal((5, 1)), np.arange(5) % 3
    found = fit_multiclass(X, classes, 3, "softmax", lam, bias=True)
    assert abs(found.weights).max() < 1e-50
    assert found.bias - found.bias[0] == pytest.approx(np.log([1, 1, 0.5]), abs=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_inputs_that_are_not_finite(order, wrong):
    X, y = data(200, 50)
    given = np.array(X, order=order)
    given[17, 3] = wrong
    with pytest.raises(ValueError, match="X must be finite, got"):
        fit(given, y, "logistic", 0.1)
    given[17, 3] = 1e200  # which is finite, but not its square
    with pytest.raises(FitError, match="the fit did not converge"):
        fit(given, y, "hinge", 0.1)


def test_large_inputs_end_where_rounding_does(monkeypatch):
    """Rounding of the gradient is above what the goal asks; the gap proves the weights all the same."""
    with monkeypatch.context() as patch:
        patch.setattr(simulate.glm.own_loss._Problem, "descended", lambda *_: pytest.fail("multipliers are slow"))
        X, y = data(9000, 8, decay=1.0)
        assert fit(1e3 * X, y, Softened(), 1e-6, bias=True).residual < 1e-14


def test_a_gap_that_is_not_small_needs_a_small_step(monkeypatch):
    """A descent that ended before its goal is believed at a gap of 1e-14, one that reached it at 1e-10."""
    X, y = data(300, 20)
    problem = simulate.glm.own_loss._Problem
    descended = problem.smoothly_descended
    for ended, left, believed in ((1e-9, 1e-12, True), (1e-9, 1e-5, False), (1e-12, 1e-5, True), (1e-12, 1e-2, False)):
        with monkeypatch.context() as patch:

            def stopped(self, ridge, ended=ended, left=left):
                return dataclasses.replace(descended(self, ridge), residual=ended, settled=np.inf, by_weights=left)

            patch.setattr(problem, "smoothly_descended", stopped)
            patch.setattr(problem, "descended", lambda *_: 1 / 0)  # the first of what would follow
            with contextlib.nullcontext() if believed else pytest.raises(ZeroDivisionError):
                assert fit(X, y, Softened(), 0.1).residual < 1e-10


def test_many_samples_of_several_classes():
    """Several outputs have no steps by gradients alone; a part of the samples is fitted first nevertheless."""
    X, y = data(9000, 8)
    classes = np.where(X[:, 1] > 0.5, 2, (y > 0).astype(int))
    found = fit_multiclass(X, classes, 3, "softmax", 0.1)
    P = np.exp(found.fields(X))
    pull = (classes[:, None] == np.arange(3)) - P / P.sum(axis=1, keepdims=True)
    assert np.linalg.norm(0.1 * found.weights - pull.T @ X / np.sqrt(8)) < 1e-8 * np.linalg.norm(abs(pull).T @ abs(X))


@pytest.mark.parametrize("n", [1, 37, 7000])
@pytest.mark.parametrize("k", [0, 2])
def test_the_matrix_in_blocks_is_that_of_all_rows(n, k):
    rng = np.random.default_rng(0)
    X, offsets, root = rng.standard_normal((n, 30)), 1.0 * (rng.random((n, k)) < 0.5), rng.random(n)
    A = root[:, None] * np.hstack((X, offsets))
    for samples in (Samples(X, offsets), single(Samples(X, offsets))):
        square = samples.weighted_square(root.astype(np.float32))
        assert square == pytest.approx(A.T @ A, abs=1e-5 * n)


@pytest.mark.parametrize("n", [3, 50, 203])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_compiled_conjugate_gradients_solve_the_equations(n, preconditioned):
    """Rows without curvature take no part, and what is left is told truly."""
    rng = np.random.default_rng(0)
    X, bend = rng.standard_normal((n, 40)).astype(np.float32), rng.random(n).astype(np.float32)
    bend[::3] = 0.0
    diagonal, r = rng.uniform(1, 2, 40), rng.standard_normal(40)
    H = np.diag(diagonal) + X.T.astype(float) @ (bend[:, None] * X)
    factor = np.linalg.cholesky(H).T.astype(np.float32) if preconditioned else np.zeros((0, 0), np.float32)
    factor = np.ascontiguousarray(factor)
    left, step = r.copy(), np.zeros(40)
    taken, ended = conjugate_gradients(X, bend, diagonal, factor, left, step, 1e-5, 400)
    assert ended
    assert taken <= (3 if preconditioned else 80)
    assert step == pytest.approx(np.linalg.solve(H, r), abs=1e-4)
    assert r - H @ step == pytest.approx(left, abs=1e-4)
    assert np.linalg.norm(left) <= 1e-5
    again, step = r.copy(), np.zeros(40)
    assert conjugate_gradients(X, bend, diagonal, factor, again, step, 0.0, 1) == (1, False)
    assert r - H @ step == pytest.approx(again, abs=1e-4)


def test_secant_steps_obey_the_moves():
    """A step along the change of the last move is minus this move, and a quadratic ends as by conjugate gradients."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 6))
    H = A.T @ A + np.eye(6)
    moves = [(move, H @ move) for move in rng.standard_normal((3, 6))]
    assert secant_step(moves[-1][1], moves, lambda r: r) == pytest.approx(-moves[-1][0], abs=1e-12)
    assert secant_step(moves[0][1], [], lambda r: np.linalg.solve(H, r)) == pytest.approx(-moves[0][0], abs=1e-12)
