"""Search for the fixed point of a saddle-point map: damped steps, Anderson acceleration, Newton, and their turns."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from theory.models.arrays import Array

LARGEST_STEP = 3.0  # of a proposal, in the logarithms
MEMORY = 6
DAMPED = 6  # steps before mixing begins


class SaddleMap(Protocol):
    """x to its image, with what is allowed and the number of evaluations so far."""

    evaluations: int

    def __call__(self, x: Array) -> Array:
        """The image of x; not finite where there is none."""

    def admissible(self, x: Array) -> bool:
        """Whether x satisfies the inequalities of the model."""


def search(update: SaddleMap, x: Array, tol: float, budget: int) -> tuple[Array, float]:
    """Anderson, Newton and plain steps in turn until the tolerance, the budget or a standstill; the best point seen."""
    best, least, stalled = x, np.inf, 0
    while update.evaluations < budget and stalled < 3:
        before = least
        for attempt in (_anderson, newton, _plain):
            found, residual = attempt(update, best, 0.1 * tol)  # the coordinates of the search are not those judged
            if residual < least:
                best, least = found, residual
            if least <= tol or update.evaluations >= budget:
                return best, least
        stalled = stalled + 1 if least > 0.5 * before else 0
    return best, least


def gap(update: SaddleMap, x: Array) -> tuple[Array, float]:
    """The image of x, and the residual max |image - x|/(1 + |x|)."""
    image = update(x)
    with np.errstate(invalid="ignore"):
        residual = float(np.max(abs(image - x) / (1 + abs(x))))
    return image, residual if np.isfinite(residual) else np.inf


def _anderson(update: SaddleMap, x: Array, tol: float, patience: int = 12) -> tuple[Array, float]:
    """Damped, then mixed; a mixed step that leaps or leaves the admissible set clears the memory."""
    points: list[Array] = []
    gaps: list[Array] = []
    best, least, stale, damping = x, np.inf, 0, 0.3
    for iteration in range(80):
        image, residual = gap(update, x)
        stale = 0 if residual < least else stale + 1
        if residual < least:
            best, least = x, residual
        if least <= tol or stale > patience or not np.isfinite(least):
            break
        if not np.isfinite(residual):  # back to the best point, more carefully
            x, points, gaps, damping = best, [], [], 0.5 + damping / 2
            image = update(x)
        points, gaps = [*points, x][-MEMORY:], [*gaps, image - x][-MEMORY:]
        proposal = x + (1 - damping) * np.clip(image - x, -LARGEST_STEP, LARGEST_STEP)
        if iteration >= DAMPED and len(points) > 1:
            mixed = _mixed(points, gaps)
            if np.isfinite(mixed).all() and np.max(abs(mixed - x)) < LARGEST_STEP and update.admissible(mixed):
                proposal = mixed
            else:
                points, gaps = [], []
        x = _drawn_back(update.admissible, x, proposal)
    return best, least


def _mixed(points: list[Array], gaps: list[Array]) -> Array:
    steps = np.diff(np.array(gaps), axis=0).T
    moves = np.diff(np.array(points), axis=0).T
    mixing = np.linalg.lstsq(steps, gaps[-1], rcond=1e-12)[0]
    return np.asarray(points[-1] + gaps[-1] - (moves + steps) @ mixing)


def _drawn_back(admissible: Callable[[Array], bool], x: Array, proposal: Array) -> Array:
    for _ in range(40):
        if admissible(proposal):
            break
        proposal = (x + proposal) / 2
    return proposal


def newton(update: SaddleMap, x: Array, tol: float) -> tuple[Array, float]:
    """Newton on x - map(x), central differences, halving steps that do not lower the residual."""
    image, residual = gap(update, x)
    for _ in range(25):
        if residual <= tol or not np.isfinite(residual):
            break
        jacobian = _jacobian(update, x)
        if not np.isfinite(jacobian).all():
            break
        step = np.linalg.lstsq(np.eye(len(x)) - jacobian, image - x, rcond=None)[0]
        step *= min(1.0, LARGEST_STEP / max(np.max(abs(step)), 1e-300))
        for _ in range(12):
            new = x + step
            if update.admissible(new):
                new_image, new_residual = gap(update, new)
                if new_residual < residual:
                    break
            step = step / 2
        else:
            break
        x, image, residual = new, new_image, new_residual
    return x, residual


def _jacobian(update: SaddleMap, x: Array) -> Array:
    columns = []
    for k in range(len(x)):
        h = 1e-6 * (1 + abs(x[k]))
        e = np.zeros(len(x))
        e[k] = h
        columns.append((update(x + e) - update(x - e)) / (2 * h))
    return np.stack(columns, axis=1)


def _plain(update: SaddleMap, x: Array, tol: float) -> tuple[Array, float]:
    """A few damped steps: where Newton stands still they lead to another slope."""
    for _ in range(8):
        image, residual = gap(update, x)
        if residual <= tol or not np.isfinite(residual):
            break
        x = _drawn_back(update.admissible, x, x + 0.7 * np.clip(image - x, -LARGEST_STEP, LARGEST_STEP))
    return x, gap(update, x)[1]
