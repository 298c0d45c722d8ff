"""The entropy of groups of solutions at a given distance from each other: pairs, and robust ensembles of y copies."""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from theory.core import Accepted, Array, AtLeast, Count, Positive, SolverResult, Within, checked, checks
from theory.models import DiscretePerceptron
from theory.numerics import Solution, WithReplicon, solve_fixed_point, verified
from theory.numerics.extremes import within_range
from theory.numerics.steps import relative_gap
from theory.perceptron.discrete_binary_groups import STEP, BinaryGroups
from theory.perceptron.discrete_entropy import dominant, refuse_broken
from theory.perceptron.discrete_groups import Groups, solved
from theory.perceptron.discrete_saddle import scale_of

LARGEST_OVERLAP = 0.9999
SMALLEST_DISTANCE = 5e-5
MOST_COPIES_OF_OTHER_LEVELS = 20


def _number_of_copies(name: str, value: Any) -> int:
    """Return a number of copies; ValueError says why it is not infinity."""
    if isinstance(value, float) and value == math.inf:
        raise ValueError(
            f"{name} must be finite, got inf: the replica-symmetric limit of many copies is not verified, and for "
            f"binary weights it is unstable; take up to {MOST_COPIES_OF_OTHER_LEVELS} and look at the replicon"
        )
    return int(AtLeast(1, most=1000).check(name, value))


Copies = Annotated[int, Accepted(_number_of_copies)]
Distance = Annotated[float, Within(SMALLEST_DISTANCE, 0.5, closed=(True, True))]
GroupOverlap = Annotated[float, Within(-1.0, LARGEST_OVERLAP, closed=(False, True))]
REFINEMENTS = 2  # the grid becomes at most four times as fine as it is at first
FINE_GRID_TOLERANCE_RATIO = 1000  # times the tolerance is allowed on the finer grid


