"""Learning curves of trained regression: errors over the sample ratio, at one length of training."""

from dataclasses import dataclass
from typing import ClassVar

from theory.core import Array, NonNegative, PositiveGrid, SolverResult, checked
from theory.masked.training.optimizers import filter_of
from theory.masked.training.point import training_point
from theory.masked.training.solution import require_modes
from theory.masked.training.trained import TrainedErrors, curve_of
from theory.models import Covariance
from theory.models.conventions import RATIOS
from theory.models.joint_rows import laws_of_samples
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.models.training import OnePass, Training
from theory.numerics.extremes import within_range


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrainedLearningCurve(TrainedErrors, SolverResult):
    """Errors of masked regression after one length of training, at each of the sample ratios `alphas` (points,).

    `test_error`, `train_error` and `gcv_error` have shape (points, d), or for d -> infinity one column for each class
    of coordinates; their means over coordinates have shape (points,). Conventions are those of `MaskedTraining`. Late
    in training of fewer rows than coordinates `gcv_error` is nan, as in `MaskedTrainingSolution`.
    """

    axis: ClassVar[tuple[str, str]] = ("alphas", "alpha")

    covariance: Covariance
    alphas: Array
    training: Training
    lam: float


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
    samples = laws_of_samples(row_scales, row_dependence, alphas, covariance.d)
    for alpha, rows in zip(alphas.tolist(), samples, strict=True):
        points.append(training_point(covariance, alpha, filter_of(training, covariance, alpha, lam, rows), rows=rows))
    return curve_of(TrainedLearningCurve, covariance, points, alphas=alphas, training=training, lam=lam)
