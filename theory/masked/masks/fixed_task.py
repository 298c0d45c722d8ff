"""What training with random masks is worth on a fixed task: the errors at another mask rate, and the best rate."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.optimize import minimize_scalar

from theory.core import Array, Positive, SolverResult, Within, checked
from theory.masked.errors import mean_over_coordinates
from theory.masked.masks.classes import AllMasks, row_classes
from theory.masked.masks.equations import rates, solved_points
from theory.masked.masks.population import Population, population
from theory.masked.signs import require_non_negative
from theory.models import Covariance, RandomMasks
from theory.models.masked_ridge import SampledRows
from theory.numerics import ConvergenceError

MaskRate = Annotated[float, Within(0.0, 1.0, closed=(True, False))]

# The rates at which the search begins: 0, and close to both ends in steps of a factor.
SEARCHED = np.unique(np.concatenate([[0.0], np.geomspace(1e-3, 0.5, 15), 1 - np.geomspace(1e-3, 0.5, 12)]))
LEAST_NOISE = 1e-9  # rate that stands for 0 where the noise of masks is divided by it
RIDGES = (1e-7, 1e4)  # between which the ridge is searched, in units of the mean variance
SLOPE_STEP, SLOPE_TOL = 1e-4, 1e-4  # in log odds, and of the slope of the log error in them
PRECISE = {"xatol": 1e-8}
FLAT = 1e-9  # relative gain below which an optimum is none


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMaskRate(SolverResult):
    """The mask rate of training that has the least mean error on a fixed task, by the conventions of `RandomMasks`.

    `residual` is the size of the slope of the log error in the log odds of the rate, which vanishes inside; where
    `at_boundary` is true the error falls towards an end of the range that was searched: to 0, hiding one coordinate at
    a time, or to .999, hiding nearly all.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float  # the ridge, given or the best one at this rate
    mask_rate: float
    task_rate: float
    mean_test_error: float  # on the task
    error_at_task_rate: float  # of training at the rate of the task, at the given ridge or at the best one there
    at_boundary: bool

    def __post_init__(self) -> None:
        require_non_negative(self, "mean_test_error", "error_at_task_rate")


@checked
def optimal_mask_rate(
    covariance: Covariance,
    alpha: Positive,
    lam: Positive | None = None,
    *,
    task_rate: MaskRate = 0.0,
    n_masks: int | None = None,
    rescaled: bool = True,
) -> OptimalMaskRate:
    """Find the rate of random masks in training that minimizes the mean error of a fixed task.

    The task is to predict each coordinate from the others, of which each is hidden (set to 0) with probability
    `task_rate`; 0 means from all others. Training hides each input with another probability, as `RandomMasks` says, at
    a given ridge `lam`, or with None at the best one for each rate. The coefficients are multiplied by (1 - mask_rate)/
    (1 - task_rate), as for dropout, so that the inputs shown have the same sum on average; with `rescaled` False they
    are used as they were learnt, and a rate above that of the task makes predictions too large. For infinitely many
    masks and a task rate of 0, rescaled training at the rate p is ridge regression with the penalty p/(1-p) diag(X'X/n)
    + lam/(1-p)^2; where all variances are equal masks therefore do what a ridge does, and where the ridge is the best
    one they gain nothing.

    Derived here from the equations of `solve`: with Q the inverse of the ridged Gram matrix of masked inputs, the
    coefficients are -Q_kj/(Q_kk (1-p)), and the error is linear in [Sigma Q]_kk, [Q Sigma Q]_kk and [Q Delta Q]_kk,
    whose equivalents those equations give. Rates up to .999 are searched. ValueError for rates outside [0, 1) and as
    `RandomMasks`; ConvergenceError where the equations are not solved or no minimum is verified.

    >>> from theory.models import AR1
    >>> best = optimal_mask_rate(AR1(np.inf, 0.6), alpha=1.0, lam=0.01)
    >>> print(f"{best.mask_rate:.3f}: {best.mean_test_error:.3f} instead of {best.error_at_task_rate:.3f}")
    0.443: 0.690 instead of 1.962
    """
    SampledRows(covariance, alpha)
    of, least = population(covariance), 0.0 if n_masks is None else SEARCHED[1]
    RandomMasks(covariance, alpha, lam or 1.0, 0.5, n_masks)

    def at_ridge(rate: float, ridge: float) -> float:
        errors = task_errors(of, alpha, ridge, rate, task_rate, n_masks, rescaled=rescaled)
        return float(mean_over_coordinates(covariance, errors))

    def best(rate: float) -> tuple[float, float]:
        """Return the error at this rate and the ridge that has it."""
        if lam is not None:
            return at_ridge(rate, lam), lam
        scale = float(of.variances.mean())
        grid = np.log(scale * np.geomspace(*RIDGES, 12))
        errors = [at_ridge(rate, math.exp(x)) for x in grid]
        i = int(np.argmin(errors))
        ends = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        found = minimize_scalar(lambda x: at_ridge(rate, math.exp(x)), bounds=ends, method="bounded", options=PRECISE)
        return min((float(found.fun), math.exp(found.x)), (errors[i], math.exp(grid[i])))

    def error(rate: float) -> float:
        return best(rate)[0]

    grid = SEARCHED[least <= SEARCHED]
    errors = np.array([error(rate) for rate in grid])
    i = int(np.argmin(errors))
    same = best(max(task_rate, least))
    iterations = len(grid)
    if 0 < i < len(grid) - 1:
        found = minimize_scalar(error, bounds=(grid[i - 1], grid[i + 1]), method="bounded", options=PRECISE)
        rate, iterations = float(found.x), iterations + found.nfev
    else:
        rate = float(grid[i])
    if abs(errors.min() / errors[0] - 1) < FLAT:  # nothing is gained: the least rate is as good as any
        rate = float(grid[0])
    at_boundary = rate in (grid[0], grid[-1])
    slope = _slope(error, rate, grid[0], grid[-1])
    value, ridge = best(rate)
    if not at_boundary and abs(slope) > SLOPE_TOL:
        what, advice = f"the best mask rate of {covariance!r} at alpha = {alpha:.6g}", "give a ridge, or a larger one"
        raise ConvergenceError.of(what, rate, abs(slope), SLOPE_TOL, iterations, status="max_iter", advice=advice)
    return OptimalMaskRate(
        covariance,
        alpha,
        ridge,
        rate,
        task_rate,
        value,
        same[0],
        at_boundary,
        residual=abs(slope),
        iterations=iterations,
        converged=True,
    )


