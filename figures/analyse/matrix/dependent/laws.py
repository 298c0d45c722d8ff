"""What a dependence between the rows does to the Gram matrix of rows about their mean, for any number of them.

Rows with the covariance T between them (n x n, ones on its diagonal), reflected so that their mean is one row, leave
n - 1 contrasts with the covariance of J T J between them, where J takes out the mean. Their X'X has the law of
independent rows whose scales are the eigenvalues of J T J: that law, and the two numbers by which errors about an
estimated mean differ from those about a known one, are all that the theory needs of T (derived here, from the
invariance of Gaussian rows under rotations).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from simulate.masked.corrected import RESOLVED, RowModes, correction
from theory.core.arrays import Array
from theory.models import PointScales, RowScales

EXACT_ROWS = 400  # up to so many rows the eigenvalues are those of T, beyond them a spectral density
MAX_RING_ROWS = 20_000  # more rows have the same law of eigenvalues
MAX_SCALES = 100  # values of a law: means of groups of eigenvalues, more would change no digit that matters


@dataclass(frozen=True, eq=False)
class ContrastLaw:
    """The contrasts of n dependent rows: the law of their scales, and their mean.

    `scales` are the eigenvalues of J T J over their mean `size`; `mean_variance` is the variance of the mean of the
    rows in units of that of one row. For independent rows they are 1, 1 and 1/n.
    """

    scales: RowScales = field(repr=False)
    size: float
    mean_variance: float

    @property
    def mean_factor(self) -> float:
        """The error of a new row about the estimated mean over that of contrasts, in whose units all is fitted."""
        return (1 + self.mean_variance) / self.size

    def corrected(self, train: Array, gcv: Array) -> Array:
        """Return the errors on a new row far from the fitted ones, from what fits of the contrasts report.

        `train` and `gcv` are mean squares of residuals of any shape, before and after generalized cross-validation. The
        scales are the eigenvalues of the covariance between the contrasts, by which `simulate.masked.corrected` says
        how much too small the latter are. A fit that uses all degrees of freedom of a singular T tells no error; what
        generalized cross-validation says of it is not corrected.
        """
        reported = np.array(gcv, dtype=float)
        modes = RowModes(np.array(self.scales.nodes), np.array(self.scales.probabilities), None)
        shares = 1 - np.sqrt(np.divide(train, gcv, out=np.zeros(reported.shape), where=reported > 0))
        told = (reported > 0) & ((modes.share == 1) | (shares < modes.share * (1 - 2 * RESOLVED)))
        if told.any():
            reported[told] *= correction(modes, shares[told], "lam")
        return np.asarray(reported * self.mean_factor)


@dataclass(frozen=True, eq=False)
class RowLaws(ABC):
    """A fitted dependence of rows, which says for any number n of them what their contrasts are."""

    def contrasts(self, n: int) -> ContrastLaw:
        """Return the law of the n - 1 contrasts of n rows."""
        return self._cached(n)

    @cached_property
    def _cached(self) -> Callable[[int], ContrastLaw]:
        return lru_cache(maxsize=512)(self._contrasts)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_cached"}

    @abstractmethod
    def _contrasts(self, n: int) -> ContrastLaw:
        """Compute the law of the n - 1 contrasts of n rows."""


@dataclass(frozen=True, eq=False)
class SeriesLaws(RowLaws):
    """Rows in order that follow an autoregression with these `coefficients` (order,).

    `covariances` (K,) are those at the lags 0 to K - 1, beyond which rows count as independent. `scales` (N,), where
    they are given, are scales of the N rows themselves, so that T is D^(1/2) R D^(1/2) with the diagonal D of the
    scales and the correlations R of the order.
    """

    covariances: Array = field(repr=False)
    coefficients: Array
    scales: Array | None = field(default=None, repr=False)

    def correlations(self, n: int) -> Array:
        """Return the correlations of n rows at the lags 0 to n - 1."""
        known = self.covariances[:n] / self.covariances[0]
        return np.append(known, np.zeros(n - len(known)))

    def _contrasts(self, n: int) -> ContrastLaw:
        r = self.correlations(n)
        mean_variance = float(r[0] + 2 * ((1 - np.arange(1, n) / n) @ r[1:])) / n
        if self.scales is not None:
            # The eigenvalues of a full matrix are those of as many successive rows as it may have.
            some = min(n, len(self.scales), 2 * EXACT_ROWS)
            root = np.sqrt(self.scales[:some] / self.scales[:some].mean())
            return contrast_law(_centered_eigenvalues(root[:, None] * _toeplitz(r[:some]) * root), mean_variance)
        if n <= EXACT_ROWS:
            return contrast_law(_centered_eigenvalues(_toeplitz(r)), mean_variance)
        law = contrast_law(self._of_waves(min(n, MAX_RING_ROWS), mean_variance), mean_variance)
        return replace(law, size=n * (1 - mean_variance) / (n - 1))  # the trace of J T J, which is known

    def _of_waves(self, n: int, mean_variance: float) -> Array:
        """Return the eigenvalues of J T J for many rows, in any unit: the spectral density at n - 1 frequencies.

        Those of rows on a ring, 2 pi j/n, are right where the table is much longer than the memory of the rows. Those
        of waves without slope at both ends, pi j/n, are right where it is much shorter, as in a random walk. In between
        the geometric mean is taken, with the variance of the mean, which runs from 0 to 1, as the weight of the latter:
        it was compared with the exact ones at 100 and 500 rows, for correlations from .6 to .9999, to 2 % of the
        correction.
        """
        waves = np.pi * np.arange(1, n) / n
        ring, walk = (np.sort(self._density(frequencies)) for frequencies in (2 * waves, waves))
        share = min(max(mean_variance, 0.0), 1.0)
        return np.asarray(ring ** (1 - share) * walk**share)

    def _density(self, frequencies: Array) -> Array:
        lags = np.arange(1, len(self.coefficients) + 1)
        return np.asarray(1 / abs(1 - np.exp(-1j * np.outer(frequencies, lags)) @ self.coefficients) ** 2)


@dataclass(frozen=True, eq=False)
class GroupLaws(RowLaws):
    """Rows of groups, of `sizes` (G,), with one correlation of any two rows of a group and none between groups."""

    sizes: NDArray[np.integer]
    correlation: float

    def _contrasts(self, n: int) -> ContrastLaw:
        """Take groups in proportion to their sizes; the mean takes out one of their directions."""
        share = n / float(self.sizes.sum())
        of_sum = 1 + (self.sizes - 1) * self.correlation  # eigenvalue of the sum of a group; the others are 1 - a
        mean_variance = float(self.sizes @ of_sum) * share / n**2
        weights = np.full(len(self.sizes), share)
        weights *= max(1 - 1 / (share * len(self.sizes)), 0.0)
        within = max(n - share * len(self.sizes), 0.0)
        values, counts = np.append(of_sum, 1 - self.correlation), np.append(weights, within)
        return contrast_law(values, mean_variance, counts)


def contrast_law(eigenvalues: Array, mean_variance: float, counts: Array | None = None) -> ContrastLaw:
    """Build the law from the eigenvalues of J T J without the zero of the mean, each as often as `counts` says."""
    values = np.maximum(np.asarray(eigenvalues, dtype=float), 0.0)
    order = np.argsort(values, kind="stable")
    values = values[order]
    weights = np.ones(len(values)) if counts is None else np.asarray(counts, dtype=float)[order]
    weights = weights / weights.sum()
    if len(values) > MAX_SCALES:
        part = np.minimum((MAX_SCALES * (np.cumsum(weights) - weights / 2)).astype(int), MAX_SCALES - 1)
        total = np.bincount(part, weights, minlength=MAX_SCALES)
        kept = total > 0
        values = np.bincount(part, weights * values, minlength=MAX_SCALES)[kept] / total[kept]
        weights = total[kept] / total.sum()
    return ContrastLaw(PointScales.rescaled(values, weights), float(weights @ values), mean_variance)


def _toeplitz(r: Array) -> Array:
    n = len(r)
    return np.asarray(r[abs(np.subtract.outer(np.arange(n), np.arange(n)))])


def _centered_eigenvalues(T: Array) -> Array:
    """Return the eigenvalues of J T J but for the zero that belongs to the mean."""
    centered = T - T.mean(axis=0)
    centered -= centered.mean(axis=1)[:, None]
    return np.asarray(np.linalg.eigvalsh(centered)[1:] if len(T) > 1 else np.ones(1))
