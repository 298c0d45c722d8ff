"""The branch of the matrix Dyson equation right of the bulk, from a = infinity to the right edge, where it folds."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from theory.core import Array
from theory.random_matrix.training.equation import DysonEquation

FIRST_STEP = 0.05
LONGEST_STEP = 0.3
SHORTEST_STEP = 1e-9
ALIGNED_COSINE = 0.95  # between tangents of neighbors, below which the step was too long
MOST_STEPS = 400
CORRECTIONS = 8
TOLERANCE = 1e-11  # of a step of Newton's method, relative to P and to 1 + tau
ROUNDING = 1e-6  # of such a step, below which it may stop where it shrinks no more


@dataclass(frozen=True, eq=False)
class Place:
    """A point of the branch: (P, tau), the unit tangent there in units of `scale`, and the defect that is left."""

    point: Array = field(repr=False)  # P and tau in one array, (N^2 + 1,)
    tangent: Array = field(repr=False)
    scale: Array = field(repr=False)
    defect: float

    @property
    def tau(self) -> float:
        """The place tau = 1/a."""
        return float(self.point[-1])

    @property
    def matrix(self) -> Array:
        """The matrix P, (N, N)."""
        n = math.isqrt(len(self.point) - 1)
        return self.point[:-1].reshape(n, n)

    @property
    def rises(self) -> float:
        """The part of tau in the tangent: positive before the edge, negative beyond it."""
        return float(self.tangent[-1])


class TrainingBranch:
    """The branch, followed by its arc length (derived here).

    tau = 1/a alone is no coordinate of it, since dP/dtau is infinite at the edge. `places` runs from tau = 0 to the
    edge, which is the last one. `lost` says why no edge was found, or is empty.
    """

    def __init__(self, equation: DysonEquation) -> None:
        self.equation = equation
        self.places: list[Place] = []
        self.iterations = 0
        self.lost = self._march()
        self.marched = self.iterations  # up to the edge

    @property
    def edge(self) -> Place:
        """The right edge."""
        return self.places[-1]

    def _march(self) -> str:
        start = np.append(self.equation.start.ravel(), 0.0)
        forward = np.zeros(len(start))
        forward[-1] = 1.0
        place = self._at(start, forward, self._scale(start))
        self.places.append(place)
        step, lost = FIRST_STEP, ""
        for _ in range(MOST_STEPS):
            if step < SHORTEST_STEP:
                return lost or f"steps along the branch shrank to {step:.1g} at a = {1 / place.tau:.12g}"
            ahead = self.step(place, step)
            if ahead is None:
                step /= 3
                continue
            if ahead.rises < 0:
                try:
                    self.places.append(self.root(place, step, lambda found: found.rises))
                except ArithmeticError as failed:
                    lost, step = str(failed), step / 3
                    continue
                return ""
            self.places.append(ahead)
            turned = float(ahead.tangent @ place.tangent)
            place, step = ahead, min(step * (2.0 if turned > 0.99 else 1.0), LONGEST_STEP)
        return f"{MOST_STEPS} steps along the branch ended at a = {1 / place.tau:.12g}, right of it"

    def step(self, place: Place, length: float) -> Place | None:
        """Walk a length along the branch; None where Newton's method or the direction say that it is too long."""
        guess = place.point + length * place.scale * place.tangent
        return self._corrected(guess, place)

    def root(self, place: Place, step: float, value: Callable[[Place], float]) -> Place:
        """Find where a function of places changes its sign within one step of a place."""
        seen: dict[float, Place] = {0.0: place}

        def at(length: float) -> float:
            if length not in seen:
                found = self.step(place, length)
                if found is None:
                    raise ArithmeticError(f"the branch was lost within a step, at a = {1 / place.tau:.12g}")
                seen[length] = found
            return value(seen[length])

        best = brentq(at, 0.0, step, xtol=1e-14, rtol=1e-13)
        at(best)
        return seen[best]

    def _corrected(self, guess: Array, place: Place) -> Place | None:
        n = math.isqrt(len(guess) - 1)
        point, before, previous = guess, math.inf, math.inf
        for _ in range(CORRECTIONS):
            self.iterations += 1
            defect, slopes = self.equation.defect(point[:-1].reshape(n, n), float(point[-1]))
            size = float(abs(defect).max())
            if not size < 2 * before + ROUNDING:
                return None
            scaled = np.vstack([slopes * place.scale, place.tangent])
            known = np.append(-defect, 0.0)
            try:
                solved = np.linalg.solve(scaled, np.stack([known, np.eye(len(known))[-1]], 1))
            except np.linalg.LinAlgError:
                return None
            moved = float(abs(solved[:, 0]).max())
            point = point + place.scale * solved[:, 0]
            # Late in training rounding stops Newton's method earlier, at what the weights of the poles cancel.
            if moved < TOLERANCE or 0.2 * previous < moved < ROUNDING:
                break
            before, previous = size, moved
        else:
            return None
        scale = self._scale(point)
        tangent = solved[:, 1] * place.scale / scale
        tangent /= np.linalg.norm(tangent)
        # The edge turns tau back, but P goes on: a tangent that turned much says that a step was too long.
        if float(tangent @ place.tangent) < ALIGNED_COSINE:
            return None
        return Place(point, tangent, scale, size)

    def _at(self, point: Array, forward: Array, scale: Array) -> Place:
        n = math.isqrt(len(point) - 1)
        defect, slopes = self.equation.defect(point[:-1].reshape(n, n), float(point[-1]))
        solved = np.linalg.solve(np.vstack([slopes * scale, forward]), np.eye(len(point))[-1])
        return Place(point, solved / np.linalg.norm(solved), scale, float(abs(defect).max()))

    def _scale(self, point: Array) -> Array:
        found = np.full(len(point), np.linalg.norm(point[:-1]))
        found[-1] = 1 + abs(point[-1])
        return found
