"""Minimizes smooth convex functions of many variables, by limited-memory BFGS with a diagonal start."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.models.arrays import Array

Pair = tuple[NDArray[np.float32], NDArray[np.float32], float]  # step, change of the gradient, their product
Function = Callable[[Array], tuple[float, Array]]  # x -> value, gradient

HISTORY = 6  # pairs of differences that are kept, in single precision since they only shape the direction
OVERSHOOT = 0.5  # a step is shortened while the slope at its end exceeds this share of the first, uphill
SHORTENINGS = 30  # of a step, before the search gives up
SMALLEST_GRADIENT = 1e-6  # least reference: independent sites start at the optimum, with a gradient of rounding


@dataclass(frozen=True, eq=False)
class Minimum:
    """The point where a minimization ended, the value and the gradient there, and why it ended."""

    point: Array
    value: float
    gradient_norm: float  # in units of `reference`
    reference: float
    iterations: int
    evaluations: int
    converged: bool
    reason: str


def minimize(
    function: Function, start: Array, scale: Array, *, tol: float, max_iter: int, reference: float | None = None
) -> Minimum:
    """Minimizes a smooth convex function from `start`, until its gradient's norm is `tol` times `reference`.

    The reference is the norm at the start where it is None. `scale` approximates the inverse of the Hessian's diagonal.
    For a convex function a step that does not end far uphill is safe, so steps are judged by slopes, which rounding
    spoils later than it does differences of values.
    """
    x, evaluations, reason = start.copy(), 1, "max_iter"
    value, gradient = function(x)
    reference = reference or max(SMALLEST_GRADIENT, float(np.linalg.norm(gradient)))
    history: list[Pair] = []
    for iteration in range(max_iter + 1):
        norm = float(np.linalg.norm(gradient)) / reference
        converged = norm <= tol
        if converged or iteration == max_iter:
            break
        step, after, tried = _step(function, x, gradient, _direction(gradient, history, scale))
        evaluations += tried
        if after is None:
            reason = "no step lowers the objective"
            break
        _remember(history, step, after[1] - gradient)
        x += step
        value, gradient = after
    reason = "gradient below tolerance" if converged else reason
    return Minimum(x, value, norm, reference, iteration, evaluations, converged, reason)


def _step(
    function: Function, x: Array, gradient: Array, direction: Array
) -> tuple[Array, tuple[float, Array] | None, int]:
    """Returns a step along `direction`, value and gradient at its end (None if none is found), and evaluations."""
    slope = float(gradient @ direction)
    for tried in range(1, SHORTENINGS + 1):
        after = function(x + direction)
        end = float(after[1] @ direction)
        if end <= OVERSHOOT * -slope and np.isfinite(after[0]):
            return direction, after, tried
        shorter = max(0.1, slope / (slope - end)) if np.isfinite(end) else 0.1
        direction, slope = direction * shorter, slope * shorter
    return direction, None, SHORTENINGS


def _remember(history: list[Pair], step: Array, change: Array) -> None:
    curvature = float(step @ change)
    if curvature > 1e-12 * np.linalg.norm(step) * np.linalg.norm(change):
        history.append((step.astype(np.float32), change.astype(np.float32), curvature))
    if len(history) > HISTORY:
        history.pop(0)


def _direction(gradient: Array, history: list[Pair], scale: Array) -> Array:
    """Returns -H g by the two-loop recursion, with H starting from `scale` times the newest pair's secant factor."""
    direction, shares = -gradient, []
    for step, change, curvature in reversed(history):
        shares.append(float(step @ direction) / curvature)
        direction -= shares[-1] * change
    direction *= scale
    if history:
        step, change, curvature = history[-1]
        direction *= curvature / float(change @ (scale * change))
    for (step, change, curvature), share in zip(history, reversed(shares), strict=True):
        direction += (share - float(change @ direction) / curvature) * step
    return direction
