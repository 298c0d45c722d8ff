"""What the results of training share: errors of points along a curve, and means over coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from theory.core import Array, DataFrame, SolverResult, table
from theory.masked.errors import mean_over_coordinates
from theory.masked.signs import require_non_negative
from theory.masked.training.point import TrainingPoint
from theory.models import Covariance

ERRORS = ("test_error", "train_error", "gcv_error")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrainedErrors:
    """Errors of trained masked regression at several points: what the curves over times and sample ratios share.

    `test_error`, `train_error` and `gcv_error` have shape (points, d), or for d -> infinity one column for each class
    of coordinates; their means over coordinates have shape (points,). Conventions are those of `MaskedTraining`. Late
    in training of fewer rows than coordinates `gcv_error` is nan, as in `MaskedTrainingSolution`.
    """

    axis: ClassVar[tuple[str, str]]  # the field with the points, and its column in a table

    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    gcv_error: Array = field(repr=False)
    mean_test_error: Array = field(repr=False)
    mean_train_error: Array = field(repr=False)
    mean_gcv_error: Array = field(repr=False)

    def __post_init__(self) -> None:
        *always, gcv = ERRORS
        names = (*always, *(f"mean_{name}" for name in always))
        require_non_negative(cast(SolverResult, self), *names, or_nan=(gcv, f"mean_{gcv}"))

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each point: its time or sample ratio, and the means of the test, train and GCV errors."""
        name, column = self.axis
        return table(**{column: getattr(self, name)}, **{f"mean_{one}": getattr(self, f"mean_{one}") for one in ERRORS})


Curve = TypeVar("Curve", bound=TrainedErrors)


def curve_of(kind: type[Curve], covariance: Covariance, points: Sequence[TrainingPoint], **own: Any) -> Curve:
    """Return the curve of this kind through some points; `own` are the fields that only this kind has."""
    found = {name: np.array([getattr(point, name) for point in points]) for name in ERRORS}
    means = {f"mean_{name}": mean_over_coordinates(covariance, values) for name, values in found.items()}
    more: dict[str, Any] = {
        "covariance": covariance,
        "residual": max(point.ridge.residual for point in points),
        "iterations": max(point.ridge.iterations for point in points),
        "converged": all(point.ridge.converged for point in points),
    }
    return kind(**own, **found, **means, **more)


class MeansOfErrors:
    """The means over coordinates of a solution with `test_error` and `train_error`."""

    covariance: Covariance
    test_error: Array
    train_error: Array

    def _mean(self, values: Array) -> float:
        return float(mean_over_coordinates(self.covariance, values))

    @property
    def mean_test_error(self) -> float:
        """The mean of `test_error` over the coordinates."""
        return self._mean(self.test_error)

    @property
    def mean_train_error(self) -> float:
        """The mean of `train_error` over the coordinates."""
        return self._mean(self.train_error)
