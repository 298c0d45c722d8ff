"""Fits all d masked ridge regressions of a data matrix, by one factorization."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from simulate.masked import checks, errors
from simulate.masked.corrected import corrected_errors
from simulate.masked.dual import dual
from simulate.masked.primal import primal
from simulate.masked.regressions import Pairs, Regressions
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.row_sources import as_row_blocks
from simulate.masked.spectral import spectral
from theory.core import Array, DataFrame, Result, checked, table
from theory.core.checks import fits_in_memory
from theory.models import Covariance, RowDependence

DUAL_BELOW = 0.7  # below this n/d the n x n factorization is faster (0.74 as measured at d = 1000)
INTERPOLATING_RIDGE = 1e-6  # below this lam over the mean square of X the d x d inverse loses its digits for n < d


@dataclass(frozen=True, eq=False, repr=False)
class MaskedFit(Result):
    """The d masked ridge regressions of a data matrix: argmin_a (1/n) |X_k - X_-k a|^2 + lam |a|^2 (arXiv:2601.23208).

    Every coordinate is predicted from all others. Errors are mean squares per coordinate, without a factor 1/2.
    `loo_residuals` and the test errors are computed when asked for.
    """

    predictor: Array  # (d, d), row k holds the coefficients for coordinate k; zero diagonal
    train_error: Array  # (d,)
    gcv_error: Array  # (d,), train/(1 - df/n)^2 with the exact degrees of freedom of each regression
    effective_ridge: float  # kappa = 1/((1/n) tr (XX'/n + lam)^-1)
    shrinkage: Array  # (d,), lam Q_kk with Q = (X'X/n + lam)^-1, in [0, 1]
    lam: float
    n: int
    d: int
    method: str  # "primal", "dual" or "spectral"
    _leave_one_out: Callable[[], Pairs] = field(repr=False)

    def residual_blocks(self) -> Pairs:
        """Yield the residuals and the leave-one-out residuals (rows, d) of one block of rows after the other.

        The leave-one-out residuals are those of X_ik against the regression of k refitted without row i, with n lam
        kept. Nothing larger than a block is held, which is what tables larger than memory need.
        """
        return self._leave_one_out()

    @cached_property
    def loo_residuals(self) -> Array:
        """Compute the leave-one-out residuals (n, d) of all rows at once; MemoryError where they do not fit."""
        fits_in_memory(f"leave-one-out residuals of {self.n} x {self.d} numbers", float(self.n) * self.d)
        residuals, start = np.empty((self.n, self.d)), 0
        for _, left_out in self.residual_blocks():
            residuals[start : start + len(left_out)] = left_out
            start += len(left_out)
        residuals.setflags(write=False)
        return residuals

    @cached_property
    def loo_error(self) -> Array:
        """Mean squares of the leave-one-out residuals, (d,), block by block."""
        total = np.zeros(self.d)
        # Residuals that were asked for before spare another pass over the table.
        known: Array | None = self.__dict__.get("loo_residuals")
        for left_out in (block for _, block in self.residual_blocks()) if known is None else [known]:
            total += np.einsum("ij,ij->j", left_out, left_out)
        return total / self.n

    def test_error(self, target: Covariance | Any) -> Array:
        """Computes the error (d,) on new data: exactly for a Covariance record, else on test rows `target` (m, d).

        A square array counts as rows too, so wrap a covariance matrix as `Empirical(matrix)`. ValueError for another
        size.
        """
        return errors.error_on(self.predictor, target)

    def mean_test_error(self, target: Covariance | Any) -> float:
        """Return the mean of `test_error` over the coordinates."""
        return float(self.test_error(target).mean())

    @checked
    def corrected_error(self, row_dependence: RowDependence, centered: bool = False) -> Array:
        """Compute the error (d,) on new independent rows that GCV would report if it knew how the rows depend.

        GCV and leaving one row out report too small an error where rows resemble their neighbors, in the same
        proportion for all rows alike in it. With the eigenvalues t of the covariance T of the rows the corrected error
        is train/mean(t/(1 + tD)^2), where mean(tD/(1 + tD)) = df/n determines D; for independent rows it is the GCV
        error. T may be that of `autoregressive_rows`: with it the error was 2 % too low for 100 rows with a correlation
        of .6 between neighbors, and 10 % for .9. With `centered`, for rows of which the columns' means were subtracted,
        the eigenvalues are those of the rows about their mean, and the error is that of a new row about the mean of the
        fitted rows. The eigenvalues of T are computed once, at n^3 flops where neither a closed form is known nor the
        memory is short.

        ValueError for a dependence that has no law of n rows (see `RowDependence.resized`), and where lam is so small
        that the rows are interpolated.

        >>> from simulate.core import stream
        >>> from simulate.masked import sample
        >>> from theory.models import AR1, AR1Rows
        >>> covariance, law = AR1(d=50, correlation=0.6), AR1Rows(100, 0.9)
        >>> found = fit(sample(covariance, 100, stream(0, "docstring"), row_dependence=law), lam=0.1)
        >>> errors = found.mean_gcv_error, found.corrected_error(law).mean(), found.mean_test_error(covariance)
        >>> print(", ".join(f"{error:.2f}" for error in errors))
        0.12, 0.76, 0.78
        """
        ridge = "lam", self.lam
        return corrected_errors(self.train_error, self.gcv_error, self.n, ridge, row_dependence, centered)

    @property
    def mean_train_error(self) -> float:
        """Mean of `train_error` over the coordinates."""
        return float(self.train_error.mean())

    @property
    def mean_gcv_error(self) -> float:
        """Mean of `gcv_error` over the coordinates."""
        return float(self.gcv_error.mean())

    def to_frame(self) -> DataFrame:
        """Make a table of train, GCV and leave-one-out errors with a row for each coordinate."""
        return table(
            coordinate=np.arange(self.d),
            train_error=self.train_error,
            gcv_error=self.gcv_error,
            loo_error=self.loo_error,
        )

    def __repr__(self) -> str:
        return (
            f"MaskedFit(n={self.n}, d={self.d}, lam={self.lam:g}, method={self.method!r}, "
            f"mean_train_error={self.mean_train_error:.6g}, mean_gcv_error={self.mean_gcv_error:.6g}, "
            f"effective_ridge={self.effective_ridge:.6g})"
        )


@checked
def fit(X: Any, lam: float) -> MaskedFit:
    """Fit masked ridge regressions, of every column of a data matrix X (n, d) on all others, by one factorization.

    X is used as given, its column means included. For data whose means carry no information pass `contrasts(X)`, or X
    minus its means if n is well above d. X may be larger than memory, in any of the forms that `row_blocks` takes: then
    `row_blocks(X).centered()` subtracts the means, and two passes hold one block of rows and a few d x d matrices. If
    there are fewer rows than columns they are held all at once, since the predictor is larger anyway. `lam` = 0 gives
    least squares, of minimum norm where that is not unique (n < d, duplicated or zero columns). The d x d matrix is
    factorized for n >= d, the n x n one for n well below d, and the singular values of X are used where rounding would
    show. ValueError for an X that is not a finite real matrix or has columns (other than zero) of a size outside 1e-50
    to 1e50, and for lam outside [0, 1e100].

    >>> from theory.models import AR1
    >>> from simulate.masked import sample
    >>> X = sample(AR1(d=5, correlation=0.7), 200, np.random.default_rng(0))
    >>> found = fit(X, lam=0.01)
    >>> found.predictor.shape, found.method
    ((5, 5), 'primal')
    >>> bool((found.train_error < found.loo_error).all())
    True
    """
    lam = checks.ridge(lam)
    data = as_row_blocks("X", X, with_gram=True)
    found = _fast_route(data, lam) or spectral(data, lam)
    for array in (found.predictor, found.train_error, found.gcv_error, found.shrinkage):
        array.setflags(write=False)
    return MaskedFit(
        predictor=found.predictor,
        train_error=found.train_error,
        gcv_error=found.gcv_error,
        effective_ridge=found.effective_ridge,
        shrinkage=found.shrinkage,
        lam=lam,
        n=data.n,
        d=data.d,
        method=found.method,
        _leave_one_out=found.leave_one_out,
    )


def _fast_route(X: RowBlocks, lam: float) -> Regressions | None:
    """Return the regressions by the Cholesky factorization that costs least, or None where rounding would show."""
    n, d = X.n, X.d
    if n >= d:
        return primal(X, lam)
    rows = X.all_rows()
    if n < DUAL_BELOW * d or lam < INTERPOLATING_RIDGE * np.vdot(rows, rows) / rows.size:
        return dual(rows, lam)
    return primal(X, lam)
