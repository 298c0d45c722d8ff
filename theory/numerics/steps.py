"""The steps from which every search for a fixed point x = update(x) is made: mixing, Newton, and the way back."""

from collections import deque
from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array

Map = Callable[[Array], Array]
DIFFERENCE = 1e-6  # the step of central differences, relative to 1 + |x|


def relative_gap(image: Array, x: Array) -> float:
    """Return max |image - x|/(1 + |x|), the residual that all searches drive to zero; NaN for entries that are NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.max(abs(image - x) / (1 + abs(x))))


class Anderson:
    """Anderson acceleration: the combination of the last points and their images whose residuals cancel best.

    `propose` remembers the point it is given with its image; until it knows two points it proposes None.
    """

    def __init__(self, memory: int) -> None:
        self.points: deque[tuple[Array, Array]] = deque(maxlen=memory)

    def propose(self, x: Array, image: Array) -> Array | None:
        """Return the next point, or None where there is nothing to combine yet."""
        self.remember(x, image)
        if len(self.points) == 1:
            return None
        images = np.array([image for _, image in self.points])
        residuals = images - np.array([x for x, _ in self.points])
        mixing = np.linalg.lstsq(np.diff(residuals, axis=0).T, residuals[-1], rcond=1e-12)[0]
        return np.asarray(images[-1] - mixing @ np.diff(images, axis=0))

    def remember(self, x: Array, image: Array) -> None:
        """Add a point without a proposal."""
        self.points.append((x, image))

    def clear(self) -> None:
        """Forget all points: after a leap the old ones say nothing of the map here."""
        self.points.clear()


def newton_step(image: Array, x: Array, jacobian: Array) -> Array:
    """Return the move from x to the fixed point of the linearized map, the shortest such one where it is neutral."""
    matrix, gap = np.eye(len(x)) - jacobian, image - x
    if not np.isfinite(matrix).all():
        return np.full_like(x, np.nan)
    return np.asarray(np.linalg.lstsq(matrix, gap, rcond=None)[0])


def differences(update: Map, x: Array) -> Array:
    """Return the Jacobian d update_i/d x_j by central differences, (len(x), len(x)), from 2 len(x) evaluations."""
    columns = []
    for k, h in enumerate(DIFFERENCE * (1 + abs(x))):
        e = np.zeros(len(x))
        e[k] = h
        columns.append((np.asarray(update(x + e)) - np.asarray(update(x - e))) / (2 * h))
    return np.stack(columns, axis=1)


def drawn_back(admissible: Callable[[Array], bool], x: Array, proposal: Array, halvings: int) -> Array:
    """Return `proposal`, or the first admissible point on the way from it back to x, halved each time."""
    for _ in range(halvings):
        if admissible(proposal):
            break
        proposal = (x + proposal) / 2
    return proposal
