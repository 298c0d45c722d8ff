"""Finds the time at which training by gradient flow has the least error, as the fitted rows alone tell it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from simulate.core import stream
from simulate.masked import RowBlocks, fit_path
from simulate.masked.training import TrainingPath, fit_training_path
from theory.core.arrays import Array

A_DECADE = 8  # times, as there are ridges
TIMES = 10.0 ** (np.arange(-2 * A_DECADE, 5 * A_DECADE + 1) / A_DECADE)  # in units of one over the mean variance
COARSE_STEP = 4  # of the search along them, a power of two
LEFT_OUT = 256  # rows whose errors choose the time for all rows, where rows differ in scale
SET_ASIDE = 0.2  # of the rows, which choose for the others


@dataclass(frozen=True)
class Found:
    """A time of least error, that error as estimated, and where the range of times ends."""

    path: TrainingPath  # of this time alone
    time: float
    error: float
    at_start: bool
    at_end: bool


def by_estimate(contrasts: RowBlocks, unit: float) -> Found:
    """Find the time of the least polarised estimate, for n rows of which these are the contrasts (n - 1, d).

    Times are those of n rows about their mean, in units of 1/`unit`; those of contrasts are as many times shorter as
    their second moments are larger.
    """
    n = contrasts.n + 1
    times = TIMES / unit
    whole = fit_training_path(contrasts, [times[-1] * (n - 1) / n])

    def at(place: int) -> TrainingPath:
        return whole.at([times[place] * (n - 1) / n])

    def error(path: TrainingPath) -> float:
        return float(path.mean_test_estimate[0]) * n / (n - 1)  # the mean takes one more degree of freedom

    return _found(at, error, times)


def by_leaving_out(centered: RowBlocks, unit: float, seed: int) -> Found:
    """Find the time of the least error of rows left out, of n rows about their mean; right where they are unlike.

    Each time costs much more than the polarised estimate, from whose time the search therefore starts.
    """
    times, n = TIMES / unit, centered.n
    some = np.sort(stream(seed, "rows left out of training", n).permutation(n)[:LEFT_OUT])
    rows = centered.take(some)
    whole = fit_training_path(centered, [times[-1]])

    def at(place: int) -> TrainingPath:
        return whole.at([times[place]])

    def error(path: TrainingPath) -> float:
        return float((path.loo_residuals(0, rows, centered=True) ** 2).mean())

    start = _least(lambda place: float(at(place).mean_test_estimate[0]), len(times))
    return _found(at, error, times, start)


def by_setting_aside(rows: Array, unit: float, ridges: Array) -> tuple[float, float]:
    """Find time and ridge of the least errors on the last fifth of the rows (n, d), fitted to the others.

    Both are chosen from the same rows in the same way, and right where rows are unlike. Ridges are those of n rows
    about their mean, as times are.
    """
    kept = len(rows) - round(SET_ASIDE * len(rows))
    mean = rows[:kept].mean(axis=0)
    fitted, aside = rows[:kept] - mean, rows[kept:] - mean
    times = TIMES / unit
    training, path = fit_training_path(fitted, [times[-1]]), fit_path(fitted, ridges)
    time = _least(lambda place: float(training.at([times[place]]).test_error(0, aside).mean()), len(times))
    ridge = _least(lambda place: float(path.test_error(place, aside).mean()), len(ridges))
    return float(times[time]), float(ridges[ridge])


def _found(
    at: Callable[[int], TrainingPath], error: Callable[[TrainingPath], float], times: Array, start: int | None = None
) -> Found:
    value = cache(lambda place: error(at(place)))
    best = _least(value, len(times), start)
    return Found(at(best), float(times[best]), value(best), best == 0, best == len(times) - 1)


def _least(error: Callable[[int], float], count: int, start: int | None = None) -> int:
    """Search from coarse to fine steps for the least of `count` errors in order; none is computed twice.

    The coarse steps go through all of them, or downhill from the `start`.
    """
    value = cache(error)

    def nearest(best: int, step: int) -> int:
        return min((place for place in (best, best - step, best + step) if 0 <= place < count), key=value)

    if start is None:
        best = min(range(0, count, COARSE_STEP), key=value)
    else:
        best = start
        while (better := nearest(best, COARSE_STEP)) != best:
            best = better
    step = COARSE_STEP // 2
    while step:
        best, step = nearest(best, step), step // 2
    return best
