"""The entropy of groups of solutions at a given distance from each other: pairs, and robust ensembles of y copies."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, log_ndtr, logsumexp

from theory.core import Array, AtLeast, Count, Positive, SolverResult, Within, checked, checks
from theory.models import DiscretePerceptron
from theory.numerics import Solution, WithReplicon, solve_fixed_point, verified
from theory.numerics.extremes import within_range
from theory.numerics.steps import relative_gap
from theory.perceptron.discrete_entropy import dominant, refuse_broken
from theory.perceptron.discrete_saddle import hazard
from theory.perceptron.gaussian_average import gaussian_grid

LARGEST_OVERLAP = 0.9999
GroupOverlap = Annotated[float, Within(-1.0, LARGEST_OVERLAP, closed=(False, True))]
STEP, REACH = 0.1, 9.0
MAX_RELATIVE_STEP = 0.3  # step over the length on which H varies
REFINEMENTS = 2  # the grid becomes at most four times as fine as it is at first
FINE_GRID_TOLERANCE_RATIO = 1000  # times the tolerance is allowed on the finer grid


@dataclass(frozen=True, eq=False, repr=False)
class CopyEntropy(WithReplicon, SolverResult):
    """The typical number exp(N y `entropy`) of groups of y = `copies` solutions with mutual overlap `overlap`.

    `entropy` is S_y in nats per weight and copy, and `distance` = (1 - overlap)/2 the fraction of weights in which two
    members of a group differ. `group_overlap` is q0, the overlap of members of two independent groups,
    `group_conjugate` and `copy_conjugate` are qhat0 and qhat1 of `copy_entropy`.

    `replicon` is the smaller one of 1 - alpha E[A^2] E[C^2] for the two kinds of fluctuations of overlaps between two
    groups: those of the sums over copies, and those of differences of copies. A is the corresponding eigenvalue of the
    second derivatives, by the fields of the copies, of the logarithm of the probability that a group stores a pattern,
    and C that of the covariance of their weights at one site. The solution is locally stable where it is positive. For
    one copy it is the replicon of `solution_entropy`.
    """

    entropy: float
    overlap: float
    distance: float
    copies: int
    group_overlap: float
    group_conjugate: float
    copy_conjugate: float
    replicon: float


@checked
@within_range
def copy_entropy(
    model: DiscretePerceptron, overlap: GroupOverlap, copies: Annotated[int, AtLeast(1, most=1000)] = 2, *,
    tol: Positive = 1e-12, max_iter: Count = 200, check: bool = True,
) -> CopyEntropy:  # fmt: skip
    """Compute the entropy per copy of y = `copies` solutions at mutual `overlap` q1 (arXiv:1602.04129).

    This is the robust ensemble of the paper. The weights must be binary, of `levels` (-a, a); the overlap of W and W'
    is W.W'/(N a^2), and it must lie above the overlap of typical solutions. With a = 1 and a field
    h = sqrt(qhat0) z0 + sqrt(qhat1 - qhat0) z1, S_y(q1) is the extremum over q0, qhat0 and qhat1 of

        -qhat1 (1 + (y - 1) q1)/2 + y q0 qhat0/2 + (1/y) E_z0 log E_z1 (2 cosh h)^y
            + (alpha/y) E_z0 log E_z1 Phi((sqrt(q0) z0 + sqrt(q1 - q0) z1 - margin)/sqrt(1 - q1))^y.

    For pairs, 2 S_2(q1) is the entropy of all pairs of solutions at a distance (1 - q1)/2. With more copies the groups
    lie in ever denser regions, and y -> infinity counts the solutions around one in the densest region. For one copy
    the value is `solution_entropy`, whatever the overlap. Where it is negative there are typically no such groups.

    ValueError for other levels, and for an overlap that is not between that of typical solutions and 0.9999;
    ConvergenceError where the equations were not solved or their solution is unstable (check=False returns it).

    >>> model = DiscretePerceptron(levels=(-1, 1), alpha=0.4)
    >>> found = copy_entropy(model, 0.8, copies=2)
    >>> round(found.entropy, 9), round(found.distance, 9)
    (0.303984134, 0.1)
    """
    y, q1 = copies, overlap
    high = max(model.levels)
    if model.levels != (-high, high):
        raise ValueError(f"model must have binary levels (-a, a), got {checks.shown(model.levels)}")
    unit = DiscretePerceptron(levels=(-1.0, 1.0), alpha=model.alpha, margin=model.margin / high)
    single, _ = dominant(unit, None, tol, 500, check)
    if y == 1:
        return CopyEntropy(
            single.entropy, q1, (1 - q1) / 2, 1, single.overlap, single.overlap_conjugate, single.overlap_conjugate,
            single.replicon, residual=single.residual, iterations=single.iterations, converged=single.converged,
        )  # fmt: skip
    if q1 < single.overlap:
        raise ValueError(
            f"overlap must be at least that of typical solutions, {single.overlap:.9g} at alpha = {model.alpha:g}, "
            f"got {overlap:g}"
        )
    return _solved(_Groups(unit.alpha, unit.margin, y, q1), single.overlap, tol, max_iter, check)


class _Output(NamedTuple):
    """Averages over a pattern: E <g>^2, the log probability, and alpha E A^2 of sums and of differences."""

    squared_mean: float
    log_success: float
    sums: float
    differences: float


class _Weights(NamedTuple):
    """Averages over a site: E <m>^2, E <m m'>, the logarithm of the normalization, E C^2 of sums and differences."""

    squared_mean: float
    product: float
    log_partition: float
    sums: float
    differences: float


