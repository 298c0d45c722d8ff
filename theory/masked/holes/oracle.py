"""The least error at a hole that any imputation from the same row can have: conditional variances over patterns."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from theory.core import Accepted, Array, Count, NonNegativeCount, Result, checked
from theory.masked.errors import conditional_variances, mean_over_coordinates
from theory.masked.holes.patterns import Pattern, pattern_mean
from theory.models import (
    AR1,
    Covariance,
    Dropout,
    GaussianFreeField,
    GivenSpectrum,
    GOEPrecision,
    MissingEntries,
    PowerLaw,
    SpectralDensity,
    TridiagonalPrecision,
    Wishart,
)
from theory.models.missing_entries import missing_rates_checked
from theory.numerics import ConvergenceError
from theory.numerics.extremes import within_range
from theory.random_matrix import solve_effective_ridge

PATTERNS = 200
HAAR = (GivenSpectrum, GOEPrecision, PowerLaw, SpectralDensity, Wishart)
VANISHING = 1e-17  # relative size of terms that are left out of a sum
MAX_TERMS = 10_000_000
EIGENVALUE_ROUNDING = 1e-13  # of correlations, below which a combination of columns has no variance
NULL_REACH = 1e-12  # squared part of a column in such combinations, above which the others determine it


@dataclass(frozen=True, eq=False, repr=False)
class OracleError(Result):
    """The variances of missing entries given all that is seen in their rows, where Sigma is known.

    `value` has shape (d,), or one entry for each class of coordinates in the limit d -> infinity. `stderr`, of the same
    shape, and `mean_stderr` are standard errors of the patterns that were drawn; zero where all were summed, or in the
    limit. NaN stands at a column without holes, under `Dropout`.
    """

    covariance: Covariance = field(repr=False)
    value: Array
    stderr: Array = field(repr=False)
    mean_stderr: float

    @cached_property
    def mean(self) -> float:
        """Mean of `value` over the coordinates that have holes."""
        return mean_over_holes(self.covariance, self.value)


def mean_over_holes(covariance: Covariance, errors: Array) -> float:
    """Return the mean over the columns whose error is a number; under dropout some may have no holes."""
    return float(mean_over_coordinates(covariance, errors)) if not covariance.is_finite else float(np.nanmean(errors))


@checked
@within_range
def oracle_error(
    covariance: Covariance,
    missing_rates: Annotated[Any, Accepted(missing_rates_checked)],
    *,
    patterns: Count = PATTERNS,
    seed: NonNegativeCount = 0,
) -> OracleError:
    """Compute the variance of a missing entry given the entries seen in its row, averaged over the holes of the others.

    No imputation of Gaussian rows from the other entries of the row has a smaller mean squared error:
    Sigma_kk - Sigma_kO Sigma_OO^-1 Sigma_Ok, O the columns that the row shows. `missing_rates` are those of
    `MissingEntries`. In a finite covariance the average is over `patterns` patterns, drawn with the generator of
    `seed`, or over all 2^d of them where `patterns` is at least that; a `Dropout` has few patterns, and all are
    summed, over the rows that end before the column.

    In the limit d -> infinity, with q = 1 - p: where the eigenvectors of Sigma are Haar-distributed the value is (q/p)
    kappa, with kappa the root of tr Sigma (Sigma + kappa)^-1/d = q, the equation of ridgeless interpolation with q in
    the place of the sample ratio (the inverse of Sigma is compressed freely; derived here); for an AR(1) chain of
    correlation r it is the sum of q^2 p^(l + m - 2) (1 - r^2l) (1 - r^2m)/(1 - r^2(l + m)) over the distances l and m
    to the nearest entries that are seen; independent coordinates keep their variance. ValueError for other limits.

    >>> from theory.models import AR1
    >>> print(f"{oracle_error(AR1(float('inf'), 0.7), 0.2).mean:.6f}")
    0.388223
    >>> finite = oracle_error(AR1(30, 0.7), 0.2)
    >>> print(f"{finite.mean:.2f} {finite.mean_stderr:.1g}")
    0.40 0.001
    """
    if not covariance.is_finite:
        if np.ndim(missing_rates) or isinstance(missing_rates, Dropout):
            raise ValueError("missing_rates must be one number in the limit d -> infinity")
        value = _limit(covariance, float(missing_rates))
        return OracleError(covariance, value, np.zeros_like(value), 0.0)
    Sigma, d = covariance.matrix, covariance.size
    size = missing_rates.d if isinstance(missing_rates, Dropout) else np.size(missing_rates)
    if size not in ((1, d) if np.ndim(missing_rates) == 0 and not isinstance(missing_rates, Dropout) else (d,)):
        raise ValueError(f"missing_rates must be one number, or one for each of d = {d}, got {size}")
    if isinstance(missing_rates, Dropout):
        value = np.array([_under_dropout(Sigma, missing_rates, k, missing_rates.lengths <= k) for k in range(d)])
        return OracleError(covariance, value, np.zeros(d), 0.0)
    q = np.broadcast_to(1 - np.asarray(missing_rates, float), d)
    found = pattern_mean(q, lambda pattern: conditional(Sigma, pattern), patterns, seed)
    return OracleError(covariance, found.errors, found.stderr, found.mean_stderr)


def oracle_of_rows(model: MissingEntries, patterns: int, seed: int) -> OracleError:
    """Compute the least errors on the rows that a `MissingEntries` predicts."""
    of, rates = model.covariance, model.missing_rates
    if model.rows == "complete":
        rates = 0.0
    if isinstance(rates, Dropout) and model.rows == "holes":
        value = np.array([_under_dropout(of.matrix, rates, k, rates.lengths > k) for k in range(of.size)])
        return OracleError(of, value, np.zeros_like(value), 0.0)
    if np.ndim(rates) == 0 and rates == 0:
        value = conditional_variances(of)
        return OracleError(of, value, np.zeros_like(value), 0.0)
    return oracle_error(of, rates, patterns=patterns, seed=seed)


def conditional(Sigma: Array, pattern: Pattern) -> Array:
    """Compute the variance (d,) of every column given the other ones that a row shows, `pattern` (d,).

    Holes are predicted from all that is seen, and a column that is seen from the others that are: the inverse of the
    seen block has 1/variance on its diagonal. Combinations of the seen columns without variance, which a singular Sigma
    has, tell nothing of the holes, and everything of the columns that take part in them.
    """
    seen, holes, variances = np.flatnonzero(pattern), np.flatnonzero(~pattern), np.diagonal(Sigma)
    found = variances.copy()
    if not seen.size:
        return found
    scales = np.sqrt(np.where(variances[seen] > 0, variances[seen], 1.0))
    eigenvalues, vectors = np.linalg.eigh(Sigma[np.ix_(seen, seen)] / np.outer(scales, scales))
    kept = eigenvalues > EIGENVALUE_ROUNDING * len(seen)
    projected = vectors[:, kept].T @ (Sigma[np.ix_(seen, holes)] / scales[:, None])
    found[holes] -= (projected**2 / eigenvalues[kept, None]).sum(axis=0)
    determined = (vectors[:, ~kept] ** 2).sum(axis=1) > NULL_REACH
    precisions = (vectors[:, kept] ** 2 / eigenvalues[kept]).sum(axis=1)
    found[seen] = np.where(determined, 0.0, scales**2 / np.where(determined, 1.0, precisions))
    return np.asarray(np.maximum(found, 0.0))


def _under_dropout(Sigma: Array, rates: Dropout, k: int, kinds: NDArray[np.bool_]) -> float:
    """Average the variance of column k given the others over some kinds of rows; NaN where there are none."""
    if not kinds.any():
        return float(np.nan)
    values = [float(conditional(Sigma, np.arange(rates.d) < length)[k]) for length in rates.lengths[kinds]]
    return float(np.average(values, weights=rates.shares[kinds]))


def _limit(covariance: Covariance, p: float) -> Array:
    spectrum = covariance.spectrum
    if spectrum.axes:
        return covariance.variances
    if p == 0:
        return conditional_variances(covariance)
    if isinstance(covariance, AR1):
        return np.array([_chain(covariance.correlation**2, p)])
    ratio = _tridiagonal_ratio(covariance)
    if ratio is not None:  # a chain of another variance
        correlation = ratio / (1 + np.sqrt((1 - ratio) * (1 + ratio)))
        return np.asarray(covariance.variances * _chain(correlation**2, p))
    if isinstance(covariance, HAAR) or len(spectrum.eigenvalues) == 1:
        ridge = solve_effective_ridge(spectrum, np.array([1 - p]), np.zeros(1))
        return np.asarray((1 - p) / p * ridge.value)
    raise ValueError(
        f"covariance must have a finite d, Haar-distributed eigenvectors or be an AR(1) chain for an oracle error, got "
        f"{covariance!r}: see resized(d)"
    )


def _tridiagonal_ratio(covariance: Covariance) -> float | None:
    """Return twice the entry beside the diagonal of the inverse over that on it, where the inverse is tridiagonal."""
    if isinstance(covariance, TridiagonalPrecision):
        return 2 * covariance.off_diagonal / covariance.diagonal
    if isinstance(covariance, GaussianFreeField) and covariance.dimension == 1:
        return 2 / (2 + covariance.mass**2)
    return None


def _chain(rho: float, p: float) -> float:
    """Sum the double series of a chain over l + m = N; rho = r^2.

    The sums A_N of (1 - rho^l)(1 - rho^(N - l)) over l obey A_(N+1) = rho A_N + (1 - rho) sum_(l <= N) (1 - rho^l),
    whose terms are all positive. Where rho^N has vanished, A_N = N - 1 - 2 rho/(1 - rho), and the rest is a geometric
    series.
    """
    q = 1 - p
    if rho < VANISHING:
        return 1.0
    lasting = np.log(VANISHING) / np.log(rho)  # terms until rho^N has vanished
    count = int(min(lasting, np.log(VANISHING * q**2) / np.log(p))) + 3
    if count > MAX_TERMS:
        what = f"oracle error of a chain at correlation^2 = {rho:.6g}, missing_rates = {p:.6g}"
        advice = "take a smaller missing_rates or correlation"
        raise ConvergenceError.of(what, None, np.inf, 0.0, status="diverged", advice=advice)
    N = np.arange(2, count + 2)  # l + m
    powers = rho**N
    steps = (1 - rho) * np.cumsum(1 - rho ** np.arange(1, count + 1))  # at N - 1 = 1, 2, ...
    sums = powers * np.cumsum(steps / powers)
    total = float(q**2 * np.sum(p ** (N - 2.0) * sums / (1 - powers)))
    last = count + 2  # the first N that is left
    rest = p ** (last - 2.0) * ((last - 1) * q + p - 2 * rho / (1 - rho) * q)
    return total + max(float(rest), 0.0)
