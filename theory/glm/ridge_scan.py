"""Values and slopes of a test error along the ridge: each saddle point begins where those of its neighbors lead.

A value and a slope at each ridge tell much more than values: an interval with a falling slope on the left and a rising
one on the right holds a minimum, and one whose cubic through both values and slopes is not monotone hides a pair.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from theory.core import Array
from theory.glm.multiclass import MulticlassSaddlePoint
from theory.glm.saddle_point import SaddlePoint
from theory.numerics import ConvergenceError

FLAT = 1e-9  # slope by log lam, relative to the value, that is none but for rounding
STEEP = 5.0  # times the mean slope of an interval: a monotone cubic has no steeper ends
NARROWEST = 0.3  # of log lam: an interval that is searched for a pair of a minimum and a maximum
MAX_POINTS = 40  # saddle points of one scan
NOISE = 1e-11  # of a slope, see `RidgeScan.rounding`
PRECISION = 1e-9  # slope by log lam, relative to the value, at a minimum
NEAR = 1.0  # of log lam: ridges outside of a bracket that still tell where its slope vanishes
INVERTED = 4  # ridges through whose slopes a polynomial is laid
NARROW = 1e-9  # of log lam: a bracket that is not narrowed further


Criterion = Literal["error", "loss"]
Point = TypeVar("Point", bound=SaddlePoint | MulticlassSaddlePoint)


class Rung(NamedTuple, Generic[Point]):
    """A solved ridge: log lam, the value there and its derivative by log lam, and the saddle point.

    `x` are the point's coordinates, `moved` their derivative by log lam, and `matrix` is 1 - dF/dx.
    """

    log_lam: float
    value: float
    slope: float
    point: Point
    x: Array
    moved: Array
    matrix: Array


@dataclass
class RidgeScan(ABC, Generic[Point]):
    """Solve a problem at chosen ridges; `rungs` holds what was found, in the order of lam, `failed` what was not."""

    by: Criterion
    rungs: list[Rung[Point]] = field(default_factory=list)
    failed: list[float] = field(default_factory=list)
    rounding: float = NOISE  # of a slope by log lam, relative to the largest value of the scan

    @property
    def solved(self) -> int:
        """The number of saddle points that were sought."""
        return len(self.rungs) + len(self.failed)

    def end(self, side: int, inside: int = 0) -> Rung[Point]:
        """Return the rung of least lam (side -1) or largest (side 1), or one that lies so many rungs inside."""
        return self.rungs[inside if side < 0 else -1 - inside]

    def add(self, log_lam: float) -> Rung[Point] | None:
        """Solve at one more ridge; None where there is no verified point."""
        near = sorted(self.rungs, key=lambda rung: abs(rung.log_lam - log_lam))[:2]
        try:
            found = self._solved(log_lam, near)
        except ConvergenceError:
            self.failed.append(log_lam)
            return None
        self.rungs = sorted([*self.rungs, found], key=lambda rung: rung.log_lam)
        return found

    @abstractmethod
    def _solved(self, log_lam: float, near: list[Rung[Point]]) -> Rung[Point]:
        """Solve at a ridge, beginning with the nearest rungs; ConvergenceError where there is no verified point."""

    def sign(self, rung: Rung[Point]) -> int:
        """Return the sign of a slope, 0 where it is that of rounding."""
        return 0 if abs(rung.slope) <= max(FLAT * abs(rung.value), self.noise) else (1 if rung.slope > 0 else -1)

    @property
    def told(self) -> list[Rung[Point]]:
        """The rungs whose slope has a sign."""
        return [rung for rung in self.rungs if self.sign(rung)]

    @property
    def noise(self) -> float:
        """What rounding and the tolerance of saddle points leave of a slope."""
        return self.rounding * max(abs(rung.value) for rung in self.rungs)

    def resolve(self) -> None:
        """Halve each interval whose values and slopes do not fit a monotone curve, until they do."""
        k = 0
        while k < len(self.rungs) - 1 and self.solved < MAX_POINTS:
            low, high = self.rungs[k : k + 2]
            if not self._hides_a_pair(low, high) or self.add((low.log_lam + high.log_lam) / 2) is None:
                k += 1

    def brackets(self) -> list[tuple[Rung[Point], Rung[Point]]]:
        """Return the intervals at whose ends the slope turns from falling to rising."""
        told = self.told
        return [(low, high) for low, high in pairwise(told) if low.slope < 0 < high.slope]

    def minimum(self, low: Rung[Point], high: Rung[Point]) -> Rung[Point]:
        """Return the ridge within a bracket at which the slope vanishes; ConvergenceError where it is not found."""
        inside = [rung for rung in self.rungs if low.log_lam < rung.log_lam < high.log_lam]  # flat to rounding
        best: Rung[Point] | None = min(inside, key=_steepness, default=None)
        slow, last = False, math.inf
        while best is None or abs(best.slope) > max(PRECISION * abs(best.value), self.noise):
            tried = (low.log_lam + high.log_lam) / 2 if slow else _next(low, high, self.rungs)
            found = self.add(tried) if self.solved < MAX_POINTS else None
            if found is None:
                what = f"ridge of least test {self.by} near lam={math.exp(tried):g}"
                raise ConvergenceError.of(what, None, min(map(_steepness, (low, high))), FLAT, self.solved)
            low, high = (found, high) if found.slope < 0 else (low, found)
            slow, last = 2 * _steepness(found) > last, _steepness(found)
            best = min((found, *([best] if best else [])), key=_steepness)
            if high.log_lam - low.log_lam < NARROW or (slow and last <= 100 * self.noise):
                break  # rounding is all that is left
        return best

    def _hides_a_pair(self, low: Rung[Point], high: Rung[Point]) -> bool:
        """Tell whether a curve with these values and slopes at its ends cannot be taken to be monotone."""
        width = high.log_lam - low.log_lam
        signs = self.sign(low), self.sign(high)
        if width < NARROWEST or signs[0] * signs[1] < 0 or not any(signs):
            return False
        rise = (high.value - low.value) / width
        if 0 in signs:  # a plateau at one end, to which the slope at the other should lead
            return abs(rise) > FLAT * abs(high.value) and rise * (low.slope if signs[0] else high.slope) < 0
        return rise * low.slope <= 0 or max(abs(low.slope), abs(high.slope)) > STEEP * abs(rise)


def _steepness(rung: Rung[Point]) -> float:
    return abs(rung.slope)


def _next(low: Rung[Point], high: Rung[Point], rungs: list[Rung[Point]]) -> float:
    """Return the ridge to try within a bracket: where a polynomial through the nearest slopes, inverted, vanishes.

    It is the least of the cubic through both ends where only these are near, and the middle where that is not inside.
    """
    near = [rung for rung in rungs if low.log_lam - NEAR <= rung.log_lam <= high.log_lam + NEAR]
    near = sorted(near, key=_steepness)[:INVERTED]
    width, middle = high.log_lam - low.log_lam, (low.log_lam + high.log_lam) / 2
    if len(near) < 3:
        slopes = np.array([low.slope, high.slope]) * width
        # The derivative a + b t + c t^2 of the cubic of t in [0, 1]; it has one rising root between its ends' signs.
        a, c = slopes[0], 3 * (slopes.sum() - 2 * (high.value - low.value))
        b = slopes[1] - slopes[0] - c
        t = 2 * -a / (b + math.sqrt(max(b * b - 4 * a * c, 0.0)))
        tried = low.log_lam + width * t
    else:
        tried = _inverted(np.array([rung.slope for rung in near]), np.array([rung.log_lam for rung in near]))
    return tried if low.log_lam < tried < high.log_lam else middle


def _inverted(slopes: Array, places: Array) -> float:
    """Return the place at the slope zero of the polynomial through all, by Neville's scheme; NaN where slopes agree."""
    with np.errstate(all="ignore"):
        table = places.copy()
        for k in range(1, len(table)):
            table = (slopes[k:] * table[:-1] - slopes[:-k] * table[1:]) / (slopes[k:] - slopes[:-k])
    return float(table[0])
