"""The step from matrix overlaps to their conjugates, in a basis of the classes.

The K outputs of a sample of cluster c are h = M_c + b + Q_c^(1/2) z with the overlaps M_c of its mean, the bias b, the
covariance Q_c and z standard normal. Softmax depends on differences of h alone: it is solved in K - 1 orthonormal
zero-sum contrasts, square loss in all K outputs; `basis` (D, K) has either as rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.core.arrays import Array

Nodes = tuple[Array, Array]  # z (N, D), weights (N,)


@dataclass
class Progress:
    """Holds where the last proximal operators of each label were found, and how much work all of them have cost."""

    prox: dict[int, Array] = field(default_factory=dict)
    evaluations: int = 0  # of the objective of one sample
    coarser_exhausted: bool = False  # whether a search with fewer nodes had done as much work as it may


@dataclass(frozen=True, eq=False)
class ClassAverages:
    """Hold averages over one cluster: E f (D,), E f f^T and -E df/dh (D, D), and the mean loss at the prox.

    f = V^-1 (prox(h) - h) is the force that a sample exerts on its outputs h.
    """

    force: Array
    square: Array
    response: Array
    loss: float
    slopes_at_nodes: Callable[[], Array] = field(repr=False)

    @cached_property
    def slopes(self) -> Array:
        """The matrices -df/dh (N, D, D) at the nodes of softmax, or their one value for square loss."""
        return self.slopes_at_nodes()


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
    return ClassAverages(shrink @ gap, square, shrink, 0.5 * float(np.trace(square)), lambda: shrink[None])


def softmax_averages(
    mean: Array, V: Array, Q: Array, label: int, basis: Array, nodes: Nodes, progress: Progress | None = None
) -> ClassAverages:
    """Average the forces of the cross entropy -log softmax(basis^T h)[label] over h of this mean and covariance Q.

    `progress` keeps the prox of each label, where the minimization of the next call starts; the problem is convex, so
    that only its time depends on the start.
    """
    from theory.glm.multiclass.prox_kernel import softmax_slopes
    from theory.glm.multiclass.softmax_sums import softmax_sums

    z, weights = nodes
    D = len(mean)
    differences = _differences(basis)
    inverse = _in_differences(V, differences)
    progress = Progress() if progress is None else progress
    prox = _start(progress, label, z.shape)
    force, square, response = np.zeros(D), np.zeros((D, D)), np.zeros((D, D))
    sums = force, square, response
    moved = differences @ mean, differences @ symmetric_root(Q)
    loss, evaluations = softmax_sums(z, weights, *moved, inverse, label, prox, *sums)
    progress.evaluations += evaluations
    progress.prox[label] = prox

    def slopes() -> Array:
        found = np.empty((len(z), D, D))
        softmax_slopes(prox, inverse, found)
        # They are symmetric: two products of tall matrices take the place of two for each node.
        turned = (found.reshape(-1, D) @ differences).reshape(-1, D, D).transpose(0, 2, 1)
        return np.asarray((turned.reshape(-1, D) @ differences).reshape(-1, D, D))

    square, response = (differences.T @ each @ differences for each in (square, response))
    return ClassAverages(differences.T @ force, square, (response + response.T) / 2, loss, slopes)


def softmax_prox(h: Array, V: Array, label: int, basis: Array) -> Array:
    """Return argmin_x (x - h)^T V^-1 (x - h)/2 - log softmax(basis^T x)[label] for rows h (N, D), by Newton steps."""
    from theory.glm.multiclass.prox_kernel import softmax_prox_rows

    differences = _differences(basis)
    prox = np.full(h.shape, np.nan)  # rows that are not numbers start at h
    softmax_prox_rows(np.array(h @ differences.T, order="C"), _in_differences(V, differences), label, prox)
    return np.asarray(np.linalg.solve(differences, prox.T).T)


def symmetric_root(Q: Array) -> Array:
    """Return the symmetric square root of Q, which depends smoothly on Q.

    Other roots do not: eigenvectors of nearly equal eigenvalues turn at the slightest change of Q, and averages over
    points that are not invariant under rotations, such as Sobol's, jump with them by the error of the quadrature.
    """
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def _start(progress: Progress, label: int, shape: tuple[int, ...]) -> Array:
    """Return a copy of the last prox of a label, or rows that are not numbers where there is none of this shape."""
    last = progress.prox.get(label)
    return np.full(shape, np.nan) if last is None or last.shape != shape else last.copy()


def _differences(basis: Array) -> Array:
    """Return the matrix (D, D) that takes contrasts to the differences of the outputs to that of the last class."""
    return np.array((basis[:, :-1] - basis[:, -1:]).T, order="C")


def _in_differences(V: Array, differences: Array) -> Array:
    """Return V^-1 in the coordinates of the differences, exactly symmetric."""
    back = np.linalg.inv(differences)
    inverse = back.T @ np.linalg.inv(V) @ back
    return np.array((inverse + inverse.T) / 2, order="C")
