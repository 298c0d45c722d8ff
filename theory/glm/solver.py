"""The one function `solve`, which finds the saddle point of any record of theory.models.glm."""

from typing import overload

from theory.core.arguments import checked
from theory.glm.multiclass import MulticlassSaddlePoint, solve_multiclass
from theory.glm.problem_solver import solve_problem
from theory.glm.saddle_point import SaddlePoint
from theory.glm.systems import as_problem
from theory.models.glm import MulticlassMixture
from theory.models.glm.objective import Minimization

TOLERANCE, CLASSES_TOLERANCE = 1e-11, 1e-10
EVALUATIONS, CLASSES_EVALUATIONS = 2000, 500


@overload
def solve(  # type: ignore[overload-overlap]  # K classes have results of their own, and are a Minimization too
    model: MulticlassMixture, *, tol: float | None = None, max_iter: int | None = None, check: bool = True
) -> MulticlassSaddlePoint: ...
@overload
def solve(
    model: Minimization,
    *,
    start: SaddlePoint | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    check: bool = True,
) -> SaddlePoint: ...
@checked
def solve(
    model: Minimization,
    *,
    start: SaddlePoint | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    check: bool = True,
) -> SaddlePoint | MulticlassSaddlePoint:
    """Solve the replica-symmetric saddle-point equations of any record of theory.models.glm.

    Returns the training loss, the test error, the overlaps and the evidence for them. The search begins at `start`, the
    point of a neighboring problem, if there is one. Derived here by the replica method, as for mixtures in
    arXiv:2106.03791, Gaussian covariates in arXiv:2102.08127 and random labels in arXiv:2205.13303, of which the
    authors' code and data were read. `tol` bounds the residual of the equations (by default 1e-11, for K classes
    1e-10), `max_iter` their evaluations (2000, for K classes 500). Raises ConvergenceError where no point within the
    tolerance is found, and ReplicaSymmetryError, one of its kinds, where replica symmetry is unstable, as it can be for
    a loss that is not convex (`replicon` < 0, and -infinity where its proximal operator jumps, see `SaddlePoint`); with
    check=False the best point comes back, which says so. ValueError for anything that is no such record, and for a hard
    margin above its separability threshold.

    >>> from theory import glm
    >>> point = glm.solve(glm.gaussian_mixture(variances=0.5, probability=0.25, alpha=1.0, lam=0.1, loss="hinge"))
    >>> print(round(point.test_error, 6), round(float(point.bias[0]), 6))
    0.150133 -0.430451
    """
    if isinstance(model, MulticlassMixture):
        if start is not None:
            raise ValueError("start must be None for a MulticlassMixture, whose search has its own start")
        return solve_multiclass(
            model,
            tol=CLASSES_TOLERANCE if tol is None else tol,
            max_iter=CLASSES_EVALUATIONS if max_iter is None else max_iter,
            check=check,
        )
    return solve_problem(
        as_problem(model),
        start=start,
        tol=TOLERANCE if tol is None else tol,
        max_iter=EVALUATIONS if max_iter is None else max_iter,
        check=check,
    )
