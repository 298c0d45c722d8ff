"""The strength of a separable penalty that has the least test error."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from theory.core import SolverResult, checked, checks
from theory.glm.problem_solver import solve_problem
from theory.models.glm import GeneralizedLinearModel, Penalty
from theory.numerics import ConvergenceError

DECADES = (-4.0, 2.0)  # of the strengths that are tried, in units of the teacher's size
STRENGTHS = 25  # tried over these decades, before the least error is refined
PRECISION = 1e-9  # of the logarithm of the best strength
STEP = 1e-4  # of that logarithm, over which the slope is measured
FLAT = 1e-6  # slope of log error by log strength that counts as none


@dataclass(frozen=True, eq=False, repr=False)
class OptimalStrength(SolverResult):
    """Hold the strength of a penalty with the least test error: the `penalty` itself, and its `test_error`.

    `factor` is what the model's own penalty was multiplied by. `slope` is d log error/d log strength there, `limit`
    tells whether the least error lies at an end of what was tried, "zero" or "infinity", and is None otherwise.
    `strengths` and `test_errors` hold all that was tried; errors are infinite where there was no solution.
    """

    penalty: Penalty
    test_error: float
    factor: float
    slope: float
    limit: str | None
    strengths: Any = field(repr=False)
    test_errors: Any = field(repr=False)


@checked
def optimal_strength(model: GeneralizedLinearModel) -> OptimalStrength:
    """Find the strength of the model's separable penalty that has the least test error.

    The whole penalty is scaled, so that an elastic net keeps its ratio. Strengths over six decades about the teacher's
    size are tried, and the least error is refined, of several minima the lowest. Derived here: the errors are those of
    `solve`, and the search asks for no equation of its own. ValueError for a model without such a penalty,
    ConvergenceError where no strength has a solution, or where the error is not flat at the strength that was found.

    >>> from theory.models import BernoulliGauss, Cluster, Lasso, Modes
    >>> teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=0.25, noise=0.1)
    >>> model = GeneralizedLinearModel(
    ...     modes=Modes([1.0], [[1.0]], [[[0.25]]]), clusters=[teacher], alpha=1.0, loss="square",
    ...     penalty=Lasso(0.3), signals=BernoulliGauss(0.25),
    ... )
    >>> best = optimal_strength(model)
    >>> round(best.penalty.strength, 5), round(best.test_error, 9)
    (0.26729, 0.170418836)
    """
    penalty = model.penalty
    if penalty is None:
        raise ValueError(f"model must have a separable penalty whose strength is sought, got {checks.shown(None)}")
    size = max(math.sqrt(cluster.teacher_variance + cluster.noise) for cluster in model.clusters)
    own = math.log(max(penalty.strengths))
    tried = math.log(size) + np.linspace(*DECADES, STRENGTHS) * math.log(10)
    evaluations = 0

    def error(log_strength: float) -> float:
        nonlocal evaluations
        evaluations += 1
        scaled = replace(model, penalty=penalty.scaled(math.exp(log_strength - own)))
        try:
            return solve_problem(scaled).test_error
        except ConvergenceError:  # a strength that leaves no weight, or none that is resolved
            return math.inf

    errors = np.array([error(float(x)) for x in tried])
    best = int(np.argmin(errors))
    if not np.isfinite(errors[best]):
        raise ConvergenceError.of(f"best strength of {penalty!r}", None, math.inf, PRECISION, evaluations)
    x, value, slope = float(tried[best]), float(errors[best]), math.nan
    limit = {0: "zero", STRENGTHS - 1: "infinity"}.get(best)
    if limit is None and np.isfinite(errors[best + 1]):
        bounds = (float(tried[best - 1]), float(tried[best + 1]))
        found = minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": PRECISION})
        x, value = float(found.x), float(found.fun)
        slope = (math.log(error(x + STEP)) - math.log(error(x - STEP))) / (2 * STEP)
    left = 0.0 if limit else abs(slope)
    if not left <= FLAT:
        advice = f"the errors that were tried are {errors[max(best - 1, 0) : best + 2]}"
        raise ConvergenceError.of(f"best strength of {penalty!r}", math.exp(x), left, FLAT, evaluations, advice=advice)
    return OptimalStrength(
        penalty=penalty.scaled(math.exp(x - own)),
        test_error=value,
        factor=math.exp(x - own),
        slope=slope,
        limit=limit,
        strengths=np.exp(tried),
        test_errors=errors,
        residual=left,
        iterations=evaluations,
        converged=True,
    )
