"""From matrix overlaps to their conjugates, in a basis of the classes.

h = M_c + b + Q_c^(1/2) z in cluster c. Softmax depends on differences of h alone: it is solved in K - 1 orthonormal
zero-sum contrasts, square loss in all K outputs; `basis` (D, K) has either as rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, logsumexp, ndtr, softmax

from theory.models.arrays import Array

Nodes = tuple[Array, Array]  # z (N, D), weights (N,)


@dataclass(frozen=True)
class ClassAverages:
    """Of one cluster: E f (D,), E f f^T and -E df/dh (D, D), and the mean loss of the prox."""

    force: Array
    square: Array
    response: Array
    loss: float


def contrasts(K: int) -> Array:
    """Orthonormal zero-sum rows, (K - 1, K), of Helmert's kind."""
    rows = np.tril(np.ones((K - 1, K)), 0)
    for k in range(K - 1):
        rows[k, k + 1] = -(k + 1)
        rows[k] /= np.sqrt((k + 1) * (k + 2))
    return rows


def square_averages(mean: Array, V: Array, Q: Array, target: Array) -> ClassAverages:
    """(1/2) |target - h|^2: f = (1 + V)^-1 (target - h), linear in h."""
    shrink = np.asarray(np.linalg.inv(np.eye(len(V)) + V), float)
    gap = target - mean
    square: Array = shrink @ (np.outer(gap, gap) + Q) @ shrink.T
    return ClassAverages(shrink @ gap, square, shrink, 0.5 * float(np.trace(square)))


def softmax_averages(mean: Array, V: Array, Q: Array, label: int, basis: Array, nodes: Nodes) -> ClassAverages:
    """Cross-entropy -log softmax(h)[label], h = basis^T of D contrasts."""
    z, weights = nodes
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    h = mean + z @ (vectors * np.sqrt(np.maximum(values, 0))).T
    prox = softmax_prox(h, V, label, basis)
    p = softmax(prox @ basis, axis=1)
    f = basis[:, label] - p @ basis.T
    S = _covariance(p, basis)
    response = np.einsum("n,nij->ij", weights, S @ np.linalg.inv(np.eye(len(V)) + V @ S))
    loss = -float(weights @ log_softmax(prox @ basis, axis=1)[:, label])
    return ClassAverages(weights @ f, np.einsum("n,ni,nj->ij", weights, f, f), (response + response.T) / 2, loss)


def softmax_prox(h: Array, V: Array, label: int, basis: Array) -> Array:
    """argmin_x (x - h)^T V^-1 (x - h)/2 - log softmax(x)[label] for rows h (N, D): damped Newton, convex."""
    e, inverse = basis[:, label], np.linalg.inv(V)

    def objective(x: Array) -> Array:
        gap = x - h
        return np.asarray(0.5 * np.einsum("ni,ij,nj->n", gap, inverse, gap) + logsumexp(x @ basis, axis=1) - x @ e)

    x, best = h.copy(), objective(h)
    for _ in range(200):
        p = softmax(x @ basis, axis=1)
        gradient = (x - h) @ inverse + p @ basis.T - e
        step = np.linalg.solve(inverse + _covariance(p, basis), gradient[:, :, None])[:, :, 0]
        decrement = np.einsum("ni,ni->n", gradient, step)
        if decrement.max() < 1e-22:
            break
        scale = np.ones(len(x))
        for _ in range(40):
            new = x - scale[:, None] * step
            value = objective(new)
            worse = value > best - 1e-4 * scale * decrement + 1e-14 * (1 + abs(best))
            if not worse.any():
                break
            scale[worse] /= 2
        x, best = new, value
    return x


def predicted(mean: Array, Q: Array, basis: Array) -> Array:
    """P(class k has the largest h), (K,): normal probabilities that all differences h_k - h_j are positive."""
    from scipy.stats import multivariate_normal

    K = basis.shape[1]
    chances = np.empty(K)
    for k in range(K):
        differences = (basis[:, [k]] - np.delete(basis, k, axis=1)).T  # (K - 1, D)
        center, spread = differences @ mean, differences @ Q @ differences.T
        if K == 2:
            chances[k] = ndtr(center[0] / np.sqrt(spread[0, 0]))
        else:
            law = multivariate_normal(np.zeros(K - 1), (spread + spread.T) / 2, allow_singular=True, seed=0)
            chances[k] = law.cdf(center)
    return chances


def _covariance(p: Array, basis: Array) -> Array:
    """basis (diag p - p p^T) basis^T for rows p, (N, D, D)."""
    mean = p @ basis.T
    return np.asarray(np.einsum("nk,ik,jk->nij", p, basis, basis) - mean[:, :, None] * mean[:, None, :])
