"""Records of masked self-supervised regression of Gaussian rows, with a ridge and without one."""

import math
from dataclasses import dataclass
from typing import ClassVar

from theory.core import CheckedRecord, Real
from theory.models.conventions import SampleRatio, samples_per_unknown
from theory.models.covariance import Covariance
from theory.models.joint_rows import DependentRows, require_rows
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales, shown_fields


@dataclass(frozen=True)
class SampledRows(CheckedRecord):
    """The data of every problem of this subject: n = alpha d independent rows x of mean 0 and covariance Sigma.

    ValueError unless `covariance` is a record of theory.models and `alpha` a number from 1e-300 to 1e300.
    """

    covariance: Covariance
    alpha: SampleRatio

    @property
    def d(self) -> int | float:
        """Number of coordinates, possibly infinite."""
        return self.covariance.d

    @property
    def n(self) -> float:
        """Number of rows alpha d; not rounded, possibly infinite."""
        return self.alpha * self.d if math.isfinite(self.d) else math.inf


@dataclass(frozen=True, repr=False)
class RidgeProblem(SampledRows):
    """The base of ridge regression on Gaussian rows, whose objective is a *mean* of squares plus lam |a|^2.

    Records of `theory.models.glm` have a *sum* over samples plus (lam/2) |w|^2 instead, for fields w.x/sqrt(p) of p
    unknowns and the square loss (y - h)^2/2: `ridge_per_unknown` is this record's ridge in their convention.
    """

    lam: Real

    objective: ClassVar[str] = "(1/n) sum of squares + lam |a|^2"
    advice: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lam <= 0:
            raise ValueError(f"lam must be positive, got {self.lam!r}{self.advice}")

    @property
    def terms_per_unknown(self) -> float:
        """The number of squares over that of coefficients of one regression: n/(d - 1), alpha for d -> infinity."""
        return samples_per_unknown(self.alpha, self.d)

    @property
    def ridge_per_unknown(self) -> float:
        """The ridge `lam` of the same problem in `theory.models.glm`: lam times the terms of the mean per unknown."""
        return self.terms_per_unknown * self.lam

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown_fields(self)}; minimizes {self.objective})"


@dataclass(frozen=True, repr=False)
class MaskedRegression(DependentRows, SampledRows):
    """Masked self-supervised regression whose ridge is not part of the problem (arXiv:2601.23208).

    Every coordinate of n = alpha d rows x ~ N(0, Sigma) is masked in turn and predicted from the others. The ridge is
    taken to zero by `theory.masked.ridgeless` (least squares, of minimum norm where that is not unique, which is also
    what `simulate.masked` fits) and found by `theory.masked.optimal_ridge`. `MaskedRidge` has a ridge of its own.
    `row_scales` is the law of the rows' scales and `row_dependence` their dependence, as in `MaskedRidge`.

    >>> from theory.models import AR1
    >>> MaskedRegression(AR1(d=400, correlation=0.7), alpha=0.5).n
    200.0
    """

    row_scales: RowScales = GAUSSIAN
    row_dependence: RowDependence = INDEPENDENT

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.row_scales, self.row_dependence, self.alpha, self.d)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown_fields(self)})"


@dataclass(frozen=True, repr=False)
class MaskedRidge(DependentRows, RidgeProblem):
    """Masked self-supervised ridge regression (arXiv:2601.23208).

    The data are n = alpha d rows x ~ N(0, Sigma). Every coordinate k is masked in turn and predicted from the other d -
    1 by `argmin_a (1/n) |X_k - X_-k a|^2 + lam |a|^2`. Errors are mean squares of each coordinate, without a factor
    1/2, and include the irreducible conditional variance 1/(Sigma^-1)_kk. d may be infinite.

    With `row_scales` other than `EqualScales()` row i is sqrt(tau_i) Sigma^(1/2) z_i, and its scale tau_i is drawn from
    that law of mean 1 (elliptical data). Sigma stays the covariance. The test error is that of a new row of scale 1,
    which is also the mean over new rows of all scales.

    With `row_dependence` other than `IndependentRows()` the rows depend on each other: X = T^(1/2) Z Sigma^(1/2), where
    T is the covariance (n, n) of that record, which must be of n = round(alpha d) rows or of infinitely many. With
    `row_scales` too, T is multiplied by the roots of the scales of its rows and columns. The test error is that of a
    new row of scale 1 that is independent of the others. ValueError for a dependence of another number of rows.

    >>> from theory.models import AR1
    >>> MaskedRidge(AR1(d=400, correlation=0.7), alpha=2.0, lam=0.01)
    MaskedRidge(covariance=AR1(d=400, correlation=0.7), alpha=2.0, lam=0.01; minimizes (1/n) |X_k - X_-k a|^2 + lam |a|^2)
    """  # noqa: E501  # a line of output

    objective: ClassVar[str] = "(1/n) |X_k - X_-k a|^2 + lam |a|^2"
    advice: ClassVar[str] = "; for lam -> 0 see theory.masked.ridgeless"

    row_scales: RowScales = GAUSSIAN
    row_dependence: RowDependence = INDEPENDENT

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.row_scales, self.row_dependence, self.alpha, self.d)
