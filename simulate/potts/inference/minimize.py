"""Minimizes smooth convex functions of many variables, by limited-memory BFGS with a diagonal start."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.core.blocks import blocks

Vector = NDArray[np.floating[Any]]  # its precision is that of the whole minimization
Function = Callable[[Vector], tuple[float, Vector]]  # x -> value, gradient
# The inverse of the Hessian's diagonal now: places that make up a vector, and what computes the numbers there.
Scale = Callable[[], Iterable[tuple[slice, Callable[[], Vector]]]]

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
    return lambda: [(slice(None), lambda: scale)]


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
    norm = dot(gradient, gradient) ** 0.5
    reference = reference or max(MIN_REFERENCE_GRADIENT, norm)
    history = _History(x)
    for iteration in range(max_iter + 1):
        converged = norm / reference <= tol
        if converged or iteration == max_iter:
            break
        slope, gradient = history.move(x, gradient, scale, first_step)
        after, norm_after, tried = _step(function, x, gradient, history, slope)
        evaluations += tried
        if after is None:
            reason = "no step lowers the objective"
            break
        (value, gradient), norm = after, norm_after
        del after  # else the gradient would live through the next evaluation
    reason = "gradient below tolerance" if converged else reason
    return Minimum(x, value, norm / reference, reference, iteration, evaluations, converged, reason)


def dot(a: Vector, b: Vector) -> float:
    """Return the inner product, summed in double precision over pieces."""
    if len(a) <= CHUNK_NUMBERS:
        return float(a @ b)
    return sum(float(a[piece] @ b[piece]) for piece in blocks(len(a), 1, most=CHUNK_NUMBERS))


def _step(
    function: Function, x: Vector, gradient: Vector, history: "_History", slope: float
) -> tuple[tuple[float, Vector] | None, float, int]:
    """Evaluate where `history` moved x to, along a direction of this slope, and shorten the step where it is too long.

    Returns value and gradient at the step's end, None if no step is found and x is back, the gradient's norm there, and
    the number of evaluations.
    """
    for tried in range(1, MAX_SHORTENINGS + 1):
        after = function(x)
        end, norm_after, curvature = history.compare(gradient, after[1])
        if end <= MAX_UPHILL_SHARE * -slope and np.isfinite(after[0]):
            history.keep(gradient, after[1], curvature)
            return after, norm_after, tried
        del after
        shorter = max(0.1, slope / (slope - end)) if np.isfinite(end) else 0.1
        history.shorten(x, shorter)
        slope *= shorter
    x -= history.direction
    return None, 0.0, MAX_SHORTENINGS


class _History:
    """The latest steps and changes of the gradient, and the direction of the step that is made.

    Pairs lie in rows, in single precision since they only shape the direction. The two-loop recursion needs products of
    these vectors alone, which one pass over all of them finds; a second one adds up the direction and moves the point.
    """

    def __init__(self, x: Vector) -> None:
        self._steps, self._changes = np.empty((2, HISTORY_PAIRS, len(x)), np.float32)
        self._pairs: list[int] = []  # rows, from the oldest pair to the newest
        self._row = 0  # that of the present step
        self._single = x.dtype == np.float32
        self.direction = self._steps[0] if self._single else np.empty_like(x)
        self._pieces = list(blocks(len(x), 1, most=CHUNK_NUMBERS))

    def move(self, x: Vector, gradient: Vector, scale: Scale, first_step: float) -> tuple[float, Vector]:
        """Move x by -H g, with H starting from `scale` times the newest pair's secant factor.

        Return the slope, and the gradient where it is kept: in single precision that is the row of its change, so that
        there is no vector beside the pairs.
        """
        pieces = list(scale())
        if len(pieces) == 1:  # of a small vector the numbers are kept from the first pass to the second
            numbers = pieces[0][1]()
            pieces = [(pieces[0][0], lambda: numbers)]
        factor, by_changes, by_steps = self._shares(gradient, pieces) if self._pairs else (first_step, None, None)
        self._row = next(k for k in range(HISTORY_PAIRS + 1) if k not in self._pairs)
        if self._row == HISTORY_PAIRS:
            self._row = self._pairs.pop(0)
        if self._single:
            self.direction = self._steps[self._row]
        kept = self._changes[self._row] if self._single else gradient

        def move(piece: tuple[slice, Callable[[], Vector]]) -> float:
            place, factors = piece
            g, d = gradient[place], self.direction[place]
            found = g if by_changes is None else g - by_changes @ self._changes[: len(by_changes), place]
            found = found * factors()
            found *= x.dtype.type(-factor)
            if by_steps is not None:
                found += by_steps @ self._steps[: len(by_steps), place]
            d[:] = found
            x[place] += d
            if self._single:
                kept[place] = g
            return float(g @ d)

        return sum(map(move, pieces)), kept

    def _shares(self, gradient: Vector, pieces: Any) -> tuple[float, Vector, Vector]:
        """Return the secant factor c and shares a and b, with which the direction is -c D (g - a y) + b s."""
        count = max(self._pairs) + 1

        def products(piece: tuple[slice, Callable[[], Vector]]) -> Array:
            place, factors = piece
            g = gradient[place]
            steps = self._steps[:count, place].astype(g.dtype, copy=False)
            changes = self._changes[:count, place].astype(g.dtype, copy=False)
            scaled = changes * factors()
            parts = [steps @ changes.T, scaled @ changes.T, (steps @ g)[:, None], (scaled @ g)[:, None]]
            return np.concatenate(parts, axis=1, dtype=float)

        found = sum(map(products, pieces), np.zeros((count, 2 * count + 2)))
        by_step, scaled = found[:, :count], found[:, count : 2 * count]  # s_j y_k and y_j D y_k
        newest = self._pairs[-1]
        factor = by_step[newest, newest] / scaled[newest, newest]
        first, second = np.zeros(count), np.zeros(count)  # shares of the two loops
        for j in reversed(self._pairs):
            first[j] = (found[j, -2] - by_step[j] @ first) / by_step[j, j]
        for j in self._pairs:
            along = factor * (found[j, -1] - scaled[j] @ first) + by_step[:, j] @ second
            second[j] = first[j] - along / by_step[j, j]
        number = gradient.dtype
        return float(factor), first.astype(number), -second.astype(number)

    def compare(self, gradient: Vector, after: Vector) -> tuple[float, float, tuple[float, float, float]]:
        """Return the slope at the step's end, the gradient's norm there, and three products of step and change.

        These are their product and their squares.
        """

        def products(place: slice) -> Array:
            g, d = after[place], self.direction[place]
            with np.errstate(over="ignore", invalid="ignore"):  # a step much too long, which is shortened
                change = g - gradient[place]
                return np.array([g @ d, g @ g, d @ change, d @ d, change @ change], float)

        with np.errstate(over="ignore", invalid="ignore"):
            sums = sum(map(products, self._pieces), np.zeros(5))
        end, square, *others = sums.tolist()
        return end, square**0.5, (others[0], others[1], others[2])

    def keep(self, gradient: Vector, after: Vector, curvature: tuple[float, float, float]) -> None:
        """Let the present step shape further directions, unless it has no curvature."""
        step, change = self._steps[self._row], self._changes[self._row]
        product, size, size_of_change = curvature
        # What a row that does not count holds is multiplied by zero, and so has to be finite.
        counts = product > 1e-12 * (size * size_of_change) ** 0.5

        def store(place: slice) -> None:
            if counts:
                np.subtract(after[place], gradient[place], out=change[place], casting="same_kind")
            else:
                change[place] = 0
            if not (counts and self._single):  # else the row of the step is the direction itself
                step[place] = self.direction[place] if counts else 0

        for piece in self._pieces:
            store(piece)
        if counts:
            self._pairs.append(self._row)

    def shorten(self, x: Vector, share: float) -> None:
        """Move x back to `share` of the present step."""
        for place in self._pieces:
            d = self.direction[place]
            x[place] += (share - 1) * d
            d *= share
