"""`solve`: the saddle point of any record."""

from typing import Any, overload

from theory.glm.multiclass import MulticlassSaddlePoint, solve_multiclass
from theory.glm.problem_solver import solve_problem
from theory.glm.saddle_point import SaddlePoint
from theory.glm.systems import as_problem
from theory.models.glm import MulticlassMixture


@overload
def solve(model: MulticlassMixture, **options: Any) -> MulticlassSaddlePoint: ...
@overload
def solve(model: Any, **options: Any) -> SaddlePoint: ...
def solve(model: Any, **options: Any) -> SaddlePoint | MulticlassSaddlePoint:
    """Saddle point of any record of theory.models.glm: `options` are those of `solve_problem`, or for K classes of
    `solve_multiclass`. Raises ConvergenceError, and ValueError for anything that is no such record."""
    if isinstance(model, MulticlassMixture):
        return solve_multiclass(model, **options)
    return solve_problem(as_problem(model), **options)
