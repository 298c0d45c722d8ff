"""The loss of factored attention and its gradient: beside one-hot inputs, differences and other blocks of samples."""

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

from simulate.core import stream
from simulate.core.cache_lines import aligned_zeros
from simulate.core.threads import mapping
from simulate.potts import (
    AttentionLayer,
    factored_attention,
    loss_and_gradient,
    masked_inputs,
    masked_language_model_loss,
)
from simulate.potts.inference import factored, factored_kernel
from simulate.potts.inference.factored_kernel import FactoredObjective, attention_first, values_first


def problem(L, C, M):
    rng = stream(0, "many colors", L, C)
    A = rng.standard_normal((L, L))
    np.fill_diagonal(A, 0.0)
    states, weights = rng.integers(C, size=(M, L)).astype(np.int32), rng.random(M)
    return states, weights, (A, rng.standard_normal((C, C)), rng.standard_normal((L, C)))


@pytest.mark.parametrize(("L", "C", "M"), [(2, 16, 1), (7, 20, 33), (5, 20, 1100), (6, 3, 1300), (2, 2, 5)])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_loss_and_its_gradient_are_those_of_one_hot_inputs(L, C, M, n_threads):
    states, weights, (A, V, h) = problem(L, C, M)
    x = np.eye(C)[states]
    N = np.einsum("ij,mjb->mib", A, x)
    log_p = log_softmax(N @ V.T + h, axis=-1)
    residual = weights[:, None, None] * (np.exp(log_p) - x)
    by_context = residual @ V
    expected = (
        -np.sum(weights[:, None, None] * log_p * x),
        np.einsum("mib,mjb->ij", by_context, x) * (1 - np.eye(L)),
        np.einsum("mia,mib->ab", residual, N),
        residual.sum(axis=0),
    )
    with mapping(n_threads) as mapped:
        found = FactoredObjective(states, weights, mapped)(A, V, h)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * M)


def test_the_result_of_many_colors_depends_neither_on_threads_nor_on_blocks(monkeypatch):
    states, weights, point = problem(6, 30, 1100)
    one = FactoredObjective(states, weights)(*point)
    with mapping(2) as mapped:
        two = FactoredObjective(states, weights, mapped)(*point)
    monkeypatch.setattr(factored_kernel, "BLOCK_LOGITS", 1)  # sample by sample
    singly = FactoredObjective(states, weights)(*point)
    for a, b, c in zip(one, two, singly, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.dtype(np.float64), np.dtype(np.float32)])
@pytest.mark.parametrize("width", [1, 20, 21, 50])
def test_rows_of_a_block_of_many_samples_are_lines_of_the_cache(dtype, width):
    number = factored_kernel._block_samples(1000, 21 * width, width, dtype)
    block = aligned_zeros((3, number, width), dtype)
    assert 12288 / (21 * width) - 16 < number <= 12288 / (21 * width)
    assert block.flags.c_contiguous
    assert all(row.ctypes.data % 64 == 0 for row in block)
    assert factored_kernel._block_samples(3, 21 * width, width, dtype) in (2, 3)


@pytest.mark.parametrize("size", [1, 20, 1000])  # of the logits: in the last both orders take their maxima off
@pytest.mark.parametrize("order", [attention_first, values_first])
def test_logits_of_any_size_give_the_loss_of_one_hot_inputs(order, size):
    states, weights, (A, V, h) = problem(7, 11, 300)
    A[:, :4] *= size
    x = np.eye(11)[states]
    N = np.einsum("ij,mjb->mib", A, x)
    z = N @ V.T + h
    log_p = z - logsumexp(z, axis=-1, keepdims=True)
    residual = weights[:, None, None] * (np.exp(log_p) - x)
    loss, dA, dV, dh = order(states, weights, A, V, h)
    assert abs(z).max() > 2 * size
    assert loss == pytest.approx(-np.sum(weights[:, None, None] * log_p * x), rel=1e-13)
    dA_expected = np.einsum("mib,mjb->ij", residual @ V, x)
    expected = dA_expected, np.einsum("mia,mib->ab", residual, N), residual.sum(axis=0)
    for one, other in zip((dA, dV, dh), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * abs(other).max())
    rough = order(states, *(each.astype(np.float32) for each in (weights, A, V, h)))
    for one, other in zip(rough, (loss, dA, dV, dh), strict=True):
        assert np.linalg.norm(one - other) < 3e-7 * (1 + size) * np.linalg.norm(other)


@pytest.mark.parametrize(("L", "C"), [(6, 3), (3, 9)])  # either order of the products
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_point_that_is_not_a_number_gives_none(L, C, place):
    states, weights, point = problem(L, C, 40)
    point[place][0, 1] = np.nan
    assert np.isnan(FactoredObjective(states, weights)(*point)[0])


