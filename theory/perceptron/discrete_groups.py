"""The equations of groups of solutions of any levels at a given distance from each other, and their solution."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from theory.core import Array
from theory.numerics import Solution, solve_fixed_point
from theory.numerics.steps import relative_gap
from theory.perceptron.discrete_saddle import hazard, reach_of_patterns
from theory.perceptron.gaussian_average import gaussian_grid

STEP, REACH = 0.1, 9.0
# Step of the inner grid over the least width of the tilted law: its sum is then off by exp(-2 pi^2/0.36) = 1e-24.
INNER_STEP = 0.6
NARROW = 0.05  # tilted curvature times the variance of z1, below which the tilted law is nearly Gaussian
LOG_UNDERFLOW = -700.0
DIFFERENCE = 1e-6  # step of the derivatives of Newton's method
REFINEMENTS = 3  # the grid becomes at most sixteen times as fine as it is at first
FINE_GRID_TOLERANCE_RATIO = 1000  # times the tolerance is allowed on the finer grid, whose sums round differently
NEWTON_STEPS = 25
MAX_LOG_EXTRA = 18.0  # of qhat1 - qhat0, on both sides of 1
FIRST_STEP, WIDER, SMALLEST_STEP, MAX_STEPS = 0.5, 1.5, 0.02, 60  # of log y on the way from pairs to more copies
LOG_EXTRAS = np.linspace(-12, 6, 13)  # values of log(qhat1 - qhat0) of the guesses of pairs
MOST_GUESSES = 6  # of pairs, from which Newton's method starts


class Output(NamedTuple):
    """Averages over a pattern: E <L'>^2, E <L'^2>, E <L''>, E log E1 H^y, and E A^2 of sums and of differences."""

    squared_mean: float
    product: float
    curvature: float
    log_success: float
    sums: float
    differences: float


class Site(NamedTuple):
    """Averages over a site: E <w^2>, E <m>^2, E <m m'>, E log E1 zw^y, and E C^2 of sums and of differences."""

    norm: float
    squared_mean: float
    product: float
    log_partition: float
    sums: float
    differences: float


class Tilted(NamedTuple):
    """Averages over z1 with the weight exp(y f), (n,) outer points: E1 of some functions, and log E1 exp(y f)."""

    averages: list[Array]
    logs: Array


class Found(NamedTuple):
    """What follows from a solution: S_y, Qhat, qhat0, qhat1 and the replicon of `CopyEntropy`."""

    entropy: float
    norm_conjugate: float
    group_conjugate: float
    copy_conjugate: float
    replicon: float


