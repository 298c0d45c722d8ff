"""The entropy of solutions of a perceptron with discrete weights, followed upward in the load to where it vanishes."""

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr

from theory.core import Array, checks
from theory.models import DiscretePerceptron
from theory.numerics import ConvergenceError, Solution
from theory.perceptron.discrete_entropy import SolutionEntropy, point
from theory.perceptron.discrete_saddle import scale_of

FIRST = 0.05  # the load at which the scan begins, over the scale of the problem
MAX_SCAN_STEP = 0.05  # step of the scan, over that scale
MIN_SCAN_STEP = 1e-5  # step of the scan, over that scale, at which an unsolved point is an error
SCALE_RATIO = 4.0  # times the distance to that scale, where it is passed, replaces it
SHARE = 0.6  # share of the way to the zero of the tangent that one step of the scan goes
# The tangent is followed slightly beyond its zero where that is nearer than this, relative to alpha.
NEAR_ZERO_LOAD = 0.05
MAX_STEPS = 200
AGREED = 1e-12  # of a norm: excess over the smallest square, below which all weights count as having that square
OVERSHOOT = 1.05  # of Newton's steps in log(alpha), so that the last one passes the zero
FIRST_FACTOR, LARGEST_FACTOR = 1.5, 10.0  # of alpha in one step along a branch that is entered in its middle
SMALLEST_STEP = 1e-5  # of log(alpha) along such a branch, at which an unsolved point is an error
ADVICE = "take levels that are less close to each other, or a larger margin"
RARE = 12.0  # times the smallest level: a negative margin beyond which the advice is a smaller one
LEAST_SPREAD = 0.1  # of Q - q at the last load, that an extrapolation leaves
# Accuracy of the order parameters in the scan: the error of the entropy is of second order in theirs.
SCAN_TOLERANCE = 1e-8


def problem_of(model: DiscretePerceptron) -> str:
    """Return what an error of a capacity calls its problem."""
    return f"zero-entropy capacity of {model.n_levels} levels {checks.shown(model.levels)}, margin = {model.margin:g}"


def advice_for(model: DiscretePerceptron) -> str:
    """Return what to do where a capacity was not found; a very negative margin is seldom meant."""
    smallest = min(abs(level) for level in model.levels)
    if model.margin < -RARE * smallest:  # there are more than exp(RARE^2/2) patterns for each weight
        rare = float(log_ndtr(model.margin / smallest)) / math.log(10)
        return (
            f"weights of the smallest level miss this margin with a probability of 1e{rare:.0f} only: take a margin "
            f"nearer to 0, or a larger smallest level"
        )
    return ADVICE


def _unfinished(model: DiscretePerceptron, alpha: float, entropy: float) -> ConvergenceError:
    """Return the error of a scan whose last load still has solutions: its residual is their entropy."""
    problem = f"{problem_of(model)}, whose solutions go on beyond alpha = {alpha:.6g}"
    return ConvergenceError(problem, Solution(alpha, "max_iter", entropy, 0.0, MAX_STEPS), advice_for(model))


