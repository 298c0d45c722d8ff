"""Two layers of attention on real tokens: the exact flow, its path to masked regression, and growth of squares."""

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.nets import token_gradients
from tests.bad_arguments import Example, assert_all_refused
from theory import masked
from theory.models import AR1, Empirical, MaskedRidge
from theory.nets import token_flow, token_growth, token_path

D, MASKED = 4, 2
RNG = np.random.default_rng(0)
ROOT = RNG.standard_normal((D, D))
C = Empirical(ROOT @ ROOT.T / D)
A, B = 0.5 * RNG.standard_normal((D, D)), 0.7 * RNG.standard_normal(D)


def test_the_flow_is_minus_the_gradient_of_the_loss_by_difference_quotients():
    found, step = token_flow(C, MASKED, A, B), 1e-5

    def loss(A, b):
        return token_flow(C, MASKED, A, b).loss

    for k, m in np.ndindex(D, D):
        change = step * np.outer(np.eye(D)[k], np.eye(D)[m])
        slope = (loss(A + change, B) - loss(A - change, B)) / (2 * step)
        assert found.first[k, m] == pytest.approx(-slope, abs=1e-8)
    for k, change in enumerate(step * np.eye(D)):
        assert found.last[k] == pytest.approx(-(loss(A, B + change) - loss(A, B - change)) / (2 * step), abs=1e-8)


