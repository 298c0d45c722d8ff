"""Fits all d masked regressions of a data matrix by training them for a while."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulate.masked import checks, errors
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.training.flow import SecondMoments
from simulate.masked.training.steps import descend, one_pass
from theory.core import Array, DataFrame, NonNegative, Result, checked, table
from theory.models import Covariance, Descent, Flow, OnePass, Training


@dataclass(frozen=True, eq=False, repr=False)
class TrainedFit(Result):
    """The d masked regressions of a data matrix, trained from zero as `training` says; errors without a factor 1/2.

    `predictor` (d, d) has in row k the coefficients for coordinate k, and a zero diagonal. `train_error` (d,) are mean
    squares of the residuals on the rows that were fitted.
    """

    predictor: Array = field(repr=False)
    train_error: Array = field(repr=False)
    training: Training
    lam: float
    n: int
    d: int

    def test_error(self, target: Covariance | Any) -> Array:
        """Compute the error (d,) on new data: exactly for a Covariance record, else on test rows `target` (m, d)."""
        return errors.error_on(self.predictor, target)

    def mean_test_error(self, target: Covariance | Any) -> float:
        """Return the mean of `test_error` over the coordinates."""
        return float(self.test_error(target).mean())

    @property
    def mean_train_error(self) -> float:
        """Mean of `train_error` over the coordinates."""
        return float(self.train_error.mean())

    def to_frame(self) -> DataFrame:
        """Tabulate the train error of each coordinate."""
        return table(coordinate=np.arange(self.d), train_error=self.train_error)


@checked
def fit_training(X: Any, training: Training, lam: NonNegative = 0.0) -> TrainedFit:
    """Train masked regressions, of every column of a data matrix X (n, d) on all others, from zero.

    Gradient flow (`Flow`) takes one eigendecomposition of X'X/n and two products of matrices for all coordinates;
    `Descent`, `HeavyBall` and `Nesterov` are followed step by step, at one product each, and `OnePass` row by row in
    the order of the rows. `lam` is a ridge on top of it, as in `fit`. X is used as given, its column means included.
    ValueError for steps that diverge, a ridge with one pass, and for X as in `fit`.

    >>> from theory.models import AR1
    >>> from simulate.masked import sample
    >>> X = sample(AR1(d=5, correlation=0.7), 200, np.random.default_rng(0))
    >>> errors = [fit_training(X, Flow(time)).mean_train_error for time in (0.1, 1.0, 10.0)]
    >>> print(", ".join(f"{error:.3f}" for error in errors))
    0.777, 0.428, 0.387
    """
    data = checks.data_matrix("X", X)
    if isinstance(training, Flow):
        moments = SecondMoments.of(RowBlocks.of_array("X", data), training.time, lam)
        train_error = moments.at(training.time, lam).train_error
        return _fitted(moments.predictor(training.time, lam), train_error, training, lam, data)
    if isinstance(training, OnePass):
        if lam:
            raise ValueError(f"lam must be 0 for OnePass, which has no penalty, got {lam!r}")
        predictor = one_pass(data, training.step)
    elif isinstance(training, Descent):
        predictor = descend(data.T @ data / len(data), training, lam)
    else:
        raise ValueError(f"training must be Flow, Descent, HeavyBall, Nesterov or OnePass, got {training!r}")
    return _fitted(predictor, errors.error_on(predictor, data), training, lam, data)


def _fitted(predictor: Array, train_error: Array, training: Training, lam: float, data: Array) -> TrainedFit:
    for array in (predictor, train_error):
        array.setflags(write=False)
    return TrainedFit(predictor, train_error, training, lam, *data.shape)