@pytest.mark.parametrize(
    ("L", "C", "M"),
    [(7, 20, 33), (6, 3, 1300), (9, 9, 40), (2, 2, 5), (4, 5, 9), (5, 6, 9), (6, 7, 9), (7, 8, 9), (8, 4, 9)],
)
def test_either_order_of_the_products_gives_the_same(L, C, M):
    states, weights, point = problem(L, C, M)
    found = [order(states, weights, *point) for order in (attention_first, values_first)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * M)


@pytest.mark.parametrize(("L", "C"), [(6, 30), (9, 4)])
def test_single_precision_is_close_to_double(L, C):
    states, weights, point = problem(L, C, 1100)
    rough, exact = (FactoredObjective(states, weights, dtype=dtype)(*point) for dtype in (np.float32, np.float64))
    assert rough[0] == pytest.approx(exact[0], rel=1e-7)
    for one, other in zip(rough[1:], exact[1:], strict=True):
        assert one.dtype == float
        assert 0 < np.linalg.norm(one - other) < 1e-6 * np.linalg.norm(other)


@pytest.mark.parametrize("n_colors", [3, 12])  # either order of the products
def test_a_fit_that_begins_in_single_precision_ends_at_the_same_minimum(monkeypatch, n_colors):
    states, *_ = problem(5, n_colors, 600)
    states[:, 1] = np.where(np.arange(600) % 3, states[:, 0], states[:, 1])
    double = factored_attention(states, n_colors, l2=1e-3, field_l2=1e-3, tol=1e-6)
    called, whole = [], factored.FactoredObjective.__call__

    def counted(self, *point):
        called.append(self.dtype)
        return whole(self, *point)

    monkeypatch.setattr(factored, "SINGLE_PRECISION_OPERATIONS", 1)
    monkeypatch.setattr(factored.FactoredObjective, "__call__", counted)
    fit = factored_attention(states, n_colors, l2=1e-3, field_l2=1e-3, tol=1e-6)
    assert set(called) == {np.float32, np.float64}
    assert fit.objective == pytest.approx(double.objective, rel=1e-11)
    np.testing.assert_allclose(fit.logits(states), double.logits(states), atol=1e-4)
    huge = np.ones((5, 5)), 1e3 * np.ones((n_colors, n_colors))  # whose logits would lose their digits
    called.clear()
    factored_attention(states, n_colors, start=huge, max_iter=1, check=False)
    assert set(called) == {np.float64}


def test_the_gradient_of_many_colors_by_differences():
    states, weights, point = problem(4, 18, 50)
    _, *gradient = FactoredObjective(states, weights)(*point)
    directions = [stream(1, "directions", k).standard_normal(each.shape) for k, each in enumerate(point)]
    np.fill_diagonal(directions[0], 0.0)
    values = [
        FactoredObjective(states, weights)(*(x + sign * 1e-5 * d for x, d in zip(point, directions, strict=True)))[0]
        for sign in (1, -1)
    ]
    slope = sum(np.sum(g * d) for g, d in zip(gradient, directions, strict=True))
    assert (values[0] - values[1]) / 2e-5 == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize(("L", "C"), [(5, 3), (4, 60)])
def test_one_masked_site_is_back_propagated_through_one_hot_inputs(L, C):
    """Beside matrices with the inputs written out, as in a network."""
    states, _, point = problem(L, C, 40)
    layer, B = AttentionLayer(*point), len(states)
    sites = stream(2, "sites").integers(L, size=B)
    dA, dV, dh, losses = np.zeros((L, L)), np.zeros((C, C)), np.zeros((L, C)), []
    for state, site in zip(states, sites, strict=True):
        x = masked_inputs(state[None], C, int(site))[0]
        log_p = log_softmax(layer.logits(x)[site])
        residual = (np.exp(log_p) - np.eye(C)[state[site]]) / B
        losses.append(-log_p[state[site]])
        dA[site] += x @ (layer.values.T @ residual)
        dV += np.outer(residual, layer.attention[site] @ x)
        dh[site] += residual
    loss, *gradient = loss_and_gradient(layer, states, sites)
    assert loss == pytest.approx(np.mean(losses), rel=1e-13)
    for found, expected in zip(gradient, (dA, dV, dh), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_the_masked_loss_is_that_of_every_site_masked_in_turn():
    states, _, point = problem(6, 60, 30)
    layer = AttentionLayer(*point)
    total = 0.0
    for site in range(6):
        z = layer.logits(masked_inputs(states, 60, site))[:, site]
        total -= np.sum(log_softmax(z, axis=1)[np.arange(30), states[:, site]])
    assert masked_language_model_loss(layer, states) == pytest.approx(total / states.size, rel=1e-13)
