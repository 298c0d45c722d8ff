"""The ridge of least test error, or of least test loss, of any record of a generalized linear model."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from theory.core import Array, SolverResult, checked
from theory.glm.infinite_ridge import infinite_ridge
from theory.glm.multiclass import MulticlassSaddlePoint
from theory.glm.multiclass.ridge import ClassesScan, infinite_ridge_of_classes
from theory.glm.ridge_path import ProblemScan
from theory.glm.ridge_scan import FLAT, MAX_POINTS, Criterion, RidgeScan
from theory.glm.saddle_point import SaddlePoint
from theory.glm.systems import as_problem
from theory.glm.vanishing_ridge import vanishing_ridge
from theory.models.glm import DenseModes, GeneralizedLinearModel, MulticlassMixture
from theory.models.glm.objective import Minimization
from theory.numerics import ConvergenceError

DECADES = (-3.0, 2.0)  # of the first ridges, in units of the mean eigenvalue, the upper ones times alpha above 1
DECADES_APART = 1.1  # the most between two of them
EXTENSIONS, FACTOR = 6, 10.0  # ridges beyond an end that has not reached its limit, and how far apart they are
LINEAR = 0.2  # relative change of the slope by lam, or by 1/lam, over the last step to an end that is at its limit
REACHED = 1e-7  # relative distance to a limit that counts as none
Limit = Literal["zero", "infinity"]


class RidgeMinimum(NamedTuple):
    """A ridge at which the test error or loss has a local minimum, 0 and infinity included, and its value there."""

    lam: float
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class BestRidge(SolverResult):
    """Hold the ridge `lam` of least test error or test loss (`by`), its `value`, and every local minimum found.

    `limit` is None for a ridge in between; "zero" or "infinity" say that the value falls all the way to that end, where
    `lam` is 0 or inf and `value` the limit. `minima` has all local minima, the least first. `slope` is d value/d log
    lam at `lam`, at a limit that of the last ridge that was solved. `zero` and `infinity` are the values in both
    limits, and `point` is the saddle point at `lam`, None at a limit. `lams`, `values` and `slopes` hold all ridges
    that were solved. `residual` is |d log value/d log lam| at a minimum in between, at a limit the largest residual of
    the saddle points; `iterations` counts saddle points.
    """

    by: Criterion
    lam: float
    value: float
    slope: float
    limit: Limit | None
    minima: tuple[RidgeMinimum, ...]
    zero: float
    infinity: float
    point: SaddlePoint | MulticlassSaddlePoint | None = field(repr=False)
    lams: Array = field(repr=False)
    values: Array = field(repr=False)
    slopes: Array = field(repr=False)


@checked
def optimal_ridge(model: Minimization, by: Criterion = "error") -> BestRidge:
    """Find the ridge lam at which the test error (or by="loss" the test loss) of any record is least.

    At some ten ridges the saddle point and the slope by log lam are computed (`ridge_slopes`), each from the tangents
    of its neighbors. Where the slope turns from falling to rising its root is sought; where values and slopes do not
    fit a monotone curve more ridges are solved. The ends are compared with the limits: lam -> 0 is a hard margin, an
    interpolation or the fit without a penalty, lam -> infinity that of `infinite_ridge`. If one of them is best, its
    lam, 0 or inf, is the answer. The lam of `model` has no part in it. For coupled learners the coupling is held.
    Ridges without a verified saddle point, as there may be for a loss that is not convex, are left out. Derived here:
    the slope by lam follows from the implicit function theorem at the saddle point (`ridge_slopes`), and is zero at the
    ridge that is sought.

    Of K classes the limit lam -> 0 is taken from the last ridges. The test error of more than four of them is computed
    by quasi-Monte Carlo, so that its slope is known to 1e-4 of it.

    ValueError for separable penalties, for a hard margin and wherever the value does not depend on lam, as the error of
    random labels; ConvergenceError where the value still falls at the last ridge that can be solved.

    >>> from theory import glm
    >>> from theory.models import Cluster, GeneralizedLinearModel, Modes
    >>> teacher = Cluster(labels="linear", teacher_signal=0, noise=0.2)
    >>> modes = Modes(weights=[1.0], covariances=[[1.0]], gram=[[[1.0]]])
    >>> model = GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=2.0, loss="square", lam=1.0)
    >>> best = glm.optimal_ridge(model)
    >>> round(best.lam, 6), round(best.value, 6), best.limit
    (0.2, 0.348331, None)
    """
    problem = _accepted(model, by)
    if isinstance(problem, MulticlassMixture):
        scan: RidgeScan[Any] = ClassesScan(problem, by)
    else:
        scan = ProblemScan(problem, by)
    for log_lam in _first_ridges(problem):
        scan.add(log_lam)
    if len(scan.rungs) < 2:
        raise ConvergenceError.of(f"ridge of least test {by}", None, math.inf, FLAT, scan.solved)
    zero, infinity = _limits(problem, by)
    _extend(scan, zero, -1)
    _extend(scan, infinity, 1)
    scan.resolve()
    if not scan.told:
        raise ValueError(f"model must have a test {by} that depends on lam, got {scan.rungs[0].value:.6g} at all")
    zero, infinity = _limit(scan, zero, -1), _limit(scan, infinity, 1)
    inner = [scan.minimum(*bracket) for bracket in scan.brackets()]
    found = [RidgeMinimum(math.exp(rung.log_lam), rung.value) for rung in inner]
    ends = ((0.0, zero, -1), (math.inf, infinity, 1))
    found += [RidgeMinimum(lam, value) for lam, value, side in ends if _is_minimum(scan, value, side)]
    best, *_ = minima = sorted(found, key=lambda minimum: minimum.value)
    limit: Limit | None = "zero" if best.lam == 0 else ("infinity" if best.lam == math.inf else None)
    rung = scan.end(-1 if best.lam == 0 else 1) if limit else min(inner, key=lambda rung: rung.value)
    return BestRidge(
        by=by,
        lam=best.lam,
        value=best.value,
        slope=rung.slope,
        limit=limit,
        minima=tuple(minima),
        zero=zero,
        infinity=infinity,
        point=None if limit else rung.point,
        lams=np.exp([rung.log_lam for rung in scan.rungs]),
        values=np.array([rung.value for rung in scan.rungs]),
        slopes=np.array([rung.slope for rung in scan.rungs]),
        residual=max(one.point.residual for one in scan.rungs) if limit else abs(rung.slope / rung.value),
        iterations=scan.solved,
        converged=True,
    )


def _limits(problem: GeneralizedLinearModel | MulticlassMixture, by: Criterion) -> tuple[float, float]:
    """Return the values as lam -> 0, NaN where they are not known, and as lam -> infinity."""
    part = 0 if by == "error" else 1
    if isinstance(problem, MulticlassMixture):
        return math.nan, infinite_ridge_of_classes(problem)[part]
    at_zero, at_infinity = vanishing_ridge(problem), infinite_ridge(problem)
    zero = math.nan if at_zero is None else at_zero[part]
    return zero, at_infinity.test_error if by == "error" else at_infinity.test_loss


def _accepted(model: Minimization, by: Criterion) -> GeneralizedLinearModel | MulticlassMixture:
    """Return the general problem, or K classes as they are; ValueError where no ridge is best."""
    if isinstance(model, MulticlassMixture):
        return model
    problem = as_problem(model)
    if problem.penalty is not None:
        raise ValueError("model must have a ridge and no separable penalty: see optimal_strength")
    if problem.loss == "hard_margin":
        raise ValueError("model must have a loss with a ridge, got 'hard_margin', whose errors do not depend on lam")
    if by == "error" and all(cluster.labels == "random" for cluster in problem.clusters):
        raise ValueError("model must have labels that can be learned, got random ones, whose error is 1/2 at all lam")
    return problem


def _first_ridges(problem: GeneralizedLinearModel | MulticlassMixture) -> Array:
    """Return the logarithms of the ridges to begin with, the largest first: it is the easiest."""
    modes = problem.modes
    size = max(
        float(np.trace(one)) / len(one) if isinstance(modes, DenseModes) else float(modes.weights @ one)
        for one in modes.covariances
    )
    low, high = DECADES[0], DECADES[1] + max(0.0, math.log10(problem.alpha))
    count = 1 + math.ceil((high - low) / DECADES_APART)
    return np.asarray(np.log(size) + np.log(10) * np.linspace(high, low, count))


def _extend(scan: RidgeScan[Any], limit: float, side: int) -> None:
    """Add ridges beyond one end, lower for the side -1, until the value there agrees with its limit."""
    for _ in range(EXTENSIONS):
        if _agrees(scan, limit, side) or scan.solved >= MAX_POINTS:
            return
        if scan.add(scan.end(side).log_lam + side * math.log(FACTOR)) is None:
            return


def _agrees(scan: RidgeScan[Any], limit: float, side: int) -> bool:
    """Tell whether the value at an end leads on to its limit: it rises to it, or falls to it by the law of the limit.

    Where it falls a minimum may hide beyond the end, unless only the term of the limit is left that is linear in lam,
    or in 1/lam for the side 1.
    """
    last = scan.end(side)
    if math.isfinite(limit) and abs(last.value - limit) <= REACHED * abs(limit):
        return True
    if not scan.sign(last):  # flat to rounding: it is at its limit, unless that is known to be another value
        return math.isnan(limit)
    if last.slope * side > 0:
        return not limit <= last.value
    return _is_linear(scan, side) and not limit > last.value


def _is_linear(scan: RidgeScan[Any], side: int) -> bool:
    """Tell whether the slope by lam, or by 1/lam for the side 1, hardly changes over the last step to an end."""
    before, last = (rung.slope * math.exp(side * rung.log_lam) for rung in (scan.end(side, 1), scan.end(side)))
    return abs(last - before) <= LINEAR * abs(last)


def _limit(scan: RidgeScan[Any], limit: float, side: int) -> float:
    """Return the limit, or where it is not known the last value with the term that is linear in lam, or in 1/lam."""
    if not math.isnan(limit):
        return limit
    last = scan.end(side)
    if not scan.sign(last):
        return last.value
    return last.value + side * last.slope if _is_linear(scan, side) else math.nan


def _is_minimum(scan: RidgeScan[Any], limit: float, side: int) -> bool:
    """Tell whether a limit is a local minimum; ConvergenceError where the value falls to one that is not known."""
    told = scan.told[0 if side < 0 else -1]
    if told.slope * side > 0:
        return limit < told.value
    if not limit <= told.value * (1 + REACHED):
        what = f"limit of the test {scan.by} at {'small' if side < 0 else 'large'} lam"
        raise ConvergenceError.of(what, limit, abs(told.slope / told.value), FLAT, scan.solved)
    return True