@dataclass(frozen=True)
class _Groups:
    """The equations of y copies of binary weights at mutual overlap q1, in the single unknown q0."""

    alpha: float
    margin: float
    copies: int
    overlap: float
    step: float = STEP

    def output(self, q0: float) -> _Output:
        """Return the averages over a pattern at the overlap q0 of two groups.

        The weight Phi^y moves the mass of z1 far up where z0 is very negative. It is log-concave: z1 is therefore
        written as its mode, found by Newton's method for every z0, plus t on a fixed grid.
        """
        y, scale = self.copies, math.sqrt(1 - self.overlap)
        z0, weights = gaussian_grid(self.step, REACH)
        slope = math.sqrt(max(self.overlap - q0, 0.0)) / scale
        offset = (math.sqrt(q0) * z0 - self.margin) / scale
        step = min(self.step, MAX_RELATIVE_STEP * self.step / STEP / slope) if slope else self.step
        half = math.ceil(REACH / step)
        t = np.arange(-half, half + 1) * step
        z1 = _modes(offset, slope, y)[:, None] + t
        h = offset[:, None] + slope * z1
        logs = y * log_ndtr(h) - z1**2 / 2
        top = logs.max(axis=1, keepdims=True)
        law = np.exp(logs - top)
        total = law.sum(axis=1)
        law /= total[:, None]
        ratio = hazard(-h)
        g = ratio / scale
        curvature = -(ratio**2 + h * ratio) / scale**2
        mean_g = (law * g).sum(axis=1)
        differences = (law * curvature).sum(axis=1)
        sums = differences + y * (law * (g - mean_g[:, None]) ** 2).sum(axis=1)
        log_success = top[:, 0] + np.log(total) + math.log(step) - math.log(2 * math.pi) / 2
        return _Output(
            float(weights @ mean_g**2),
            float(weights @ log_success),
            self.alpha * float(weights @ sums**2),
            self.alpha * float(weights @ differences**2),
        )

    def weights(self, linear: float, extra: float) -> _Weights:
        """Return the averages over a site at qhat0 = `linear` and qhat1 - qhat0 = `extra`.

        Integrated over z1, the copies of one weight are y spins with a mean-field coupling: the sum m of the spins has
        the law binomial(m) exp(m sqrt(qhat0) z0 + m^2 extra/2), whatever the sign of `extra`.
        """
        y = self.copies
        z0, weights = gaussian_grid(self.step, REACH)
        up = np.arange(y + 1)
        m = (2 * up - y)[:, None]
        exponents = (
            (gammaln(y + 1) - gammaln(up + 1) - gammaln(y - up + 1))[:, None]
            + m * math.sqrt(linear) * z0
            + m**2 * extra / 2
        )
        logs = logsumexp(exponents, axis=0)
        law = np.exp(exponents - logs)
        mean = (law * m).sum(axis=0)
        spread = (law * (m - mean) ** 2).sum(axis=0)
        product = (spread + mean**2 - y) / (y * (y - 1))
        return _Weights(
            float(weights @ (mean / y) ** 2),
            float(weights @ product),
            float(weights @ logs),
            float(weights @ (spread / y) ** 2),
            float(weights @ (1 - product) ** 2),
        )

    def conjugates(self, q0: float) -> tuple[float, float]:
        """Return qhat0 and qhat1 - qhat0, the latter such that the copies have their mutual overlap."""
        linear = self.alpha * self.output(q0).squared_mean

        def gap(extra: float) -> float:
            return self.weights(linear, extra).product - self.overlap

        reach = 1.0
        while gap(reach) < 0:
            reach *= 2
        low = -1.0
        while gap(low) > 0:
            low *= 2
        return linear, float(brentq(gap, low, reach, xtol=1e-15, rtol=1e-14))

    def update(self, x: Array) -> Array:
        """Return the next q0."""
        return np.array([self.weights(*self.conjugates(float(x[0]))).squared_mean])


