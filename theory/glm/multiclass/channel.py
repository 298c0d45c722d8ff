"""The step from matrix overlaps to their conjugates, in a basis of the classes.

The K outputs of a sample of cluster c are h = M_c + b + Q_c^(1/2) z with the overlaps M_c of its mean, the bias b, the
covariance Q_c and z standard normal. Softmax depends on differences of h alone: it is solved in K - 1 orthonormal
zero-sum contrasts, square loss in all K outputs; `basis` (D, K) has either as rows.
"""

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax

from theory.models.arrays import Array

Nodes = tuple[Array, Array]  # z (N, D), weights (N,)
PER_AXIS = {1: 200, 2: 64, 3: 28}  # nodes of Gauss-Hermite products in few dimensions
POINTS = 2**14  # scrambled Sobol points beyond
NEWTON_STEPS = 200
DECREMENT = 1e-22  # of the convex objective: twice what another Newton step would gain


@dataclass
class Progress:
    """Holds where the last proximal operators of each label were found, and how much work all of them have cost."""

    prox: dict[int, Array] = field(default_factory=dict)
    evaluations: int = 0  # of the objective of one sample


@dataclass(frozen=True)
class ClassAverages:
    """Hold averages over one cluster: E f (D,), E f f^T and -E df/dh (D, D), and the mean loss at the prox.

    f = V^-1 (prox(h) - h) is the force that a sample exerts on its outputs h; `slopes` (N, D, D) are -df/dh at the
    nodes of softmax, or its one value for square loss.
    """

    force: Array
    square: Array
    response: Array
    loss: float
    slopes: Array


@cache
def gaussian_nodes(dimension: int, *, other: bool = False) -> tuple[Array, Array]:
    """Return z (N, dimension) and weights (N,) that sum to 1, for averages over a standard normal vector.

    They are Gauss-Hermite products up to 3 dimensions, and 2^14 scrambled Sobol points in more. `other` nodes, to tell
    how much averages depend on them, are products of four fewer per axis, or points of another scramble.
    """
    if dimension in PER_AXIS:
        z, weights = np.polynomial.hermite_e.hermegauss(PER_AXIS[dimension] - 4 * other)
        grid = np.stack(np.meshgrid(*[z] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
        product = np.prod(np.stack(np.meshgrid(*[weights] * dimension, indexing="ij"), axis=-1), axis=-1).ravel()
        product = product / math.sqrt(2 * math.pi) ** dimension
        kept = product > 1e-18
        return grid[kept], product[kept] / product[kept].sum()
    from scipy.special import ndtri
    from scipy.stats import qmc

    uniform = qmc.Sobol(dimension, scramble=True, seed=int(other)).random(POINTS)
    return ndtri(np.clip(uniform, 1e-15, 1 - 1e-15)), np.full(POINTS, 1 / POINTS)


def contrasts(K: int) -> Array:
    """Return the rows of Helmert's matrix without its constant one: (K - 1, K), orthonormal, each of sum zero."""
    rows = np.tril(np.ones((K - 1, K)), 0)
    for k in range(K - 1):
        rows[k, k + 1] = -(k + 1)
        rows[k] /= np.sqrt((k + 1) * (k + 2))
    return rows


def square_averages(mean: Array, V: Array, Q: Array, target: Array) -> ClassAverages:
    """Average the forces of the loss (1/2) |target - h|^2: f = (1 + V)^-1 (target - h) is linear in h."""
    shrink = np.asarray(np.linalg.inv(np.eye(len(V)) + V), float)
    gap = target - mean
    square: Array = shrink @ (np.outer(gap, gap) + Q) @ shrink.T
    return ClassAverages(shrink @ gap, square, shrink, 0.5 * float(np.trace(square)), shrink[None])


def softmax_averages(
    mean: Array, V: Array, Q: Array, label: int, basis: Array, nodes: Nodes, progress: Progress | None = None
) -> ClassAverages:
    """Average the forces of the cross entropy -log softmax(basis^T h)[label] over h of this mean and covariance Q.

    `progress` keeps the prox of each label, where the minimization of the next call starts; the problem is convex, so
    that only its time depends on the start.
    """
    z, weights = nodes
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    h = mean + z @ (vectors * np.sqrt(np.maximum(values, 0))).T
    progress = Progress() if progress is None else progress
    prox = progress.prox[label] = softmax_prox(h, V, label, basis, progress)
    p = softmax(prox @ basis, axis=1)
    f = basis[:, label] - p @ basis.T
    S = _covariance(p, basis)
    slopes = S @ np.linalg.inv(np.eye(len(V)) + V @ S)
    response = np.einsum("n,nij->ij", weights, slopes)
    loss = -float(weights @ log_softmax(prox @ basis, axis=1)[:, label])
    square = np.einsum("n,ni,nj->ij", weights, f, f)
    return ClassAverages(weights @ f, square, (response + response.T) / 2, loss, slopes)


def softmax_prox(h: Array, V: Array, label: int, basis: Array, progress: Progress | None = None) -> Array:
    """Return argmin_x (x - h)^T V^-1 (x - h)/2 - log softmax(basis^T x)[label] for rows h (N, D), by Newton steps."""
    e, inverse = basis[:, label], np.linalg.inv(V)
    progress = Progress() if progress is None else progress
    start = progress.prox.get(label)

    def objective(x: Array, center: Array) -> Array:
        progress.evaluations += len(x)
        gap = x - center
        return np.asarray(0.5 * np.einsum("ni,ij,nj->n", gap, inverse, gap) + logsumexp(x @ basis, axis=1) - x @ e)

    x = h.copy()
    if start is not None and np.isfinite(start).all():
        nearer = objective(start, h) < objective(h, h)
        x[nearer] = start[nearer]
    left = np.arange(len(h))  # rows that have not converged
    for _ in range(NEWTON_STEPS):
        at, center = x[left], h[left]
        p = softmax(at @ basis, axis=1)
        gradient = (at - center) @ inverse + p @ basis.T - e
        step = np.linalg.solve(inverse + _covariance(p, basis), gradient[:, :, None])[:, :, 0]
        decrement = np.einsum("ni,ni->n", gradient, step)
        if decrement.max() < DECREMENT:
            break
        best, scale = objective(at, center), np.ones(len(at))
        new, worse = at - step, np.arange(len(at))
        for _ in range(40):
            fall = 1e-4 * scale[worse] * decrement[worse]
            enough = best[worse] - fall + 1e-14 * (1 + abs(best[worse]))
            worse = worse[objective(new[worse], center[worse]) > enough]
            if not len(worse):
                break
            scale[worse] /= 2
            new[worse] = at[worse] - scale[worse, None] * step[worse]
        x[left] = new
        # Where even the shortest step does not lower the objective, rounding hides what is left of its fall.
        stuck = np.zeros(len(at), bool)
        stuck[worse] = True
        left = left[(decrement >= DECREMENT) & ~stuck]
        if not len(left):
            break
    return x


def _covariance(p: Array, basis: Array) -> Array:
    """Return basis (diag p - p p^T) basis^T for rows p of probabilities, (N, D, D)."""
    mean = p @ basis.T
    return np.asarray(np.einsum("nk,ik,jk->nij", p, basis, basis) - mean[:, :, None] * mean[:, None, :])
