"""A user's own loss as the equations see it: its proximal operator is searched for jumps wherever it is averaged.

prox(t) = argmin_x (x - t)^2/(2V) + l(x) is the derivative of a convex function, so that it never falls. For a convex
loss it rises with a slope of at most 1. For any other it jumps at t exactly if the convex envelope of x^2/2 + V l(x)
has a straight piece of slope t, which depends on V: a loss that is not convex may be harmless at a small V.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from theory.core.arrays import Array
from theory.glm.custom_loss import ConvexMargin
from theory.glm.losses import Loss
from theory.glm.margin_losses import HardMargin, Hinge, Logistic, Square, SquareResidual
from theory.glm.poisson_loss import PoissonLoss

STEP = 0.05  # of the grid of t on which a prox is searched; own losses vary on a scale of order 1
MOST_STEPS = 4000  # of one search: a longer range has a wider step
MAX_PROX_SLOPE = 1 + 1e-6  # slope of the prox of a convex loss, with rounding
MIN_INTERVAL_WIDTH = 1e-12  # width, relative to 1 + |t|, down to which an interval with a jump is halved
MIN_JUMP = 1e-5  # rise of a prox, relative to 1 + |x|, that is a jump where the interval is as narrow as that
STRAIGHT_RATIO = 1.2  # ratio of the rises of two halves up to which a prox counts as straight between them
BUILT_IN = (Square, SquareResidual, Logistic, Hinge, HardMargin, PoissonLoss)
KINK = 1 / 2.8  # fall of a second difference with each halving: 1/4 where the prox is smooth, 1/2 at a kink
KINK_WIDTH = 1e-8  # relative to 1 + |t|: below it rounding hides a second difference
NEAR_JUMP = 0.01  # width of the panels beside a jump, relative to its size and at most this: the prox is steep there


class Jump(NamedTuple):
    """A jump of the proximal operator at the argument `t`, from `below` to `above`, and the `response` V there."""

    t: float
    below: float
    above: float
    response: float


class Shape(NamedTuple):
    """Where a prox jumps, where else it bends (t, width), and whether its slope exceeds 1: no convex loss has that."""

    jumps: tuple[Jump, ...] = ()
    bends: tuple[tuple[float, float], ...] = ()
    steep: bool = False


@dataclass(frozen=True)
class OwnLoss:
    """Wraps a user's loss. It has the methods of `Loss`, and knows the shape of its prox between two arguments.

    `by_parts` hides the slope, so that responses are integrated by parts, and `halvings` halves all panels: the same
    averages by other means, with which a solution is verified. With `kinks_sought` kinks that are not declared are
    sought too: their places have rounding errors that a slope would show, and its integral by parts does not.
    """

    loss: Loss
    by_parts: bool = False
    halvings: int = 0
    kinks_sought: bool = False
    _shapes: dict[tuple[float, float, float], Shape] = field(default_factory=dict, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The name by which messages call it."""
        return self.loss.name

    @cached_property
    def convex(self) -> bool:
        """Whether the loss refuses by itself not to be convex."""
        return isinstance(self.loss, ConvexMargin)

    def value(self, t: Array) -> Array:
        """Return the loss l(t)."""
        return np.asarray(self.loss.value(t), float)

    def prox(self, t: Array, V: float) -> Array:
        """Return the proximal operator; ValueError where it is not one finite number for each argument."""
        x = np.asarray(self.loss.prox(t, V), float)
        if x.shape != t.shape or not (np.isfinite(x) | ~np.isfinite(t)).all():
            raise ValueError(
                f"loss {self.name!r} has a proximal operator that is not finite or of wrong shape, V = {V:g}"
            )
        return x

    def force(self, t: Array, prox: Array, V: float) -> Array:
        """Return (prox - t)/V."""
        return np.asarray(self.loss.force(t, prox, V), float)

    def slope(self, t: Array, prox: Array, V: float) -> Array | None:
        """Return the derivative of the force by t, or None where it is not known or not to be used."""
        return None if self.by_parts else self.loss.slope(t, prox, V)

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """Return the places where the loss says that its force bends."""
        return self.loss.breakpoints(V)

    def shape(self, V: float, low: float, high: float) -> Shape:
        """Return the shape of the prox between the arguments `low` and `high`; the last few are remembered."""
        key = (V, low, high)
        if not np.isfinite(key).all():
            return Shape()
        if key not in self._shapes:
            if len(self._shapes) > 8:
                self._shapes.clear()
            shape = Shape() if self.convex else shape_of(self, V, low, high)
            if self.kinks_sought:
                found = kinks_of(self, V, low, high)
                shape = shape._replace(bends=(*shape.bends, *((t, width) for t in found for width in (0.0, NEAR_JUMP))))
            self._shapes[key] = shape
        return self._shapes[key]

    def with_kinks(self) -> "OwnLoss":
        """Return the same loss with a search for kinks that it does not declare, and without its slope."""
        return replace(self, by_parts=True, kinks_sought=True, _shapes={})

    def other_route(self) -> "OwnLoss":
        """Return the same loss to be averaged on panels of half the width, and without its slope."""
        return replace(self, by_parts=True, halvings=self.halvings + 1, _shapes={})


