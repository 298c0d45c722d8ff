"""Families of dependences between rows in time: with short or long memory, or with given autocovariances."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct
from scipy.linalg import toeplitz
from scipy.special import gammaln

from theory.core import Array, CheckedRecord, Count, Dimension, Within, checked, checks
from theory.models.covariance import frozen, set_checked
from theory.models.one_pole import one_pole_circle
from theory.models.row_dependence import RowDependence, eigenvalue_law
from theory.models.row_scales import EXACT, GAUSSIAN, RowScales
from theory.models.stationary import AR1

NODES_OF_A_LIMIT = 2  # times those that means of smooth functions need: squares have double poles
MAX_FREQUENCIES = 2**17
ROUNDING = 1e-10  # of the largest value of a spectral density, by which others may lie below zero
SINH_STEP, SINH_END = 1 / 32, 5.0  # of the rule for a density with a power at frequency 0, from frequencies of 1e-100


class _Stationary(RowDependence):
    """The base of dependences in time, T_ij = rho_|i-j|, which give rho at lags 0, 1, ... by `autocovariances`."""

    @abstractmethod
    def autocovariances(self, count: Count) -> Array:
        """Compute rho at the lags 0 to count - 1, (count,)."""

    def _matrix(self) -> Array:
        return np.asarray(toeplitz(self.autocovariances(self.size)))

    @property
    def mean_variance(self) -> float:
        """The variance of the mean over the rows of a column of variance 1: 1/n for independent rows."""
        if not math.isfinite(self.n):
            return 0.0
        n = self.size
        rho = self.autocovariances(n)
        return max(float(2 * (1 - np.arange(n) / n) @ rho - rho[0]), 0.0) / n

    @checked
    def next_row(self, steps: Count = 1) -> Array:
        """Compute the covariances (n,) of the row `steps` after the last one with the rows, in units of Sigma."""
        return self._ahead(steps)

    def _ahead(self, steps: int) -> Array:
        return self.autocovariances(self.size + steps)[steps:][::-1].copy()


@dataclass(frozen=True)
class AR1Rows(CheckedRecord, _Stationary):
    """Rows in time that follow a stationary first-order autoregression: T_ij = correlation^|i-j|.

    x_(i+1) = phi x_i + (1 - phi^2)^(1/2) Sigma^(1/2) z with |phi| = |`correlation`| < 1. n may be infinite: then the
    eigenvalues are t(w) = (1 - phi^2)/(1 - 2 phi cos w + phi^2) at frequencies w uniform on the circle.

    >>> AR1Rows(3, 0.5).matrix
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 1.  ]])
    """

    n: Dimension
    correlation: Annotated[float, Within(-1.0, 1.0)]

    @checked
    def autocovariances(self, count: Count) -> Array:
        """Compute correlation^h at the lags h = 0 to count - 1, (count,)."""
        checks.fits_in_memory(f"autocovariances at {count} lags", count)
        return np.asarray(self.correlation ** np.arange(count))

    def _eigenvalues(self) -> Array:
        return AR1(self.size, self.correlation).eigenvalues

    def _limit(self) -> RowScales:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> RowScales:
        phi = abs(self.correlation)
        if phi == 0:
            return GAUSSIAN
        modes = one_pole_circle((1 - phi) * (1 + phi), (1 - phi) ** 2, phi, NODES_OF_A_LIMIT * times)
        spread = (1 + phi * phi) / (1 - phi) / (1 + phi)  # of t, and by symmetry the mean of 1/t
        return eigenvalue_law(
            modes.eigenvalues, modes.weights, heterogeneity=spread, mean_inverse=spread, largest=(1 + phi) / (1 - phi)
        )


@dataclass(frozen=True)
class LongMemoryRows(CheckedRecord, _Stationary):
    """Rows in time with long memory: fractionally integrated noise, ARFIMA(0, a, 0) with a the `memory`.

    rho_h = prod over k = 1 to h of (k - 1 + a)/(k - a), which falls as h^(2a - 1); a lies in (-1/2, 1/2). The spectral
    density is proportional to |2 sin(w/2)|^(-2a): for a > 0 it is infinite at frequency 0, so that the largest
    eigenvalue of T grows with n, and X'X has no largest eigenvalue in the limit. n may be infinite.

    >>> LongMemoryRows(4, 0.25).matrix[0].round(4)
    array([1.    , 0.3333, 0.2381, 0.1948])
    """

    n: Dimension
    memory: Annotated[float, Within(-0.5, 0.5)]

    @checked
    def autocovariances(self, count: Count) -> Array:
        """Compute rho at the lags 0 to count - 1, (count,)."""
        checks.fits_in_memory(f"autocovariances at {count} lags", count)
        k = np.arange(1, count)
        return np.concatenate([[1.0], np.cumprod((k - 1 + self.memory) / (k - self.memory))])

    @property
    def _exact(self) -> dict[str, float]:
        """What the limit has: the largest density, and the means of its square and of its inverse."""
        a, scale = self.memory, math.exp(2 * gammaln(1 - self.memory) - gammaln(1 - 2 * self.memory))
        inverse = math.exp(gammaln(1 + 2 * a) - 2 * gammaln(1 + a)) / scale
        square = scale**2 * math.exp(gammaln(1 - 4 * a) - 2 * gammaln(1 - 2 * a)) if a < 0.25 else math.inf
        largest = math.inf if a > 0 else scale * 4**-a
        return {"heterogeneity": square, "mean_inverse": inverse, "largest": largest}

    def _finite_law(self) -> RowScales:
        values = self.eigenvalues
        if self.memory == 0 or np.ptp(values) < EXACT:
            return GAUSSIAN
        exact = {"largest": math.inf} if self.memory > 0 else {}
        return eigenvalue_law(values, np.full(self.size, 1 / self.size), **exact)

    def _limit(self) -> RowScales:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> RowScales:
        a = self.memory
        if a == 0:
            return GAUSSIAN
        # Frequencies pi s, s = 1/(1 + exp(-pi sinh x)): equal steps in x are exact to rounding for powers at s = 0.
        x = np.arange(-SINH_END, 3.4, SINH_STEP / times)
        slope = np.exp(-np.logaddexp(0.0, math.pi * np.sinh(x)) - np.logaddexp(0.0, -math.pi * np.sinh(x)))
        log_s = -np.logaddexp(0.0, -math.pi * np.sinh(x))
        weights = slope * np.cosh(x)
        weights /= weights.sum()
        log_sine = math.log(math.pi) + log_s + np.log(np.sinc(np.exp(log_s) / 2))  # of 2 sin(w/2)
        values = np.exp(2 * gammaln(1 - a) - gammaln(1 - 2 * a) - 2 * a * log_sine)
        missing = 1 - float(weights @ values)  # at lower frequencies than the least node; it has that node's weight
        if missing > 1e-12:  # else it is rounding
            values[0] += missing / weights[0]
        return eigenvalue_law(values, weights, **self._exact)


@dataclass(frozen=True, eq=False, repr=False)
class Autocovariance(_Stationary):
    """Rows in time with given autocovariances `values` (p + 1,) at the lags 0 to p, and none beyond: T_ij = rho_|i-j|.

    rho_0 is 1; `Autocovariance.rescaled` divides by it first. `n` is the number of rows, by default that of the values,
    and may be infinite; values at lags of n and more are those with rows to come. ValueError unless T is positive
    semi-definite, which not every list of numbers makes it: the message names the frequency of which T would have a
    negative variance.

    >>> Autocovariance([1.0, 0.4], n=3).matrix
    array([[1. , 0.4, 0. ],
           [0.4, 1. , 0.4],
           [0. , 0.4, 1. ]])
    """

    values: ArrayLike
    n: int | float | None = None  # type: ignore[assignment]  # a number once the record is made

    def __post_init__(self) -> None:
        values = checks.finite_array("values", self.values, 1)
        if abs(values[0] - 1) > EXACT:
            divides = "Autocovariance.rescaled divides by it"
            raise ValueError(f"values must begin with 1, the variance, got {values[0]:.12g}; {divides}")
        n = len(values) if self.n is None else checks.dimension(self.n, infinite=True, name="n")
        set_checked(self, values=frozen(values / values[0]), n=n)
        self._require_semidefinite()

    @classmethod
    def rescaled(cls, values: ArrayLike, n: int | float | None = None) -> Self:
        """Build the dependence of autocovariances whose first one, the variance, need not be 1: it divides them."""
        given = checks.finite_array("values", values, 1)
        if given[0] <= 0:
            raise ValueError(f"values must begin with a positive variance, got {given[0]:.12g}")
        return cls(given / given[0], n)

    @checked
    def autocovariances(self, count: Count) -> Array:
        """Return rho at the lags 0 to count - 1, (count,), zero beyond the given ones."""
        checks.fits_in_memory(f"autocovariances at {count} lags", count)
        values = np.asarray(self.values)
        return np.pad(values, (0, max(count - len(values), 0)))[:count]

    def _density(self, count: int) -> Array:
        """Compute the spectral density at the frequencies pi (j + 1/2)/count, (count,)."""
        return np.asarray(dct(self.autocovariances(count), type=3))

    def _require_semidefinite(self) -> None:
        count = max(256, 8 * len(np.asarray(self.values)))
        density = self._density(count)  # where no row is left out, that of all lags
        where = (int(density.argmin()) + 0.5) / (2 * count)
        least = float(density.min())
        if least >= -ROUNDING * density.max():
            return
        if math.isfinite(self.n or 0):
            # Few rows may resolve no frequency at which the density is negative.
            values, vectors = np.linalg.eigh(self.matrix)
            if values[0] >= -ROUNDING * self.size:
                return
            power = abs(np.fft.rfft(vectors[:, 0], 16 * self.size))
            where, least = int(power.argmax()) / (16 * self.size), float(values[0])
        raise ValueError(
            f"values must be autocovariances, whose matrix is positive semi-definite, got a variance {least:.6g} at "
            f"the frequency of {where:.4g} cycles per row"
        )

    def _limit(self) -> RowScales:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> RowScales:
        count, before = max(256, 4 * len(np.asarray(self.values))), np.full(2, np.inf)
        while True:
            density = np.maximum(self._density(count), 0.0)
            probe = np.array([np.mean(1 / (1 + density * delta) ** 2) for delta in (1.0, 1e3)])
            if np.max(abs(probe - before)) <= 1e-13 or count >= MAX_FREQUENCIES:
                break
            before, count = probe, 2 * count
        count *= times
        density = np.maximum(self._density(count), 0.0)
        return eigenvalue_law(density, np.full(count, 1 / count))

    def __repr__(self) -> str:
        values = np.asarray(self.values)
        shown = values.tolist() if len(values) <= 4 else f"<{len(values)} lags>"
        return f"Autocovariance({shown}, n={self.n})"
