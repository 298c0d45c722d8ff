"""Whole learning curves: one eigendecomposition serves every point, or none where the covariance is a large one."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.core import Array, DataFrame, Grid, PositiveGrid, SolverResult, checked, checks, table
from theory.masked.errors import SampleFactors, per_coordinate
from theory.masked.signs import require_non_negative
from theory.models import Covariance
from theory.models.conventions import RATIOS
from theory.models.joint_rows import laws_of_samples
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.random_matrix import population, solve_population_ridge


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(SolverResult):
    """Errors of masked ridge regression on the grid of `lams` (rows) by `alphas` (columns).

    Arrays have shape (n_lams, n_alphas), and conventions are those of `MaskedRidge`. `residual` and `iterations` are
    the largest of all points.
    """

    covariance: Covariance
    alphas: Array
    lams: Array
    effective_ridge: Array = field(repr=False)
    df1: Array = field(repr=False)
    df2: Array = field(repr=False)
    mean_test_error: Array = field(repr=False)
    mean_train_error: Array = field(repr=False)
    mean_gcv_error: Array = field(repr=False)
    _factors: SampleFactors = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(
            self, "effective_ridge", "df1", "df2", "mean_test_error", "mean_train_error", "mean_gcv_error"
        )

    @cached_property
    def test_error(self) -> Array:
        """The test error of each coordinate, (n_lams, n_alphas, d); for d -> infinity of each class of coordinates."""
        kappa = self.effective_ridge.ravel()
        if self.covariance.is_finite:
            checks.fits_in_memory("the errors of all coordinates at all points", float(kappa.size) * self.covariance.d)
        errors = population(self.covariance).errors(kappa)
        errors_grid = errors.reshape(*self.effective_ridge.shape, -1) * self._factors.test[..., None]
        return per_coordinate(self.covariance, errors_grid)

    @property
    def train_error(self) -> Array:
        """The train error of each coordinate, shaped as `test_error`."""
        return np.asarray(self._factors.train[..., None] * self.test_error)

    @property
    def gcv_error(self) -> Array:
        """The limit of the generalized cross-validation error of each coordinate, shaped as `test_error`."""
        return np.asarray(self._factors.gcv[..., None] * self.test_error)

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each point: lam, alpha, effective_ridge, df1, df2, two mean errors and that of GCV."""
        lam, alpha = (grid.ravel() for grid in np.meshgrid(self.lams, self.alphas, indexing="ij"))
        names = ("effective_ridge", "df1", "df2", "mean_test_error", "mean_train_error", "mean_gcv_error")
        return table(lam=lam, alpha=alpha, **{name: getattr(self, name).ravel() for name in names})


@checked
def learning_curve(
    covariance: Covariance,
    alphas: PositiveGrid,
    lams: Grid,
    *,
    row_scales: RowScales = GAUSSIAN,
    row_dependence: RowDependence = INDEPENDENT,
) -> LearningCurve:
    """Compute test and train errors on a grid of sample ratios `alphas` = n/d and ridges `lams`, as `solve` does.

    Means over coordinates are computed at once, and errors of single coordinates when they are asked for; one
    eigendecomposition serves all points. `row_scales` is the law of the rows' scales and `row_dependence` their
    dependence, as in `MaskedRidge`: since n changes along a curve, one of infinitely many rows, as AR1Rows(inf, 0.6),
    serves all sample ratios, and one of n rows serves the ratio n/d alone. Source: the equations of `solve` for
    `MaskedRidge` (derived here, after arXiv:2601.23208). Raises ValueError for an empty grid, an entry that is not
    positive or another ratio than that, and ConvergenceError where the equation for an effective ridge is not solved.

    >>> from theory.models import AR1
    >>> curve = learning_curve(AR1(np.inf, correlation=0.7), alphas=[0.5, 1.0, 2.0], lams=[0.01, 0.1])
    >>> curve.mean_test_error.round(4)
    array([[0.9137, 1.2671, 0.6232],
           [0.759 , 0.624 , 0.4816]])
    """
    if lams.min() <= 0:
        raise ValueError(f"lams must be positive, got {lams.min()}; for lam -> 0 see theory.masked.ridgeless")
    RATIOS.check("alphas", alphas.min()), RATIOS.check("alphas", alphas.max())
    rows = laws_of_samples(row_scales, row_dependence, alphas, covariance.d)[-1]
    alpha, lam = (grid.ravel() for grid in np.meshgrid(alphas, lams))
    of = population(covariance)
    ridge = solve_population_ridge(of, alpha, lam, row_scales=rows)
    at = of.moments(ridge.value)
    factors = SampleFactors.of(rows, at, alpha, lam, ridge.value)
    test = of.mean_errors(ridge.value) * factors.test
    shape = (len(lams), len(alphas))
    arrays = (ridge.value, at.df1, at.df2, test, factors.train * test, factors.gcv * test)
    kappa, df1, df2, mean_test, mean_train, mean_gcv = (values.reshape(shape) for values in arrays)
    return LearningCurve(
        covariance,
        alphas,
        lams,
        kappa,
        df1,
        df2,
        mean_test,
        mean_train,
        mean_gcv,
        SampleFactors(*(values.reshape(shape) for values in (factors.test, factors.train, factors.gcv))),
        residual=ridge.residual,
        iterations=ridge.iterations,
        converged=ridge.converged,
    )
