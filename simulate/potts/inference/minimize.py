"""Minimizes smooth convex functions of many variables, by limited-memory BFGS with a diagonal start."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import Mapping
from simulate.potts.inference.vector_passes import HISTORY_PAIRS, add_comparison, add_products, move
from theory.core.arrays import Array
from theory.core.blocks import blocks

Vector = NDArray[np.floating[Any]]  # its precision is that of the whole minimization
Function = Callable[[Vector], tuple[float, Vector]]  # x -> value, gradient
# The inverse of the Hessian's diagonal now: places that make up a vector, and what computes the numbers there.
Piece = tuple[slice, Callable[[], Vector]]
Scale = Callable[[], Iterable[Piece]]

MAX_UPHILL_SHARE = 0.5  # a step is shortened while the slope at its end exceeds this share of the first, uphill
MAX_SHORTENINGS = 30  # most shortenings of a step, before the search gives up
MIN_REFERENCE_GRADIENT = 1e-3  # least reference: independent sites start at the optimum, with a gradient of rounding
CHUNK_NUMBERS = 2**16  # numbers that are worked on at a time, so that no copies of whole vectors are made
MAX_PARTS = 4  # of a vector, which threads share; their number is the same for any number of threads, and so are sums


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
    mapped: Mapping = map,
) -> Minimum:
    """Minimize a smooth convex function from x, which it moves, until its gradient's norm is `tol` times `reference`.

    The reference is the norm at the start where it is None. `scale` approximates the inverse of the Hessian's diagonal
    where the function was evaluated last, and the first step is `first_step` times what it suggests. For a convex
    function a step that does not end far uphill is safe, so steps are judged by slopes, which rounding spoils later
    than it does differences of values. `mapped` shares the parts of vectors among threads.
    """
    evaluations, reason = 1, "max_iter"
    value, gradient = function(x)
    norm = dot(gradient, gradient) ** 0.5
    reference = reference or max(MIN_REFERENCE_GRADIENT, norm)
    history = _History(x, mapped)
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


def _parts(pieces: Sequence[Piece]) -> list[Sequence[Piece]]:
    """Return the pieces of a vector in at most MAX_PARTS groups of neighbors, whose numbers of pieces differ by one."""
    bounds = np.linspace(0, len(pieces), min(MAX_PARTS, len(pieces)) + 1).round().astype(int)
    return [pieces[start:stop] for start, stop in pairwise(bounds.tolist())]


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

    def __init__(self, x: Vector, mapped: Mapping) -> None:
        # Zeros, since a row is multiplied by its share before the first pair is there.
        self._steps, self._changes = np.zeros((2, HISTORY_PAIRS, len(x)), np.float32)
        self._pairs: list[int] = []  # rows, from the oldest pair to the newest
        self._row = 0  # that of the present step
        self._by_step = np.zeros((HISTORY_PAIRS, HISTORY_PAIRS))  # s_j y_k, of rows j and k
        self._single = x.dtype == np.float32
        self.direction = self._steps[0] if self._single else np.empty_like(x)
        self._pieces, self._mapped = list(blocks(len(x), 1, most=CHUNK_NUMBERS)), mapped

    def move(self, x: Vector, gradient: Vector, scale: Scale, first_step: float) -> tuple[float, Vector]:
        """Move x by -H g, with H starting from `scale` times the newest pair's secant factor.

        Return the slope, and the gradient where it is kept: in single precision that is the row of its change, so that
        there is no vector beside the pairs.
        """
        pieces = list(scale())
        if len(pieces) == 1:  # of a small vector the numbers are kept from the first pass to the second
            numbers = pieces[0][1]()
            pieces = [(pieces[0][0], lambda: numbers)]
        shared, nothing = _parts(pieces), np.zeros(HISTORY_PAIRS, x.dtype)
        factor, by_changes, by_steps = self._shares(gradient, shared) if self._pairs else (first_step, nothing, nothing)
        self._row = next(k for k in range(HISTORY_PAIRS + 1) if k not in self._pairs)
        if self._row == HISTORY_PAIRS:
            self._row = self._pairs.pop(0)
        if self._single:
            self.direction = self._steps[self._row]
        kept = self._changes[self._row] if self._single else gradient
        history = (self._steps, self._changes, by_steps, by_changes, self.direction, kept)

        def moved(part: Sequence[Piece]) -> float:
            total = 0.0
            for place, factors in part:
                start, stop, _ = place.indices(len(x))
                total += move(start, stop, x, gradient, factors(), factor, *history)
            return total

        return sum(self._mapped(moved, shared)), kept

    def _shares(self, gradient: Vector, shared: list[Sequence[Piece]]) -> tuple[float, Vector, Vector]:
        """Return the secant factor c and shares a and b, with which the direction is -c D (g - a y) + b s."""
        count, newest = max(self._pairs) + 1, self._pairs[-1]

        def products(part: Sequence[Piece]) -> Array:
            found = np.zeros((count, HISTORY_PAIRS + 4))
            for place, factors in part:
                start, stop, _ = place.indices(len(gradient))
                add_products(start, stop, gradient, self._steps, self._changes, newest, factors(), found)
            return found

        found = sum(self._mapped(products, shared), np.zeros((count, HISTORY_PAIRS + 4)))
        scaled, (scaled_gradient, along_gradient, by_newest, of_newest) = found[:, :count], found[:, HISTORY_PAIRS:].T
        self._by_step[:count, newest], self._by_step[newest, :count] = by_newest, of_newest
        by_step = self._by_step[:count, :count]
        factor = by_step[newest, newest] / scaled[newest, newest]
        first, second = np.zeros((2, HISTORY_PAIRS))  # shares of the two loops
        for j in reversed(self._pairs):
            first[j] = (along_gradient[j] - by_step[j] @ first[:count]) / by_step[j, j]
        for j in self._pairs:
            along = factor * (scaled_gradient[j] - scaled[j] @ first[:count]) + by_step[:, j] @ second[:count]
            second[j] = first[j] - along / by_step[j, j]
        number = gradient.dtype
        return float(factor), first.astype(number), -second.astype(number)

    def compare(self, gradient: Vector, after: Vector) -> tuple[float, float, tuple[float, float, float]]:
        """Return the slope at the step's end, the gradient's norm there, and three products of step and change.

        These are their product and their squares.
        """
        found = np.zeros(5)
        add_comparison(gradient, after, self.direction, found)
        end, square, *others = found.tolist()
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
