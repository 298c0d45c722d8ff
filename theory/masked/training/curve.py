"""Errors along training at many times, for one covariance and one sample ratio."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from theory.core import Array, NonNegative, Positive, PositiveGrid, SolverResult, checked
from theory.masked.training.point import TrainingPoint, training_point
from theory.masked.training.solution import require_modes
from theory.masked.training.trained import TrainedErrors, curve_of
from theory.models import Covariance
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.numerics.extremes import within_range
from theory.numerics.filters import Filter, flow_filter
from theory.random_matrix.complex_ridge import solve_complex_ridge

MAX_TEMPORARY_NUMBERS = 30_000  # of times, ridges and eigenvalues, which fit into a cache


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrainingCurve(TrainedErrors, SolverResult):
    """Errors of masked regression trained by gradient flow, at each of `times` (points,).

    `test_error`, `train_error` and `gcv_error` have shape (points, d), or for d -> infinity one column for each class
    of coordinates; their means over coordinates have shape (points,). Conventions are those of `MaskedTraining`. Late
    in training of fewer rows than coordinates `gcv_error` is nan, as in `MaskedTrainingSolution`.
    """

    axis: ClassVar[tuple[str, str]] = ("times", "time")

    covariance: Covariance
    alpha: float
    lam: float
    times: Array


@checked
@within_range
def training_curve(
    covariance: Covariance,
    alpha: Positive,
    times: PositiveGrid,
    *,
    lam: NonNegative = 0.0,
    row_scales: RowScales = GAUSSIAN,
) -> TrainingCurve:
    """Compute the errors of masked regression along gradient flow, as `solve` does for `MaskedTraining` with `Flow`.

    `row_scales` is the law of the rows' scales. Derived here as in `solve`: at each time the coefficients are a
    weighted sum of those of ridges, and every pair of ridges has an error that is known. Raises ValueError for an empty
    grid or a time that is not positive, and ConvergenceError where an equation is not solved, or so late that double
    precision does not resolve the sum (`ridgeless` is the limit of infinite time).

    >>> from theory.models import Isotropic
    >>> curve = training_curve(Isotropic(float("inf")), 1.0, [0.5, 5.0, 50.0])
    >>> curve.mean_test_error.round(6)
    array([1.11129 , 2.019133, 5.186805])
    """
    require_modes(covariance)
    points = _points(covariance, alpha, [flow_filter(float(time)).shifted(lam) for time in times], row_scales)
    return curve_of(TrainingCurve, covariance, points, alpha=alpha, lam=lam, times=times)


def _points(covariance: Covariance, alpha: float, filters: list[Filter], rows: RowScales) -> list[TrainingPoint]:
    """Evaluate the errors of all filters; the ridges of some times are solved for together."""
    if not rows.alike:
        return [training_point(covariance, alpha, found, rows=rows) for found in filters]
    count = len(filters[0].ridges)
    together = max(1, MAX_TEMPORARY_NUMBERS // (count * len(covariance.spectrum.eigenvalues)))
    points = []
    for start in range(0, len(filters), together):
        some = filters[start : start + together]
        solved = solve_complex_ridge(covariance.spectrum, alpha, np.concatenate([found.ridges for found in some]))
        for found, kappa in zip(some, np.split(solved.value, len(some)), strict=True):
            points.append(training_point(covariance, alpha, found, solved=replace(solved, value=kappa)))
    return points
