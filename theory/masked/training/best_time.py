"""The time at which gradient flow has its least mean test error, alone or together with the best ridge."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from theory.core import Array, NonNegative, Positive, SolverResult, checked
from theory.masked.errors import mean_over_coordinates
from theory.masked.masked_ridge import solve_masked_ridge
from theory.masked.optimal_ridge import optimal_ridge
from theory.masked.ridgeless import ridgeless
from theory.masked.signs import require_non_negative
from theory.masked.training.point import TrainingPoint, training_point
from theory.masked.training.solution import require_modes
from theory.models import Covariance, MaskedRegression, MaskedRidge
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.numerics import ConvergenceError
from theory.numerics.extremes import within_range
from theory.numerics.filters import flow_filter

POINTS = 48  # of the grid of times on which minima are looked for
FLAT = 1e-10  # relative difference of errors that is not told from rounding
STEP = 0.01  # of a logarithm, at which neighbors of a minimum are looked at
TOLERANCE = 1e-8  # of the error, relative, by which a parabola through the neighbors may still fall below a minimum
ADVICE = "the error is too flat, or changes too fast, around its minimum: look at training_curve there"

Error = Callable[[float, float], float]  # of the logarithm of the time, and the ridge


@dataclass(frozen=True, eq=False, repr=False)
class BestTime(SolverResult):
    """The time, and ridge, of least mean test error along gradient flow.

    `time` is 0 or inf where the error is least at that end, and `mean_test_error` is then the limit there. `lam` is the
    ridge, given or found. `bracket` holds two times around the best one. `residual` is the share by which the parabola
    through the errors at the best time and 1 % before and after it falls below the error, plus the same for the ridge
    where that was looked for; it is 0 at the ends, which are limits.
    """

    alpha: float
    time: float
    lam: float
    mean_test_error: float
    bracket: tuple[float, float]

    def __post_init__(self) -> None:
        require_non_negative(self, "mean_test_error", "residual")


@checked
@within_range
def best_time(
    covariance: Covariance,
    alpha: Positive,
    *,
    lam: NonNegative = 0.0,
    with_ridge: bool = False,
    row_scales: RowScales = GAUSSIAN,
) -> BestTime:
    """Find the time at which masked regression by gradient flow has its least mean test error.

    The time is looked for on a logarithmic grid from far below one over the largest eigenvalue to far above one over
    the smallest one, and every minimum of the grid is refined; the best one is returned, or the limit of time 0 or
    infinity where that is better. With `with_ridge` the ridge `lam` is chosen too, together with the time, and compared
    with the best ridge of training to the end; `lam` must then be left out. `row_scales` is the law of the rows'
    scales. Derived here: the errors are those of `training_curve`, and the search asks for no equation of its own.
    Raises ConvergenceError.

    >>> from theory.models import AR1
    >>> best = best_time(AR1(float("inf"), 0.7), 1.0)
    >>> f"{best.time:.3f} {best.mean_test_error:.5f}"
    '1.206 0.52420'
    """
    require_modes(covariance)
    if with_ridge and lam:
        raise ValueError(f"lam must be left out with with_ridge=True, which looks for it, got {lam!r}")
    spectrum = covariance.spectrum
    present = spectrum.eigenvalues[spectrum.eigenvalues > 0]
    if not len(present):
        raise ValueError("covariance must have a positive variance: without any the error is zero at every time")

    def point(log_time: float, ridge: float) -> TrainingPoint:
        return training_point(covariance, alpha, flow_filter(math.exp(log_time)).shifted(ridge), rows=row_scales)

    def error(log_time: float, ridge: float) -> float:
        try:
            return float(mean_over_coordinates(covariance, point(log_time, ridge).test_error))
        except ConvergenceError:
            return np.inf  # so late that the sum is not resolved: no minimum is looked for there

    grid = np.linspace(np.log(1e-2 / present.max()), np.log(1e3 / present.min()), POINTS)
    values = np.array([error(t, lam) for t in grid])
    ends = float(spectrum.mean(spectrum.eigenvalues)), _trained_to_the_end(covariance, alpha, lam, row_scales)
    best = _least(alpha, lam, grid, values, ends, error, lambda log_time: point(log_time, lam).rounding)
    return _with_ridge(best, covariance, error, row_scales) if with_ridge and best.time else best


def _trained_to_the_end(covariance: Covariance, alpha: float, lam: float, rows: RowScales) -> float:
    """Return the mean test error at infinite time; inf where as many rows as coordinates let it grow without end."""
    if lam:
        return solve_masked_ridge(MaskedRidge(covariance, alpha, lam, rows), False).mean_test_error
    try:
        return ridgeless(MaskedRegression(covariance, alpha, rows)).mean_test_error
    except ValueError:
        return np.inf


def _least(
    alpha: float,
    lam: float,
    grid: Array,
    values: Array,
    ends: tuple[float, float],
    error: Error,
    rounding: Callable[[float], float],
) -> BestTime:
    inner = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:])) + 1
    at_start, at_end = ends
    best, place, made = at_start, -np.inf, len(grid)
    around = (0.0, math.exp(grid[0]))
    for i in inner[np.isfinite(values[inner + 1])]:
        bounds = float(grid[i - 1]), float(grid[i + 1])
        found = minimize_scalar(error, bounds=bounds, args=(lam,), method="bounded", options={"xatol": 1e-7})
        made += int(found.nfev)
        if found.fun < best:
            best, place, around = float(found.fun), float(found.x), (math.exp(bounds[0]), math.exp(bounds[1]))
    residual = 0.0
    # Late in training the error stands still, and rounding makes minima of it.
    flat = max(FLAT, rounding(place)) if place > -np.inf else 0.0
    if at_end <= best * (1 + flat) and at_end < at_start:
        best, place, around = at_end, np.inf, (math.exp(grid[np.isfinite(values)][-1]), np.inf)
    elif place > -np.inf:
        residual = parabola_gain(lambda step: error(place + step, lam), best)
        _verify(residual, f"best time at alpha = {alpha:g}, lam = {lam:g}", math.exp(place), made)
    time = float(np.exp(place))
    return BestTime(alpha, time, lam, best, around, residual=residual, iterations=made, converged=True)


def parabola_gain(along: Callable[[float], float], least: float) -> float:
    """Return by what share the parabola through a minimum and its neighbors falls below it; inf where it has none."""
    before, after = along(-STEP), along(STEP)
    bend = before + after - 2 * least
    return (before - after) ** 2 / (8 * bend) / least if bend > 0 else np.inf


def _verify(residual: float, what: str, value: object, made: int) -> None:
    if not residual <= TOLERANCE:
        raise ConvergenceError.of(what, value, residual, TOLERANCE, made, advice=ADVICE)


def _with_ridge(best: BestTime, covariance: Covariance, error: Error, rows: RowScales) -> BestTime:
    """Look for a better pair of time and ridge: from the best time, and among all ridges of infinite time."""
    ridge = optimal_ridge(MaskedRegression(covariance, best.alpha, rows))
    if ridge.mean_test_error < best.mean_test_error:
        best = replace(best, time=np.inf, lam=ridge.lam, mean_test_error=ridge.mean_test_error, residual=0.0)
    time = best.time if best.time < np.inf else 3 / ridge.lam if ridge.lam else np.inf
    if not 0 < time < np.inf:
        return best
    starts = [np.log([time * stretch, share / time]) for stretch, share in ((1.5, 0.3), (3.0, 1.0))]
    options = {"xatol": 1e-6, "fatol": FLAT}
    runs = [minimize(lambda x: error(x[0], math.exp(x[1])), at, method="Nelder-Mead", options=options) for at in starts]
    found = min(runs, key=lambda run: float(run.fun))
    made = best.iterations or 0
    made += sum(int(run.nfev) for run in runs)
    if found.fun >= best.mean_test_error * (1 - FLAT):
        return replace(best, iterations=made)
    (log_time, log_ridge), least = found.x, float(found.fun)
    residual = parabola_gain(lambda step: error(log_time + step, math.exp(log_ridge)), least)
    residual += parabola_gain(lambda step: error(log_time, math.exp(log_ridge + step)), least)
    _verify(residual, f"best time and ridge at alpha = {best.alpha:g}", found.x, made)
    time, lam = math.exp(log_time), math.exp(log_ridge)
    around = (time * math.exp(-STEP), time * math.exp(STEP))
    return BestTime(best.alpha, time, lam, least, around, residual=residual, iterations=made, converged=True)
