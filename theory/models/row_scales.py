"""The law of the rows' scales: how much larger than the others some rows of the data are."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, checks
from theory.models.covariance import set_checked

EXACT = 1e-9  # within which probabilities must sum to 1, and the mean of the scales be 1


class RowScales(ABC):
    """The law of the scale tau >= 0 of a row: the base of all laws.

    Rows are x_i = sqrt(tau_i) Sigma^(1/2) z_i with Gaussian z_i and independent tau_i of mean 1, so that Sigma stays
    their covariance; such data are called elliptical. An average over the law is the sum over its `nodes`, weighted
    with `probabilities`: for laws with a density this is the trapezoidal rule in log tau, which is exact to rounding
    for smooth functions of log tau.
    """

    field_name: ClassVar[str] = "row_scales"  # of the models that such a law comes from

    @property
    @abstractmethod
    def nodes(self) -> Array:
        """The values of tau that averages are taken over, (N,)."""

    @property
    @abstractmethod
    def probabilities(self) -> Array:
        """The probabilities of the nodes, (N,), which sum to 1."""

    @property
    @abstractmethod
    def heterogeneity(self) -> float:
        """The number h = E tau^2 that tells how unlike the rows are: 1 where all are alike, possibly infinite."""

    @property
    @abstractmethod
    def mean_inverse(self) -> float:
        """The mean E 1/tau, infinite where small scales are frequent."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest scale that can occur, possibly infinite."""

    @property
    def present(self) -> float:
        """The probability of tau > 0; rows of scale zero hold no data."""
        absent = self.nodes == 0
        return float(self.probabilities[~absent].sum()) if absent.any() else 1.0

    @property
    def alike(self) -> bool:
        """Whether all rows have the same scale, which is then 1."""
        return self.heterogeneity == 1.0


@dataclass(frozen=True)
class EqualScales(RowScales):
    """All rows have the scale 1: Gaussian data.

    >>> EqualScales().heterogeneity
    1.0
    """

    is_usual: ClassVar[bool] = True  # reprs of models do not show it

    @property
    def nodes(self) -> Array:
        """The scale 1, (1,)."""
        return np.ones(1)

    @property
    def probabilities(self) -> Array:
        """Its probability, (1,)."""
        return np.ones(1)

    @property
    def heterogeneity(self) -> float:
        """The value 1."""
        return 1.0

    @property
    def mean_inverse(self) -> float:
        """The value 1."""
        return 1.0

    @property
    def largest(self) -> float:
        """The value 1."""
        return 1.0


GAUSSIAN = EqualScales()


def shown_fields(record: Any) -> str:
    """Write the fields of a record as its repr shows them, but not that rows are Gaussian or independent, as usual."""
    values = {one.name: getattr(record, one.name) for one in fields(record) if one.repr}
    shown = [name for name, value in values.items() if not getattr(value, "is_usual", False)]
    return ", ".join(f"{name}={getattr(record, name)!r}" for name in shown)


@dataclass(frozen=True, eq=False, repr=False)
class PointScales(RowScales):
    """Scales take the values `values` (N,) with the probabilities `weights` (N,), which are equal where left out.

    An array with one scale for each row is thereby taken as an empirical law. ValueError for negative values, for
    probabilities that are negative or do not sum to 1, and for a mean other than 1; `rescaled` divides the values by
    their mean first.

    >>> law = PointScales([0.2, 3.4], [0.75, 0.25])
    >>> f"{law.heterogeneity:.2f}"
    '2.92'
    """

    values: ArrayLike
    weights: ArrayLike | None = None

    def __post_init__(self) -> None:
        values = checks.finite_array("values", self.values, 1)
        if values.size == 0 or values.min() < 0:
            raise ValueError(f"values must not be empty or negative, got {checks.shown(values)}")
        weights = self._probabilities(self.weights, values)
        mean = float(weights @ values)
        if abs(mean - 1) > EXACT:
            raise ValueError(f"values must have the mean 1, got {mean:.12g}; PointScales.rescaled divides by the mean")
        set_checked(self, values=values / mean, weights=weights)

    @staticmethod
    def _probabilities(weights: ArrayLike | None, values: Array) -> Array:
        """Return the weights of the values, all equal where None, so that they sum to 1 to rounding."""
        if weights is None:
            return np.full(len(values), 1 / len(values))
        found = checks.finite_array("weights", weights, 1)
        if found.shape != values.shape:
            raise ValueError(f"weights must have the shape {values.shape} of values, got {found.shape}")
        if found.min() < 0:
            raise ValueError(f"weights must be probabilities, which are not negative, got {found.min():.12g}")
        # The largest is looked at first because a sum of numbers that are no probabilities may overflow.
        if found.max() > 1 + EXACT or abs(found.sum() - 1) > EXACT:
            total = float(found.sum()) if found.max() < 1e300 else np.inf
            raise ValueError(f"weights must be probabilities that sum to 1, got a sum of {total:.12g}")
        return np.asarray(found / found.sum())

    @classmethod
    def rescaled(cls, values: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Build the law of values that need not have the mean 1: they are divided by their mean.

        The weights are probabilities, as those of the law itself, and are not rescaled. ValueError for negative values
        and for values whose mean is zero.
        """
        given = checks.finite_array("values", values, 1)
        if given.size == 0 or given.min() < 0 or not given.any():
            raise ValueError(f"values must not be negative, nor all zero, got {checks.shown(given)}")
        given = given / given.max()  # so that neither a sum overflows nor a mean vanishes
        probabilities = cls._probabilities(weights, given)
        mean = float(probabilities @ given)
        if mean == 0:
            raise ValueError("values must not be zero wherever weights are positive: the rows would hold no data")
        return cls(given / mean, probabilities)

    @property
    def nodes(self) -> Array:
        """The values, (N,)."""
        return np.asarray(self.values)

    @property
    def probabilities(self) -> Array:
        """Their probabilities, (N,)."""
        return np.asarray(self.weights)

    @property
    def heterogeneity(self) -> float:
        """The sum of squared values, weighted with their probabilities."""
        moment = float((self.probabilities * self.nodes) @ self.nodes)
        return 1.0 if np.ptp(self.nodes[self.probabilities > 0]) <= EXACT else moment

    @property
    def mean_inverse(self) -> float:
        """The mean of 1/tau, infinite where some rows are zero."""
        if self.present < 1:
            return math.inf
        used = self.probabilities > 0
        with np.errstate(over="ignore"):  # the inverse of a number that is all but zero
            return float((self.probabilities[used] / self.nodes[used]).sum())

    @property
    def largest(self) -> float:
        """The largest value that has a positive probability."""
        return float(self.nodes[self.probabilities > 0].max())

    def __repr__(self) -> str:
        if len(self.nodes) > 4:
            return f"PointScales(<{len(self.nodes)} values>, heterogeneity={self.heterogeneity:.6g})"
        return f"PointScales({self.nodes.tolist()}, {self.probabilities.tolist()})"
