"""Laws of the rows' scales that have a density: Student-t rows, and gamma and log-normal scales."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from theory.core import Array, CheckedRecord, Within
from theory.models.row_scales import RowScales

STEP = 0.2  # in log tau; the integrands are analytic in a strip of half-width pi/2, so the error is exp(-pi^2/STEP)
LOG_NEGLIGIBLE = 48.0  # logarithm of the ratio beyond which a density counts no more
MAX_LOG_SCALE = 600.0  # largest |log tau| of a node, so that scales stay floating-point numbers


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
        x = step * np.arange(-np.ceil(MAX_LOG_SCALE / step), np.ceil(MAX_LOG_SCALE / step) + 1)
        density = self._log_density(x)
        # The weight of a large scale in an average is at most tau times its density.
        kept = np.maximum(density - density.max(), density + x - (density + x).max()) > -LOG_NEGLIGIBLE
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
class StudentTScales(CheckedRecord, _DensityOfScales):
    """Rows follow a multivariate Student-t law with `degrees_of_freedom` nu > 2: tau = (nu - 2)/chi^2_nu.

    The smaller nu is, the heavier are the tails; h = (nu - 2)/(nu - 4) is infinite for nu <= 4. ValueError unless
    2 < nu <= 1e6.

    >>> StudentTScales(5.0).heterogeneity
    3.0
    """

    degrees_of_freedom: Annotated[float, Within(2.0, 1e6, closed=(False, True))]

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
class GammaScales(CheckedRecord, _DensityOfScales):
    """Scales follow a gamma law of mean 1 with this `shape` a: density proportional to tau^(a - 1) exp(-a tau).

    `GammaScales(1.0)` is the exponential law; h = 1 + 1/a. ValueError unless the shape lies in [0.1, 1e6].

    >>> GammaScales(1.0).heterogeneity
    2.0
    """

    shape: Annotated[float, Within(0.1, 1e6, closed=(True, True))] = 1.0

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
class LogNormalScales(CheckedRecord, _DensityOfScales):
    """The logarithms of the scales are Gaussian with standard deviation `log_std` s and mean -s^2/2.

    h = exp(s^2). ValueError unless s lies in [1e-3, 5].

    >>> f"{LogNormalScales(0.5).heterogeneity:.4f}"
    '1.2840'
    """

    log_std: Annotated[float, Within(1e-3, 5.0, closed=(True, True))]

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
