"""Learning curves of trained regression: errors over the sample ratio, at one length of training."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, DataFrame, NonNegative, PositiveGrid, SolverResult, checked, table
from theory.masked.errors import mean_over_coordinates
from theory.masked.signs import require_non_negative
from theory.masked.training.optimizers import filter_of
from theory.masked.training.point import training_point
from theory.masked.training.solution import require_modes
from theory.models import Covariance
from theory.models.conventions import RATIOS
from theory.models.joint_rows import law_of_sample
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.models.training import OnePass, Training
from theory.numerics.extremes import within_range


@dataclass(frozen=True, eq=False, repr=False)
class TrainedLearningCurve(SolverResult):
    """Errors of masked regression after one length of training, at each of the sample ratios `alphas` (points,).

    Fields are those of `TrainingCurve`, with the sample ratio in the place of the time.
    """

    covariance: Covariance
    alphas: Array
    training: Training
    lam: float
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    gcv_error: Array = field(repr=False)
    mean_test_error: Array = field(repr=False)
    mean_train_error: Array = field(repr=False)
    mean_gcv_error: Array = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(self, "test_error", "train_error", "gcv_error")
        require_non_negative(self, "mean_test_error", "mean_train_error", "mean_gcv_error")

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each sample ratio: alpha and the means of the test, train and GCV errors."""
        return table(
            alpha=self.alphas,
            mean_test_error=self.mean_test_error,
            mean_train_error=self.mean_train_error,
            mean_gcv_error=self.mean_gcv_error,
        )


@checked
@within_range
def trained_learning_curve(
    covariance: Covariance,
    alphas: PositiveGrid,
    training: Training,
    *,
    lam: NonNegative = 0.0,
    row_scales: RowScales = GAUSSIAN,
    row_dependence: RowDependence = INDEPENDENT,
) -> TrainedLearningCurve:
    """Compute the errors of trained masked regression over sample ratios, as `solve` does for `MaskedTraining`.

    `learning_curve` does this for ridges. `row_scales` and `row_dependence` are as there. Derived here as in `solve`:
    the trained coefficients are a weighted sum of those of ridges, and every pair of ridges has an error that is known.
    Raises ValueError for an empty grid, a ratio that is not positive, or `OnePass` (whose result at one ratio has all
    smaller ones), and ConvergenceError.

    >>> from theory.models import Flow, Isotropic
    >>> curve = trained_learning_curve(Isotropic(float("inf")), [0.5, 1.0, 2.0], Flow(5.0))
    >>> curve.mean_test_error.round(6)
    array([1.817039, 2.019133, 1.606224])
    """
    require_modes(covariance)
    if isinstance(training, OnePass):
        raise ValueError(
            "training must be Flow, Descent, HeavyBall or Nesterov: the solution of OnePass at the largest ratio has "
            f"the errors at all smaller ones, got {training!r}"
        )
    RATIOS.check("alphas", alphas.min()), RATIOS.check("alphas", alphas.max())
    points = []
    for alpha in map(float, alphas):
        rows = law_of_sample(row_scales, row_dependence, alpha, covariance.d)
        points.append(training_point(covariance, alpha, filter_of(training, covariance, alpha, lam, rows), rows=rows))
    found = [
        np.array([getattr(point, name) for point in points]) for name in ("test_error", "train_error", "gcv_error")
    ]
    return TrainedLearningCurve(
        covariance,
        alphas,
        training,
        lam,
        *found,
        *(mean_over_coordinates(covariance, values) for values in found),
        residual=max(point.ridge.residual for point in points),
        iterations=max(point.ridge.iterations for point in points),
        converged=all(point.ridge.converged for point in points),
    )
