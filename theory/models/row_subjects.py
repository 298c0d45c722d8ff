"""Rows of subjects, several of each, which depend on each other within a subject."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from theory.core import Array, Within, checked, checks
from theory.models.covariance import set_checked
from theory.models.row_dependence import RowDependence
from theory.models.row_scales import EXACT, RowScales


@dataclass(frozen=True, repr=False)
class SubjectRows(RowDependence):
    """Rows of subjects, several of each: two rows of one subject have the `correlation`, of two subjects none.

    `group_sizes` are the numbers of rows of the subjects, which stand one after the other; T is 1 on the diagonal. A
    subject of one row is independent of all others. `n` by default is their sum; a multiple of it repeats the
    subjects, and infinity is the limit of many. The correlation a is at least -1/(m - 1) for the largest number m.

    >>> SubjectRows([2, 1], 0.5).matrix
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    group_sizes: Any
    correlation: Annotated[float, Within(-1.0, 1.0, closed=(True, True))]
    n: int | float | None = None  # type: ignore[assignment]  # a number once the record is made

    def __post_init__(self) -> None:
        given = np.atleast_1d(checks.integer_array("group_sizes", self.group_sizes))
        if given.ndim != 1 or given.size == 0 or given.min() < 1:
            raise ValueError(f"group_sizes must be integers of at least 1, got {checks.shown(self.group_sizes)}")
        sizes = tuple(int(m) for m in given)
        correlation = checks.between("correlation", self.correlation, -1.0, 1.0, closed=(True, True))
        m, total = max(sizes), sum(sizes)
        if m > 1 and correlation < -1 / (m - 1) - EXACT:
            least = f"at least -1/(m - 1) = {-1 / (m - 1):.6g} for subjects of m = {m} rows"
            raise ValueError(f"correlation must be {least}, got {correlation!r}")
        n = total if self.n is None else checks.dimension(self.n, infinite=True, name="n")
        if math.isfinite(n) and n % total:
            raise ValueError(f"n must be a multiple of the sum {total} of group_sizes, got {n!r}")
        set_checked(self, group_sizes=sizes, correlation=correlation, n=n)

    def __repr__(self) -> str:
        shown = self.group_sizes if len(self.group_sizes) <= 6 else f"<{len(self.group_sizes)} sizes>"
        return f"SubjectRows(group_sizes={shown}, correlation={self.correlation}, n={self.n})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows of every one of the subjects among n rows."""
        repeated: tuple[int, ...] = self.group_sizes * (self.size // sum(self.group_sizes))
        return repeated

    @property
    def groups(self) -> Array:
        """The number of the subject of every row, (n,), from 0."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def _matrix(self) -> Array:
        same = self.groups[:, None] == self.groups
        return np.where(np.eye(self.size, dtype=bool), 1.0, np.where(same, self.correlation, 0.0))

    def _eigenvalues(self) -> Array:
        sizes = np.array(self.sizes)
        return np.concatenate(
            [1 + (sizes - 1) * self.correlation, np.repeat(1 - self.correlation, sizes.sum() - len(sizes))]
        )

    def _limit(self) -> RowScales:
        return self.representative.law

    @property
    def representative(self) -> "SubjectRows":
        """The finite rows that stand for all of them: those of the given subjects where n is infinite."""
        return self if math.isfinite(self.n or 0) else SubjectRows(self.group_sizes, self.correlation)

    @property
    def mean_variance(self) -> float:
        """The variance of the mean over the rows of a column of variance 1: 1/n for independent rows."""
        if not math.isfinite(self.n or 0):
            return 0.0
        sizes = np.array(self.sizes)
        return float((sizes * (1 + (sizes - 1) * self.correlation)).sum()) / self.size**2

    @checked
    def further_row(self, group: int = 0) -> Array:
        """Compute the covariances (n,) of one more row of the subject `group` with the rows, in units of Sigma.

        In the limit n -> infinity they are those with the rows of the given subjects, (sum of group_sizes,).
        """
        once = self.representative
        if not 0 <= group < len(once.sizes):
            raise ValueError(f"group must be a subject from 0 to {len(once.sizes) - 1}, got {group!r}")
        return np.where(once.groups == group, self.correlation, 0.0)
