"""Fits a whole path of ridge strengths, by one eigendecomposition of the smaller Gram matrix."""

import functools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from simulate.masked import checks, errors, spectral
from simulate.masked.corrected import corrected_errors
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.row_sources import as_row_blocks
from theory.core import Array, DataFrame, Result, checked, table
from theory.core.checks import fits_in_memory, integer, shown
from theory.models import Covariance, RowDependence

LEFT_OUT = 256  # rows whose errors choose the ridge
COARSE_STEP = 8  # step of the search along the ridges, a power of two


@dataclass(frozen=True, eq=False, repr=False)
class MaskedPath(Result):
    """The masked regressions of `MaskedFit` at every ridge strength of `lams`, in the order given."""

    lams: Array  # (n_lams,)
    train_error: Array  # (n_lams, d)
    gcv_error: Array  # (n_lams, d)
    effective_ridge: Array  # (n_lams,)
    diagonal: Array  # (n_lams, d), of Q = (X'X/n + lam)^-1; infinite where lam = 0 and X does not determine it
    n: int
    d: int
    _modes: spectral.Modes = field(repr=False)
    _rows: RowBlocks = field(repr=False)  # X itself, for what leaves rows out

    def loo_residuals(self, i: int) -> Array:
        """Return the leave-one-out residuals (n, d) at lams[i], as those of `MaskedFit`, by two matrix products."""
        lam = float(self.lams[self._index(i)])
        fits_in_memory(f"leave-one-out residuals of {self.n} x {self.d} numbers", float(self.n) * self.d)
        residuals = np.empty((self.n, self.d))
        for start, block in self._rows.numbered():
            residuals[start : start + len(block)] = spectral.LeaveOneOut.of_modes(block, self._modes).residuals(lam)
        return residuals

    def residual_pair(self, i: int, rows: Array) -> tuple[Array, Array]:
        """Return the residuals and the leave-one-out residuals (k, d) at lams[i] of some `rows` (k, d) of X."""
        some = checks.data_matrix("rows", rows, columns=self.d)
        return spectral.LeaveOneOut.of_modes(some, self._modes).pair(float(self.lams[self._index(i)]))

    @cached_property
    def mean_loo_error(self) -> Array:
        """Mean squares of the leave-one-out residuals at every ridge, (n_lams,), in one pass; computed when asked for.

        Each ridge costs one matrix product. Unlike `mean_gcv_error` they are right where rows differ in scale.
        """
        total = np.zeros(len(self.lams))
        for block in self._rows:
            fits = spectral.LeaveOneOut.of_modes(block, self._modes)
            for i, lam in enumerate(self.lams):
                residuals = fits.residuals(float(lam))
                total[i] += np.vdot(residuals, residuals)
        return total / (self.n * self.d)

    @checked
    def corrected_error(self, row_dependence: RowDependence, centered: bool = False) -> Array:
        """Compute the errors (n_lams, d) that GCV would report if it knew how the rows depend on each other.

        They are those of `MaskedFit.corrected_error` at every ridge. For rows in time of a short memory they cost, with
        the eigenvalues of the dependence, .35 to .41 of the path at 400 rows of 200 columns and 30 ridges, and .05 at
        2000 rows of 500.
        """
        ridges = "lams", float(self.lams.min())
        return corrected_errors(self.train_error, self.gcv_error, self.n, ridges, row_dependence, centered)

    def predictor(self, i: int) -> Array:
        """Return the joint predictor (d, d) at lams[i], by one matrix product."""
        i = self._index(i)
        return spectral.predictor(self._modes, float(self.lams[i]))

    def test_error(self, i: int, target: Covariance | Any) -> Array:
        """Returns the error (d,) at lams[i], on a Covariance record (exact population error) or on test rows (m, d)."""
        return errors.error_on(self.predictor(i), target)

    def mean_test_errors(self, target: Covariance | Any) -> Array:
        """Return the means over the coordinates of `test_error`, (n_lams,); each lam costs two matrix products."""
        return np.array([self.test_error(i, target).mean() for i in range(len(self.lams))])

    def _index(self, i: int) -> int:
        i, count = integer("i", i), len(self.lams)
        if not -count <= i < count:
            raise ValueError(f"i must lie in 0..{count - 1}, an index of lams, got {shown(i)}")
        return i

    @property
    def mean_train_error(self) -> Array:
        """Mean of `train_error` over the coordinates, (n_lams,)."""
        return np.asarray(self.train_error.mean(axis=1))

    @property
    def mean_gcv_error(self) -> Array:
        """Mean of `gcv_error` over the coordinates, (n_lams,)."""
        return np.asarray(self.gcv_error.mean(axis=1))

    @checked
    def best(
        self,
        by: Literal["gcv", "loo", "corrected"] = "gcv",
        row_dependence: RowDependence | None = None,
        centered: bool = False,
    ) -> int:
        """Return the index in `lams` of the smallest mean error, by GCV, by leaving one row out, or by corrected GCV.

        "corrected" is for rows that depend on each other as `row_dependence` says (see `corrected_error`), where the
        other two choose too small a ridge.

        For "loo" at most 256 rows, a fixed random choice, are each left out of a fit to all others. Their mean error is
        searched from coarse to fine steps along the ridges in order of size, at two to three times the cost of the path
        itself. The index found is that of the least error of all if the error has one minimum.
        """
        if by == "gcv":
            return int(self.mean_gcv_error.argmin())
        if by == "corrected":
            if row_dependence is None:
                raise ValueError("row_dependence must be given for the corrected error, got None")
            return int(self.corrected_error(row_dependence, centered).mean(axis=1).argmin())
        from simulate.core import stream  # loads what runs processes, of which a fit has no need

        order = np.argsort(self.lams, kind="stable")
        some = stream(0, "rows left out", self.n).permutation(self.n)[:LEFT_OUT]
        fits = spectral.LeaveOneOut.of_modes(self._rows.take(np.sort(some)), self._modes)
        error = functools.cache(lambda place: _mean_square(fits.residuals(float(self.lams[order[place]]))))
        best, step = min(range(0, len(order), COARSE_STEP), key=error), COARSE_STEP // 2
        while step:
            near = [place for place in (best - step, best, best + step) if 0 <= place < len(order)]
            found = min(near, key=error)
            best, step = found, step // 2 if found == best else step
        return int(order[best])

    def to_frame(self) -> DataFrame:
        """Make a table with a row for each lam: mean train and GCV errors and the effective ridge."""
        return table(
            lam=self.lams,
            mean_train_error=self.mean_train_error,
            mean_gcv_error=self.mean_gcv_error,
            effective_ridge=self.effective_ridge,
        )

    def __repr__(self) -> str:
        best = self.best()
        return (
            f"MaskedPath(n={self.n}, d={self.d}, {len(self.lams)} lams in [{self.lams.min():g}, {self.lams.max():g}], "
            f"best lam={self.lams[best]:g} with mean_gcv_error={self.mean_gcv_error[best]:.6g})"
        )


