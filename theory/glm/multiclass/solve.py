"""The saddle point of K classes with matrix overlaps: the search of softmax regression, and the choice of a solver."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from theory.glm.continuation import ridges
from theory.glm.multiclass.channel import contrasts, gaussian_nodes
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.saddle_point import MulticlassSaddlePoint, observables
from theory.glm.multiclass.square import solve_square
from theory.glm.multiclass.two import solve_two
from theory.models import checks
from theory.models.arrays import Array
from theory.models.glm import MulticlassMixture
from theory.numerics import Counted, Solution, first_solved, follow, require_stable, search, verified
from theory.numerics.search import Found
from theory.numerics.steps import relative_gap

if TYPE_CHECKING:
    from theory.numerics.solution import Status

RANGE = 100.0  # of the logarithms of V and q
AIM = 0.1  # of the tolerance, in the logarithmic coordinates of the search
LEAST = 1e-300  # an eigenvalue at or below it has no logarithm
MOST_WORK = 2000  # evaluations of the objective of one sample for each node and class: about 5 s for three classes
ADVICE = "raise max_iter, or take a less extreme alpha or lam"
EXTREME = "softmax took too long: the means are too far apart, or alpha or lam too extreme; take less extreme ones"


def solve_multiclass(
    model: MulticlassMixture, *, tol: float = 1e-10, max_iter: int = 500, check: bool = True
) -> MulticlassSaddlePoint:
    """Solve the saddle-point equations of a `MulticlassMixture` (arXiv:2106.03791) and return all observables.

    Square loss is solved in closed form but for one scalar V for each covariance; softmax of two classes is the
    logistic loss, and solved as such. Softmax of more is searched for in the matrix logarithms of V and q, from a cold
    start and, failing that, by continuation in lam from lam = 10 down. Then `residual` is that of the full equations,
    max |update(x) - x|/(1 + |x|) over the entries of V, q, r and the bias at the point returned. `max_iter` bounds the
    evaluations of the cold start, and `MOST_WORK` all work, since the proximal operators of softmax converge slowly
    where means are about a hundred standard deviations apart. ConvergenceError where no point with a residual within
    `tol` is found; with check=False the best point is returned as not converged.
    """
    checks.record("model", model, MulticlassMixture)
    tol = checks.positive("tol", tol)
    max_iter = int(checks.dimension(max_iter, name="max_iter"))
    if model.loss == "softmax" and model.n_classes == 2:
        return solve_two(model, tol, max_iter, check)
    if model.loss == "square":
        classes = Classes(model, np.eye(model.n_classes))
        x, evaluations = solve_square(classes, tol, max_iter)
    else:
        classes = Classes(model, contrasts(model.n_classes), gaussian_nodes(model.n_classes - 1))
        x, evaluations = _searched(classes, tol, max_iter)
    with np.errstate(all="ignore"):
        residual = relative_gap(classes.image(x), x)
    status: Status = "converged" if residual <= tol else "max_iter" if np.isfinite(residual) else "diverged"
    if status == "converged" and not classes.admissible(x):
        status = "inadmissible"
    name = f"saddle point of {model.n_classes} classes, {model.loss} loss, alpha={model.alpha:g}, lam={model.lam:g}"
    advice = EXTREME if _is_exhausted(classes) else ADVICE
    point = observables(classes, verified(Solution(x, status, residual, tol, evaluations), name, check, advice))
    return require_stable(point, point.replicon, name, tol, check)


def _is_exhausted(classes: Classes) -> bool:
    """Tell whether a search has done as much work as it may; it then ends at the best point that it has seen."""
    nodes, K = 0 if classes.nodes is None else len(classes.nodes[1]), classes.model.n_classes
    # More classes have several times as many unknowns, and a Newton step costs two evaluations for each of them.
    return classes.progress.evaluations > MOST_WORK * (1 if K == 3 else 10) * nodes * K


def _searched(classes: Classes, tol: float, max_iter: int) -> tuple[Array, int]:
    update = _Logarithmic(classes)
    point, _ = first_solved(_attempts(update, tol, max_iter), tol)
    return update.unpack(point), update.evaluations


def _attempts(update: "_Logarithmic", tol: float, max_iter: int) -> Iterator[Callable[[], Found]]:
    yield lambda: search(update, update.pack(update.classes.start()), tol, max_iter, AIM * tol)
    if update.evaluations < max_iter and ridges(update.classes.model):
        yield partial(_along_ridges, update, tol)


def _along_ridges(update: "_Logarithmic", tol: float) -> Found:
    classes = update.classes

    def at(model: MulticlassMixture, guess: Array | None) -> Found:
        step = _Logarithmic(Classes(model, classes.basis, classes.nodes, classes.progress))
        found = search(step, step.pack(step.classes.start()) if guess is None else guess, tol, 200, AIM * tol)
        update.evaluations += step.evaluations
        return found

    return follow(ridges(classes.model), at)


class _Logarithmic(Counted):
    """The saddle-point equations in coordinates in which they are well behaved.

    V and q enter by the upper triangles of their matrix logarithms, which keeps them positive definite; r and the bias
    by the inverse hyperbolic sine of their ratio to the root mean square sqrt(tr q/D) of an output, averaged over the
    clusters: where means are far apart this ratio is large, and its logarithm is what a step can change.
    """

    def __init__(self, classes: Classes) -> None:
        super().__init__(self._image, lambda x: bool(np.isfinite(x).all() and np.max(abs(x)) < RANGE))
        self.classes = classes
        self.rows, self.columns = np.triu_indices(classes.D)

    def pack(self, x: Array) -> Array:
        V, q, r, b = self.classes.split(x)
        scale = self._scale(q)
        logarithms = [_of_eigenvalues(np.log, matrix)[self.rows, self.columns] for matrix in (*V, *q)]
        return np.concatenate((*logarithms, np.arcsinh(np.concatenate((r.ravel(), b)) / scale)))

    def unpack(self, y: Array) -> Array:
        C, D, size = self.classes.C, self.classes.D, len(self.rows)
        matrices = np.zeros((2 * C, D, D))
        for matrix, entries in zip(matrices, y[: 2 * C * size].reshape(2 * C, size), strict=True):
            matrix[self.rows, self.columns] = entries
            matrix[self.columns, self.rows] = entries
        matrices = np.stack([_of_eigenvalues(np.exp, matrix) for matrix in matrices])
        return np.concatenate((matrices.ravel(), np.sinh(y[2 * C * size :]) * self._scale(matrices[C:])))

    def _scale(self, q: Array) -> float:
        return float(np.sqrt(np.trace(q, axis1=1, axis2=2).mean() / self.classes.D))

    def _image(self, y: Array) -> Array:
        if _is_exhausted(self.classes):
            return np.full_like(y, np.nan)
        with np.errstate(all="ignore"):
            try:
                return self.pack(self.classes.image(self.unpack(y)))
            except np.linalg.LinAlgError:  # an eigendecomposition of entries that are not numbers
                return np.full_like(y, np.nan)


def _of_eigenvalues(function: Callable[[Array], Array], matrix: Array) -> Array:
    """Return a function of a symmetric matrix, applied to its eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if function is np.log:
        values = np.maximum(values, LEAST)
    return np.asarray((vectors * function(values)) @ vectors.T)
