"""Coordinates in which the saddle-point equations of several classes are well behaved."""

from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array
from theory.glm.multiclass.equations import Classes
from theory.numerics import Counted, solve_fixed_point
from theory.numerics.search import Found

POLISH = 40  # steps from a point that is nearly solved
RANGE = 100.0  # of the logarithms of V and q
MIN_EIGENVALUE = 1e-300  # an eigenvalue at or below it has no logarithm
MOST_WORK = 2000  # evaluations of the objective of one sample for each node and class: about 1 s for three classes


def is_exhausted(classes: Classes) -> bool:
    """Tell whether a search has done as much work as it may; it then ends at the best point that it has seen."""
    nodes, K = 0 if classes.nodes is None else len(classes.nodes[1]), classes.model.n_classes
    # More classes have several times as many unknowns, and a Newton step costs two evaluations for each of them.
    return classes.progress.evaluations > MOST_WORK * (1 if K == 3 else 10) * nodes * K


class Logarithmic(Counted):
    """The saddle-point equations in coordinates in which they are well behaved.

    V and q enter by the upper triangles of their matrix logarithms, which keeps them positive definite; r and the bias
    by the inverse hyperbolic sine of their ratio to the root mean square sqrt(tr q/D) of an output, averaged over the
    clusters: where means are far apart this ratio is large, and its logarithm is what a step can change. Clusters that
    are all alike leave three numbers: those of V, q and r.
    """

    def __init__(self, classes: Classes) -> None:
        super().__init__(self._image, lambda x: bool(np.isfinite(x).all() and np.max(abs(x)) < RANGE))
        self.exchangeable = classes.exchangeable
        self.classes = classes
        self.rows, self.columns = np.triu_indices(classes.D)

    def pack(self, x: Array) -> Array:
        """Return the coordinates of a point."""
        V, q, r, b = self.classes.split(x)
        scale = self._scale(q)
        if self.exchangeable:
            basis, D = self.classes.basis, self.classes.D
            sizes = [np.log(max(float(np.trace(matrix)) / D, MIN_EIGENVALUE)) for matrix in (V[0], q[0])]
            return np.array([*sizes, np.arcsinh(float(np.sum(r * basis)) / D / scale)])
        logarithms = [_of_eigenvalues(np.log, matrix)[self.rows, self.columns] for matrix in (*V, *q)]
        return np.concatenate((*logarithms, np.arcsinh(np.concatenate((r.ravel(), b)) / scale)))

    def unpack(self, y: Array) -> Array:
        """Return the point that has these coordinates."""
        if self.exchangeable:
            return self._unpacked_alike(*y)
        C, D, size = self.classes.C, self.classes.D, len(self.rows)
        matrices = np.zeros((2 * C, D, D))
        for matrix, entries in zip(matrices, y[: 2 * C * size].reshape(2 * C, size), strict=True):
            matrix[self.rows, self.columns] = entries
            matrix[self.columns, self.rows] = entries
        matrices = np.stack([_of_eigenvalues(np.exp, matrix) for matrix in matrices])
        return np.concatenate((matrices.ravel(), np.sinh(y[2 * C * size :]) * self._scale(matrices[C:])))

    def _unpacked_alike(self, log_V: float, log_q: float, ratio: float) -> Array:
        C, D = self.classes.C, self.classes.D
        q = np.tile(np.exp(log_q) * np.eye(D), (C, 1, 1))
        r = np.sinh(ratio) * self._scale(q) * self.classes.basis
        return np.concatenate(
            (np.tile(np.exp(log_V) * np.eye(D), (C, 1, 1)).ravel(), q.ravel(), r.ravel(), np.zeros(D))
        )

    def _scale(self, q: Array) -> float:
        return float(np.sqrt(np.trace(q, axis1=1, axis2=2).mean() / self.classes.D))

    def _image(self, y: Array) -> Array:
        if is_exhausted(self.classes):
            return np.full_like(y, np.nan)
        with np.errstate(all="ignore"):
            try:
                return self.pack(self.classes.image(self.unpack(y)))
            # Entries may have become no numbers, so that no eigenvalues exist, or all outputs exactly zero.
            except (np.linalg.LinAlgError, ZeroDivisionError):
                return np.full_like(y, np.nan)


def polished(update: Logarithmic, y: Array, tol: float) -> Found:
    """Return the best of y and what Anderson acceleration without damping makes of it, and its residual here."""
    try:
        near = solve_fixed_point(update, y, admissible=update.admissible, tol=tol, max_iter=POLISH, check=False)
    except np.linalg.LinAlgError:  # points that are not numbers
        return y, np.inf
    return (near.value, near.residual) if np.isfinite(near.residual) else (y, np.inf)


def _of_eigenvalues(function: Callable[[Array], Array], matrix: Array) -> Array:
    """Return a function of a symmetric matrix, applied to its eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if function is np.log:
        values = np.maximum(values, MIN_EIGENVALUE)
    return np.asarray((vectors * function(values)) @ vectors.T)