@dataclass(frozen=True)
class Groups:
    """The equations of y copies at the distance d = (1 - q1/Q)/2; `levels` are divided by the largest of them.

    The unknowns are Q, q0 and log(qhat1 - qhat0). The entropy is the extremum that `copy_entropy` gives, and with
    L = log H as a function of the field x, B = sqrt(qhat0) z0 + sqrt(qhat1 - qhat0) z1 and averages over z1 with
    weight H^y or zw^y, it is stationary where qhat0 = alpha E <L'>^2, Q = E <w^2>, q1 = E <m^2> and q0 = E <m>^2, m
    being the mean of w at a field. That Q is free at a fixed D = Q - q1 = 2 d Q gives the fourth equation,

        Qhat + (y - 1) qhat1 = alpha E <L'' + L'^2> + alpha (y - 1) E <L'^2>.
    """

    levels: Array
    alpha: float
    margin: float
    copies: float
    distance: float
    step: float = STEP

    @property
    def ratio(self) -> float:
        """The overlap q1 of two copies over Q."""
        return 1 - 2 * self.distance

    def output(self, norm: float, q0: float) -> Output:
        """Return the averages over a pattern at the norm Q and at the overlap q0 of two groups."""
        width = math.sqrt(2 * self.distance * norm)
        extra = self.ratio * norm - q0

        def functions(x: Array) -> tuple[Array, list[Array]]:
            u = (self.margin - x) / width
            ratio = hazard(u)
            slope = ratio / width
            return log_ndtr(-u), [slope, slope**2, -(ratio**2 - u * ratio) / width**2]

        z0, weights = gaussian_grid(self.step, reach_of_patterns(self.margin, q0, REACH))
        centers = math.sqrt(q0) * z0
        # The weight H^y, which is log-concave, only draws a field upward, and hardly beyond the margin.
        y, pull = self.copies, extra * self.copies / width**2
        low = (centers[0] + pull * max(self.margin, centers[0])) / (1 + pull)
        ends = (low, max(centers[-1], self.margin + 5 * width))
        (g, g2, curvature), logs = self._tilted(functions, centers, extra, ends, 1 / width**2, 1 + pull)
        sums = curvature + y * (g2 - g**2)
        return Output(*(float(weights @ one) for one in (g**2, g2, curvature, logs, sums**2, curvature**2)))

    def site(self, linear: float, extra: float, square: float) -> Site:
        """Return the averages over a site at qhat0 = `linear`, qhat1 - qhat0 = `extra`, (Qhat - qhat1)/2 = `square`."""
        w = self.levels

        def functions(field: Array) -> tuple[Array, list[Array]]:
            exponents = np.multiply.outer(w, field) + (square * w**2).reshape(-1, *(1 for _ in field.shape))
            top = exponents.max(axis=0)
            law = np.exp(np.maximum(exponents - top, LOG_UNDERFLOW))
            total, first, second = np.tensordot(np.stack((np.ones_like(w), w, w**2)), law, 1)
            mean = first / total
            return top + np.log(total), [mean, mean**2, second / total]

        z0, weights = gaussian_grid(self.step, REACH)
        centers, y = math.sqrt(linear) * z0, self.copies
        ends = (centers[0] + y * extra * float(w.min()), centers[-1] + y * extra * float(w.max()))
        (mean, product, norm), logs = self._tilted(functions, centers, extra, ends, 1.0, 1.0)
        differences = norm - product
        sums = norm - mean**2 + (y - 1) * (product - mean**2)
        return Site(*(float(weights @ one) for one in (norm, mean**2, product, logs, sums**2, differences**2)))

    def _tilted(
        self,
        functions: Callable[[Array], tuple[Array, list[Array]]],
        centers: Array,
        variance: float,
        ends: tuple[float, float],
        curvature: float,
        concavity: float,
    ) -> Tilted:
        """Average over x = center + sqrt(variance) z1 with the weight exp(y f), of which `functions` gives f first.

        The tilted laws lie between `ends`, up to their widths. All functions depend on x alone, so that they are
        computed on one grid of x for all centers. Where the variance is small this grid would be long: each center then
        has a short one of its own. exp(y f) is an entire function of x, so that the trapezoidal rule is as good as for
        the narrowest of the Gaussian laws that bound it: its variance is that of x over `concavity`. No second
        derivative of f is larger than `curvature`.
        """
        y, deviation = self.copies, math.sqrt(variance)
        step = INNER_STEP * self.step / STEP * deviation / math.sqrt(concavity)
        if y * variance * curvature < NARROW:
            half = math.ceil(REACH * deviation / step)
            # The first of the functions is f': to first order the weight moves the center by y f' variance.
            moved = centers + y * variance * functions(centers)[1][0]
            x = moved[:, None] + np.arange(-half, half + 1) * step
        else:
            low, high = ends[0] - REACH * deviation, ends[1] + REACH * deviation
            x = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
        f, others = functions(x)
        law = x - centers[:, None]
        law *= law
        law *= -0.5 / variance
        law += y * f
        top = law.max(axis=1)
        law -= top[:, None]
        np.maximum(law, LOG_UNDERFLOW, out=law)  # exp takes much longer where it underflows
        np.exp(law, out=law)
        total = law.sum(axis=1)
        sums = list((law @ np.stack(others, axis=1)).T) if x.ndim == 1 else [(law * one).sum(axis=1) for one in others]
        logs = top + np.log(total * step / (deviation * math.sqrt(2 * math.pi)))
        return Tilted([one / total for one in sums], logs)

    def orders(self, output: Output, extra: float) -> tuple[float, float]:
        """Return qhat0 and (Qhat - qhat1)/2, which belong to the averages over a pattern."""
        linear = self.alpha * output.squared_mean
        total = self.alpha * (output.curvature + self.copies * output.product)
        return linear, (total - self.copies * (linear + extra)) / 2

    def image(self, x: Array, output: Output) -> Array:
        """Return the next unknowns, given the averages over a pattern at x."""
        extra = math.exp(x[2])
        linear, square = self.orders(output, extra)
        site = self.site(linear, extra, square)
        # Q - q1 falls exponentially with y (qhat1 - qhat0), and its logarithm nearly linearly.
        excess = math.log(max(site.norm - site.product, 1e-300) / (2 * self.distance * x[0]))
        return np.array([site.norm, site.squared_mean, x[2] + excess])

    def update(self, x: Array) -> Array:
        """Return the next unknowns; NaN where they leave their range, which Newton's method may try."""
        return self.image(x, self.output(float(x[0]), float(x[1]))) if self.admissible(x) else np.full(3, np.nan)

    def jacobian(self, x: Array) -> Array:
        """Return the derivatives of `update`, by forward differences: the averages over a pattern know two unknowns."""
        output = self.output(float(x[0]), float(x[1]))
        start, columns = self.image(x, output), []
        for k in range(3):
            # Towards the middle of the range of q0, which is below q1.
            h = -DIFFERENCE if k == 1 and x[1] > self.ratio * x[0] / 2 else DIFFERENCE
            moved = x + h * np.eye(3)[k]
            at = output if k == 2 else self.output(float(moved[0]), float(moved[1]))
            columns.append((self.image(moved, at) - start) / h)
        return np.transpose(columns)

    def admissible(self, x: Array) -> bool:
        """Tell whether 0 <= q0 < q1 < Q <= 1."""
        return bool(0 < x[0] <= 1 + 1e-12 and 0 <= x[1] < self.ratio * x[0] and abs(x[2]) < MAX_LOG_EXTRA)

    def newton(self, x: Array, tol: float, max_iter: int) -> Solution[Array]:
        """Solve from a guess on this grid."""
        return solve_fixed_point(
            self.update, x, admissible=self.admissible, method="newton", jacobian=self.jacobian, tol=tol,
            max_iter=min(max_iter, NEWTON_STEPS), check=False,
        )  # fmt: skip

    def found(self, x: Array) -> Found:
        """Return the entropy per copy, the conjugate orders and the replicon at a solution."""
        norm, q0, extra, y = float(x[0]), float(x[1]), math.exp(x[2]), self.copies
        output = self.output(norm, q0)
        linear, square = self.orders(output, extra)
        copy = linear + extra
        site = self.site(linear, extra, square)
        entropy = (
            -(2 * square + copy) * norm / 2
            - (y - 1) * self.ratio * norm * copy / 2
            + y * q0 * linear / 2
            + (site.log_partition + self.alpha * output.log_success) / y
        )
        largest = max(output.sums * site.sums, output.differences * site.differences)
        return Found(entropy, 2 * square + copy, linear, copy, 1 - self.alpha * largest)


