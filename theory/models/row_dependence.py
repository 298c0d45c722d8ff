"""How rows of the data depend on each other: the base of all dependences, and one that is given as a matrix."""

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from theory.core import Array, checked, checks
from theory.core.read_only import KeepsReadOnly, marked
from theory.models.covariance import frozen, set_checked
from theory.models.matrices import semidefinite_matrix
from theory.models.row_scales import EXACT, GAUSSIAN, PointScales, RowScales

MAX_SAMPLE_RATIO = 1e100  # short of infinity


class RowDependence(KeepsReadOnly, ABC):
    """The covariance T (n, n) between the n rows of the data: the base of all dependences.

    Rows are X = T^(1/2) Z Sigma^(1/2) with independent standard Gaussian Z: row i has the covariance T_ii Sigma, and
    rows i and j have the cross covariance T_ij Sigma (such a covariance is called separable). The mean of T_ii is 1, so
    that Sigma stays the covariance of a row. Since O'Z has the law of Z for every orthogonal O, the matrix X'X has the
    law of that of *independent* rows whose scales are the eigenvalues of T: `law` hands these to everything that is
    asked of X'X alone. What is asked of single rows (leave-one-out, the next row, blocks) depends on T itself.

    n may be infinite where the eigenvalues of T have a limit, and any number of rows is then taken to be many.
    """

    n: int | float

    @abstractmethod
    def _matrix(self) -> Array:
        """Compute T at a finite n."""

    def _limit(self) -> RowScales:
        raise ValueError(f"{type(self).__name__} has no limit n -> infinity: take a finite n")

    def _finer_limit(self, times: int) -> RowScales | None:  # noqa: ARG002  # families use it
        """Compute the law of the limit on `times` as many nodes; None where its eigenvalues are no nodes."""
        return None

    def _eigenvalues(self) -> Array:
        # Whoever has asked for the eigenvectors has them already.
        return self.modes[0] if "modes" in self.__dict__ else np.asarray(np.linalg.eigvalsh(self.matrix))

    @property
    def size(self) -> int:
        """The number of rows n as an int; ValueError in the limit n -> infinity."""
        if not math.isfinite(self.n):
            raise ValueError(f"n of {self!r} must be finite for a matrix, got n = {self.n}: use resized(n)")
        return int(self.n)

    @cached_property
    def matrix(self) -> Array:
        """The matrix T, (n, n), symmetric and positive semi-definite with a mean diagonal of 1."""
        checks.fits_in_memory(f"the matrix of {self!r}", self.size**2)
        return frozen(self._matrix())

    @cached_property
    def eigenvalues(self) -> Array:
        """The eigenvalues of T (n,), ascending, of mean 1; those that only rounding tells from zero are zero."""
        values = np.sort(self._eigenvalues()) if self.size else np.empty(0)
        return frozen(np.where(values > self.size * np.finfo(float).eps * values[-1], values, 0.0))

    @cached_property
    def modes(self) -> tuple[Array, Array]:
        """The eigenvalues (n,) of T, none of them negative, and its eigenvectors (n, n) in columns."""
        checks.fits_in_memory(f"the eigendecomposition of {self!r}", 3 * self.size**2)
        values, vectors = np.linalg.eigh(self.matrix)
        return frozen(np.where(values > self.size * np.finfo(float).eps * values[-1], values, 0.0)), frozen(vectors)

    @cached_property
    def law(self) -> RowScales:
        """The law of the eigenvalues of T, as one of the scales of independent rows with the same X'X."""
        return self._finite_law() if math.isfinite(self.n) else self._limit()

    def _finite_law(self) -> RowScales:
        values, counts = np.unique(self.eigenvalues, return_counts=True)
        return eigenvalue_law(values, counts / counts.sum())

    @property
    def representative(self) -> "RowDependence | None":
        """The finite rows that stand for all of them; None where n is infinite and all rows are alike."""
        return self if math.isfinite(self.n) else None

    @property
    def is_identity(self) -> bool:
        """Whether T is the identity, so that the rows are independent and alike."""
        return self.law.alike

    @property
    def mean_variance(self) -> float:
        """The variance 1'T1/n^2 of the mean over the rows of a column of variance 1: 1/n for independent rows."""
        return float(self.matrix.sum()) / self.size**2 if math.isfinite(self.n) else 0.0

    @checked
    def effective_share(self, alpha: float = math.inf) -> float:
        """Compute n_eff/n, the share that independent rows of the same test error would be, by least squares.

        `alpha` > 1 is the number of rows over that of coordinates. The test error of least squares is sigma^2/(1 - c2
        d/n) with c2 = E (t/(1 + tD))^2/(E t/(1 + tD))^2 over the eigenvalues t of T, where E tD/(1 + tD) = 1/alpha:
        n_eff = n/c2 rows that are independent have the same one (derived here). The share is 1 at alpha = 1, where
        interpolation does not see T, and falls to 1/E t^2 for many rows, its value for alpha = infinity.

        >>> from theory.models import AR1Rows
        >>> round(AR1Rows(math.inf, 0.6).effective_share(), 6)  # (1 - phi^2)/(1 + phi^2)
        0.470588
        """
        if not 1 < alpha <= MAX_SAMPLE_RATIO and alpha != math.inf:
            allowed = (
                f"exceed 1, with fewer rows least squares interpolates, and be at most {MAX_SAMPLE_RATIO:g} or inf"
            )
            raise ValueError(f"alpha must {allowed}, got {alpha!r}")
        law = self.law
        if math.isinf(alpha):
            return 1 / law.heterogeneity
        if 1 / alpha >= law.present:
            raise ValueError(f"alpha must exceed {1 / law.present:.6g} for the rank of T, got {alpha!r}")

        from scipy.optimize import brentq  # a fifth of a second to load, which records alone do not need

        present = law.nodes > 0
        logs, shares = np.log(law.nodes[present]), law.probabilities[present]
        delta = math.exp(brentq(lambda x: float(shares @ expit(logs + x)) - 1 / alpha, -600.0, 600.0, xtol=1e-13))
        kept = law.nodes / (1 + law.nodes * delta)
        return float(law.probabilities @ kept) ** 2 / float(law.probabilities @ kept**2)

    @checked
    def effective_rows(self, alpha: float = math.inf) -> float:
        """Compute n_eff, the number of independent rows with the same test error of least squares.

        It is n times `effective_share(alpha)`, and infinite for infinitely many rows.

        >>> from theory.models import AR1Rows
        >>> round(AR1Rows(200, 0.6).effective_rows(), 1)
        94.5
        """
        return self.n * self.effective_share(alpha)

    def _ahead(self, steps: int) -> Array:  # noqa: ARG002  # dependences in time use it
        """Compute the covariances (n,) with the row `steps` after the last one."""
        raise ValueError(f"{type(self).__name__} has no next row: only dependences in time have one")

    def resized(self, n: int | float) -> Self:
        """Return the same dependence of n rows; ValueError for one that is known at its own size only."""
        wanted = checks.dimension(n, infinite=True, name="n")
        return self if wanted == self.n else dataclasses.replace(self, n=wanted)  # type: ignore[type-var]  # dataclasses

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters alone: a pickle carries no cached matrices."""
        return marked({field.name: getattr(self, field.name) for field in dataclasses.fields(self)})  # type: ignore[arg-type]


@dataclass(frozen=True)
class IndependentRows(RowDependence):
    """Rows that do not depend on each other, of any number: T is the identity.

    >>> IndependentRows().effective_share(2.0)
    1.0
    """

    is_usual: ClassVar[bool] = True  # reprs of models do not show it

    @property
    def n(self) -> float:  # type: ignore[override]
        """Infinity, which serves every number of rows."""
        return math.inf

    def _matrix(self) -> Array:
        raise AssertionError("the size is asked first")

    @property
    def law(self) -> RowScales:
        """All eigenvalues are 1."""
        return GAUSSIAN

    def resized(self, n: int | float) -> Self:
        """Return the record itself, which serves every number of rows."""
        checks.dimension(n, infinite=True, name="n")
        return self


INDEPENDENT = IndependentRows()


@dataclass(frozen=True, eq=False, repr=False)
class GivenRows(RowDependence):
    """Rows whose covariance T is the `covariances` (n, n): spatial samples, lattices, or whatever is known.

    ValueError unless the matrix is symmetric and positive semi-definite with a mean diagonal of 1;
    `GivenRows.rescaled` divides a matrix by its mean diagonal first.

    >>> GivenRows([[1.0, 0.5], [0.5, 1.0]]).eigenvalues
    array([0.5, 1.5])
    """

    covariances: ArrayLike

    def __post_init__(self) -> None:
        matrix = semidefinite_matrix("covariances", self.covariances)
        mean = float(np.mean(np.diagonal(matrix)))
        if abs(mean - 1) > EXACT:
            divides = "GivenRows.rescaled divides by it"
            raise ValueError(f"covariances must have a mean diagonal of 1, got {mean:.12g}; {divides}")
        set_checked(self, covariances=frozen(matrix / mean))

    @classmethod
    def rescaled(cls, covariances: ArrayLike) -> Self:
        """Build the dependence of a matrix whose mean diagonal need not be 1: it is divided by its mean diagonal."""
        matrix = semidefinite_matrix("covariances", covariances)
        mean = float(np.mean(np.diagonal(matrix)))
        if mean <= 0:
            raise ValueError("covariances must not be zero: the rows would hold no data")
        return cls(matrix / mean)

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return len(np.asarray(self.covariances))

    def _matrix(self) -> Array:
        return np.asarray(self.covariances)

    def resized(self, n: int | float) -> Self:
        """Return the record itself at its own size; at another, ValueError: its numbers are those of one size."""
        if checks.dimension(n, infinite=True, name="n") != self.n:
            raise ValueError(f"{self!r} has fixed n = {self.n}, got n = {n!r}")
        return self

    def __repr__(self) -> str:
        return f"GivenRows(<{self.n} rows>)"


@dataclass(frozen=True, eq=False, repr=False)
class _EigenvalueLaw(PointScales):
    """The law of the eigenvalues of a T, or of the nodes that stand for them, with what is known of them exactly."""

    exact: dict[str, float] = dataclasses.field(default_factory=dict)
    field_name: ClassVar[str] = "row_dependence"

    @property
    def heterogeneity(self) -> float:
        """The mean of t^2."""
        return self.exact.get("heterogeneity", super().heterogeneity)

    @property
    def mean_inverse(self) -> float:
        """The mean of 1/t, infinite where T is singular."""
        return self.exact.get("mean_inverse", super().mean_inverse)

    @property
    def largest(self) -> float:
        """The largest eigenvalue, infinite where it grows with n."""
        return self.exact.get("largest", super().largest)

    def __repr__(self) -> str:
        return f"<{len(self.nodes)} eigenvalues up to {self.largest:.6g}, mean square {self.heterogeneity:.6g}>"


def eigenvalue_law(values: Array, weights: Array, **exact: float) -> PointScales:
    """Build the law of eigenvalues with these weights; `exact` gives properties that the nodes do not tell."""
    return _EigenvalueLaw(values / (weights @ values), weights, exact)
