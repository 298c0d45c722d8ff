"""The weight of rows in a regression whose diagonal ridge may be negative, found on the branch of many rows."""

from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array
from theory.models.row_scales import RowScales
from theory.random_matrix.row_response import inverse_weights

MAX_STEPS = 200  # of a quadratically convergent iteration, which halves its error in each step at a double root
TOLERANCE = 1e-12  # of the residual, relative to the terms of the equation
ROUNDING = 4e-16


@dataclass(frozen=True, eq=False)
class RowWeight:
    """The solved equation leverage = tr M Q/N, Q = (weight M + L)^-1, for N rows of covariance M and a ridge L.

    Rows that are alike have weight = 1/(1 + leverage), which is 1/K, and square = weight^2. Rows of scale t have
    weight = E t/(1 + t leverage) and square = E (t/(1 + t leverage))^2. `overlap` is tr M Q M Q/N, and 1 - square
    overlap is positive on the branch.
    """

    weight: float
    square: float
    leverage: float
    overlap: float
    residual: float
    iterations: int

    @property
    def variance_factor(self) -> float:
        """The number 1/(1 - square overlap), by which the finite sample raises errors."""
        return 1 / (1 - self.square * self.overlap)


@dataclass(frozen=True, eq=False)
class Pencil:
    """The modes of rows of covariance M beside the ridge L, in units of M + L, which is positive definite.

    `signal` are the eigenvalues of M and `ridge` those of L there; they sum to 1, and those of the ridge may be
    negative. `shares` are 1/N for each mode, or the shares of a spectrum over N/d in the limit d -> infinity.
    """

    signal: Array
    ridge: Array
    shares: Array | float

    def inverse(self, weight: float) -> Array:
        """Return the modes of Q = (weight M + L)^-1 in these units; negative ones where it is not positive definite."""
        return np.asarray(1 / (self.ridge + weight * self.signal))

    def solve(self, rows: RowScales) -> RowWeight | None:
        """Find the weight on the branch that begins at weight 1, infinitely many rows; None where it has ended.

        As a function of the weight x the right side R(x) = tr M Q/N is convex and falls, so that its tangent bounds it
        from below. Solving leverage = tangent in the place of leverage = R gives weights that fall monotonically to
        the first root below 1 and cannot pass it: any other root belongs to another branch, whose Q is no limit of
        (C + L)^-1. Where Q stops being positive definite before there is a root, the ridge is below the least one.
        """
        x, leverage = 1.0, 0.0
        for iteration in range(MAX_STEPS + 1):
            total = self.ridge + x * self.signal
            if total.min() <= 0:
                return None
            share = self.signal / total
            level = float(np.sum(self.shares * share))
            slope = float(np.sum(self.shares * share * share))
            proposal, raised = _at_tangent(rows, x, leverage, level, slope)
            if proposal >= x * (1 - ROUNDING) or iteration == MAX_STEPS:
                break
            x, leverage = proposal, raised
        residual = abs(level - leverage) / (1 + level)
        _, square, _ = inverse_weights(rows, np.array([leverage]))
        return RowWeight(x, float(square[0]), leverage, slope, residual, iteration)


def _at_tangent(rows: RowScales, x: float, leverage: float, level: float, slope: float) -> tuple[float, float]:
    """Return the weight and leverage at which the leverage meets the tangent level - slope (weight - x)."""
    if rows.alike:  # (1/w - 1) = level - slope (w - x): the smaller root of a quadratic
        excess = max(level - leverage, 0.0)
        root = np.sqrt((1 + level - slope * x) ** 2 + 4 * slope * x * excess)
        inverse = (1 + level + slope * x + root) / 2
        return float(1 / inverse), float(inverse - 1)
    # level + slope x - slope w(l) - l is concave in the leverage l, and negative where w is left out: Newton's method
    # falls from there to the root.
    most = level + slope * x
    found = most
    for _ in range(MAX_STEPS):
        weights, squares, _ = inverse_weights(rows, np.array([found]))
        step = (most - slope * float(weights[0]) - found) / (1 - slope * float(squares[0]))
        if not step < -ROUNDING * (1 + found):
            break
        found += step
    weights, _, _ = inverse_weights(rows, np.array([found]))
    return float(weights[0]), found
