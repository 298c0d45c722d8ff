"""Masked regressions of a data matrix at many times of gradient flow, and the time that the data choose."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulate.masked import checks, errors
from simulate.masked.row_sources import as_row_blocks
from simulate.masked.training.flow import SecondMoments
from theory.core import Array, DataFrame, NonNegative, PositiveGrid, Result, checked, table
from theory.core.checks import integer, shown
from theory.models import Covariance


@dataclass(frozen=True, eq=False, repr=False)
class TrainingPath(Result):
    """The masked regressions of `TrainedFit` by gradient flow at each of `times` (times,), in the order given.

    `train_error`, `test_estimate` and `gcv_error` have shape (times, d). `test_estimate` estimates the error on new
    rows from the data alone, and is high by a share of order 1/d. `gcv_error` is plain generalized cross-validation,
    train/(1 - df/n)^2 with the exact degrees of freedom df of each regression: along training it is *not* an estimate
    of the test error, which for few rows and late times it misses by any factor.
    """

    times: Array
    lam: float
    train_error: Array = field(repr=False)
    test_estimate: Array = field(repr=False)
    gcv_error: Array = field(repr=False)
    n: int
    d: int
    _moments: SecondMoments = field(repr=False)

    @property
    def mean_train_error(self) -> Array:
        """Mean of `train_error` over the coordinates, (times,)."""
        return np.asarray(self.train_error.mean(1))

    @property
    def mean_test_estimate(self) -> Array:
        """Mean of `test_estimate` over the coordinates, (times,)."""
        return np.asarray(self.test_estimate.mean(1))

    @property
    def mean_gcv_error(self) -> Array:
        """Mean of `gcv_error` over the coordinates, (times,)."""
        return np.asarray(self.gcv_error.mean(1))

    def predictor(self, i: int) -> Array:
        """Return the joint predictor (d, d) at times[i], by two products of matrices."""
        return self._moments.predictor(self._time(i), self.lam)

    @checked
    def loo_residuals(self, i: int, rows: Any, centered: bool = False) -> Array:
        """Return the residuals (k, d) at times[i] of some `rows` (k, d) of X, each left out of the training.

        They are exact, also where rows differ in scale, of which `test_estimate` knows nothing; each time costs 28
        products of (k, d) with (d, d) matrices. The other rows keep their weight 1/n. With `centered` the mean of X,
        which was subtracted, is that of the other rows too.
        """
        some = checks.data_matrix("rows", rows, columns=self.d)
        return self._moments.left_out_residuals(some, self._time(i), self.lam, centered)

    @checked
    def at(self, times: PositiveGrid) -> "TrainingPath":
        """Return the path at other `times`, by the same eigendecomposition; none should be far above the given ones."""
        return _path(self._moments, times, self.lam, self.n, self.d)

    def _time(self, i: int) -> float:
        i, count = integer("i", i), len(self.times)
        if not -count <= i < count:
            raise ValueError(f"i must lie in 0..{count - 1}, an index of times, got {shown(i)}")
        return float(self.times[i])

    def test_error(self, i: int, target: Covariance | Any) -> Array:
        """Compute the error (d,) at times[i], exactly for a Covariance record, else on test rows `target` (m, d)."""
        return errors.error_on(self.predictor(i), target)

    def mean_test_errors(self, target: Covariance | Any) -> Array:
        """Return the means over the coordinates of `test_error`, (times,)."""
        return np.array([self.test_error(i, target).mean() for i in range(len(self.times))])

    def best(self) -> int:
        """Return the index in `times` of the least mean `test_estimate`."""
        return int(self.mean_test_estimate.argmin())

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each time: the means of the train error, the estimate of the test error, and GCV."""
        return table(
            time=self.times,
            mean_train_error=self.mean_train_error,
            mean_test_estimate=self.mean_test_estimate,
            mean_gcv_error=self.mean_gcv_error,
        )


@checked
def fit_training_path(X: Any, times: PositiveGrid, lam: NonNegative = 0.0) -> TrainingPath:
    """Train the masked regressions of X (n, d) by gradient flow up to each of `times`, by one eigendecomposition.

    X and lam are as in `fit`, and X may be larger than memory. Each time costs a few products of (nodes, d) with (d, d)
    matrices. ValueError for `times` that are not positive numbers, and for X as in `fit`.

    >>> from theory.models import AR1
    >>> from simulate.masked import sample
    >>> covariance = AR1(d=60, correlation=0.7)
    >>> path = fit_training_path(sample(covariance, 60, np.random.default_rng(0)), [0.3, 1.0, 3.0, 10.0])
    >>> print(path.times[path.best()], path.mean_test_estimate.round(2), path.mean_test_errors(covariance).round(2))
    1.0 [0.59 0.53 0.56 0.72] [0.6  0.54 0.57 0.71]
    """
    data, lam = as_row_blocks("X", X, with_gram=True), checks.ridge(lam)
    return _path(SecondMoments.of(data, float(times.max()), lam), times, lam, data.n, data.d)


def _path(moments: SecondMoments, times: Array, lam: float, n: int, d: int) -> TrainingPath:
    points = [moments.at(float(time), lam) for time in times]
    names = ("train_error", "test_estimate", "gcv_error")
    train, estimate, gcv = (np.array([getattr(point, name) for point in points]) for name in names)
    return TrainingPath(times, lam, train, estimate, gcv, n, d, moments)
