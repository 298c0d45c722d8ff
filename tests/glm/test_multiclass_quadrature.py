"""Averages of many classes: the compiled sums against plain arrays, sparse grids, the choice of nodes, their error."""

import dataclasses

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from simulate.core import stream
from tests.glm.softmax_rows import prox_rows, softmax_prox
from theory import glm
from theory.glm.multiclass import channel, nodes, saddle_point
from theory.glm.multiclass.coordinates import Logarithmic, polished
from theory.glm.multiclass.equations import Classes
from theory.models import Modes, MulticlassMixture


def mixture(K, lam=0.3, alike=False, alpha=1.0):
    """K clusters with means of about unit length and one covariance."""
    rng = stream(0, "mixture", K)
    A = rng.standard_normal((K, 2 * K)) / np.sqrt(2 * K)
    shares = np.ones(K) if alike else 1 + rng.random(K)
    gram = np.eye(K) if alike else A @ A.T
    modes = Modes([1.0], [[0.4]], gram[:, :, None])
    return MulticlassMixture(
        modes=modes, probabilities=tuple(shares / shares.sum()), alpha=alpha, lam=lam, loss="softmax"
    )


def matrices(D, seed):
    """Two symmetric positive definite matrices, and a mean."""
    rng = stream(seed, "matrices", D)
    G = rng.standard_normal((2, D, D))
    return *(np.eye(D) / 2 + G @ G.transpose(0, 2, 1) / D), 0.5 * rng.standard_normal(D)


def prox_by_arrays(h, V, label, basis):
    """Newton steps, halved where they do not descend, for all rows at once."""
    inverse, x = np.linalg.inv(V), h.copy()

    def objective(x):
        return np.einsum("ni,ij,nj->n", x - h, inverse, x - h) / 2 + logsumexp(x @ basis, axis=1) - x @ basis[:, label]

    for _ in range(60):
        p = softmax(x @ basis, axis=1)
        curvature = inverse + slopes_by_arrays(p, basis)
        gradient = (x - h) @ inverse + p @ basis.T - basis[:, label]
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        for _ in range(30):
            worse = objective(x - step) > objective(x) + 1e-13
            step[worse] /= 2
        x = x - step
    return x


def slopes_by_arrays(p, basis):
    mean = p @ basis.T
    return np.einsum("nk,ik,jk->nij", p, basis, basis) - mean[:, :, None] * mean[:, None, :]


@pytest.mark.parametrize("K", [3, 5, 10])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_the_compiled_sums_are_those_of_plain_arrays(K, scale):
    basis, (V, Q, mean) = channel.contrasts(K), matrices(K - 1, K)
    V = scale * V
    z = stream(1, "nodes").standard_normal((50, K - 1))
    weights = stream(2, "weights").dirichlet(np.ones(50))
    values, vectors = np.linalg.eigh(Q)
    h = mean + z @ ((vectors * np.sqrt(values)) @ vectors.T)
    for label in (0, K - 1):
        found = channel.softmax_averages(mean, V, Q, label, basis, (z, weights))
        x = prox_by_arrays(h, V, label, basis)
        f = basis[:, label] - softmax(x @ basis, axis=1) @ basis.T
        S = slopes_by_arrays(softmax(x @ basis, axis=1), basis)
        slopes = S @ np.linalg.inv(np.eye(K - 1) + V @ S)
        np.testing.assert_allclose(f, (x - h) @ np.linalg.inv(V), atol=1e-10)
        np.testing.assert_allclose(found.force, weights @ f, atol=1e-11)
        np.testing.assert_allclose(found.square, np.einsum("n,ni,nj->ij", weights, f, f), atol=1e-11)
        np.testing.assert_allclose(found.response, np.einsum("n,nij->ij", weights, slopes), atol=1e-11)
        np.testing.assert_allclose(found.slopes, slopes, atol=1e-10)
        assert found.loss == pytest.approx(-weights @ log_softmax(x @ basis, axis=1)[:, label], abs=1e-11)


def test_the_prox_does_not_depend_on_its_start_beyond_rounding():
    """Noise of it would be noise of the equations, below which no search can get."""
    V, _, mean = matrices(9, 3)
    inverse, h = np.linalg.inv(V), mean + stream(1, "nodes").standard_normal((200, 9))
    prox = h.copy()
    prox_rows(h, inverse, 4, prox)
    other = prox + 2e-12 * stream(2, "starts").standard_normal(h.shape)
    prox_rows(h, inverse, 4, other)
    np.testing.assert_allclose(other, prox, rtol=0, atol=5e-13)


@pytest.mark.parametrize("dimension", [1, 2, 4, 9])
def test_sparse_grids_are_exact_for_polynomials(dimension):
    """Up to degree 2 level + 1, and for products of powers in several coordinates."""
    z, weights = nodes._sparse_grid(dimension, 3)
    moments = {0: 1, 2: 1, 4: 3, 6: 15}
    rng = stream(0, "powers", dimension)
    for _ in range(40):
        powers = np.bincount(rng.integers(dimension, size=rng.integers(8)), minlength=dimension)
        expected = np.prod([moments.get(int(power), 0) for power in powers])
        assert weights @ np.prod(z**powers, axis=1) == pytest.approx(expected, abs=1e-11), powers
    if dimension >= 4:  # of degree 8, where the levels of four axes would have to add up to 4
        assert weights @ np.prod(z[:, :4] ** 2, axis=1) != pytest.approx(1, rel=0.01)
    assert len(np.unique(z, axis=0)) == len(z)


