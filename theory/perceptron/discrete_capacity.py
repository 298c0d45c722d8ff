"""How many random patterns a perceptron with discrete weights can store: capacities and their bounds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import entr, log_ndtr, logsumexp, ndtr

from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.core.ranges import Positive, Within
from theory.core.results import SolverResult
from theory.models import DiscretePerceptron
from theory.numerics import ConvergenceError, Solution, WithReplicon
from theory.numerics.extremes import within_range
from theory.perceptron.discrete_entropy import SolutionEntropy, point, refuse_broken, rivals, same
from theory.perceptron.discrete_saddle import scale_of

FIRST = 0.05  # the load at which the scan begins, over the scale of the problem
LARGEST = 0.05  # step of the scan, over that scale
SMALLEST = 1e-5  # step of the scan, over that scale, at which an unsolved point is an error
BEYOND = 4.0  # times the distance to that scale, where it is passed, replaces it
SHARE = 0.6  # share of the way to the zero of the tangent that one step of the scan goes
NEAR = 0.05  # the tangent is followed slightly beyond its zero where that is nearer than this, relative to alpha
MOST_STEPS = 200
MOST_BRANCHES = 8  # of solutions of different norm, one after another
AHEAD = np.array([1.1, 1.25, 1.5, 2.0, 3.0, 10.0])  # times a root: loads at which nothing may be left
LEFT = 1e-9  # entropy of solutions of another norm, in nats per weight, that is more than rounding
OVERSHOOT = 1.05  # of Newton's steps in log(alpha), so that the last one passes the zero
LARGEST_FACTOR = 10.0  # of alpha in one step along a branch that is entered in its middle
SMALLEST_STEP = 1e-5  # of log(alpha) along such a branch, at which an unsolved point is an error
ADVICE = "take levels that are less close to each other, or a larger margin"
TILT = 50.0  # times the distance of two squares of levels: the larger square then has the weight exp(-50)
SAME = 1e-14  # squares of levels as near as that, in units of the largest, are equal
ROUGH = 1e-8  # accuracy of the order parameters in the scan: the error of the entropy is of second order in theirs


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
    a negative margin if 0 is a level, since W = 0 then stores any number of patterns.

    >>> found = zero_entropy_capacity([-1, 1])
    >>> round(found.alpha, 9), round(found.replicon, 4), round(found.first_moment_bound, 9)
    (0.8330786, 0.4556, 1.0)
    """
    model = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    bound = first_moment_bound(levels, margin)
    # Real weights as long as the largest level tell how far the scan may go in one step: many levels store no more.
    scale = min(bound, _real_capacity(model.margin / scale_of(np.asarray(model.levels))))
    path, passed, iterations, least = _Path(model, tol), [], 0, 0.0
    for branch in range(MOST_BRANCHES):
        lost: ConvergenceError | None = None
        try:
            known = _climb(path) if branch else _bracket(path, scale)
            root = _zero(path, known)
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
            pair for pair in rivals(replace(model, alpha=root), tol, 500)
            if pair[0].entropy > LEFT and not (lost and same(pair[1], x))
        ]  # fmt: skip
        begin = (root, max(others, key=lambda pair: pair[0].entropy)[1]) if others else _ahead(model, root, bound, tol)
        if begin is None:
            break
        passed += [] if lost else [root]
        path = _Path(model, tol, begin)
    if lost is None and (begin is not None or root < least):
        lost = ConvergenceError(_problem(model), Solution(root, "unverified", math.inf, tol, iterations), ADVICE)
    if lost is not None:
        raise lost
    if check and not found.stable:
        refuse_broken(found, _problem(model), tol, "other levels")
    return ZeroEntropyCapacity(
        root, found.overlap, found.norm, found.entropy, found.slope, found.replicon, bound, tuple(passed),
        residual=found.residual, iterations=iterations, converged=True,
    )  # fmt: skip


def _ahead(model: DiscretePerceptron, root: float, bound: float, tol: float) -> tuple[float, Array] | None:
    """Return a larger load at which solutions of some norm are left, and their orders; None where none are found.

    The scan of norms at the root itself may miss a solution whose entropy changes fast with the norm.
    """
    for load in root * AHEAD:
        left = [pair for pair in rivals(replace(model, alpha=float(load)), tol, 500) if pair[0].entropy > LEFT]
        if load < bound and left:
            return float(load), max(left, key=lambda pair: pair[0].entropy)[1]
    return None


def _problem(model: DiscretePerceptron) -> str:
    return f"zero-entropy capacity of {model.n_levels} levels, margin = {model.margin:g}"


