"""What rows of different scale do to the equation of the effective ridge, in one scalar function of their law."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.core.blocks import in_blocks
from theory.models.row_scales import RowScales
from theory.numerics import ConvergenceError
from theory.random_matrix.moments import RidgeMoments

Numbers = NDArray[Any]  # real or complex

MAX_TEMPORARY_NUMBERS = 2_000_000  # 16 MB of a temporary array (points x nodes)


@dataclass(frozen=True, eq=False)
class RowResponse:
    """Averages over the rows' scales tau at weights g and shares y, all arrays of the shape of `weight`.

    With y = df1(kappa)/alpha and g = lam/kappa, `level` = E[tau/(g + tau y)] = 1 is the equation of the effective
    ridge; rows that are alike make it g = 1 - y, which is lam = kappa (1 - df1/alpha). Minus its derivatives in g and
    y are `first` = E[tau/(g + tau y)^2] and `second` = E[tau^2/(g + tau y)^2], and g first + y second = level.
    """

    weight: Array  # g, by which the rows' total weight in (X'X/n + lam)^-1 ~ (g Sigma + lam)^-1 falls
    share: Array  # y, the degrees of freedom per row
    level: Array
    first: Array
    second: Array
    resting: Array  # E[g/(g + tau y)] over rows with tau > 0, which is their probability less y at the solution

    def variance_factor(self, at: RidgeMoments, alpha: Array) -> Array:
        """Compute 1/(1 - c2 df2/alpha), c2 = `second`, as a ratio whose terms are positive."""
        # df1 - df2 lies between 0 and df1; where both are rounding, `second` may be so large that it shows.
        spread = np.clip(at.spread / alpha, 0.0, self.share)
        return np.asarray(1 / (self.weight * self.first + self.second * spread))

    def second_slope(self, rows: RowScales) -> Array:
        """Compute -1/2 of the derivative of `second` in y along the solutions of level = 1.

        Along them dg/dy = -second/first, so that it is E[tau^3/(g + tau y)^3] - (second/first) E[tau^2/(g + tau y)^3].
        """
        present = rows.nodes > 0  # of the others even the total is zero where the weight is
        tau, p = rows.nodes[present], rows.probabilities[present]
        total = self.weight[..., None] + tau * self.share[..., None]
        kept = tau / total
        square = p * kept * kept
        return np.asarray((square * kept).sum(axis=-1) - self.second / self.first * (square / total).sum(axis=-1))

    def train_ratio(self) -> Array:
        """Compute E[tau/(1 + tau delta)^2], delta = y/g: the train error over the test error."""
        return np.asarray(self.weight**2 * self.first)


def row_response(rows: RowScales, weight: Array, share: Array) -> RowResponse:
    """Average over the law `rows` at weights g and shares y (points,), both not negative, not both zero."""
    weight, share = np.broadcast_arrays(np.asarray(weight, float), np.asarray(share, float))
    points = np.stack([weight.ravel(), share.ravel()], axis=1)
    columns = zip(
        *(_averages(rows, block) for block in in_blocks(points, len(rows.nodes), MAX_TEMPORARY_NUMBERS)), strict=True
    )
    level, first, second, resting = (np.concatenate(column).reshape(weight.shape) for column in columns)
    return RowResponse(weight, share, level, first, second, resting)


def _averages(rows: RowScales, points: Array) -> tuple[Array, Array, Array, Array]:
    present = rows.nodes > 0
    tau, p = rows.nodes[present], rows.probabilities[present]
    g, y = points[:, :1], points[:, 1:]
    total = 1 / (g + tau * y)
    kept = tau * total
    weighted = kept * p  # before it is squared: rare large scales have squares beyond the range of numbers
    return kept @ p, (weighted * total).sum(axis=1), (weighted * kept).sum(axis=1), (g * total) @ p


def inverse_weights(rows: RowScales, delta: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Compute E[tau^k/(1 + tau delta)^k] for k = 1, 2, 3 at every delta (points,), real or complex.

    The first is g(delta), the weight of the rows in the equivalent (g Sigma - z)^-1 of their resolvent at z, the second
    -dg/ddelta, and the third half the second derivative of g.
    """
    if rows.alike:  # the only law of which laws of eigenvalues need many averages fast
        kept = 1 / (1 + delta)
        square = kept * kept
        return kept, square, square * kept
    blocks = in_blocks(np.atleast_1d(delta), len(rows.nodes), MAX_TEMPORARY_NUMBERS)
    columns = zip(*(_powers(rows, block) for block in blocks), strict=True)
    first, second, third = (np.concatenate(column).reshape(np.shape(delta)) for column in columns)
    return first, second, third


