"""Steps of a quasi-Newton method: an approximate matrix, improved by how the gradient has changed along past moves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simulate.glm.changes import Changes
from simulate.glm.samples import Place
from theory.core import Array

Move = tuple[Array, Array]  # of the coordinates, and by how much it has changed the gradient
PROVED = 1e-3  # gradient relative to its parts, whose double bounds the relative error of the weights
FIRST = 0.1  # share of the gradient that the first step is expected to leave
FAR, NEAR = 1e-5, 1e-6  # gradients relative to that of a base, far from the minimum and near it, that changes tell well


@dataclass(frozen=True)
class Goal:
    """What is enough: the gradient relative to its parts, or the next step relative to the coordinates.

    Since the ridge alone bounds the curvature for sure, a small step counts only where the first is at most 1e-3.
    """

    residual: float
    step: float

    def is_met(self, residual: float, step: float) -> bool:
        """Say whether one of them is small enough."""
        return residual <= self.residual or (step <= self.step and residual <= PROVED)


def by_secants(
    changes: Changes, place: Place, solved: Callable[[Array], Array], at_zero: float, goal: Goal, most: int
) -> tuple[Place, int, float]:
    """Descend from near the minimum by at most so many gradients and nothing else, the last in double precision.

    `solved` multiplies by the inverse of an approximate matrix, and `at_zero` is the length of the gradient at zero,
    the first base of the changes. Returns the last place, the number of gradients, and the next step relative to the
    coordinates, infinite if the goal is not met: the descent ends too where a step has not halved the gradient.
    """
    known, trusted, share, taken = False, FAR * at_zero, FIRST, 0
    moves: list[Move] = []
    while taken < most:
        step = place.length * secant_step(place.gradient / place.length, moves, solved) if place.length else 0 * place.x
        relative = relative_length(step, place.x)
        if known and goal.is_met(place.residual, relative):
            return place, taken, relative
        # The share of the gradient that the last step has left tells what this one may leave.
        last = goal.is_met(share * place.residual, share * relative)
        exact, taken = last or share * place.length < trusted, taken + 1
        new = (changes.exact if exact else changes.near)(place.x + step)
        if new.length < 0.5 * place.length:
            moves.append((step, new.gradient - place.gradient))
            share, place, known = new.length / place.length, new, exact
        elif known:
            break
        else:  # single precision has misled
            place, known, taken = changes.exact(place.x), True, taken + 1
        if known:
            trusted = NEAR * place.length
    return place if known else changes.exact(place.x), taken, np.inf


def relative_length(step: Array, x: Array) -> float:
    """Return the length of a step relative to that of the coordinates from which it goes."""
    return float(np.linalg.norm(step)) / (float(np.linalg.norm(x)) + 1e-300)


def secant_step(gradient: Array, moves: Sequence[Move], solved: Callable[[Array], Array]) -> Array:
    """Return minus the gradient times the inverse of the matrix that agrees with all moves, the last one exactly.

    `solved` multiplies by the inverse of the matrix without them. The updates are those of Broyden, Fletcher, Goldfarb
    and Shanno, in the two loops of Nocedal (1980).
    """
    step, sizes = -gradient, []
    for move, change in reversed(moves):
        sizes.append(float(move @ step) / float(move @ change))
        step -= sizes[-1] * change
    step = solved(step)
    for (move, change), size in zip(moves, reversed(sizes), strict=True):
        step += (size - float(change @ step) / float(move @ change)) * move
    return step
