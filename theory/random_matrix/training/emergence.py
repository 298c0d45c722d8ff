"""When along its training the joint predictor first sees a spike, and when its threshold is least."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from theory.core import Array, SolverResult, checked
from theory.models import SpikedData
from theory.models.training import Flow
from theory.numerics import ConvergenceError
from theory.numerics.extremes import within_range
from theory.random_matrix.training.noise import trained_noise
from theory.random_matrix.training.spikes import threshold_strength

FIRST, LAST, GRID = 1e-3, 1e3, 25  # times in units of one over the geometric mean of the variances
WIDTH = 1e-6  # of log t, to which a time is found


@dataclass(frozen=True, eq=False, repr=False)
class EmergenceTime(SolverResult):
    """The first time of gradient flow at which the joint predictor shows an outlier of a spike; float() is that time.

    It is 0 where the spike is visible from the start, as it is in the diagonal-deleted covariance, and infinite where
    no time up to `last` shows it. `residual` is |theta_c(time)/strength - 1|.
    """

    time: float
    strength: float
    last: float

    def __float__(self) -> float:
        return self.time


@dataclass(frozen=True, eq=False, repr=False)
class DetectionTime(SolverResult):
    """The time of gradient flow with the least threshold, and this `threshold`.

    `residual` is the width in log t to which the time was refined, 0 where the threshold still falls, or rises, at
    the end of the range of times.
    """

    time: float
    threshold: float


@checked
@within_range
def emergence_time(data: SpikedData) -> EmergenceTime:
    """Find the first time at which training by gradient flow lifts the spike of `data` out of the bulk.

    The thresholds of a grid of times, from 1e-3 to 1e3 over the geometric mean of the variances, bracket the first
    crossing of the strength, which is then refined; a visible interval narrower than the grid (a factor 1.8) is missed.
    A spike may be lost again later: the threshold is not monotonic in time. Derived here: the time is the root of
    theta_c(time) = strength, with the threshold theta_c along training from the matrix Dyson equation (see
    `threshold`). The record leaves `training` open. Raises ValueError as `threshold`, and ConvergenceError where
    thresholds end unsolved before the spike is seen.

    >>> from theory import random_matrix
    >>> from theory.models import TwoLevel
    >>> noise = TwoLevel(d=float("inf"), low=0.3, high=4.0, high_fraction=0.2)
    >>> round(float(random_matrix.emergence_time(SpikedData(noise, strength=0.897383, alpha=1.0))), 4)
    1.0
    """
    if data.strength is None:
        raise ValueError("strength must be a positive number for a time of emergence, got None")
    strength, at, times = float(data.strength), _thresholds(data), _grid(data)
    count, before = 0, times[0]
    for time in times:
        count += 1
        if at(time) < strength:
            break
        before = time
    else:
        return EmergenceTime(math.inf, strength, float(times[-1]), residual=0.0, iterations=count, converged=True)
    if time == times[0]:
        return EmergenceTime(0.0, strength, float(times[-1]), residual=0.0, iterations=count, converged=True)
    log_time, found = brentq(
        lambda x: math.log(at(math.exp(x)) / strength),
        math.log(before),
        math.log(time),
        xtol=WIDTH / 100,
        full_output=True,
    )
    best = math.exp(log_time)
    residual = abs(at(best) / strength - 1)
    count += int(found.iterations)
    return EmergenceTime(best, strength, float(times[-1]), residual=residual, iterations=count, converged=True)


@checked
@within_range
def best_detection_time(data: SpikedData) -> DetectionTime:
    """Find the time of gradient flow at which the threshold of the joint predictor is least.

    The grid is that of `emergence_time`; times at its late end whose edge is not resolved are left out. Derived here:
    the threshold along training is that of the matrix Dyson equation (see `threshold`), and its least value is refined
    by golden sections and parabolas. The strength of the record has no part in it. Raises ValueError as `threshold`,
    and ConvergenceError where no time is solved.

    >>> from theory import random_matrix
    >>> from theory.models import TwoLevel
    >>> noise = TwoLevel(d=float("inf"), low=0.3, high=4.0, high_fraction=0.2)
    >>> best = random_matrix.best_detection_time(SpikedData(noise, alpha=1.0))
    >>> f"{best.time:.2f} {best.threshold:.5f}"
    '5.82 0.35040'
    """
    at, solved, values = _thresholds(data), [], []
    for time in _grid(data):
        try:
            values.append(at(time))
        except ConvergenceError:
            if not values:
                raise
            break
        solved.append(math.log(time))
    best = int(np.argmin(values))
    if best in (0, len(values) - 1):
        return DetectionTime(math.exp(solved[best]), values[best], residual=0.0, iterations=len(values), converged=True)
    bounds = (solved[best - 1], solved[best + 1])
    found = minimize_scalar(lambda x: at(math.exp(x)), bounds=bounds, method="bounded", options={"xatol": WIDTH})
    return DetectionTime(
        time=math.exp(found.x),
        threshold=float(found.fun),
        residual=WIDTH,
        iterations=len(values) + int(found.nfev),
        converged=bool(found.success),
    )


def _grid(data: SpikedData) -> Array:
    return np.geomspace(FIRST, LAST, GRID) / data.noise.spectrum.geometric_mean


def _thresholds(data: SpikedData) -> Callable[[float], float]:
    if data.method != "ssr" or data.training is not None:
        given = f"method {data.method!r} and training = {data.training}"
        raise ValueError(f"data must leave the time open, with method 'ssr' and training = None, got {given}")
    return lambda time: threshold_strength(trained_noise(replace(data, training=Flow(float(time))), lambda: math.nan))
