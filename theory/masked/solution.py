"""The result record of the masked regression solvers."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Count, DataFrame, NonNegativeCount, Positive, SolverResult, Vector, checked, table
from theory.masked.errors import mean_over_coordinates
from theory.masked.fitted_rows import FittedRows
from theory.masked.ridge_point import RidgePoint
from theory.masked.signs import require_non_negative
from theory.models import Covariance, MaskedRegression, MaskedRidge, RowDependence


@dataclass(frozen=True, eq=False, repr=False)
class MaskedRidgeSolution(SolverResult):
    """The errors of masked ridge regression: mean squares of each coordinate, without a factor 1/2.

    They include the irreducible part. `test_error` and `train_error` have shape (d,). In the limit d -> infinity they
    have one entry for each class of coordinates, and shape (1,) where all coordinates are alike. `test_error` is that
    of a new row that is independent of the others. `gcv_error`, of the same shape, is the limit of the error that
    generalized cross-validation reports as n and d grow: it is the test error where all rows are independent and of one
    scale, and too small where they differ or depend on each other. `df1` and `df2` are degrees of freedom per
    dimension, tr/d. `residual` is the residual of the equation for the effective ridge, relative to its terms.

    What looks at single rows follows from one formula. The residuals r_k (n,) of coordinate k on the fitted rows have
    the mean products E r_k r_k' = E_k T (1 + D T)^-2, where E_k is the test error, T the covariance between the rows
    and D = df1 kappa/(alpha lam) (derived here: in the eigenbasis of T rows are independent and of the scales t, x_i Q
    = x_i Q_-i/(1 + t_i D), and products of two different rows vanish under z_i -> -z_i). `leave_one_out_error`,
    `near_error`, `next_row_error` and `fold_error` are read off it; for one teacher, ridge regression with correlated
    rows is treated in arXiv:2408.04607, of which only the abstract was read here.
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
    _rows: FittedRows = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(self, "effective_ridge", "df1", "df2", "test_error", "train_error", "gcv_error")

    @cached_property
    def leave_one_out_error(self) -> Array:
        """The limit of the leave-one-out error of each coordinate, shaped as `test_error`.

        It is the test error itself for independent rows, whatever their scales. For rows with the covariance T it is
        E_k mean_i [T (1 + D T)^-2]_ii/([(1 + D T)^-1]_ii)^2. Where all rows are alike, as in time or in subjects of
        equal size, the diagonals are constant and it equals `gcv_error`, which is too small (derived here). At finite n
        it takes an eigendecomposition of T.
        """
        return np.asarray(self._rows.leave_one_out * self.test_error)

    @checked
    def near_error(self, covariances: Vector, variance: Positive = 1.0) -> Array:
        """Compute the error of each coordinate of a row that depends on the fitted ones, shaped as `test_error`.

        `covariances` c (n,) are those with the fitted rows and `variance` T_00 its own, in units of Sigma: the next row
        of a series, or a further row of a known subject. The error is E_k (T_00 - c'(2D + D^2 T)(1 + D T)^-2 c)
        (derived here; for one teacher after arXiv:2408.04607, of which the abstract was read). For infinitely many rows
        c holds the covariances with as many rows as it has entries, which follow each other, and the others are left
        out. ValueError where no row has such covariances.

        >>> from theory import masked
        >>> from theory.models import AR1Rows, Isotropic
        >>> model = MaskedRidge(Isotropic(100), alpha=2.0, lam=0.1, row_dependence=AR1Rows(200, 0.6))
        >>> point = masked.solve(model)
        >>> bool(np.allclose(point.near_error(model.row_dependence.next_row(3)), point.next_row_error(3)))
        True
        """
        return np.asarray(self._rows.near(covariances, variance) * self.test_error)

    @checked
    def kriged_error(self, covariances: Vector, variance: Positive = 1.0) -> Array:
        """Compute `near_error` of predictions that add c'T^-1 r_k, the residual that is expected of the row.

        It is (T_00 - c'T^-1 c) E_k: given the fitted rows, the row is c'T^-1 X plus an independent rest, so that this
        is true at every size (derived here). ValueError for a singular T.
        """
        return np.asarray(self._rows.kriged(covariances, variance) * self.test_error)

    @checked
    def next_row_error(self, steps: Count = 1) -> Array:
        """Compute the error of each coordinate of the row `steps` after the last fitted one, shaped as `test_error`.

        It is `near_error` with the covariances rho of a series. For AR1Rows of infinitely many rows it is (derived
        here) E_k (1 - phi^(2h) (1 - G^2 (1/a - (2 eta/(b + s)) (1 + D/s)))), where h = `steps`, a = 1 - phi^2, eta =
        (phi/a)^2, b = (1 + phi^2)/a + D, s = (b^2 - 4 eta)^(1/2) and G = [(T^-1 + D)^-1]_nn = 1/(1/a + D - (b - s)/2).
        ValueError for a dependence that has no next row.

        >>> from theory import masked
        >>> from theory.models import AR1Rows, Isotropic
        >>> inf = float("inf")
        >>> model = MaskedRidge(Isotropic(inf), 2.0, 0.1, row_dependence=AR1Rows(inf, 0.6))
        >>> masked.solve(model).next_row_error().round(12)
        array([1.2])
        """
        return np.asarray(self._rows.next_row(steps) * self.test_error)

    @checked
    def fold_error(self, folds: ArrayLike, gap: NonNegativeCount = 0) -> Array:
        """Compute what cross-validation in folds reports for each coordinate, shaped as `test_error`.

        `folds` is the number of contiguous blocks of equal length (up to one row), or the number of the fold of every
        row, (n,), which may be drawn at random or be that of a subject. Rows within `gap` rows of a fold are left out
        of the fit that predicts it. With S the rows fitted, every row i of the fold costs `near_error` with T_SS and c
        = T_Si, at the test error and D of the fit of S with the same ridge of a mean of squares (derived here; exact
        for every set of folds). It takes one eigendecomposition for each fold. ValueError unless n is finite, and where
        fewer than 2 rows are left to fit.
        """
        return self._rows.folds(self.covariance, self.lam, folds, gap)

    @cached_property
    def mean_factor(self) -> float | Array:
        """The factor 1 + v by which the mean of the rows raises the error, where rows are fitted about their own mean.

        The fit is that of rows of the covariance T_J = J T J, J = 1 - 11'/n, whose test error and D_J are solved for,
        and a new row about the mean of the others costs 1 + v times it: v = (1'T1 - c'(2D + D^2 T_J)(1 + D T_J)^-2
        c)/n^2, c = J T 1, which is the formula of `near_error` for the mean (derived here). It is near 1 + tau_0/n with
        tau_0 the sum of all autocovariances, 1 + 1/n for independent rows, and 1 at n = infinity. With exact sizes
        it has one entry for each coordinate.
        """
        return self._rows.about_mean(self.covariance, self.lam)[1]

    @cached_property
    def centered_test_error(self) -> Array:
        """The test error of rows that are fitted about their own mean, predicted about that mean: see `mean_factor`."""
        errors, factor = self._rows.about_mean(self.covariance, self.lam)
        return np.asarray(errors * factor)

    @checked
    def corrected_error(self, row_dependence: RowDependence | None = None) -> Array:
        """Compute the limit of the corrected generalized cross-validation error, shaped as `test_error`.

        The correction solves E t D/(1 + t D) = df/n for D, over the eigenvalues t of the covariance between rows that
        it is told, and divides the train error by E t/(1 + t D)^2 (derived here). Told the dependence that the rows
        have (None), it reports the test error; told `IndependentRows()`, it is `gcv_error`; told another one, it
        reports what this method returns.
        """
        return np.asarray(self._rows.corrected(row_dependence) * self.test_error)

    @property
    def effective_share(self) -> float | Array:
        """The share n_eff/n of the rows: 1/c2 with c2 = E (t/(1 + t D))^2/(E t/(1 + t D))^2, 1 for rows that are alike.

        The test error is that of the population's ridge predictor at kappa times 1/(1 - df2 d/n_eff): so many
        independent rows of one scale would raise it as much (derived here).
        """
        return self._rows.effective_share

    @property
    def effective_rows(self) -> float | Array:
        """The number n_eff of rows, n times `effective_share`; infinite in the limit d -> infinity."""
        return self._rows.n * self._rows.effective_share

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

    def to_frame(self) -> DataFrame:
        """Return a table of test and train errors with a row for each coordinate, or class of them for d = infinity."""
        return table(
            coordinate=np.arange(len(self.test_error)), test_error=self.test_error, train_error=self.train_error
        )

    def _mean(self, errors: Array) -> float:
        return float(mean_over_coordinates(self.covariance, errors))


def solution_of(
    model: MaskedRidge | MaskedRegression, lam: float, point: RidgePoint, *, exact_size: bool = False
) -> MaskedRidgeSolution:
    """Join a model with the numbers of its effective ridge at the ridge lam."""
    return MaskedRidgeSolution(
        model.covariance,
        model.alpha,
        lam,
        point.kappa,
        point.df1,
        point.df2,
        point.test_error,
        point.train * point.test_error,
        point.gcv * point.test_error,
        FittedRows(model.row_scales, model.row_dependence, model.n, point, exact_size),
        residual=point.ridge.residual,
        iterations=point.ridge.iterations,
        converged=point.ridge.converged,
    )


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
