"""Minimizes smooth convex functions of many variables, by limited-memory BFGS with a diagonal start."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core.blocks import blocks

Vector = NDArray[np.floating[Any]]  # its precision is that of the whole minimization
Pair = tuple[NDArray[np.float32], NDArray[np.float32], float]  # step, change of the gradient, their product
Function = Callable[[Vector], tuple[float, Vector]]  # x -> value, gradient
Scale = Callable[[], Iterable[tuple[slice, Vector]]]  # the inverse of the Hessian's diagonal now, piece by piece

HISTORY_PAIRS = 4  # pairs of differences that are kept, in single precision since they only shape the direction
MAX_UPHILL_SHARE = 0.5  # a step is shortened while the slope at its end exceeds this share of the first, uphill
MAX_SHORTENINGS = 30  # most shortenings of a step, before the search gives up
MIN_REFERENCE_GRADIENT = 1e-3  # least reference: independent sites start at the optimum, with a gradient of rounding
CHUNK_NUMBERS = 2**15  # numbers that are worked on at a time, so that no copies of whole vectors are made


@dataclass(frozen=True, eq=False)
class Minimum:
    """The point where a minimization ended, the value and the gradient there, and why it ended."""

    point: Vector
    value: float
    gradient_norm: float  # in units of `reference`
    reference: float
    iterations: int
    evaluations: int
    converged: bool
    reason: str


def fixed(scale: Vector) -> Scale:
    """Return the scale that is `scale` all the time."""
    return lambda: [(slice(None), scale)]


def minimize(
    function: Function,
    x: Vector,
    scale: Scale,
    *,
    tol: float,
    max_iter: int,
    reference: float | None = None,
    first_step: float = 1.0,
) -> Minimum:
    """Minimize a smooth convex function from x, which it moves, until its gradient's norm is `tol` times `reference`.

    The reference is the norm at the start where it is None. `scale` approximates the inverse of the Hessian's diagonal
    where the function was evaluated last, and the first step is `first_step` times what it suggests. For a convex
    function a step that does not end far uphill is safe, so steps are judged by slopes, which rounding spoils later
    than it does differences of values.
    """
    evaluations, reason = 1, "max_iter"
    value, gradient = function(x)
    reference = reference or max(MIN_REFERENCE_GRADIENT, dot(gradient, gradient) ** 0.5)
    history: list[Pair] = []
    for iteration in range(max_iter + 1):
        norm = dot(gradient, gradient) ** 0.5 / reference
        converged = norm <= tol
        if converged or iteration == max_iter:
            break
        direction = _direction(gradient, history, scale)
        if not history:
            direction *= first_step
        # Makes room for the pair of this step before memory is needed.
        del history[: max(0, len(history) + 1 - HISTORY_PAIRS)]
        after, tried = _step(function, x, gradient, direction)
        evaluations += tried
        if after is None:
            reason = "no step lowers the objective"
            break
        value, change = after[0], gradient
        np.subtract(after[1], gradient, out=change)
        _remember(history, direction, change)
        gradient = after[1]
        del after, change, direction  # else they would live through the next evaluation
    reason = "gradient below tolerance" if converged else reason
    return Minimum(x, value, norm, reference, iteration, evaluations, converged, reason)


def dot(a: Vector, b: Vector) -> float:
    """Return the inner product, summed in double precision over pieces."""
    if len(a) <= CHUNK_NUMBERS:
        return float(a @ b)
    return sum(float(a[piece] @ b[piece]) for piece in blocks(len(a), 1, most=CHUNK_NUMBERS))


def _add(x: Vector, factor: float, y: Vector) -> None:
    for piece in blocks(len(x), 1, most=CHUNK_NUMBERS):
        x[piece] += factor * y[piece]


def _step(
    function: Function, x: Vector, gradient: Vector, direction: Vector
) -> tuple[tuple[float, Vector] | None, int]:
    """Move x by a step along `direction`, which it shortens in place.

    Returns value and gradient at the step's end, None if no step is found and x is back, and the number of evaluations.
    """
    slope = dot(gradient, direction)
    x += direction
    for tried in range(1, MAX_SHORTENINGS + 1):
        after = function(x)
        with np.errstate(over="ignore", invalid="ignore"):  # a step much too long, which is shortened
            end = dot(after[1], direction)
        if end <= MAX_UPHILL_SHARE * -slope and np.isfinite(after[0]):
            return after, tried
        del after
        shorter = max(0.1, slope / (slope - end)) if np.isfinite(end) else 0.1
        _add(x, shorter - 1, direction)
        direction *= shorter
        slope *= shorter
    x -= direction
    return None, MAX_SHORTENINGS


def _remember(history: list[Pair], step: Vector, change: Vector) -> None:
    curvature = dot(step, change)
    if curvature > 1e-12 * (dot(step, step) * dot(change, change)) ** 0.5:
        history.append((step.astype(np.float32, copy=False), change.astype(np.float32, copy=False), curvature))


def _direction(gradient: Vector, history: list[Pair], scale: Scale) -> Vector:
    """Return -H g by the two-loop recursion, with H starting from `scale` times the newest pair's secant factor."""
    direction, shares, scaled = -gradient, [], 0.0
    for step, change, curvature in reversed(history):
        shares.append(dot(step, direction) / curvature)
        _add(direction, -shares[-1], change)
    for piece, factors in scale():
        direction[piece] *= factors
        if history:
            newest = history[-1][1][piece]
            scaled += float(newest @ (factors * newest))
    if history:
        direction *= history[-1][2] / scaled
    for (step, change, curvature), share in zip(history, reversed(shares), strict=True):
        _add(direction, share - dot(change, direction) / curvature, step)
    return direction
