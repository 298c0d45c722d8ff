"""Saddle points along the ridge: a new one is predicted from solved neighbors, and approached by Broyden's steps.

A solved point brings the derivative of the equations, from which its slopes follow. At a neighboring ridge it is nearly
the same, so that steps of a quasi-Newton method converge from the predicted point without a derivative of their own.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theory.core import Array
from theory.glm.equations import Equations
from theory.glm.ridge_slope import Tangent
from theory.glm.saddle_point import SaddlePoint
from theory.models.glm import GeneralizedLinearModel
from theory.numerics.steps import relative_gap

REACH = 3.0  # of log lam, to which the tangent of a saddle point leads
STEPS = 10  # of Broyden's method; what is not found then is left to the search
LARGEST_STEP = 3.0  # of a coordinate
AIM = 5e-13  # residual in the coordinates


def predicted(log_lam: float, near: Sequence[tuple[float, Tangent]]) -> Array:
    """Return the coordinates at another ridge, from one or two solved ones, the nearest first, with their tangents.

    Between two of them it is the cubic through both points and tangents, beyond them the parabola through the nearer
    point and both tangents.
    """
    at, one = near[0]
    move = log_lam - at
    if len(near) == 1:
        return np.asarray(one.x + move * one.moved) if abs(move) <= REACH else one.x
    other_at, other = near[1]
    width = other_at - at
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
            matrix = matrix + np.outer(gap - new_gap - matrix @ step, step) / (step @ step)
        gap = new_gap
        try:
            step = np.linalg.solve(matrix, gap)
        except np.linalg.LinAlgError:
            break
        step = step * min(1.0, LARGEST_STEP / max(float(np.max(abs(step))), 1e-300))
        x = x + step
    at = update.coordinates.unpack(best)
    return replace(near, V=at.V, q=at.q, r=at.r, bias=bias, iterations=update.evaluations)
