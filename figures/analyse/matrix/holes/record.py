"""What the analysis of a table with holes found."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from figures.analyse.matrix.holes.admitted import HoledTable
from figures.analyse.matrix.holes.where import HolePattern
from figures.analyse.record import Analysis
from simulate.core import Estimate
from simulate.masked import Imputed
from theory.core.arrays import Array

Method = Literal["own_rows", "pairwise", "em"]
LeftOut = Literal["own_rows", "pairwise"]  # the methods that know their errors by leaving out one entry
METHOD_NAMES: dict[str, str] = {"own_rows": "zero-fill", "pairwise": "pairwise covariance", "em": "EM"}
NOT_WORTH_FILLING = 0.9  # of its variance, which a column without any relation to the others leaves all of
MEAN_FILL = 1.0  # what filling in the mean leaves of the variance


@dataclass(frozen=True, eq=False)
class HoleErrors:
    """Mean squared errors to expect at holes, by leaving out one seen entry at a time; units of a column's variance.

    `lams` are the ridges that were tried, for columns of variance 1, with the errors `path` that they have at the
    holes, and `lam` is the best. A column counts in a mean by its number of holes. Pairs of columns that no row shows
    together are taken to be uncorrelated.
    """

    method: LeftOut
    lams: Array
    path: tuple[Estimate, ...]
    lam: float
    error: Estimate
    by_column: Array = field(repr=False)  # (d,)
    stderr: Array = field(repr=False)  # (d,)
    pairs_never_seen: int = 0


@dataclass(frozen=True, eq=False)
class SelfCheck:
    """What was expected of entries that were seen and hidden, and what was found; units of a column's variance.

    With `as_holes` they were hidden together, as the holes of other rows lie, else at random.
    """

    draws: int
    as_holes: bool
    hidden: Array = field(repr=False)  # (d,), entries of each column in all draws
    expected: Estimate
    measured: Estimate
    expected_by_column: Array = field(repr=False)  # (d,)
    expected_stderr: Array = field(repr=False)
    measured_by_column: Array = field(repr=False)  # (d,), NaN where none was hidden
    measured_stderr: Array = field(repr=False)

    @property
    def z(self) -> float:
        """The difference of measured and expected error, over the standard error of it."""
        return (self.measured.mean - self.expected.mean) / float(np.hypot(self.measured.stderr, self.expected.stderr))

    @property
    def z_by_column(self) -> Array:
        """The same for each column (d,).

        The standard error of the mean of m squares is at least that of Gaussian numbers, sqrt(2/m) of what is expected:
        a few small squares have a small spread by chance.
        """
        gap = self.measured_by_column - self.expected_by_column
        gaussian = self.expected_by_column * np.sqrt(2 / np.maximum(self.hidden, 1))
        return np.asarray(gap / np.hypot(np.maximum(self.measured_stderr, gaussian), self.expected_stderr))


@dataclass(frozen=True, eq=False)
class Dependence:
    """Whether holes depend on the values of other columns, as far as can be seen.

    `p_value` is that of independence. `pairs` names those that stand out, strongest first: the column whose values
    matter, the column whose holes they go with, and the correlation of the two.
    """

    p_value: float
    pairs: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class HolesAnalysis(Analysis):
    """A table (n, d) with holes: where they are, what filling them can reach, and the table with holes filled.

    Errors are mean squares in units of the variance of the column, if not said otherwise. `before` are those that are
    known before anything is filled, by each method that knows them, and `imputed` holds the filled table and the errors
    to expect there, in the units of the file squared. `learning` are the errors before filling that the better method
    has for fewer rows.
    """

    table: HoledTable = field(repr=False)
    pattern: HolePattern
    dependence: Dependence
    before: tuple[HoleErrors, ...]
    imputed: Imputed = field(repr=False)
    check: SelfCheck | None  # None where too little is seen to hide some of it
    learning: tuple[tuple[int, Estimate], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.table.names

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.table.n

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.table.d

    @property
    def best_before(self) -> HoleErrors:
        """The method with the least error, of those that know it before filling."""
        return min(self.before, key=lambda one: one.error.mean)

    @property
    def error(self) -> Estimate:
        """The error to expect at the holes as they were filled."""
        return Estimate(self.imputed.relative_error, self.imputed.relative_stderr, self.n)

    @property
    def by_column(self) -> Array:
        """The error to expect at the holes of each column (d,) as they were filled."""
        return np.asarray(self.imputed.error_by_column / self.imputed.variances)

    @property
    def stderr(self) -> Array:
        """The standard errors of these numbers (d,)."""
        return np.asarray(self.imputed.stderr / self.imputed.variances)

    @property
    def root_errors(self) -> Array:
        """How far off a hole of each column (d,) is expected to be, as a root mean square, in the units of the file."""
        return np.asarray(np.sqrt(self.imputed.error_by_column))

    @property
    def root_stderr(self) -> Array:
        """The standard errors of these numbers (d,)."""
        root = self.root_errors
        return np.asarray(np.divide(self.imputed.stderr, 2 * root, out=np.zeros_like(root), where=root > 0))

    @property
    def worth_filling(self) -> Array:
        """Whether the others say something of a column (d,): they take a tenth of its variance off, beyond chance."""
        return np.asarray((self.by_column < NOT_WORTH_FILLING) & (self.by_column + 2 * self.stderr < MEAN_FILL))