def task_errors(
    of: Population, alpha: float, lam: float, mask_rate: float, task_rate: float, n_masks: int | None, *, rescaled: bool
) -> Array:
    """Compute the errors (c,) on the task of coefficients that were learnt at `mask_rate`; see `optimal_mask_rate`."""
    p, q = max(mask_rate, LEAST_NOISE) if n_masks is None else mask_rate, task_rate
    point = solved_points(of, np.array([alpha]), lam, p, n_masks)[0]
    scales, variances = np.array(rates(p)), of.variances
    x, y = map(float, point.first * scales)
    at = of.resolvent(x, y, lam)
    shown, mask_noise = at.errors()
    if not mask_noise.any():  # independent coordinates, which are predicted by 0
        return variances
    traces = scales * np.array([at.sigma, at.delta]) / alpha
    classes = AllMasks() if n_masks is None else row_classes(n_masks, p)
    gram = scales[:, None] * at.products * scales / alpha
    # Columns: the equivalents of Q a Sigma Q and of Q b Delta Q, as weights of a Sigma and b Delta between two G.
    raised = np.linalg.solve(np.eye(2) - classes.response(traces).second @ gram, np.eye(2))
    odds = scales[1] / scales[0]
    # With w_j = Q_kj/Q_kk and w_k = 1: w Sigma w, and without j = k the k-th of Sigma w and w Delta w.
    quadratic = raised[0, 0] * shown + raised[1, 0] * odds * mask_noise
    linear = at.cross()
    noise = raised[0, 1] / odds * shown + raised[1, 1] * mask_noise
    gain = 1 / (1 - q) if rescaled else 1 / (1 - p)
    of_shown = (1 - q) ** 2 * (quadratic - 2 * linear - variances) + q * (1 - q) * noise
    return np.asarray(variances + 2 * (1 - q) * gain * linear + gain**2 * of_shown)


def _slope(error: Callable[[float], float], rate: float, low: float, high: float) -> float:
    """Return the slope of the log error in log odds, or in the rate itself at an end."""
    if rate in (low, high):
        inner = rate + SLOPE_STEP if rate == low else rate - SLOPE_STEP
        return float(math.log(error(inner) / error(rate)) / (inner - rate))
    odds = math.log(rate / (1 - rate))
    up, down = (error(1 / (1 + math.exp(-(odds + step)))) for step in (SLOPE_STEP, -SLOPE_STEP))
    return math.log(up / down) / (2 * SLOPE_STEP)