def examined(loss: Loss) -> Loss:
    """Return a built-in loss itself, whose prox is known, and any other as an `OwnLoss`."""
    return loss if type(loss) in BUILT_IN or isinstance(loss, OwnLoss) else OwnLoss(loss)


def shape_between(loss: Loss, V: float, low: float, high: float) -> Shape:
    """Return the shape of a loss's prox between two arguments; that of a built-in loss needs no search."""
    return loss.shape(V, low, high) if isinstance(loss, OwnLoss) else Shape()


def halvings_of(loss: Loss) -> int:
    """Return how often the panels of a loss are to be halved."""
    return loss.halvings if isinstance(loss, OwnLoss) else 0


def shape_of(loss: Loss, V: float, low: float, high: float) -> Shape:
    """Search the prox at response V for jumps between two arguments.

    It is evaluated on a grid. Intervals in which it rises faster than its argument are halved, and the half is kept
    that rises more; a rise that is left when the interval is narrower than 1e-12 is a jump. Where none is left the
    prox bends, on the scale on which both halves rise alike. A jump that is smaller than what a slope below 1 misses on
    one step of the grid escapes.
    """
    grid = _grid(low, high)
    x = loss.prox(grid, V)
    rises = np.diff(x)
    fast = rises > MAX_PROX_SLOPE * np.diff(grid) + 1e-12 * (1 + abs(x[1:]))
    if not fast.any():
        return Shape()
    peaks = fast & (rises >= np.append(0.0, rises[:-1])) & (rises >= np.append(rises[1:], 0.0))
    jumps: list[Jump] = []
    bends: list[tuple[float, float]] = []
    a, b, xa, xb = np.stack((grid[:-1], grid[1:], x[:-1], x[1:]))[:, fast]
    peak = peaks[fast]
    for _ in range(60):
        middle = (a + b) / 2
        xm = loss.prox(middle, V)
        first, second = xm - xa, xb - xm
        left = first >= second
        even = np.maximum(first, second) <= STRAIGHT_RATIO * np.minimum(first, second)
        bends += [(float(t), float(h)) for t, h in zip(middle[even & peak], (b - a)[even & peak], strict=True)]
        peak = peak & ~even
        a, xa = np.where(left, a, middle), np.where(left, xa, xm)
        b, xb = np.where(left, middle, b), np.where(left, xm, xb)
        narrow = b - a <= MIN_INTERVAL_WIDTH * (1 + abs(a))
        large = xb - xa > MIN_JUMP * (1 + abs(xa))
        found = np.stack(((a + b) / 2, xa, xb), axis=1)[narrow & large]
        jumps += [Jump(t, below, above, V) for t, below, above in found.tolist()]
        kept = ~narrow & (large | peak)
        if not kept.any():
            break
        (a, b, xa, xb), peak = np.stack((a, b, xa, xb))[:, kept], peak[kept]
    bends += [(jump.t, NEAR_JUMP * min(1.0, jump.above - jump.below)) for jump in jumps]
    return Shape(tuple(sorted(jumps)), tuple(bends), True)


def kinks_of(loss: Loss, V: float, low: float, high: float) -> list[float]:
    """Search the prox at response V for kinks between two arguments, which need not be declared to be found.

    The second difference over an interval is compared with those over its halves and its middle half, and the largest
    is followed: while the interval shrinks it falls as the square of the width where the prox is smooth, and as the
    width where it has a kink. Of several kinks in one step of the grid the largest is found.
    """
    # Off the round numbers at which kinks often lie: one at the end of an interval shows in no second difference.
    grid = _grid(low, high + (high - low) * 0.0123456789)
    x = loss.prox(grid, V)
    a, h, xa, xb = grid[:-1], np.diff(grid), x[:-1], x[1:]
    xm = loss.prox(a + h / 2, V)
    first = abs(xa - 2 * xm + xb)
    for step in range(1, 40):
        quarter, late = loss.prox(a + h / 4, V), loss.prox(a + 3 * h / 4, V)
        options = abs(np.stack((xa - 2 * quarter + xm, quarter - 2 * xm + late, xm - 2 * late + xb)))
        best = options.argmax(axis=0)
        size = options.max(axis=0)
        a, h = a + best * h / 4, h / 2
        xa, xm, xb = (np.choose(best, parts) for parts in ((xa, quarter, xm), (quarter, xm, late), (xm, late, xb)))
        kept = size > np.maximum(KINK**step * first, 1e-14 * (1 + abs(xm)))
        narrow = h <= KINK_WIDTH * (1 + abs(a))
        if (kept & narrow).any() or not kept.any():
            a, h = a[kept], h[kept]
            break
        a, h, xa, xm, xb, first = (part[kept] for part in (a, h, xa, xm, xb, first))
    return [float(t) for t in a + h / 2]


def _grid(low: float, high: float) -> Array:
    count = int(min(max(np.ceil((high - low) / STEP), 1), MOST_STEPS))
    return np.linspace(low, high, count + 1)
