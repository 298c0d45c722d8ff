"""What the analysis of a matrix found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.copies import CopiedRows
from figures.analyse.matrix.dependent.record import CORRECTED, BlockedErrors, DependentRows
from figures.analyse.matrix.dependent.row_order import RowOrder
from figures.analyse.matrix.mask_rates import MaskRates
from figures.analyse.matrix.more_rows.curve import LongCurve
from figures.analyse.matrix.plan import Plan
from figures.analyse.matrix.spectrum import Directions, MatrixSpectrum, directions_of
from figures.analyse.matrix.stopping.measure import BestStop
from figures.analyse.record import Analysis
from simulate.core import Estimate
from simulate.masked import RowHeterogeneity
from theory.core.arrays import Array
from theory.models import RowScales

TUNED = r"$\lambda$ by GCV"
TUNED_CORRECTED = rf"$\lambda$ by {CORRECTED}"
ELLIPTICAL = "elliptical"


@dataclass(frozen=True)
class BestRidge:
    """The ridge strengths of least mean error for all rows, found in three ways."""

    gcv: float
    gcv_at_edge: bool  # whether it is at an end of the range that was searched
    leave_one_out: float
    empirical_theory: float | None  # 0 or inf at an end of the searched range, None for too few rows
    chosen: float  # by leave-one-out where rows differ in scale, corrected GCV where they are dependent, else by GCV
    at_edge: bool  # whether the chosen one is at an end of that range


@dataclass(frozen=True, eq=False)
class UnlikeRows:
    """What changes where rows differ in scale: the theory, the choice of the ridge, and what GCV is worth.

    Theories have the shape of those of `MatrixAnalysis`. Their last column is the error at the ridge that GCV would
    choose by this theory, not the least one. Errors of all rows are means over the columns, by leave-one-out.
    """

    law: RowScales  # of the rows' scales, as estimated
    theory: Array = field(repr=False)  # elliptical, the noise of the covariance removed
    empirical_theory: Array = field(repr=False)  # the same with the empirical covariance as it is
    gcv_theory: Array = field(repr=False)  # what GCV reports by the first of them
    error: Estimate  # at the ridge chosen by leave-one-out
    error_at_gcv: Estimate  # at the one that GCV would have chosen
    cost: Estimate  # by how much the second error is larger, row by row
    reported_by_gcv: float  # what GCV says its error is there


@dataclass(frozen=True, eq=False, repr=False)
class MatrixAnalysis(Analysis):
    """Masked regression of an (n, d) matrix about its mean; errors are mean squares of one column, averaged over all.

    Arrays over training sizes have one column for each of `lams` and a last one for the lam that GCV chooses. `rows`
    is the table, in the form of `figures.core`. Theories are NaN for fewer than FEWEST_ROWS training rows.
    """

    names: tuple[str, ...]
    n: int
    variances: Array = field(repr=False)  # (d,), about the mean
    lams: Array
    plan: Plan
    test_error: Array = field(repr=False)  # (repeats, n_sizes, n_lams + 1), on held-out rows
    gcv_error: Array = field(repr=False)  # the same shape, from the training rows alone
    theory: Array = field(repr=False)  # (n_sizes, n_lams + 1), without the noise of the covariance; of dependent rows
    empirical_theory: Array = field(repr=False)  # the same with the empirical covariance as it is
    best: BestRidge
    heterogeneity: RowHeterogeneity | str  # how unlike the rows are in scale; a string says why it was not measured
    unlike_rows: UnlikeRows | None  # None where rows are alike, as far as one can tell, and where they are dependent
    row_order: RowOrder  # whether rows depend on each other in their order or within groups, and how
    dependent_rows: DependentRows | None  # None where they do not, as far as one can tell
    effective_ridge: float  # kappa of all rows at the ridge that is chosen
    degrees_of_freedom: float  # of the regression of one column at that ridge
    column_error: Array = field(
        repr=False
    )  # (d,) at that ridge, by leave-one-out, or corrected where rows are dependent
    doubled_error: float | None  # predicted for twice as many rows at their best ridge, where these data reach that far
    _spectrum: Callable[[], MatrixSpectrum | str] = field(repr=False)
    _data: CenteredRows = field(repr=False)  # the rows in the units of the analysis
    row_numbers: NDArray[np.int64] = field(repr=False)  # (n,), of these rows in the table, from 0
    row_names: tuple[str, ...] = field(repr=False)  # of all rows of the table, () where they have none
    copies: CopiedRows = field(repr=False)  # among all rows of the table
    mask_rates: MaskRates | None = field(default=None, repr=False)  # None for the same, few rows, large tables
    stopping: BestStop | str | None = field(default=None, repr=False)  # beside the ridge; a string says why it is not
    more_rows: LongCurve | None = field(default=None, repr=False)  # beyond n; None where rows depend on each other
    error_of_groups: BlockedErrors | None = None  # where there are groups whose rows were not found to be dependent
    show_theory: bool = False  # whether reports show the columns of theory

    @cached_property
    def spectrum(self) -> MatrixSpectrum | str:
        """The spectrum of the predictor at the ridge that is chosen, computed when it is asked for.

        A string says why there is none.
        """
        return self._spectrum()

    @cached_property
    def directions(self) -> Directions | str:
        """The directions that stand out of noise in the spectrum, with loadings and scores; a string says why none."""
        return self.spectrum if isinstance(self.spectrum, str) else directions_of(self.spectrum, self._data)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the curves: one for each of `lams`, and last the one of the ridge that GCV chooses."""
        return curve_labels(self.lams, TUNED if self.dependent_rows is None else TUNED_CORRECTED)

    @property
    def mean_variance(self) -> float:
        """The mean squared error of predicting every column by its mean."""
        return float(self.variances.mean())

    @property
    def explained(self) -> Array:
        """The share of each column's variance (d,) that the others predict; below zero if worse than its mean."""
        return np.asarray(1 - self.column_error / self.variances)


def curve_labels(lams: Array, tuned: str = TUNED) -> tuple[str, ...]:
    """Name the curves: one for each ridge strength, and last the one of the ridge that is chosen for so many rows."""
    return (*(rf"$\lambda = {lam:.6g}$" for lam in lams), tuned)