@dataclass(frozen=True, eq=False, repr=False)
class CopyEntropy(WithReplicon, SolverResult):
    """The typical number exp(N y `entropy`) of groups of y = `copies` solutions at a given `distance` from each other.

    `entropy` is S_y in nats per weight and copy. `distance` is (1 - q1/Q)/2, where Q = `norm` is the mean square of a
    weight and q1 = `overlap` the mean product W_i W'_i of two members of a group; the mean square of W_i - W'_i is
    4 `distance` Q. For binary weights it is the fraction of weights in which two members differ. `group_overlap` is q0,
    the overlap of members of two independent groups; `norm_conjugate`, `group_conjugate` and `copy_conjugate` are Qhat,
    qhat0 and qhat1 of `copy_entropy`. All these are in units in which the largest level is 1. For binary weights Q = 1,
    so that Qhat has no meaning of its own.

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
    norm: float = 1.0
    norm_conjugate: float = field(default=math.nan, repr=False)


@checked
@within_range
def copy_entropy(
    model: DiscretePerceptron, overlap: GroupOverlap | None = None, copies: Copies = 2, *,
    distance: Distance | None = None, tol: Positive = 1e-12, max_iter: Count = 200, check: bool = True,
) -> CopyEntropy:  # fmt: skip
    """Compute the entropy per copy of y = `copies` solutions at a mutual `distance` or `overlap` (arXiv:1602.04129).

    This is the robust ensemble of the paper, for weights of any levels (derived here). With a largest level of 1, a
    field x = sqrt(q0) z0 + sqrt(q1 - q0) z1 and B = sqrt(qhat0) z0 + sqrt(qhat1 - qhat0) z1, S_y is the extremum of

        -Qhat Q/2 - (y - 1) q1 qhat1/2 + y q0 qhat0/2
            + (1/y) E_z0 log E_z1 (sum_w exp((Qhat - qhat1) w^2/2 + B w))^y
            + (alpha/y) E_z0 log E_z1 Phi((x - margin)/sqrt(Q - q1))^y

    over Q, q0 and the conjugates, at fixed Q - q1, half the mean square of the difference of two copies. The length of
    the weights is free: groups of the length that has most of them count. `distance` is d = (1 - q1/Q)/2, between 5e-5
    and that of typical solutions. Binary weights (-a, a) have Q = 1 and can also be given by their `overlap` q1 in
    units of a^2, d = (1 - q1)/2, and in larger groups: up to 1000 copies, and 20 for other levels.

    For pairs, 2 S_2 is the entropy of all pairs of solutions at the distance d. With more copies the groups lie in ever
    denser regions. For one copy the value is `solution_entropy`, whatever the distance. Where it is negative there are
    typically no such groups. Infinitely many copies are refused: the replica-symmetric limit is unstable for binary
    weights, and for others was not found at all distances.

    ValueError unless one of `overlap` and `distance` is given, and for a group that is not closer than typical
    solutions are; ConvergenceError where the equations were not solved or their solution is unstable (check=False
    returns it, unless it left the range of the orders).

    >>> model = DiscretePerceptron(levels=(-1, 1), alpha=0.4)
    >>> found = copy_entropy(model, 0.8, copies=2)
    >>> round(found.entropy, 9), round(found.distance, 9)
    (0.303984134, 0.1)
    >>> ternary = DiscretePerceptron(levels=(-1, 0, 1), alpha=0.4)
    >>> found = copy_entropy(ternary, distance=0.1, copies=10)
    >>> round(found.entropy, 6), round(found.norm, 6), round(found.replicon, 3)
    (0.477659, 0.613032, 0.76)
    """
    if (overlap is None) == (distance is None):
        given = "neither" if overlap is None else "both"
        raise ValueError(f"overlap or distance must be given, one of them, got {given}")
    y, high = copies, max(model.levels)
    is_binary = model.levels == (-high, high)
    if overlap is not None and not is_binary:
        raise ValueError(
            f"model must have binary levels (-a, a) where an overlap is given, got {checks.shown(model.levels)}: "
            f"give a distance"
        )
    if y > MOST_COPIES_OF_OTHER_LEVELS and not is_binary:
        raise ValueError(
            f"copies must be at most {MOST_COPIES_OF_OTHER_LEVELS} for levels other than (-a, a), got {copies}"
        )
    scale = scale_of(np.asarray(model.levels))
    unit = DiscretePerceptron(
        levels=tuple(one / scale for one in model.levels), alpha=model.alpha, margin=model.margin / scale
    )
    single, orders = dominant(unit, None, tol, 500, check)
    d = distance if overlap is None else (1 - overlap) / 2
    assert d is not None
    if y == 1:
        return CopyEntropy(
            single.entropy, (1 - 2 * d) * single.norm, d, 1, single.overlap, single.overlap_conjugate,
            single.overlap_conjugate, single.replicon, single.norm, single.norm_conjugate, residual=single.residual,
            iterations=single.iterations, converged=single.converged,
        )  # fmt: skip
    typical = (1 - single.overlap / single.norm) / 2
    if overlap is not None and overlap < single.overlap:
        raise ValueError(
            f"overlap must be at least that of typical solutions, {single.overlap:.9g} at alpha = {model.alpha:g}, "
            f"got {overlap:g}"
        )
    if overlap is None and d > typical:
        raise ValueError(
            f"distance must be at most that of typical solutions, {typical:.9g} at alpha = {model.alpha:g}, got {d:g}"
        )
    if is_binary and (overlap is not None or y > MOST_COPIES_OF_OTHER_LEVELS):
        q1 = 1 - 2 * d if overlap is None else overlap  # equations of one unknown, which serve any number of copies
        return _solved(BinaryGroups(unit.alpha, unit.margin, y, q1), single.overlap, tol, max_iter, check)
    levels = np.asarray(unit.levels)
    return _of_any_levels(Groups(levels, unit.alpha, unit.margin, float(y), d), orders, tol, max_iter, check)


def _of_any_levels(groups: Groups, typical: Array, tol: float, max_iter: int, check: bool) -> CopyEntropy:
    """Solve the equations of groups of any levels, from the (Q, q) of typical solutions."""
    y, d = round(groups.copies), groups.distance
    problem = f"entropy of {y} copies at distance {d:g}, alpha = {groups.alpha:g} with {len(groups.levels)} levels"
    finer, solution = solved(groups, float(typical[0]), float(typical[1]), tol, max_iter)
    # Where the iterates left the range of the orders there is nothing that could be returned.
    check_here = check or not finer.admissible(solution.value)
    verified(solution, problem, check_here, "take a smaller alpha, another distance, or fewer copies")
    norm, q0 = (float(one) for one in solution.value[:2])
    at = finer.found(solution.value)
    found = CopyEntropy(
        at.entropy, groups.ratio * norm, d, y, q0, at.group_conjugate, at.copy_conjugate, at.replicon, norm,
        at.norm_conjugate, residual=solution.residual, iterations=solution.iterations, converged=solution.converged,
    )  # fmt: skip
    if check and not found.stable:
        refuse_broken(found, problem, tol, "a model with a smaller alpha, or fewer copies")
    return found


def _solved(groups: BinaryGroups, start: float, tol: float, max_iter: int, check: bool) -> CopyEntropy:
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


def _evaluated(groups: BinaryGroups, q0: float, solution: Solution[Array]) -> CopyEntropy:
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
        entropy, q1, (1 - q1) / 2, y, q0, linear, linear + extra, replicon, norm_conjugate=linear + extra,
        residual=solution.residual, iterations=solution.iterations, converged=solution.converged,
    )  # fmt: skip
