"""The result record of the masked regression solvers."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from theory.core.arrays import Array
from theory.core.frames import table
from theory.core.results import SolverResult
from theory.masked.signs import require_non_negative
from theory.models import Covariance, MaskedRegression

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MaskedRidgeSolution(SolverResult):
    """The errors of masked ridge regression: mean squares of each coordinate, without a factor 1/2.

    They include the irreducible part. `test_error` and `train_error` have shape (d,). In the limit d -> infinity they
    have one entry for each class of coordinates, and shape (1,) where all coordinates are alike. `gcv_error`, of the
    same shape, is the limit of the error that generalized cross-validation reports as n and d grow: it is the test
    error where all rows have one scale, and too small where they differ. `df1` and `df2` are degrees of freedom per
    dimension, tr/d. `residual` is the residual of the equation for the effective ridge, relative to its terms.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float
    effective_ridge: float | Array
    df1: float | Array
    df2: float | Array
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    gcv_error: Array = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(self, "effective_ridge", "df1", "df2", "test_error", "train_error", "gcv_error")

    @property
    def leave_one_out_error(self) -> Array:
        """The limit of the leave-one-out error, which is the test error itself, whatever the scales of the rows."""
        return self.test_error

    @property
    def mean_gcv_error(self) -> float:
        """Mean of `gcv_error` over the coordinates; for d -> infinity over classes with their shares."""
        return self._mean(self.gcv_error)

    @property
    def mean_test_error(self) -> float:
        """Mean of `test_error` over the coordinates; for d -> infinity over classes with their shares."""
        return self._mean(self.test_error)

    @property
    def mean_train_error(self) -> float:
        """Mean of `train_error` over the coordinates, likewise."""
        return self._mean(self.train_error)

    @property
    def total_test_error(self) -> float:
        """Sum of `test_error` over all d coordinates; infinite in the limit d -> infinity."""
        return self.covariance.d * self.mean_test_error

    @property
    def total_train_error(self) -> float:
        """Sum of `train_error` over all d coordinates; infinite in the limit, but zero where every error is zero."""
        return self.covariance.d * self.mean_train_error if self.mean_train_error else 0.0

    def to_frame(self) -> "pd.DataFrame":
        """Return a table of test and train errors with a row for each coordinate, or class of them for d = infinity."""
        return table(
            coordinate=np.arange(len(self.test_error)), test_error=self.test_error, train_error=self.train_error
        )

    def _mean(self, errors: Array) -> float:
        if math.isfinite(self.covariance.d):
            return float(np.mean(errors))
        return float(self.covariance.spectrum.coordinate_mean(errors))


def per_coordinate(covariance: Covariance, values: Array) -> Array:
    """Spread values (..., c) over the d coordinates of a finite covariance; in the limit each class keeps one value."""
    if not covariance.is_finite:
        return values
    return np.broadcast_to(values, (*values.shape[:-1], covariance.size))


def masked_regression(covariance: Covariance | MaskedRegression, alpha: float | None) -> MaskedRegression:
    """Return the record of a problem that is given as one, or as a covariance and a sample ratio.

    ValueError for a record together with a sample ratio, and for a covariance without one.
    """
    if isinstance(covariance, MaskedRegression):
        if alpha is not None:
            raise ValueError(f"alpha must be left out beside a MaskedRegression, which has its own, got {alpha!r}")
        return covariance
    if alpha is None:
        raise ValueError("alpha is needed beside a covariance")
    return MaskedRegression(covariance, alpha)