def test_loss_and_flow_are_averages_over_the_nodes_of_a_quadrature():
    """Gauss-Hermite nodes of 5 points an axis are exact for the polynomials of degree 6 in the four tokens."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    grid = np.stack(np.meshgrid(*[nodes] * D, indexing="ij"), axis=-1).reshape(-1, D)
    w = np.prod(np.stack(np.meshgrid(*[weights / weights.sum()] * D, indexing="ij"), axis=-1).reshape(-1, D), axis=1)
    losses, by_first, by_last = token_gradients(grid @ np.linalg.cholesky(C.matrix).T, MASKED, A, B)
    found = token_flow(C, MASKED, A, B)
    assert w @ losses == pytest.approx(found.loss, rel=1e-12)
    np.testing.assert_allclose(np.tensordot(w, by_first, axes=1), found.first, atol=1e-12)
    np.testing.assert_allclose(w @ by_last, found.last, atol=1e-12)


def test_sampled_gradients_agree(agrees):
    rng = stream(0, "tokens")
    X = rng.standard_normal((40_000, D)) @ np.linalg.cholesky(C.matrix).T
    losses, by_first, by_last = token_gradients(X, MASKED, A, B)
    found = token_flow(C, MASKED, A, B)
    agrees(Estimate.of(losses.reshape(40, -1).mean(axis=1)), found.loss, resolves=0.2)
    largest = np.unravel_index(abs(found.first).argmax(), (D, D))
    sets = by_first[:, *largest].reshape(40, -1).mean(axis=1)
    agrees(Estimate.of(sets), found.first[largest], resolves=0.4)
    k = int(abs(found.last).argmax())
    agrees(Estimate.of(by_last[:, k].reshape(40, -1).mean(axis=1)), found.last[k], resolves=0.3)


def test_gradients_of_samples_are_difference_quotients():
    X, step = np.random.default_rng(1).standard_normal((3, D)), 1e-6
    _, by_first, by_last = token_gradients(X, MASKED, A, B)
    for k, m in ((0, 1), (3, 0), (1, 1), (2, 0), (0, 2)):
        change = step * np.outer(np.eye(D)[k], np.eye(D)[m])
        quotient = (token_gradients(X, MASKED, A + change, B)[0] - token_gradients(X, MASKED, A - change, B)[0]) / 2
        np.testing.assert_allclose(by_first[:, k, m], -quotient / step, atol=1e-7)
    for k, change in enumerate(step * np.eye(D)):
        quotient = (token_gradients(X, MASKED, A, B + change)[0] - token_gradients(X, MASKED, A, B - change)[0]) / 2
        np.testing.assert_allclose(by_last[:, k], -quotient / step, atol=1e-7)


def test_squares_of_gaussian_tokens_never_grow():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, last = rng.standard_normal((D, D)), rng.standard_normal(D)
        found = token_flow(C, MASKED, first, last)
        assert np.sum(first * found.first) < 0


def test_the_path_is_the_flow_with_a_first_layer_of_zero_and_ends_at_masked_regression():
    start, times, step = 0.5 * B, np.array([0.0, 0.3, 2.0]), 1e-5
    path = token_path(C, MASKED, start, times)
    np.testing.assert_allclose(path[0], start * (np.arange(D) != MASKED), atol=1e-15)
    for t, b in zip(times, path, strict=True):
        ahead, behind = token_path(C, MASKED, start, [t + step, max(t - step, 0.0)])
        slope = (ahead - behind) / (step + min(t, step))
        np.testing.assert_allclose(slope, token_flow(C, MASKED, np.zeros((D, D)), b).last, atol=1e-4)
    end = token_path(C, MASKED, start, [1e6])[0]
    precision = np.linalg.inv(C.matrix)
    expected = -precision[MASKED] / precision[MASKED, MASKED]
    expected[MASKED] = 0.0
    np.testing.assert_allclose(end, expected, atol=1e-9)
    loss = token_flow(C, MASKED, np.zeros((D, D)), end).loss
    floor = masked.solve(MaskedRidge(C, 1e8, 1e-12)).test_error[MASKED]
    assert 2 * loss == pytest.approx(floor, rel=1e-6)


def test_directions_without_variance_stay():
    flat = Empirical(np.ones((3, 3)))
    path = token_path(flat, 0, [0.0, 1.0, -1.0], [0.0, 1.0, 1e9])
    np.testing.assert_allclose(path[:, 1] - path[:, 2], 2.0, atol=1e-9)
    np.testing.assert_allclose(path[-1], [0.0, 1.5, -0.5], atol=1e-9)


def test_growth_is_the_slope_of_the_flow_of_any_data_at_a_first_layer_of_zero():
    """Second route: the measured gradient of a small first layer on samples whose third moments do not vanish."""
    X = np.random.default_rng(2).gamma(1.0, size=(200, D)) @ ROOT
    moments = np.einsum("nj,nk,nl->jkl", X, X, X) / len(X)
    found, small = token_growth(moments, MASKED, B), 1e-6
    for k in (0, 3):
        row = np.random.default_rng(k).standard_normal(D)
        first = np.zeros((D, D))
        first[k] = small * row
        measured = token_gradients(X, MASKED, first, B)[1].mean(axis=0)[k] / small
        np.testing.assert_allclose(measured, found[k] @ row, rtol=1e-4, atol=1e-6)
    assert not token_growth(np.zeros((D, D, D)), MASKED, B).any()
    assert not found[MASKED].any()


def test_bad_input():
    zero, one = np.zeros((3, 3)), np.ones(3)
    chain = AR1(3, 0.5)
    examples = {
        "token_flow": Example(token_flow, {"covariance": chain, "masked": 0, "first": zero, "last": one}),
        "token_path": Example(token_path, {"covariance": chain, "masked": 0, "last": one, "times": [1.0]}),
        "token_growth": Example(token_growth, {"third_moments": np.zeros((3, 3, 3)), "masked": 0, "last": one}),
        "token_gradients": Example(token_gradients, {"X": np.eye(3), "masked": 0, "first": zero, "last": one}),
    }
    assert_all_refused(examples, n=150, seed=0)
    with pytest.raises(ValueError, match="masked must be a token from 0 to 2, got 3"):
        token_flow(chain, 3, zero, one)
    with pytest.raises(ValueError, match=r"first must have shape \(3, 3\)"):
        token_flow(chain, 0, np.zeros((2, 2)), one)
    with pytest.raises(ValueError, match=r"last must have shape \(3,\)"):
        token_flow(chain, 0, zero, np.ones(2))
    with pytest.raises(ValueError, match="times must be >= 0"):
        token_path(chain, 0, one, [-1.0])
    with pytest.raises(ValueError, match="last must have shape"):
        token_path(chain, 0, np.ones(7), [1.0])
    with pytest.raises(ValueError, match="at least two tokens"):
        token_flow(AR1(1, 0.5), 0, [[0.0]], [0.0])
    with pytest.raises(ValueError, match="third_moments must have shape"):
        token_growth(np.zeros((2, 2, 2)), 0, one)
    with pytest.raises(ValueError, match="first and last must have shapes"):
        token_gradients(np.eye(3), 0, np.zeros((2, 2)), one)
    with pytest.raises(ValueError, match="masked must be a token from 0 to 2, got 3"):
        token_gradients(np.eye(3), 3, zero, one)
