"""How many random patterns a perceptron with discrete weights can store: capacities and their bounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import entr, log_ndtr, logsumexp, ndtr

from theory.core import Array, Positive, SolverResult, Within, checked
from theory.models import DiscretePerceptron
from theory.numerics import ConvergenceError, Solution, WithReplicon
from theory.numerics.extremes import within_range
from theory.perceptron.discrete_entropy import SolutionEntropy, refuse_broken, rivals, same
from theory.perceptron.discrete_norms import resolves
from theory.perceptron.discrete_path import Path, advice_for, bracket, climb, problem_of, zero
from theory.perceptron.discrete_saddle import BEYOND, FARTHEST, scale_of

MOST_BRANCHES = 8  # of solutions of different norm, one after another
LOAD_RATIOS_AHEAD = np.array([1.1, 1.25, 1.5, 2.0, 3.0, 10.0])  # times a root: loads at which nothing may be left
FINER_SCANS = (4, 16)  # times as fine becomes the grid of a scan that misses a solution which is known
REMAINING_ENTROPY = 1e-9  # entropy of solutions of another norm, in nats per weight, that is more than rounding
# Times the smallest level: a negative margin that is missed where the grid of patterns ends, and beyond.
FARTHEST_MARGIN = FARTHEST + BEYOND - 1
RAREST = 37.0  # times the smallest level: a negative margin that is missed with a probability of 6e-300
TILT = 50.0  # times the distance of two squares of levels: the larger square then has the weight exp(-50)
EQUAL_SQUARES = 1e-14  # squares of levels as near as that, in units of the largest, are equal
ABOVE = 1e-9  # relative excess over the rigorous bound that is rounding


@dataclass(frozen=True, eq=False, repr=False)
class ZeroEntropyCapacity(WithReplicon, SolverResult):
    """The load alpha_0 at which the entropy of solutions vanishes, and the orders there.

    `alpha` is alpha_0 in patterns per weight. `overlap`, `norm`, `slope` and `replicon` are those of `SolutionEntropy`
    at alpha_0, and `entropy` is what is left there by rounding. `first_moment_bound` is a rigorous bound from above.

    Where the equations have several solutions (see `SolutionEntropy`), alpha_0 is the load up to which one of them has
    a positive entropy, and `other_alphas` are smaller loads at which the entropy of another one was found to vanish:
    above such a load there are no solutions of that norm, but there still are some of another.
    """

    alpha: float
    overlap: float
    norm: float
    entropy: float
    slope: float
    replicon: float
    first_moment_bound: float
    other_alphas: tuple[float, ...] = field(default=(), repr=False)


@checked
@within_range
def zero_entropy_capacity(
    levels: Sequence[float], margin: float = 0.0, *, tol: Positive = 1e-12, check: bool = True
) -> ZeroEntropyCapacity:
    """Compute the capacity alpha_0, where the entropy of solutions vanishes (arXiv:1602.04129; Krauth and Mezard 1989).

    For up to alpha_0 N random patterns there typically are solutions with weights from `levels`, for more there are
    none. For L equally spaced levels at margin 0 the capacity rises with L from 0.833 towards 2, the capacity of real
    weights (Gardner).

    The load is scanned upward from few patterns, since far above alpha_0 the equations are ill-behaved; alpha_0 is then
    a root in the last step. There the entropy of solutions of every norm is scanned (see `solution_entropy`). If some
    of another norm are left, these are followed upward to where their entropy vanishes, until none are left: where a
    level is small and the margin negative, that can be at a load many times as large. ConvergenceError where the
    equations were not solved or replica symmetry is unstable (check=False returns an unstable alpha_0); ValueError for
    a negative margin if 0 is a level, since W = 0 then stores any number of patterns, and for one below -33 times the
    smallest level, which is missed so rarely that the averages over patterns do not resolve it.

    >>> found = zero_entropy_capacity([-1, 1])
    >>> round(found.alpha, 9), round(found.replicon, 4), round(found.first_moment_bound, 9)
    (0.8330786, 0.4556, 1.0)
    """
    model = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    bound = first_moment_bound(levels, margin)
    smallest = min(map(abs, model.levels))
    if model.margin < -FARTHEST_MARGIN * smallest:
        raise ValueError(
            f"margin must be at least {-FARTHEST_MARGIN:g} times the smallest absolute value of the levels, "
            f"{-FARTHEST_MARGIN * smallest:g}, since rarer patterns decide this capacity than averages resolve, "
            f"got {margin:g}"
        )
    # Real weights as long as the largest level tell how far the scan may go in one step: many levels store no more.
    scale = min(bound, _real_capacity(model.margin / scale_of(np.asarray(model.levels))))
    most = scale if model.margin >= 0 else bound
    path, passed, iterations, least = Path(model, tol), [], 0, 0.0
    for branch in range(MOST_BRANCHES):
        lost: ConvergenceError | None = None
        try:
            known = climb(path) if branch else bracket(path, scale)
            root = zero(path, known)
            found = path.at(root, path.tol)
        except ConvergenceError as failed:
            if not path.seen:
                raise
            # A branch may end while its entropy is positive; the entropy is concave, and vanishes before its tangent.
            lost, (root, x) = failed, path.seen[-1]
            found = path.at(root, path.rough)
            least = max(least, root - found.entropy / found.slope)
        iterations += path.iterations
        others = [
            pair for pair in _norms_at(replace(model, alpha=root), found, tol)
            if pair[0].entropy > REMAINING_ENTROPY and not (lost and same(pair[1], x))
        ]  # fmt: skip
        begin = (root, max(others, key=lambda pair: pair[0].entropy)[1]) if others else _ahead(model, root, most, tol)
        if begin is None:
            break
        passed += [] if lost else [root]
        path = Path(model, tol, begin)
    last = Solution(root, "unverified", found.residual, tol, iterations)
    if lost is None and (begin is not None or root < least):
        lost = ConvergenceError(f"{problem_of(model)}, solutions of another norm beyond", last, advice_for(model))
    if root > bound * (1 + ABOVE):
        lost = ConvergenceError(f"{problem_of(model)}, above its bound {bound:.6g}", last, advice_for(model))
    if lost is not None:
        raise lost
    if check and not found.stable:
        refuse_broken(found, problem_of(model), tol, "other levels")
    return ZeroEntropyCapacity(
        root, found.overlap, found.norm, found.entropy, found.slope, found.replicon, bound, tuple(passed),
        residual=found.residual, iterations=iterations, converged=True,
    )  # fmt: skip


def _norms_at(model: DiscretePerceptron, at_hand: SolutionEntropy, tol: float) -> list[tuple[SolutionEntropy, Array]]:
    """Return the solutions that a scan of norms finds, on finer grids until it finds the one that is known.

    A scan that misses the solution at hand would miss others as well, and so does one that could not resolve it.
    """
    known = np.array([at_hand.norm, at_hand.overlap]) / scale_of(np.asarray(model.levels)) ** 2
    finenesses: tuple[int, ...] = (1, *FINER_SCANS)
    while len(finenesses) > 1 and not resolves(finenesses[0], *known):
        finenesses = finenesses[1:]
    found: list[tuple[SolutionEntropy, Array]] = []
    for finer in finenesses:
        if any(same(x, known) for _, x in found):
            break
        more = rivals(model, tol, 500, finer)
        found += [pair for pair in more if not any(same(pair[1], x) for _, x in found)]
    return found


def _ahead(model: DiscretePerceptron, root: float, bound: float, tol: float) -> tuple[float, Array] | None:
    """Return a load below a bound at which solutions of some norm are left, and their orders; None where none are.

    The scan of norms at the root itself may miss a solution whose entropy changes fast with the norm.
    """
    for load in root * LOAD_RATIOS_AHEAD:
        if load >= bound:
            break
        left = [
            pair for pair in rivals(replace(model, alpha=float(load)), tol, 500) if pair[0].entropy > REMAINING_ENTROPY
        ]
        if left:
            return float(load), max(left, key=lambda pair: pair[0].entropy)[1]
    return None


@checked
@within_range
def first_moment_bound(levels: Sequence[float], margin: float = 0.0) -> float:
    """Compute a rigorous upper bound of the capacity: the load at which even the mean number of solutions vanishes.

    A weight vector with mean square Q stores a pattern with probability H(margin/sqrt(Q)), so that the number of
    solutions has a mean that vanishes for alpha > max_Q s(Q)/(-log H(margin/sqrt(Q))), where s(Q) is the entropy of
    weights with mean square Q. Derived here by Markov's inequality (the first moment method): the probability that
    there is a solution is at most the mean number of them. At margin 0 this is log2 L, the number of bits of a weight.

    ValueError for a negative margin if 0 is a level, since there is no bound then, and for one below -37 times the
    smallest level, where the bound exceeds all floating point numbers.

    >>> round(first_moment_bound([-1, 0, 1]), 9)
    1.584962501
    """
    model = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    w = np.asarray(model.levels) / scale_of(np.asarray(model.levels))
    kappa = model.margin / scale_of(np.asarray(model.levels))
    if kappa == 0:
        return math.log2(len(w))
    if kappa < 0 and 0 in model.levels:
        raise ValueError(f"margin must not be negative where 0 is one of the levels, got {margin:g}")
    smallest = float(np.min(np.abs(w)))
    if kappa < -RAREST * smallest:
        raise ValueError(
            f"margin must be at least {-RAREST:g} times the smallest absolute value of the levels, "
            f"{-RAREST * min(map(abs, model.levels)):g}, since the bound is larger than all floating point numbers "
            f"below, got {margin:g}"
        )

    def minus_bound(place: float) -> float:
        tilt = math.sinh(place)
        log_sum = logsumexp(tilt * w**2)
        law = np.exp(tilt * w**2 - log_sum)
        norm = float(law @ w**2)
        if norm < 1e-300:  # all weights are zero, and store nothing with a positive margin
            return 0.0
        return float(entr(law).sum() / log_ndtr(-kappa / math.sqrt(norm)))

    # A negative margin may favor the smallest of all weights: the strongest tilt has to single out their squares.
    gaps = np.diff(np.sort(w**2))
    lowest = math.ceil(10 * max(8.0, math.asinh(TILT / float(gaps[gaps > EQUAL_SQUARES].min(initial=1.0)))))
    places = np.arange(-lowest, 81) / 10
    best = int(np.argmin([minus_bound(place) for place in places]))
    around = (places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)])
    refined = minimize_scalar(minus_bound, bounds=around, method="bounded", options={"xatol": 1e-9})
    return -min(float(refined.fun), minus_bound(places[best]))


@checked
def gardner_capacity(margin: Annotated[float, Within(0.0, 1e100, closed=(True, True))] = 0.0) -> float:
    """Compute the capacity 1/E[(z + margin)^2, z > -margin] of real weights, z ~ N(0, 1) (Gardner 1988).

    It equals 1/((1 + k^2) Phi(k) + k phi(k)) with k = margin, here in units of |W|/sqrt(N): real weights have no unit
    of their own. It is the limit of many levels at margin 0. For a positive margin it is not that of levels in an
    interval, which is a bound on every weight and not on |W|. ValueError for a negative margin, where replica symmetry
    is broken.

    >>> gardner_capacity(), round(gardner_capacity(0.5), 12)
    (2.0, 0.961205052802)
    """
    return _real_capacity(margin)


def _real_capacity(k: float) -> float:
    density = math.exp(-k * k / 2) / math.sqrt(2 * math.pi) if abs(k) < 100 else 0.0
    square = (1 + k * k) * float(ndtr(k)) + k * density
    return 1 / square if square > 1e-300 else math.inf
