"""Saddle points along the ridge: a new one is predicted from solved neighbors, and approached by Broyden's steps.

A solved point brings the derivative of the equations, from which its slopes follow. At a neighboring ridge it is nearly
the same, so that steps of a quasi-Newton method converge from the predicted point without a derivative of their own.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theory.core import Array
from theory.glm.equations import Equations
from theory.glm.problem_solver import solve_problem
from theory.glm.ridge_scan import Criterion, Point, RidgeScan, Rung
from theory.glm.ridge_slope import tangent
from theory.glm.saddle_point import SaddlePoint
from theory.models.glm import GeneralizedLinearModel
from theory.numerics.steps import relative_gap

REACH = 3.0  # of log lam, to which the tangent of a saddle point leads
STEPS = 10  # of Broyden's method; what is not found then is left to the search
LARGEST_STEP = 3.0  # of a coordinate
AIM = 5e-13  # residual in the coordinates


class ProblemScan(RidgeScan[SaddlePoint]):
    """Solve a problem with labels +-1 or real ones at chosen ridges."""

    def __init__(self, problem: GeneralizedLinearModel, by: Criterion) -> None:
        super().__init__(by)
        self.problem = problem

    def _solved(self, log_lam: float, near: list[Rung[SaddlePoint]]) -> Rung[SaddlePoint]:
        problem = replace(self.problem, lam=math.exp(log_lam))
        start = approached(problem, predicted(log_lam, near), near[0].point, near[0].matrix) if near else None
        point = solve_problem(problem, start=start)
        slopes, x, moved, matrix = tangent(point)
        value = point.test_error if self.by == "error" else point.test_loss
        slope = problem.lam * (slopes.test_error if self.by == "error" else slopes.test_loss)
        if start is not None:
            point = replace(point, iterations=(start.iterations or 0) + (point.iterations or 0))
        return Rung(log_lam, value, slope, point, x, moved, matrix)


def predicted(log_lam: float, near: Sequence[Rung[Point]]) -> Array:
    """Return the coordinates at another ridge, from one or two solved ones, the nearest first, with their derivatives.

    Between two of them it is the cubic through both points and tangents, beyond them the parabola through the nearer
    point and both tangents.
    """
    one = near[0]
    move = log_lam - one.log_lam
    if len(near) == 1:
        return np.asarray(one.x + move * one.moved) if abs(move) <= REACH else one.x
    other = near[1]
    width = other.log_lam - one.log_lam
    if 0 < move / width < 1:
        t = move / width
        bend = one.x * (1 + 2 * t) * (1 - t) ** 2 + other.x * t**2 * (3 - 2 * t)
        return np.asarray(bend + width * t * (1 - t) * (one.moved * (1 - t) - other.moved * t))
    if abs(move) > REACH:
        return one.x
    return np.asarray(one.x + move * one.moved + move**2 / 2 * (other.moved - one.moved) / width)


def approached(problem: GeneralizedLinearModel, x: Array, near: SaddlePoint, matrix: Array) -> SaddlePoint:
    """Return `near` with overlaps and biases close to the solution of the problem, a start for its search.

    `x` are coordinates to begin at, and `matrix` is 1 - dF/dx at `near`. The best point is returned, however good; its
    `iterations` are the evaluations of the equations that it took.
    """
    update = Equations(problem)
    update.bias = near.bias
    best, least, bias = x, np.inf, near.bias
    gap: Array | None = None
    step = np.zeros_like(x)
    for _ in range(STEPS):
        new_gap = update(x) - x
        residual = relative_gap(new_gap + x, x)
        if not residual < 10 * least:  # not a number, or run away
            break
        if residual < least:
            best, least, bias = x, residual, update.bias
        if least <= AIM:
            break
        if gap is not None:
            change = np.outer(gap - new_gap - matrix @ step, step) / (step @ step)
            matrix = np.asarray(matrix + change, float)
        gap = new_gap
        try:
            step = np.asarray(np.linalg.solve(matrix, gap), float)
        except np.linalg.LinAlgError:
            break
        step = step * min(1.0, LARGEST_STEP / max(float(np.max(abs(step))), 1e-300))
        x = x + step
    at = update.coordinates.unpack(best)
    return replace(near, V=at.V, q=at.q, r=at.r, bias=bias, iterations=update.evaluations)
