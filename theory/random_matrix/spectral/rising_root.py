"""The root of a function that changes sign once, from below, by Newton's method inside a shrinking bracket."""

import math
from collections.abc import Callable
from typing import Protocol, TypeVar


class Rising(Protocol):
    """A value with its derivative, and whatever else was computed on the way."""

    @property
    def value(self) -> float:
        """The value of the function, negative left of the root and positive right of it."""
        ...

    @property
    def derivative(self) -> float:
        """The derivative of the value by the place."""
        ...


Point = TypeVar("Point", bound=Rising)


def rising_root(
    function: Callable[[float], Point], start: float, *, high: float = math.inf, tol: float = 1e-13, max_iter: int = 200
) -> tuple[Point, int]:
    """Find the root: returns the point there and the number of evaluations; steps end at `tol`, by default rounding.

    The bracket may begin infinite: a Newton step is taken where it stays inside and is not much longer than those
    before, else the bracket is halved, or widened by doubled steps. Once the bracket is finite a Newton step must be at
    most half of the last but one: where the function bends sharply at the root, steps from either side of it could
    otherwise return to nearly the same two places forever.
    """
    place, low, width = start, -math.inf, 1.0
    before, step = math.inf, math.inf
    point = function(place)
    for count in range(1, max_iter + 1):
        low, high = (place, high) if point.value < 0 else (low, place)
        slope = point.derivative
        proposal = place - point.value / slope if slope > 0 else math.nan
        longest = min(4 * width, before / 2) if math.isfinite(high - low) else 4 * width
        if not (low < proposal < high and abs(proposal - place) < longest):
            # at rounding the proposal can fall on the bracket's own end
            if abs(proposal - place) <= 1e-15 * (1 + abs(place)):
                return point, count
            # Longer with every refusal, so that an infinite bracket is left behind in a few steps.
            width *= 2
            proposal = _inside(low, high, width)
        before, step, place = step, abs(proposal - place), proposal
        point = function(place)
        if step < tol * (1 + abs(place)) or point.value == 0:
            return point, count + 1
    return point, max_iter


def _inside(low: float, high: float, width: float) -> float:
    if math.isinf(low):
        return high - width
    return low + width if math.isinf(high) else (low + high) / 2
