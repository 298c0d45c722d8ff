"""Fits by gradients alone, and what truncated steps are made of: compiled conjugate gradients, matrices in blocks."""

import numpy as np
import pytest

import simulate.glm.truncated_newton as truncated
from simulate.glm import fit
from simulate.glm.conjugate_gradients_kernel import conjugate_gradients
from simulate.glm.samples import Samples, single
from simulate.glm.secants import secant_step
from tests.glm.test_truncated_newton import Huber, data, gradient


@pytest.mark.parametrize("loss", ["logistic", "poisson", Huber()])
@pytest.mark.parametrize("bias", [False, True])
def test_many_samples_of_few_columns_need_gradients_alone(monkeypatch, loss, bias):
    """No conjugate gradients of all samples, and one matrix of these."""
    X, y = data(20_000, 20, loss if loss == "poisson" else "logistic")
    if not isinstance(loss, str):
        y = X[:, 0] + np.random.default_rng(1).standard_normal(len(y))
    options = {"bias": bias, "argument": "margin" if isinstance(loss, str) else "residual"}
    with monkeypatch.context() as patch:
        patch.setattr(truncated._Descent, "fine", lambda *_: pytest.fail("steps by gradients did not reach the end"))
        set_up, whole = truncated._Descent.set_up, []

        def counted(self, curvature, **how):
            whole.append(how)
            set_up(self, curvature, **how)

        patch.setattr(truncated._Descent, "set_up", counted)
        found = fit(X, y, loss, 0.1, **options)
    assert whole.count({"whole": True}) == 1
    assert found.iterations <= 20
    monkeypatch.setattr(truncated, "CACHED", 0)
    expected = fit(X, y, loss, 0.1, **options)
    assert found.weights == pytest.approx(expected.weights, rel=1e-8, abs=1e-9)
    assert found.bias == pytest.approx(expected.bias, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_a_part_that_misleads_does_no_harm(loss):
    """Each sample of the part is one of another law, so that no matrix of it serves."""
    X, y = data(20_000, 20, loss)
    X[::20] *= 0.01
    lam = 0.1
    found = fit(X, y, loss, lam)
    tied, back, rounding, _ = gradient(found, X, y, loss, lam)
    assert np.linalg.norm(tied - back) < 1e-9 * np.linalg.norm(tied) + rounding


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