def _powers(rows: RowScales, delta: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    kept = rows.nodes / (1 + rows.nodes * delta[:, None])
    square = kept * kept
    return kept @ rows.probabilities, square @ rows.probabilities, (square * kept) @ rows.probabilities


def linearized(
    rows: RowScales, at: RidgeMoments, alpha: Array, lam: Array, kappa: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Compute the Gaussian sample that stands for rows of different scale near the ridge kappa, all arrays (points,).

    1/level is concave in g and y jointly (a harmonic mean of g/tau + y). With its tangent plane in its place, the
    equation is the Gaussian one of alpha level^2/second rows at the ridge lam first/level^2. Returns the former, by how
    much it exceeds the rank of Sigma over d, the latter, the relative residual of the equation, and the side of the
    root on which kappa lies: 1 below it, -1 above.
    """
    response = row_response(rows, lam / kappa, at.df1 / alpha)
    squared = response.level**2
    # Near interpolation the equation is read as that of what the rows do not use, where nothing cancels.
    gap = at.above_df1(alpha * rows.present) / alpha
    terms = np.where(at.df1 < at.left, rows.present, (abs(alpha * rows.present - at.rank) + at.left) / alpha)
    unused = response.resting - gap
    near = response.share > rows.present / 2
    above = np.where(
        near, -unused / np.where(near, response.share, 1.0), response.level - 1
    )  # the level's excess over 1
    error = np.where(near, abs(unused) / (response.resting + terms), abs(above))
    # With first and second written by each other, the excess is a sum of what is small at interpolation.
    resting = response.weight * response.first / response.level
    working = np.where(near, response.share * response.second / response.level, 1.0)  # 1 - resting
    excess = (at.rank * (above + resting) - at.left * response.level) / working
    sample = alpha * squared / response.second
    excess = np.where(near, excess, sample - at.rank)
    return sample, excess, lam * response.first / squared, error, -np.sign(above)


def row_weight(rows: RowScales, share: Array, gap: Array, max_iter: int = 200) -> Array:
    """Solve level(g, y) = 1 for the weight g at shares y (points,) below the probability of tau > 0, by `gap` more.

    It is the function G(y) by which lam = kappa G(df1(kappa)/alpha); 1 - y for rows that are alike. By concavity every
    Newton step on 1/level from the left stays there and rises to the root. Raises ConvergenceError.
    """
    gap = np.maximum(gap, 0.0)  # it is zero where rounding hides it, and then so is g
    g = gap / rows.present
    for _ in range(max_iter):
        at = row_response(rows, g, share)
        # The same number twice: near interpolation the difference of what the rows do not use is the exact one.
        near = share > rows.present / 2
        excess = np.where(near, (gap - at.resting) / np.where(near, share, 1.0), at.level - 1)
        proposal = g + at.level * excess / at.first
        proposal = np.where(proposal > 0, proposal, g / 8)
        moved = float(np.max(abs(proposal - g) / np.where(g > 0, g, 1.0), initial=0.0))
        g = proposal
        if moved <= 1e-10:  # the next step would be its square
            return g
    what, advice = f"weight of rows with {rows}", "the scales are too far apart for double precision"
    raise ConvergenceError.of(what, g, moved, 1e-10, max_iter, status="max_iter", advice=advice)