class _Path:
    """The points found at ever larger loads, of which the last ones tell where to look for the next.

    An unstable point is no reason to stop here: only that at the root is judged. A path that does not begin at load 0
    begins at `first`, a load and its orders; it may cover many decades of the load, and small orders.
    """

    def __init__(self, model: DiscretePerceptron, tol: float, first: tuple[float, Array] | None = None) -> None:
        unit = 1.0 if first is None else float(first[1][0])
        self.model, self.tol, self.rough, self.iterations = model, tol * unit, max(tol, ROUGH) * unit, 0
        self.seen: list[tuple[float, Array]] = [] if first is None else [first]
        self._place: Callable[[float], float] = float if first is None else math.log

    def at(self, alpha: float, accuracy: float) -> SolutionEntropy:
        """Solve one load to an accuracy of the orders; ConvergenceError where that is not reached."""
        found, solution = point(replace(self.model, alpha=alpha), self._guess(alpha), accuracy, 500)
        self.iterations += found.iterations or 0
        if not found.converged:
            failed = Solution(alpha, "unverified", found.residual, self.tol, self.iterations)
            raise ConvergenceError(_problem(self.model), failed, ADVICE)
        if found.entropy > 0:  # ever nearer to the capacity, but from below
            self.seen = [*(pair for pair in self.seen if pair[0] != alpha), (alpha, solution.value)][-3:]
        return found

    def _guess(self, alpha: float) -> Array | None:
        """Extrapolate the last orders to another load, or return the last ones where that leaves their range."""
        if not self.seen:
            return None
        loads, orders = zip(*self.seen, strict=True)
        at, places = self._place(alpha), [self._place(one) for one in loads]
        guess: Array = sum(
            x * math.prod((at - b) / (a - b) for b in places if b != a) for a, x in zip(places, orders, strict=True)
        )
        return guess if 0 <= guess[1] < guess[0] <= 1 else orders[-1]


def _zero(path: _Path, known: dict[float, float]) -> float:
    """Return the load at which the entropy vanishes, between two loads at which it is known."""

    def entropy(alpha: float) -> float:
        return known[alpha] if alpha in known else path.at(alpha, path.tol).entropy

    return float(brentq(entropy, min(known), max(known), xtol=1e-14 * max(known), rtol=1e-14))


def _bracket(path: _Path, scale: float) -> dict[float, float]:
    """Return loads with positive and with non-positive entropy, found from below, and these entropies."""
    low, step = 0.0, FIRST * scale
    below = math.inf
    for _ in range(MOST_STEPS):
        try:
            found = path.at(low + step, path.rough)
        except ConvergenceError:
            if step < SMALLEST * scale:
                raise
            step /= 2  # a step that leads far beyond the capacity, where the equations are ill-behaved
            continue
        if found.entropy <= 0:
            return {low: below, low + step: found.entropy}
        low, below = low + step, found.entropy
        # The entropy is concave, so that its tangent vanishes beyond alpha_0: nearby, that is the other end.
        tangent = -found.entropy / found.slope
        # Only solutions of small norm, which a path may enter without a jump, go on far beyond the scale.
        most = LARGEST * max(scale, BEYOND * (low - scale))
        step = 1.02 * tangent if tangent < NEAR * low else min(SHARE * tangent, most)
    raise ConvergenceError(_problem(path.model), Solution(low, "max_iter", math.inf, 0.0, MOST_STEPS), ADVICE)


def _climb(path: _Path) -> dict[float, float]:
    """Return what `_bracket` does for a path that begins at a positive load, in steps of its logarithm.

    Solutions of small norm fade slowly: their entropy is nearly a straight line in log(alpha).
    """
    low = path.seen[0][0]
    found, most = path.at(low, path.rough), math.log(LARGEST_FACTOR)
    for _ in range(MOST_STEPS):
        step = min(OVERSHOOT * found.entropy / max(-low * found.slope, 1e-300), most)
        try:
            ahead = path.at(low * math.exp(step), path.rough)
        except ConvergenceError:
            if step < SMALLEST_STEP:
                raise
            most = step / 2
            continue
        if ahead.entropy <= 0:
            return {low: found.entropy, low * math.exp(step): ahead.entropy}
        low, found, most = low * math.exp(step), ahead, min(2 * most, math.log(LARGEST_FACTOR))
    raise ConvergenceError(_problem(path.model), Solution(low, "max_iter", math.inf, 0.0, MOST_STEPS), ADVICE)


@checked
@within_range
def first_moment_bound(levels: Sequence[float], margin: float = 0.0) -> float:
    """Compute a rigorous upper bound of the capacity: the load at which even the mean number of solutions vanishes.

    A weight vector with mean square Q stores a pattern with probability H(margin/sqrt(Q)), so that the number of
    solutions has a mean that vanishes for alpha > max_Q s(Q)/(-log H(margin/sqrt(Q))), where s(Q) is the entropy of
    weights with mean square Q. At margin 0 this is log2 L, the number of bits of a weight.

    ValueError for a negative margin if 0 is a level, since there is no bound then.

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
    lowest = math.ceil(10 * max(8.0, math.asinh(TILT / float(gaps[gaps > SAME].min(initial=1.0)))))
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
