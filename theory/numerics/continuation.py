"""Restarts and continuation along a path of problems, for searches whose first start has failed."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from theory.core.arrays import Array
from theory.numerics.search import Found

Problem = TypeVar("Problem")


def first_solved(attempts: Iterable[Callable[[], Found]], tol: float) -> Found:
    """Return the point of the first attempt whose residual is within `tol`; the best point of all where none is."""
    best: Found | None = None
    for attempt in attempts:
        found = attempt()
        if best is None or found[1] < best[1]:
            best = found
        if best[1] <= tol:
            break
    if best is None:
        raise ValueError("attempts must not be empty, got none")
    return best


def follow(path: Sequence[tuple[float, Problem]], at: Callable[[Problem, Array | None], Found]) -> Found:
    """Return the point at the end of a path of problems, each started from the line through the last two points.

    `path` lists (parameter, problem) from the easy end; `at` solves one problem from a guess, None for the first.
    """
    trail: list[tuple[float, Array]] = []
    residual = np.inf
    for place, problem in path:
        x, residual = at(problem, _extrapolated(trail, place) if trail else None)
        trail = [*trail[-1:], (place, x)]
    return x, residual


def _extrapolated(trail: list[tuple[float, Array]], place: float) -> Array:
    if len(trail) < 2 or trail[0][0] == trail[1][0]:
        return trail[-1][1]
    (before, x0), (last, x1) = trail
    return np.asarray(x1 + (x1 - x0) * (place - last) / (last - before))