def _modes(offset: Array, slope: float, y: int) -> Array:
    """Return where y log Phi(offset + slope z) - z^2/2 is largest.

    Its derivative is convex and positive at z = 0, so that Newton's method rises to the zero without passing it.
    """
    z = np.zeros_like(offset)
    for _ in range(60):
        h = offset + slope * z
        ratio = hazard(-h)
        move = (y * slope * ratio - z) / (1 + y * slope**2 * ratio * (ratio + h))
        z = z + move
        if np.max(np.abs(move)) < 1e-3:  # only the center of a grid is needed
            break
    return z


def _solved(groups: _Groups, start: float, tol: float, max_iter: int, check: bool) -> CopyEntropy:
    y, q1 = groups.copies, groups.overlap
    problem = f"entropy of {y} copies at overlap {q1:g}, alpha = {groups.alpha:g}"
    x, iterations = np.array([start]), 0
    for refinement in range(REFINEMENTS):
        coarse, finer = (replace(groups, step=STEP / 4**refinement / part) for part in (1, 2))
        solution = solve_fixed_point(
            coarse.update, x, admissible=lambda x: bool(0 <= x[0] <= q1), tol=tol, max_iter=max_iter, check=False
        )
        x, iterations = solution.value, iterations + solution.iterations
        if not solution.converged:
            break
        residual = max(solution.residual, relative_gap(finer.update(x), x))
        verified_here = residual <= FINE_GRID_TOLERANCE_RATIO * tol
        solution = replace(solution, residual=residual, status="converged" if verified_here else "unverified")
        if verified_here:
            break
    solution = replace(solution, tol=FINE_GRID_TOLERANCE_RATIO * tol, iterations=iterations)
    verified(solution, problem, check, "take an overlap farther from one, or fewer copies")
    found = _evaluated(finer, float(x[0]), solution)
    if check and not found.stable:
        refuse_broken(found, problem, tol, "a model with a smaller alpha, or fewer copies")
    return found


def _evaluated(groups: _Groups, q0: float, solution: Solution[Array]) -> CopyEntropy:
    y, q1 = groups.copies, groups.overlap
    linear, extra = groups.conjugates(q0)
    output, weights = groups.output(q0), groups.weights(linear, extra)
    entropy = (
        -(linear + extra) * (1 + (y - 1) * q1) / 2
        + y * q0 * linear / 2
        + (weights.log_partition + groups.alpha * output.log_success) / y
    )
    replicon = 1 - max(output.sums * weights.sums, output.differences * weights.differences)
    return CopyEntropy(
        entropy, q1, (1 - q1) / 2, y, q0, linear, linear + extra, replicon,
        residual=solution.residual, iterations=solution.iterations, converged=solution.converged,
    )  # fmt: skip