def solved(groups: Groups, norm: float, overlap: float, tol: float, max_iter: int) -> tuple[Groups, Solution[Array]]:
    """Return (Q, q0, log(qhat1 - qhat0)), verified on a grid twice as fine, and the equations on that grid.

    Pairs, whose Q and q0 are near the `norm` and `overlap` of typical solutions, are followed to more copies: in the
    equations y may be any real number. Nothing is raised here.
    """
    guesses, iterations = _near(replace(groups, copies=2.0), norm, overlap)[:MOST_GUESSES], 0
    x = guesses.pop(0)
    seen: list[tuple[float, Array]] = []
    at, target, step = math.log(2), math.log(groups.copies), FIRST_STEP
    for _ in range(MAX_STEPS):
        solution = replace(groups, copies=math.exp(at)).newton(x, tol, max_iter)
        iterations += solution.iterations
        if solution.converged:
            seen = [*seen, (at, solution.value)][-2:]
            if at == target:
                break
            step *= WIDER
        elif not seen and guesses:
            x = guesses.pop(0)
            continue
        elif not seen or step < SMALLEST_STEP:
            return groups, replace(solution, iterations=iterations)
        else:
            step /= 3
        at = min(seen[-1][0] + step, target)
        x = _extrapolated(seen, at)
        if not groups.admissible(x):
            x = seen[-1][1]
    for refinement in range(REFINEMENTS):
        finer = replace(groups, step=groups.step / 4**refinement / 2)
        residual = max(solution.residual, relative_gap(finer.update(solution.value), solution.value))
        agrees = solution.converged and residual <= FINE_GRID_TOLERANCE_RATIO * tol
        solution = replace(
            solution, residual=residual, iterations=iterations, tol=FINE_GRID_TOLERANCE_RATIO * tol,
            status="converged" if agrees else "unverified",
        )  # fmt: skip
        if agrees or refinement == REFINEMENTS - 1:
            break
        solution = replace(finer, step=finer.step / 2).newton(solution.value, tol, max_iter)
        iterations += solution.iterations
    return finer, solution


def _near(groups: Groups, norm: float, overlap: float) -> list[Array]:
    """Return guesses at given Q and q0, with some values of qhat1 - qhat0: those of small residuals are the first.

    Near the typical distance the one of the smallest residual can be a guess from which Newton's method leaves the
    range of the unknowns.
    """
    guesses = [np.array([norm, overlap, log_extra]) for log_extra in LOG_EXTRAS]
    return sorted(guesses, key=lambda x: abs(float(groups.update(x)[2] - x[2])))


def _extrapolated(seen: list[tuple[float, Array]], at: float) -> Array:
    """Return the straight line through the last two solutions at log y = `at`; the last one where there is no other."""
    if len(seen) < 2:
        return seen[-1][1]
    (a, x), (b, y) = seen
    return np.asarray(y + (y - x) * (at - b) / (b - a))
