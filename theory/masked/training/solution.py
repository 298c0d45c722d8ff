"""Masked regression at one point of its training: its record, its result, and its mean predictor."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, DataFrame, SolverResult, checked, table
from theory.masked.signs import require_non_negative
from theory.masked.training.one_pass import OnePassSolution, solve_one_pass
from theory.masked.training.optimizers import filter_of
from theory.masked.training.point import training_point
from theory.masked.training.trained import MeansOfErrors
from theory.masked.training.unlike_rows import complex_ridges
from theory.models import Covariance, LargeCovariance
from theory.models.training import MaskedTraining, OnePass, Training
from theory.numerics.extremes import within_range


@dataclass(frozen=True, eq=False, repr=False)
class MaskedTrainingSolution(MeansOfErrors, SolverResult):
    """The errors of masked regression after training for a while: mean squares of each coordinate, without factor 1/2.

    They include the irreducible part. `test_error`, `train_error` and `gcv_error` have shape (d,), or in the limit d ->
    infinity one entry for each class of coordinates. `gcv_error` is the limit of train/(1 - tr phi(C) C/n)^2, what
    generalized cross-validation reports of the filter phi as of any linear fit: unlike that of a ridge it is *not* the
    test error. It is nan late in training of fewer rows than coordinates, where train and the bracket both vanish and
    rounding leaves less than six digits of their ratio. `filter_error` is the largest error of the sum of ridges that
    stands for the optimizer, `rounding` that of its summation, relative to the test error; `residual` is that of the
    equations of the complex effective ridges.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    training: Training
    lam: float
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    gcv_error: Array = field(repr=False)
    filter_error: float
    rounding: float

    def __post_init__(self) -> None:
        require_non_negative(self, "test_error", "train_error", "filter_error", or_nan=("gcv_error",))

    @property
    def mean_gcv_error(self) -> float:
        """The mean of `gcv_error` over the coordinates."""
        return self._mean(self.gcv_error)

    def to_frame(self) -> DataFrame:
        """Tabulate one row for each coordinate or class of coordinates: its test, train and GCV errors."""
        return table(test_error=self.test_error, train_error=self.train_error, gcv_error=self.gcv_error)


def require_modes(covariance: Covariance) -> Covariance:
    """Return a covariance whose modes are known, which complex ridges need; ValueError for another one."""
    if isinstance(covariance, LargeCovariance):
        raise ValueError(
            f"covariance must be one whose eigenvalues are known, for training in time, got {type(covariance).__name__}"
        )
    return covariance


def solve_training(model: MaskedTraining, exact_size: bool) -> MaskedTrainingSolution | OnePassSolution:
    """Solve for the errors along training; see `theory.masked.solve`."""
    require_modes(model.covariance)
    if isinstance(model.training, OnePass):
        if exact_size:
            raise ValueError("exact_size must be False for OnePass: it changes nothing there")
        return solve_one_pass(model)
    found = filter_of(model.training, model.covariance, model.alpha, model.lam, model.row_law)
    point = training_point(model.covariance, model.alpha, found, exact_size, model.row_law)
    return MaskedTrainingSolution(
        model.covariance,
        model.alpha,
        model.training,
        model.lam,
        point.test_error,
        point.train_error,
        point.gcv_error,
        found.error,
        point.rounding,
        residual=point.ridge.residual,
        iterations=point.ridge.iterations,
        converged=point.ridge.converged,
    )


@checked
@within_range
def training_predictor(model: MaskedTraining) -> Array:
    """Compute the deterministic equivalent of the joint predictor along training, (d, d), with a zero diagonal.

    Row k holds the coefficients that predict coordinate k. It is sum_j w_j (I - diag(R_j)^-1 R_j) over the ridges L_j
    of the filter with weights w_j, with R_j = (Sigma + kappa_j)^-1 at their effective ridges kappa_j (derived here: a
    ridge regression is I - diag(Q)^-1 Q with Q = (X'X/n + L_j)^-1). Raises ValueError for an infinite d, for a record
    of one pass, and for a covariance whose modes are not known, and ConvergenceError.

    >>> from theory.models import AR1, Flow
    >>> rows = training_predictor(MaskedTraining(AR1(d=4, correlation=0.5), alpha=2.0, training=Flow(2.0)))
    >>> rows[0].round(4)
    array([0.    , 0.3419, 0.076 , 0.0134])
    """
    covariance = require_modes(model.covariance)
    if not covariance.is_finite:
        raise ValueError("model must have a finite d for its predictor, a matrix, got d = infinity")
    if isinstance(model.training, OnePass):
        raise ValueError("model must not be one pass, whose mean predictor is not known here, got OnePass")
    vectors, s = covariance.eigenvectors, covariance.eigenvalues
    found = filter_of(model.training, covariance, model.alpha, model.lam, model.row_law)
    kappa = complex_ridges(covariance.spectrum, model.alpha, found.ridges, model.row_law)
    resolvents = 1 / (s + kappa[:, None])  # (N, d)
    own = resolvents @ (vectors**2).T
    # Row k is - sum_j w_j [R_j]_k/(R_j)_kk, so that row k has weights of its own on the eigenvectors.
    mixed = 2 * ((found.weights[:, None] / own).T @ resolvents).real
    rows = -(vectors * mixed) @ vectors.T
    np.fill_diagonal(rows, 0.0)
    return np.asarray(rows)