class Path:
    """The points found at ever larger loads, of which the last ones tell where to look for the next.

    An unstable point is no reason to stop here: only that at the root is judged. A path that does not begin at load 0
    begins at `first`, a load and its orders; it may cover many decades of the load, and of the distances of the orders
    from the smallest square of a level, so that it is followed in the logarithms of all three.
    """

    def __init__(self, model: DiscretePerceptron, tol: float, first: tuple[float, Array] | None = None) -> None:
        unit = 1.0 if first is None else float(first[1][0])
        self.model, self.tol, self.rough, self.iterations = model, tol * unit, max(tol, SCAN_TOLERANCE) * unit, 0
        self.seen: list[tuple[float, Array]] = [] if first is None else [first]
        self.beyond: list[tuple[float, Array]] = []  # the last point above the capacity of a path that is followed so
        self._follows, levels = first is not None, np.asarray(model.levels)
        self._lowest = float(np.min((levels / scale_of(levels)) ** 2))

    def at(self, alpha: float, accuracy: float) -> SolutionEntropy:
        """Solve one load to an accuracy of the orders; ConvergenceError where that is not reached."""
        found, solution = point(replace(self.model, alpha=alpha), self._guess(alpha), accuracy, 500)
        self.iterations += found.iterations or 0
        if not found.converged:
            failed = Solution(alpha, "unverified", found.residual, solution.tol, self.iterations)
            raise ConvergenceError(f"{problem_of(self.model)}, at alpha = {alpha:.6g}", failed, advice_for(self.model))
        pair = (alpha, solution.value)
        if found.entropy > 0:  # ever nearer to the capacity, but from below
            self.seen = [*(one for one in self.seen if one[0] != alpha), pair][-3:]
        elif self._follows:
            self.beyond = [pair]
        return found

    def _guess(self, alpha: float) -> Array | None:
        """Extrapolate the last orders to another load, or return the last ones where that leaves their range."""
        if not self.seen:
            return None
        loads, orders = zip(*self.seen, *self.beyond, strict=True)
        at, places = (math.log(alpha), np.log(loads)) if self._follows else (alpha, loads)
        guess = self._orders(
            sum(
                x * math.prod((at - b) / (a - b) for b in places if b != a)
                for a, x in zip(places, map(self._coordinates, orders), strict=True)
            )
        )
        # A long step may lead to orders that nearly agree, which only the finest grid resolves.
        least = 0.0 if self._follows else LEAST_SPREAD * (orders[-1][0] - orders[-1][1])
        return guess if 0 <= guess[1] < guess[0] - least and guess[0] <= 1 else orders[-1]

    def _coordinates(self, x: Array) -> Array:
        if not self._follows:
            return x
        return np.log([max(x[0] - self._lowest, AGREED * x[0]), max(x[1], AGREED**2 * x[0]) / (x[0] - x[1])])

    def _orders(self, y: Array) -> Array:
        """Return the (Q, q) of these coordinates."""
        if not self._follows:
            return y
        norm = self._lowest + math.exp(min(y[0], 1.0))
        return np.array([norm, norm * expit(y[1])])


def zero(path: Path, known: dict[float, float]) -> float:
    """Return the load at which the entropy vanishes, between two loads at which it is known."""

    def entropy(alpha: float) -> float:
        return known[alpha] if alpha in known else path.at(alpha, path.tol).entropy

    return float(brentq(entropy, min(known), max(known), xtol=1e-14 * max(known), rtol=1e-14))


def bracket(path: Path, scale: float) -> dict[float, float]:
    """Return loads with positive and with non-positive entropy, found from below, and these entropies."""
    low, step = 0.0, FIRST * scale
    below = math.inf
    for _ in range(MAX_STEPS):
        try:
            found = path.at(low + step, path.rough)
        except ConvergenceError:
            if step < MIN_SCAN_STEP * scale:
                raise
            step /= 2  # a step that leads far beyond the capacity, where the equations are ill-behaved
            continue
        if found.entropy <= 0:
            return {low: below, low + step: found.entropy}
        low, below = low + step, found.entropy
        # The entropy is concave, so that its tangent vanishes beyond alpha_0: nearby, that is the other end.
        ahead = -found.entropy / found.slope
        if low < scale:
            # Many levels end close below the scale, as its logarithmic singularity: there the tangent in
            # log(scale - alpha) is the nearer one. Far above alpha_0 the equations take long.
            ahead = (scale - low) * -math.expm1(-ahead / (scale - low))
        # Only solutions of small norm, which a path may enter without a jump, go on far beyond the scale.
        most = MAX_SCAN_STEP * max(scale, SCALE_RATIO * (low - scale))
        step = 1.02 * ahead if ahead < NEAR_ZERO_LOAD * low else min(SHARE * ahead, most)
    raise _unfinished(path.model, low, below)


def climb(path: Path) -> dict[float, float]:
    """Return what `bracket` does for a path that begins at a positive load, in steps of its logarithm.

    Solutions of small norm fade slowly: their entropy is nearly a straight line in log(alpha).
    """
    low = path.seen[0][0]
    found, most = path.at(low, path.rough), math.log(FIRST_FACTOR)  # a step that fails takes as long as ten others
    for _ in range(MAX_STEPS):
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
    raise _unfinished(path.model, low, found.entropy)
