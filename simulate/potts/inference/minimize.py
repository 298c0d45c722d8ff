"""Minimization of smooth convex functions of many variables: limited-memory BFGS with a diagonal start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.models.arrays import Array
from theory.models.errors import MaskedSSLError

Pair = tuple[NDArray[np.float32], NDArray[np.float32], float]  # step, change of the gradient, their product
Function = Callable[[Array], tuple[float, Array]]  # x -> value, gradient

HISTORY = 6  # pairs of differences kept, in single precision: they only shape the direction
OVERSHOOT = 0.5  # a step is shortened while the slope at its end exceeds this share of the first, uphill
SHORTENINGS = 30
SMALLEST_GRADIENT = 1e-6  # a reference: data of independent sites start at their optimum, where it is rounding


class FitError(MaskedSSLError, RuntimeError):
    """A fit that has not reached its tolerance; `.fit` holds it, as `check=False` would have returned it."""

    def __init__(self, message: str, fit: Any) -> None:
        super().__init__(message)
        self.fit = fit


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a minimization ended, and why."""

    point: Array
    value: float
    gradient_norm: float  # relative to `reference`
    reference: float
    iterations: int
    evaluations: int
    converged: bool
    reason: str


def minimize(
    function: Function, start: Array, scale: Array, *, tol: float, max_iter: int, reference: float | None = None
) -> Minimum:
    """Lower `function` from `start` until its gradient's norm is `tol` times `reference` (None: that at the start).

    `scale` approximates the inverse of the Hessian's diagonal. For a convex function a step that does not end far
    uphill is safe, so steps are judged by slopes, which rounding spoils later than differences of values.
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
    """A step along `direction`, value and gradient at its end (None if none is found), evaluations."""
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
    """-H g by the two-loop recursion, H starting from `scale` times the newest pair's secant factor."""
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
