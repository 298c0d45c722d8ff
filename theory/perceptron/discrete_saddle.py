"""The replica-symmetric saddle point of a perceptron with discrete weights, in units of the largest level."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr

from theory.core.arrays import Array
from theory.models import DiscretePerceptron
from theory.numerics import Solution, solve_fixed_point
from theory.numerics.steps import drawn_back, relative_gap
from theory.perceptron.gaussian_average import HALF_WIDTH, STEP, gaussian_grid, half_gaussian_grid
from theory.perceptron.weight_sums import LOG_UNDERFLOW, MANY_LEVELS, tilted_moments, tilted_sums

PATH_STEP = 0.03  # step of alpha in units of log2 L, where the first start fails
LONGEST_PATH = 100
SMALLEST_NORM = 1e-9
REFINEMENTS = 3  # the grid becomes at most sixteen times as fine as it is at first
FEWEST_STEPS = 60  # of an iteration from a good guess, before another method is tried
NEARLY_AGREE = 0.1  # of (Q - q)/Q, below which Newton's method in log(Q - q) is tried first
NEWTON_STEPS, LONGEST = 15, 1.0  # of that method, and its longest step of log(Q - q)
FINE_GRID_TOLERANCE_RATIO = 1000  # times the tolerance is allowed on the finer grid, whose sums round differently
BEYOND = 4.0  # in z: so much farther than where a negative margin is missed reaches the grid of patterns
FARTHEST = 30.0  # in z: that place, for a density of 1e-196


class Conjugates(NamedTuple):
    """The conjugate orders and what stability needs: a = (Qhat - qhat)/2, qhat, and alpha E f''^2 of the output."""

    square: float
    linear: float
    response: float


class WeightMoments(NamedTuple):
    """Averages over one weight: E<w^2>, E<w>^2, E var(w)^2 and the average logarithm of its normalization."""

    norm: float
    overlap: float
    response: float
    log_partition: float


@dataclass(frozen=True)
class Saddle:
    """The equations of one problem; `levels` are divided by the largest of them, and so is the margin.

    The orders are Q = E<w^2> and q = E<w>^2. With u = (margin - sqrt(q) z)/sqrt(Q - q), H(u) = P(z > u) and
    R(u) = phi(u)/H(u), the entropy per weight is the extremum of

        -Qhat Q/2 + qhat q/2 + E_z log sum_w exp((Qhat - qhat) w^2/2 + sqrt(qhat) z w) + alpha E_z log H(u).
    """

    levels: Array
    alpha: float
    margin: float
    step: float = STEP

    @classmethod
    def of(cls, model: DiscretePerceptron) -> "Saddle":
        """Return the equations of a model."""
        levels = np.asarray(model.levels)
        return cls(levels / scale_of(levels), model.alpha, model.margin / scale_of(levels))

    def conjugates(self, norm: float, overlap: float) -> Conjugates:
        """Return the conjugate orders at (Q, q)."""
        z, weights = self._pattern_grid(overlap)
        variance = norm - overlap
        u = (self.margin - math.sqrt(overlap) * z) / math.sqrt(variance)
        ratio = hazard(u)
        linear = self.alpha * float(weights @ ratio**2) / variance
        square = self.alpha * float(weights @ (ratio * u)) / variance
        curvature = (ratio**2 - u * ratio) / variance
        return Conjugates((square - linear) / 2, linear, self.alpha * float(weights @ curvature**2))

    def log_success(self, norm: float, overlap: float) -> float:
        """Return E log H(u), the change of the entropy with alpha."""
        z, weights = self._pattern_grid(overlap)
        u = (self.margin - math.sqrt(overlap) * z) / math.sqrt(norm - overlap)
        return float(weights @ log_ndtr(-u))

    def _pattern_grid(self, overlap: float) -> tuple[Array, Array]:
        """Return the grid of the averages over a pattern."""
        return gaussian_grid(self.step, reach_of_patterns(self.margin, overlap, HALF_WIDTH))

    def weight_moments(self, conjugates: Conjugates) -> WeightMoments:
        """Return the averages over one weight at given conjugate orders."""
        weights = self._weight_grid[1]
        if len(self.levels) >= MANY_LEVELS:
            z, linear = self._weight_grid[0], math.sqrt(conjugates.linear)
            mean, square, variance, log = tilted_moments(self.levels, conjugates.square, linear, z)
            averages = (square, mean**2, variance**2, log)
            return WeightMoments(*(float(weights @ each) for each in averages))
        law, (total, first, second), top = self._weight_law(conjugates)
        mean = first / total
        # Deviations from the mean keep the digits of a variance that is much smaller than the square.
        deviation = self.levels[:, None] - mean
        deviation *= deviation
        deviation *= law
        variance = deviation.sum(axis=0) / total
        return WeightMoments(
            float(weights @ (second / total)),
            float(weights @ mean**2),
            float(weights @ variance**2),
            float(weights @ (top + np.log(total))),
        )

    @cached_property
    def _weight_grid(self) -> tuple[Array, Array]:
        """The grid of the averages over one weight; half of it where they are even in z, since -w is a level with w."""
        symmetric = np.array_equal(np.sort(self.levels), np.sort(-self.levels))
        return half_gaussian_grid(self.step) if symmetric else gaussian_grid(self.step)

    def _weight_law(self, conjugates: Conjugates, highest: int = 2) -> tuple[Array, Array, Array]:
        """Return the law of a weight (L, N) at each z over its largest entry, its sums of powers of w, and the entry.

        The powers are those from 0 to the `highest`; the third is the logarithm of the largest entry (N,). The arrays
        of all levels and points take most of the time of a solution: they are few, and changed in place.
        """
        w, z = self.levels, self._weight_grid[0]
        law = np.multiply.outer(w, math.sqrt(conjugates.linear) * z)
        law += (conjugates.square * w**2)[:, None]
        top = law.max(axis=0)
        law -= top
        np.maximum(law, LOG_UNDERFLOW, out=law)  # exp takes much longer where it underflows
        np.exp(law, out=law)
        return law, _powers(w, highest) @ law, top

    def _weight_sums(self, conjugates: Conjugates, highest: int = 2) -> Array:
        """Return the sums of `_weight_law` (highest + 1, N), without the law itself where it would take long."""
        w = self.levels
        if len(w) < MANY_LEVELS:
            return self._weight_law(conjugates, highest)[1]
        fields = np.array([math.sqrt(conjugates.linear)])
        squares = np.array([conjugates.square])
        return tilted_sums(w, squares, fields, self._weight_grid[0], _powers(w, highest))[0][:, 0]

    def update(self, x: Array) -> Array:
        """Return the next (Q, q); NaN where q < Q does not hold, which Newton's method may try."""
        if not 0 <= x[1] < x[0]:
            return np.full(2, np.nan)
        weights = self._weight_grid[1]
        total, first, second = self._weight_sums(self.conjugates(float(x[0]), float(x[1])))
        return np.array([weights @ (second / total), weights @ (first / total) ** 2])

    @np.errstate(all="ignore")  # far from all solutions nothing is finite
    def linearized(self, x: Array) -> tuple[Array, Array]:
        """Return the next (Q, q) and its derivatives (2, 2) by Q and q.

        At a fixed Q - q an average E F(u) over a pattern changes with q by E F''(u)/(2 (Q - q)), by parts.
        """
        z, weights = self._pattern_grid(float(x[1]))
        variance = float(x[0] - x[1])
        u = (self.margin - math.sqrt(x[1]) * z) / math.sqrt(variance)
        ratio = hazard(u)
        slope = ratio * (ratio - u)  # the derivative of the ratio
        value = np.stack((ratio**2, u * ratio)) @ weights
        by_u = np.stack((2 * ratio * slope, ratio + u * slope)) @ (weights * u)
        bend = ratio * ((ratio - u) ** 2 + slope - 1)  # the second one
        curvature = np.stack((2 * slope**2 + 2 * ratio * bend, 2 * slope + u * bend)) @ weights
        by_norm = -(value + by_u / 2) / variance**2
        # Rows are qhat and Qhat, then sqrt(qhat) and a; columns are Q and q.
        orders = self.alpha * np.stack((by_norm, curvature / (2 * variance**2) - by_norm), axis=1)
        linear, square = (float(one) for one in self.alpha * value / variance)
        field = math.sqrt(linear)
        chain = np.stack((orders[0] / (2 * field), (orders[1] - orders[0]) / 2))
        z, weights = self._weight_grid
        sums = self._weight_sums(Conjugates((square - linear) / 2, linear, math.nan), 4)
        mean, second, third, fourth = sums[1:] / sums[0]
        both = third - mean * second
        image = np.array([weights @ second, weights @ mean**2])
        by_field = (weights * z) @ np.stack((both, 2 * mean * (second - mean**2)), axis=1)
        by_square = weights @ np.stack((fourth - second**2, 2 * mean * both), axis=1)
        return image, np.stack((by_field, by_square), axis=1) @ chain

    @np.errstate(all="ignore")  # where a step leads too far nothing is finite
    def _newton(self, start: Array | None, tol: float, max_iter: int) -> Solution[Array]:
        """Solve by Newton's method in Q and log(Q - q), which others change slowly; not where Q - q is large."""
        if start is None or not (start[1] > 0 and start[0] - start[1] < NEARLY_AGREE * start[0]):
            return Solution(np.full(2, np.nan), "unverified", math.nan, tol, 0)
        x, most = start, min(NEWTON_STEPS, max_iter)
        for iteration in range(most + 1):
            image, jacobian = self.linearized(x)
            residual = relative_gap(image, x)
            if residual <= tol or iteration == most:
                break
            variance, new = x[0] - x[1], image[0] - image[1]
            # Columns are the derivatives at fixed log(Q - q) and at fixed Q.
            moved = jacobian @ np.array([[1.0, 0.0], [1.0, -variance]])
            matrix = np.eye(2) - np.stack((moved[0], (moved[0] - moved[1]) / new))
            gap = np.array([image[0] - x[0], math.log(max(new, 1e-300) / variance)])
            if not (np.isfinite(matrix).all() and np.isfinite(gap).all()):
                break
            step = np.linalg.lstsq(matrix, gap, rcond=None)[0]
            step *= LONGEST / max(LONGEST, abs(step[1]))
            new = x[0] + step[0]
            proposal = drawn_back(self.admissible, x, np.array([new, new - variance * math.exp(step[1])]), 5)
            if not self.admissible(proposal):
                break
            x = proposal
        return Solution.judged(x, residual, tol, iteration, admissible=self.admissible(x))

    def admissible(self, x: Array) -> bool:
        """Tell whether 0 <= q < Q <= 1, with a distance that the grid resolves.

        In z the functions vary over a length of sqrt((Q - q)/q); where that is shorter than 2.5 steps, sums over the
        grid are no integrals, and the equations have solutions that mean nothing. Far above the capacity of an alphabet
        with the level 0 they have one with Q = 0.
        """
        return bool(SMALLEST_NORM < x[0] <= 1 + 1e-12 and 0 <= x[1] < x[0] - 6 * self.step**2 * x[1])

    def start(self) -> Array:
        """Return (Q, q) of weights without patterns."""
        return np.array([np.mean(self.levels**2), np.mean(self.levels) ** 2])

    def solved(self, start: Array | None, tol: float, max_iter: int) -> "tuple[Saddle, Solution[Array]]":
        """Return (Q, q), verified on a grid twice as fine, and the equations on that grid; nothing is raised here."""
        direct = self._refined(start, tol, max_iter)
        if direct[1].converged or start is not None:
            return direct
        x: Array | None = None
        steps = min(math.ceil(self.alpha / (PATH_STEP * math.log2(len(self.levels)))), LONGEST_PATH)
        for alpha in np.linspace(0, self.alpha, steps + 1)[1:]:
            equations, found = replace(self, alpha=float(alpha))._refined(x, tol, max_iter)
            x = found.value
            if not found.converged:
                # Evidence is that of the load that was asked for, and not of the one at which its path ends.
                return direct if alpha < self.alpha else (equations, found)
        return equations, found

    def _refined(self, start: Array | None, tol: float, max_iter: int) -> "tuple[Saddle, Solution[Array]]":
        """Solve on ever finer grids until a grid twice as fine gives the same."""
        iterations = 0
        grids = [replace(self, step=self.step / 4**refinement) for refinement in range(REFINEMENTS)]
        # A start that only a finer grid resolves begins there.
        able = [start is None or grid.admissible(start) for grid in grids]
        for equations in grids[able.index(True) if any(able) else 0 :]:
            for search in (Saddle._newton, Saddle._first):
                found = search(equations, start, tol, max_iter)
                iterations += found.iterations
                if not found.converged:
                    continue
                finer = replace(equations, step=equations.step / 2)
                residual = max(found.residual, relative_gap(finer.update(found.value), found.value))
                found = Solution(found.value, "unverified", residual, FINE_GRID_TOLERANCE_RATIO * tol, found.iterations)
                if residual <= found.tol:
                    return finer, replace(found, status="converged", iterations=iterations)
        # Each method has a limit of its own, and is no sign that more steps would help, unless the caller's is lower.
        gave_up = found.status == "max_iter" and max_iter >= FEWEST_STEPS
        return equations, replace(found, status="unverified" if gave_up else found.status, iterations=iterations)

    def _first(self, start: Array | None, tol: float, max_iter: int) -> Solution[Array]:
        """Return the first solution of several methods; the last failure where there is none.

        Plain iterations, which take long, are left to a start from nowhere on the first grid.
        """
        ways: list[tuple[Literal["anderson", "newton", "plain"], float, int]] = [
            ("anderson", 0.0, FEWEST_STEPS),
            ("newton", 0.0, 15),
        ]
        if start is None:
            ways = [("anderson", 0.0, 100), ("newton", 0.0, 15)]
            ways += [("plain", 0.2, max_iter)] if self.step == STEP else []
        begin = self.start() if start is None else start
        for method, damping, most in ways:
            found = solve_fixed_point(
                self.update, begin, admissible=self.admissible, method=method, tol=tol,
                jacobian=lambda x: self.linearized(x)[1], damping=damping, max_iter=min(most, max_iter), check=False,
            )  # fmt: skip
            if found.converged:
                break
        return found


def _powers(levels: Array, highest: int) -> Array:
    return np.stack([levels**power for power in range(highest + 1)])


def reach_of_patterns(margin: float, overlap: float, least: float) -> float:
    """Return how far the grid of z must reach where a pattern is averaged over.

    Weights that nearly agree miss a negative margin together, beyond z = margin/sqrt(q). Where that is far out in the
    tail of z, what happens there decides, since there may be as many more patterns as it is rare.
    """
    missed = -margin / math.sqrt(overlap) if overlap > 0 else 0.0
    return max(least, float(math.ceil(min(missed, FARTHEST) + BEYOND)))


def hazard(u: Array) -> Array:
    """Return phi(u)/H(u), the density of a standard Gaussian variable at u given that it is larger than u."""
    # Below -35 the ratio is less than 1e-266, and the scaled error function would overflow.
    return np.asarray(math.sqrt(2 / math.pi) / erfcx(np.maximum(u, -35.0) / math.sqrt(2)))


def scale_of(levels: Array) -> float:
    """Return the largest absolute value of the levels, the unit in which all problems are solved."""
    return float(np.max(np.abs(levels)))
