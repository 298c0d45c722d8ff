"""The result record of masked regression on a table with holes."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.core import Array, DataFrame, SolverResult, table
from theory.masked.holes.least_ridge import least_ridge
from theory.masked.holes.oracle import OracleError, mean_over_holes, oracle_of_rows
from theory.models import MissingEntries
from theory.numerics import ConvergenceError

ADVICE = "the covariance is too near to a singular one for double precision: take smaller correlations or a larger lam"


@dataclass(frozen=True, eq=False, repr=False)
class MissingEntriesSolution(SolverResult):
    """The mean squared errors of predicted entries of a table with holes, without a factor 1/2.

    `test_error` has shape (d,), or one entry for each class of coordinates in the limit d -> infinity; under `Dropout`
    it is NaN at a column of the table that has no holes. `stderr`, of the same shape, and `mean_stderr` are the
    standard errors that come from drawing patterns of holes, and zero where none are drawn.

    `effective_ridge` is one number, or (d,) where columns differ. For own rows it is kappa of the covariance of the
    zero-filled rows; the predictor of zero-filled inputs is that of this covariance at the ridge kappa. For the
    pairwise estimator the predictor is that of Sigma with kappa_k added to its diagonal, which can be negative.
    """

    model: MissingEntries
    effective_ridge: float | Array
    test_error: Array = field(repr=False)
    stderr: Array = field(repr=False)
    mean_stderr: float
    patterns: int = field(repr=False)
    seed: int = field(repr=False)

    def __post_init__(self) -> None:
        errors = self.test_error[~np.isnan(self.test_error)] if self._may_lack_holes else self.test_error
        if not (errors >= 0).all():
            wrong = float(errors[~(errors >= 0)][0])
            what = f"{type(self).__name__}: test_error came out as {wrong:.3g}"
            raise ConvergenceError.of(what, errors, np.inf, 0.0, self.iterations, status="inadmissible", advice=ADVICE)

    @property
    def _may_lack_holes(self) -> bool:
        return self.model.rows == "table" and self.model.drops_out

    @property
    def mean_test_error(self) -> float:
        """Mean of `test_error` over the columns, those without holes left out."""
        return mean_over_holes(self.model.covariance, self.test_error)

    @cached_property
    def least_ridge(self) -> float:
        """The ridge that lam must exceed: 0 for own rows, minus the least eigenvalue of S for the pairwise estimator.

        S is the covariance matrix of all columns; where it is positive definite, the least ridge is negative. For
        Sigma = 1 it is (p - (1 - sqrt(d/n))^2)/q where n > d (the edge of arXiv:1507.01615, abstract), and p/q where
        n <= d, whatever n.
        """
        return least_ridge(self.model)

    @cached_property
    def oracle(self) -> OracleError:
        """The least errors that are possible on these rows, with Sigma known, and their standard errors."""
        return oracle_of_rows(self.model, self.patterns, self.seed)

    @property
    def oracle_error(self) -> Array:
        """The variance of each predicted entry given what its row shows, of the shape of `test_error`.

        ValueError in a limit d -> infinity where it is not known; see `theory.masked.oracle_error`.
        """
        return self.oracle.value

    @property
    def mean_oracle_error(self) -> float:
        """Mean of `oracle_error`, as that of `test_error`."""
        return self.oracle.mean

    def to_frame(self) -> DataFrame:
        """Return a table of test errors and their standard errors with a row for each column, or class of them."""
        return table(coordinate=np.arange(len(self.test_error)), test_error=self.test_error, stderr=self.stderr)
