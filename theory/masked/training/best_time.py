"""The time at which gradient flow has its least mean test error, alone or together with the best ridge."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from theory.core import Array, NonNegative, Positive, SolverResult, checked
from theory.masked.signs import require_non_negative
from theory.masked.training.point import training_point
from theory.masked.training.solution import require_modes
from theory.models import Covariance
from theory.numerics import ConvergenceError
from theory.numerics.extremes import within_range
from theory.numerics.filters import flow_filter

POINTS = 48  # of the grid of times on which minima are looked for
FLAT = 1e-10  # relative difference of errors that is not told from rounding


@dataclass(frozen=True, eq=False, repr=False)
class BestTime(SolverResult):
    """The time, and ridge, of least mean test error along gradient flow.

    `time` is 0 or inf where the error is least at that end. `lam` is the ridge, given or found. `bracket` holds two
    times around the best one at which the error is larger. `residual` is the relative difference of the error that is
    left between the last two trial times.
    """

    alpha: float
    time: float
    lam: float
    mean_test_error: float
    bracket: tuple[float, float]

    def __post_init__(self) -> None:
        require_non_negative(self, "mean_test_error")


@checked
@within_range
def best_time(covariance: Covariance, alpha: Positive, *, lam: NonNegative = 0.0, with_ridge: bool = False) -> BestTime:
    """Find the time at which masked regression by gradient flow has its least mean test error.

    The time is looked for on a logarithmic grid from far below one over the largest eigenvalue to far above one over
    the smallest one, and every minimum of the grid is refined; the best one is returned. With `with_ridge` the ridge
    `lam` is chosen too, together with the time; `lam` must then be left out. Raises ConvergenceError.

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

    def error(log_time: float, ridge: float = lam) -> float:
        try:
            point = training_point(covariance, alpha, flow_filter(float(np.exp(log_time))).shifted(ridge))
        except ConvergenceError:
            return np.inf  # so late that the sum is not resolved: no minimum is looked for there
        weights = spectrum.coordinate_weights
        return float(point.test_error @ weights if len(weights) == len(point.test_error) else point.test_error.mean())

    grid = np.linspace(np.log(1e-2 / present.max()), np.log(1e3 / present.min()), POINTS)
    values = np.array([error(t) for t in grid])
    start = float(spectrum.mean(spectrum.eigenvalues))
    best = _least(alpha, lam, grid, values, start, error)
    if not with_ridge or not 0 < best.time < np.inf:
        return best
    return _with_ridge(best, error)


def _least(alpha: float, lam: float, grid: Array, values: Array, start: float, error: Callable[..., float]) -> BestTime:
    inner = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:])) + 1
    candidates = []
    for i in inner[np.isfinite(values[inner + 1])]:
        ends = float(grid[i - 1]), float(grid[i + 1])
        found = minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-7})
        around = float(np.exp(ends[0])), float(np.exp(ends[1]))
        candidates.append((float(found.fun), float(np.exp(found.x)), around, int(found.nfev)))
    finite = values[np.isfinite(values)]
    candidates.append((start, 0.0, (0.0, float(np.exp(grid[0]))), 0))
    if finite[-1] < finite.min() * (1 + FLAT):
        candidates.append((float(finite[-1]), np.inf, (float(np.exp(grid[len(finite) - 1])), np.inf), 0))
    value, time, bracket, made = min(candidates, key=lambda one: one[0])
    return BestTime(alpha, time, lam, value, bracket, residual=FLAT, iterations=len(grid) + made, converged=True)


def _with_ridge(best: BestTime, error: Callable[..., float]) -> BestTime:
    def both(x: Array) -> float:
        return float(error(x[0], float(np.exp(x[1]))))

    starts = [np.log([best.time * stretch, share / best.time]) for stretch, share in ((1.5, 0.3), (3.0, 1.0))]
    runs = [minimize(both, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10}) for start in starts]
    found = min(runs, key=lambda run: float(run.fun))
    if not found.success:
        raise ConvergenceError.of(f"best time and ridge at alpha = {best.alpha:g}", found.x, np.inf, 1e-6, found.nit)
    if found.fun >= best.mean_test_error:
        return best
    time, lam = map(float, np.exp(found.x))
    return BestTime(
        best.alpha, time, lam, float(found.fun), best.bracket, residual=FLAT, iterations=int(found.nfev), converged=True
    )