@checked
def fit_path(X: Any, lams: Any) -> MaskedPath:
    """Fit the masked ridge regressions of X (n, d) at every ridge of `lams`, by one eigendecomposition.

    X and each lam are as in `fit`; lam = 0 and data larger than memory are allowed.

    Eigenvectors are accurate to 1e-15 of the mean square of the largest column, so that columns of very different size
    should be given to `fit` instead. ValueError as in `fit`, and for `lams` that is empty or not a list of numbers.

    >>> X = np.random.default_rng(0).standard_normal((20, 4))
    >>> path = fit_path(X, lams=[0.01, 0.1, 1.0])
    >>> path.train_error.shape, bool((np.diff(path.mean_train_error) > 0).all())
    ((3, 4), True)
    """
    strengths = checks.ridges(lams)
    data = as_row_blocks("X", X, with_gram=True)
    modes = spectral.decompose(data, float(strengths.min()))
    found = spectral.diagonals(modes, strengths)
    return MaskedPath(
        lams=strengths,
        train_error=found.train_error,
        gcv_error=found.gcv_error,
        effective_ridge=found.effective_ridge,
        diagonal=found.diagonal,
        n=data.n,
        d=data.d,
        _modes=modes,
        _rows=data,
    )


def _mean_square(residuals: Array) -> float:
    return float(np.vdot(residuals, residuals)) / residuals.size
