"""The most patient search: Anderson acceleration, Newton's method and plain steps in turn, from the best point seen.

It is made for saddle points in logarithmic coordinates, whose maps can be stiff, oscillate, or have no value at a
point. Damped steps find the basin of the solution, mixing of points crosses it, and Newton's method ends in it; where
Newton's method stands still, a few plain steps lead to a place from which it goes on.
"""

from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array
from theory.numerics.steps import Anderson, Map, differences, drawn_back, newton_step, relative_gap

LARGEST_STEP = 3.0  # largest step of a proposal in any coordinate: a factor of 20 where they are logarithms
MEMORY = 6  # points that are mixed
DAMPED_STEPS = 6  # steps before mixing begins
MAX_HALVINGS = 40
Admissible = Callable[[Array], bool]
Found = tuple[Array, float]  # a point and its residual


class Counted:
    """A map that counts its evaluations, so that all parts of a search share one budget."""

    def __init__(self, update: Map, admissible: Admissible = lambda x: True) -> None:
        self.update, self.admissible, self.evaluations = update, admissible, 0

    def __call__(self, x: Array) -> Array:
        """Return update(x) and count the evaluation."""
        self.evaluations += 1
        return np.asarray(self.update(x), float)


def search(update: Counted, x: Array, tol: float, budget: float, aim: float | None = None) -> Found:
    """Return the best point seen and its residual: within `tol`, or where the budget or three turns ended.

    `update` counts its evaluations over its whole life, `budget` is compared with that count. Nothing is raised: the
    caller judges the point. Each part goes on until `aim` (by default `tol`): a smaller one serves a caller who judges
    in other coordinates than those of the search.
    """
    aim = tol if aim is None else aim
    best, least, stalled = x, np.inf, 0
    while update.evaluations < budget and stalled < 3:
        before = least
        for attempt in (_mixed_steps, newton, _plain_steps):
            found, residual = attempt(update, best, aim)
            if residual < least:
                best, least = found, residual
            if least <= tol or update.evaluations >= budget:
                return best, least
        stalled = stalled + 1 if least > 0.5 * before else 0
    return best, least


def newton(update: Counted, x: Array, tol: float) -> Found:
    """Take steps of Newton's method with central differences; those that do not lower the residual are halved."""
    image, residual = _evaluated(update, x)
    for _ in range(25):
        if residual <= tol or not np.isfinite(residual):
            break
        jacobian = differences(update, x)
        if not np.isfinite(jacobian).all():
            break
        step = newton_step(image, x, jacobian)
        step *= min(1.0, LARGEST_STEP / max(np.max(abs(step)), 1e-300))
        for _ in range(12):
            new = x + step
            if update.admissible(new):
                new_image, new_residual = _evaluated(update, new)
                if new_residual < residual:
                    break
            step = step / 2
        else:
            break
        x, image, residual = new, new_image, new_residual
    return x, residual


def _evaluated(update: Counted, x: Array) -> tuple[Array, float]:
    """Return the image of x and its residual, infinite where it is not a number."""
    image = update(x)
    residual = relative_gap(image, x)
    return image, residual if np.isfinite(residual) else np.inf


def _mixed_steps(update: Counted, x: Array, tol: float, patience: int = 12) -> Found:
    """Take damped steps, then mixed ones; a mixed step that leaps or leaves the admissible set clears the memory."""
    mixing = Anderson(MEMORY)
    best, least, stale, damping = x, np.inf, 0, 0.3
    for iteration in range(80):
        image, residual = _evaluated(update, x)
        stale = 0 if residual < least else stale + 1
        if residual < least:
            best, least = x, residual
        if least <= tol or stale > patience or not np.isfinite(least):
            break
        if not np.isfinite(residual):  # the search goes back to the best point, with more damping
            x, damping = best, 0.5 + damping / 2
            mixing.clear()
            image = update(x)
        plain = x + (1 - damping) * np.clip(image - x, -LARGEST_STEP, LARGEST_STEP)
        proposal = plain
        if iteration < DAMPED_STEPS:
            mixing.remember(x, image)
        elif (mixed := mixing.propose(x, image)) is not None:
            if np.isfinite(mixed).all() and np.max(abs(mixed - x)) < LARGEST_STEP and update.admissible(mixed):
                proposal = mixed
            else:
                mixing.clear()
        x = drawn_back(update.admissible, x, proposal, MAX_HALVINGS)
    return best, least


def _plain_steps(update: Counted, x: Array, tol: float) -> Found:
    """Take a few damped steps: where Newton's method stands still they lead to a place from which it goes on."""
    for _ in range(8):
        image, residual = _evaluated(update, x)
        if residual <= tol or not np.isfinite(residual):
            break
        x = drawn_back(update.admissible, x, x + 0.7 * np.clip(image - x, -LARGEST_STEP, LARGEST_STEP), MAX_HALVINGS)
    return x, _evaluated(update, x)[1]
