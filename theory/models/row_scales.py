"""The law of the rows' scales: how much larger than the others some rows of the data are."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from theory.models import checks
from theory.models.arrays import Array
from theory.models.covariance import set_checked

STEP = 0.2  # in log tau; the integrands are analytic in a strip of half-width pi/2, so the error is exp(-pi^2/STEP)
NEGLIGIBLE = 48.0  # logarithm of the ratio beyond which a density counts no more
FARTHEST = 600.0  # largest |log tau| of a node, so that scales stay floating-point numbers
EXACT = 1e-9  # within which probabilities must sum to 1, and the mean of the scales be 1


class RowScales(ABC):
    """The law of the scale tau >= 0 of a row: the base of all laws.

    Rows are x_i = sqrt(tau_i) Sigma^(1/2) z_i with Gaussian z_i and independent tau_i of mean 1, so that Sigma stays
    their covariance; such data are called elliptical. An average over the law is the sum over its `nodes`, weighted
    with `probabilities`: for laws with a density this is the trapezoidal rule in log tau, which is exact to rounding
    for smooth functions of log tau.
    """

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
        return 1 - float(self.probabilities[absent].sum()) if absent.any() else 1.0

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


@dataclass(frozen=True, eq=False, repr=False)
class PointScales(RowScales):
    """Scales take the values `values` (N,) with the probabilities `probabilities` (N,), all equal where left out.

    An array of one scale a row is thereby taken as an empirical law. ValueError for negative values, probabilities
    that are negative or do not sum to 1, and a mean other than 1; `rescaled` divides the values by their mean first.

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
        weights = np.full(len(values), 1 / len(values))
        if self.weights is not None:
            weights = checks.finite_array("weights", self.weights, 1)
        if weights.shape != values.shape:
            raise ValueError(f"weights must have the shape {values.shape} of values, got {weights.shape}")
        if weights.min() < 0 or abs(weights.sum() - 1) > EXACT:
            raise ValueError(f"weights must be probabilities that sum to 1, got a sum of {weights.sum():.12g}")
        mean = float(weights @ values)
        if abs(mean - 1) > EXACT:
            raise ValueError(f"values must have the mean 1, got {mean:.12g}; PointScales.rescaled divides by the mean")
        set_checked(self, values=values / mean, weights=weights / weights.sum())

    @classmethod
    def rescaled(cls, values: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Build the law of values that need not have the mean 1: they are divided by their mean."""
        values = checks.finite_array("values", values, 1)
        given = None if weights is None else checks.finite_array("weights", weights, 1)
        if values.size == 0 or values.min() < 0 or not values.any():
            raise ValueError(f"values must not be negative, nor all zero, got {checks.shown(values)}")
        if given is not None and given.shape == values.shape and given @ values > 0:
            return cls(values / (given @ values / given.sum()), given)
        return cls(values / values.mean(), given)

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
        moment = float(self.probabilities @ self.nodes**2)
        return 1.0 if np.ptp(self.nodes[self.probabilities > 0]) <= EXACT else moment

    @property
    def mean_inverse(self) -> float:
        """The mean of 1/tau, infinite where some rows are zero."""
        if self.present < 1:
            return math.inf
        used = self.probabilities > 0
        return float(self.probabilities[used] @ (1 / self.nodes[used]))

    @property
    def largest(self) -> float:
        """The largest value that has a positive probability."""
        return float(self.nodes[self.probabilities > 0].max())

    def __repr__(self) -> str:
        if len(self.nodes) > 4:
            return f"PointScales(<{len(self.nodes)} values>, heterogeneity={self.heterogeneity:.6g})"
        return f"PointScales({self.nodes.tolist()}, {self.probabilities.tolist()})"


class _DensityOfScales(RowScales):
    """The base of laws with a density, which they give as a function of log tau."""

    @property
    @abstractmethod
    def _log_density(self) -> Callable[[Array], Array]:
        """The logarithm of the density of x = log tau at x, up to a constant; concave in x."""

    @property
    @abstractmethod
    def _width(self) -> float:
        """The standard deviation of log tau where the law is narrow."""

    @cached_property
    def _rule(self) -> tuple[Array, Array]:
        step = min(STEP, 0.6 * self._width)
        x = step * np.arange(-np.ceil(FARTHEST / step), np.ceil(FARTHEST / step) + 1)
        density = self._log_density(x)
        # The weight of a large scale in an average is at most tau times its density.
        kept = np.maximum(density - density.max(), density + x - (density + x).max()) > -NEGLIGIBLE
        weights = np.exp(density[kept] - density.max())
        return np.exp(x[kept]), weights / weights.sum()

    @property
    def nodes(self) -> Array:
        """Equally spaced values of log tau, as scales, (N,)."""
        return self._rule[0]

    @property
    def probabilities(self) -> Array:
        """Their weights in averages, (N,)."""
        return self._rule[1]

    @property
    def largest(self) -> float:
        """Infinity: every scale can occur."""
        return math.inf


@dataclass(frozen=True)
class StudentTScales(_DensityOfScales):
    """Rows follow a multivariate Student-t law with `degrees_of_freedom` nu > 2: tau = (nu - 2)/chi^2_nu.

    The smaller nu is, the heavier are the tails; h = (nu - 2)/(nu - 4) is infinite for nu <= 4. ValueError unless
    2 < nu <= 1e6.

    >>> StudentTScales(5.0).heterogeneity
    3.0
    """

    degrees_of_freedom: float

    def __post_init__(self) -> None:
        nu = checks.between("degrees_of_freedom", self.degrees_of_freedom, 2, 1e6, closed=(False, True))
        set_checked(self, degrees_of_freedom=nu)

    @property
    def _log_density(self) -> Callable[[Array], Array]:
        half = self.degrees_of_freedom / 2
        return lambda x: -half * x - (half - 1) * np.exp(-x)

    @property
    def _width(self) -> float:
        return math.sqrt(2 / self.degrees_of_freedom)

    @property
    def heterogeneity(self) -> float:
        """The number (nu - 2)/(nu - 4), infinite for nu <= 4."""
        nu = self.degrees_of_freedom
        return (nu - 2) / (nu - 4) if nu > 4 else math.inf

    @property
    def mean_inverse(self) -> float:
        """The number nu/(nu - 2)."""
        return self.degrees_of_freedom / (self.degrees_of_freedom - 2)


@dataclass(frozen=True)
class GammaScales(_DensityOfScales):
    """Scales follow a gamma law of mean 1 with this `shape` a: density proportional to tau^(a - 1) exp(-a tau).

    `GammaScales(1.0)` is the exponential law; h = 1 + 1/a. ValueError unless the shape lies in [0.1, 1e6].

    >>> GammaScales(1.0).heterogeneity
    2.0
    """

    shape: float = 1.0

    def __post_init__(self) -> None:
        set_checked(self, shape=checks.between("shape", self.shape, 0.1, 1e6, closed=(True, True)))

    @property
    def _log_density(self) -> Callable[[Array], Array]:
        return lambda x: self.shape * (x - np.exp(np.minimum(x, 100.0)))

    @property
    def _width(self) -> float:
        return 1 / math.sqrt(self.shape)

    @property
    def heterogeneity(self) -> float:
        """The number 1 + 1/a."""
        return 1 + 1 / self.shape

    @property
    def mean_inverse(self) -> float:
        """The number a/(a - 1), infinite for a <= 1."""
        return self.shape / (self.shape - 1) if self.shape > 1 else math.inf


@dataclass(frozen=True)
class LogNormalScales(_DensityOfScales):
    """The logarithms of the scales are Gaussian with standard deviation `log_std` s and mean -s^2/2.

    h = exp(s^2). ValueError unless s lies in [1e-3, 5].

    >>> f"{LogNormalScales(0.5).heterogeneity:.4f}"
    '1.2840'
    """

    log_std: float

    def __post_init__(self) -> None:
        set_checked(self, log_std=checks.between("log_std", self.log_std, 1e-3, 5, closed=(True, True)))

    @property
    def _log_density(self) -> Callable[[Array], Array]:
        return lambda x: -((x / self.log_std + self.log_std / 2) ** 2) / 2

    @property
    def _width(self) -> float:
        return self.log_std

    @property
    def heterogeneity(self) -> float:
        """The number exp(s^2)."""
        return math.exp(self.log_std**2)

    @property
    def mean_inverse(self) -> float:
        """The number exp(s^2)."""
        return math.exp(self.log_std**2)