@pytest.mark.parametrize("dimension", [4, 7, 9, 20])
def test_the_level_of_a_sparse_grid_is_the_largest_with_few_nodes(dimension):
    level = nodes.sparse_level(dimension)
    assert len(nodes._sparse_grid(dimension, level)[0]) <= nodes.MOST_SPARSE
    if level < nodes.MAX_LEVEL:
        assert len(nodes._sparse_grid(dimension, level + 1)[0]) > nodes.MOST_SPARSE


def test_classes_that_are_alike_need_the_averages_of_one(monkeypatch):
    model = mixture(5, alike=True)
    short = glm.solve(model)
    monkeypatch.setattr(Classes, "exchangeable", False)
    assert short.r == pytest.approx(short.r[0, 0] * (np.eye(5) - 0.2) / 0.8, abs=1e-14)
    long = glm.solve(model)
    for name in ("V", "q", "r", "bias", "train_loss", "test_loss", "replicon"):
        np.testing.assert_allclose(getattr(short, name), getattr(long, name), atol=1e-6)


def finer(model, point):
    """The same point on 2^18 points of another scramble, or on twice the nodes of a product."""
    K = model.n_classes
    if K <= 4:
        z, weights = nodes._product(K - 1, 2 * nodes.PER_AXIS[K - 1])
    else:
        z, weights = nodes._sobol(K - 1, 2**18, 7)
    classes = Classes(model, channel.contrasts(K), (z, weights), point.quadrature)
    update = Logarithmic(classes)
    y, residual = polished(update, update.pack(point._in_contrasts(classes)), 1e-8)
    assert residual < 1e-7
    x = update.unpack(y)
    V, q, r, b = classes.split(x)
    T = classes.basis.T
    return T @ V @ T.T, T @ q @ T.T, T @ r, T @ b, np.array(saddle_point._losses(classes, x))


@pytest.mark.parametrize(
    ("K", "lam", "alike", "rule", "least"),
    [
        (3, 1e-3, False, "product", 0),
        (5, 0.1, True, "sparse grid", 3e-6),  # the reference itself is not more accurate
        (5, 1e-3, True, "Sobol", 0),
        pytest.param(5, 0.1, False, "sparse grid", 3e-6, marks=pytest.mark.slow),
        pytest.param(10, 0.1, True, "sparse grid", 3e-6, marks=pytest.mark.slow),
        pytest.param(10, 1e-3, True, "Sobol", 0, marks=pytest.mark.slow),
    ],
)
def test_the_error_of_the_quadrature_is_honest(K, lam, alike, rule, least):
    """Beside a finer rule all entries and losses are off by at most three times what is said."""
    model = mixture(K, lam, alike)
    point = glm.solve(model)
    assert point.quadrature == rule
    own = (point.V, point.q, point.r, point.bias, np.array([point.train_loss, point.test_loss]))
    off = max(float(np.max(abs(a - b) / (1 + abs(b)))) for a, b in zip(own, finer(model, point), strict=True))
    assert off <= 3 * point.quadrature_error + least
    assert point.equation_uncertainty <= point.quadrature_error < 5e-3
    assert dataclasses.replace(point, q=1.05 * point.q).quadrature_error > 1e-3  # this is no solution


def test_losses_without_quadrature_have_no_error_of_it():
    modes = Modes([1.0], [[0.4]], np.eye(2)[:, :, None])
    two = MulticlassMixture(modes=modes, probabilities=(0.5, 0.5), alpha=1.0, lam=0.1, loss="softmax")
    square = dataclasses.replace(two, loss="square")
    assert [glm.solve(model).quadrature_error for model in (two, square)] == [0.0, 0.0]
    assert [glm.solve(model).quadrature for model in (two, square)] == ["panels", None]


def test_the_root_of_a_covariance_is_smooth_where_eigenvalues_meet():
    """Eigenvectors turn by any angle there, and averages over Sobol points with them."""
    basis, drift = channel.contrasts(5), np.diag([1e-13, -1e-13, 0, 0])
    drift[0, 1] = drift[1, 0] = 1e-13
    chosen = nodes.pilot_nodes(4)
    found = [
        channel.softmax_averages(np.zeros(4), np.eye(4), np.eye(4) + sign * drift, 0, basis, chosen).force
        for sign in (1, -1)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e3])
@pytest.mark.parametrize("K", [3, 6])
def test_the_mean_response_is_the_mean_of_the_slopes(K, size):
    """Sums over nodes take V^-1 out of the sum; the slopes themselves are checked against differences of the force."""
    rng = np.random.default_rng(K)
    basis, root = channel.contrasts(K), rng.standard_normal((K - 1, K - 1))
    V = size * (root @ root.T + 0.1 * np.eye(K - 1))
    z, weights = nodes.gaussian_nodes(K - 1, "Sobol" if K > 4 else None)
    mean = rng.standard_normal(K - 1)
    found = channel.softmax_averages(mean, V, root.T @ root, 1, basis, (z[:500], weights[:500]))
    expected = np.einsum("n,nij->ij", weights[:500], found.slopes)
    np.testing.assert_allclose(found.response, (expected + expected.T) / 2, rtol=1e-9, atol=1e-12 * abs(expected).max())

    def force(h):
        return (np.eye(K)[1] - softmax(softmax_prox(h, V, 1, basis) @ basis, axis=1)) @ basis.T

    h, step = mean + z[:3] @ channel.symmetric_root(root.T @ root), 1e-5 * max(1.0, size) * np.eye(K - 1)
    for j in range(K - 1):
        slope = -(force(h + step[j]) - force(h - step[j])) / (2 * step[j, j])
        np.testing.assert_allclose(found.slopes[:3, :, j], slope, rtol=1e-3, atol=1e-4 * abs(expected).max())
