"""Products of rows that lie a lag apart, pooled over all columns, and the autoregression that they determine.

For rows X = T^(1/2) Z Sigma^(1/2) the mean of x_i.x_(i+h) is T_i,i+h tr Sigma, whatever Sigma is, so that all columns
together tell the autocorrelation of the rows, and no row has to be whitened. The mean that was subtracted from the
columns shifts all lags down; `without_mean` undoes that.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_banded

from simulate.masked.row_sources import as_row_blocks
from theory.core.arrays import Array

LEAST_ROWS = 20  # below it neither a test nor a correlation says anything
LARGEST_CORRELATION = 0.9999  # of successive rows; above it a process would need more rows than there are
LARGEST_MEAN_VARIANCE = 0.9  # share of the variance in the mean; above it the rows hardly change at all
MAX_STEPS = 400  # of the iteration for the variance of the mean; twenty are usual
FREE_STEPS = 50  # after which the order stays as it is, so that it cannot alternate
STEP = 1e-10  # of that variance, at which the iteration has converged


@dataclass(frozen=True, eq=False)
class Autoregression:
    """The process x_i = sum_j coefficients_j x_(i-j) + noise of variance `noise`, for rows x_i of unit variance."""

    coefficients: Array  # (order,)
    noise: float

    @property
    def order(self) -> int:
        """The number of rows before that a row depends on."""
        return len(self.coefficients)

    def autocovariance(self, covariances: Array, n: int) -> Array:
        """Continue the covariances of the lags 0 to order to those of the lags 0 to n - 1, by the recursion."""
        known: Array = covariances[: min(self.order + 1, n)]
        if not self.order or len(known) == n:
            return np.asarray(np.append(known, np.zeros(n - len(known))))
        bands = np.zeros((self.order + 1, n))  # of the lower triangular system a_h - sum_j coefficients_j a_(h-j) = 0
        bands[0] = 1.0
        for j, coefficient in enumerate(self.coefficients, 1):
            bands[j, len(known) - j : n - j] = -coefficient
        return np.asarray(solve_banded((self.order, 0), bands, np.append(known, np.zeros(n - len(known)))))


def centered_rows(name: str, X: Any) -> Array:
    """Return a copy of the rows about their mean; ValueError for less than 20 rows, or a column that is constant."""
    data = as_row_blocks(name, X).all_rows()
    if len(data) < LEAST_ROWS:
        raise ValueError(f"{name} must have at least {LEAST_ROWS} rows to tell whether they depend, got {len(data)}")
    spread = np.ptp(data, axis=0)
    constant = np.flatnonzero(spread <= 1e-14 * abs(data).max(axis=0))
    if constant.size:
        raise ValueError(f"{name} must have no constant column, got one in column {constant[0]}: leave it out")
    return np.asarray(data - data.mean(axis=0))


def pooled_products(rows: Array, lags: int) -> Array:
    """Return sum_i x_i.x_(i+h) over sum_i |x_i|^2 for the lags h = 0 to `lags`, (lags + 1,)."""
    products = [np.vdot(rows[: len(rows) - h], rows[h:]) for h in range(lags + 1)]
    return np.asarray(np.array(products) / products[0])


def effective_columns(rows: Array) -> float:
    """Estimate d_eff = (tr Sigma)^2/tr Sigma^2, the number of columns that would vary as much if all were alike.

    With G = X'X the estimate is (tr G)^2/(tr G^2 - (tr G)^2/n), which is unbiased for n independent rows in numerator
    and denominator; n - 1 stands for n since the mean was subtracted. For dependent rows it is too small, and standard
    errors that are made of it are too large.
    """
    n, d = rows.shape
    gram = rows.T @ rows if d <= n else rows @ rows.T
    total = float(np.trace(gram))
    spread = float(np.vdot(gram, gram)) / total**2 - 1 / (n - 1)
    return min(max(1 / spread, 1.0), float(d)) if spread > 0 else float(d)


def chosen_autoregression(covariances: Array, numbers: float, max_order: int, least_order: int = 0) -> Autoregression:
    """Solve the equations of Yule and Walker for every order, and take the one of the least BIC for so many numbers.

    The recursion of Levinson and Durbin solves them all at the cost of the last. It ends where no stationary process
    has these covariances, which are estimates.
    """
    noise, coefficients = float(covariances[0]), np.zeros(0)
    best, least = Autoregression(coefficients, noise), numbers * np.log(noise) if least_order == 0 else np.inf
    for order in range(1, max_order + 1):
        reflection = float(covariances[order] - coefficients @ covariances[order - 1 : 0 : -1]) / noise
        if not abs(reflection) <= LARGEST_CORRELATION:
            break
        coefficients = np.append(coefficients - reflection * coefficients[::-1], reflection)
        noise *= 1 - reflection**2
        score = numbers * np.log(noise) + order * np.log(numbers)
        if score < least and order >= least_order:
            best, least = Autoregression(coefficients, noise), score
    return best


def mean_covariances(autocovariance: Array) -> Array:
    """Return the covariances (n,) of each of n stationary rows with the mean of all, from their autocovariance (n,)."""
    sums = np.cumsum(autocovariance)
    return np.asarray((sums + sums[::-1] - autocovariance[0]) / len(sums))


def without_shift(pooled: Array, with_mean: Array) -> Array:
    """Return the correlations (H,) of rows from their pooled products (H,) about the mean, at the lags 0, 1, ...

    `with_mean` (n,) are the covariances u_i of each row with the mean, whose average v is the variance of the mean.
    The mean of the sum of x_i.x_(i+h) about the mean is (n - h)(rho_h + v) - (sum over the pairs of u_i + u_(i+h)), in
    units of tr Sigma, and that of |x_i|^2 is n (1 - v).
    """
    n, lags, variance = len(with_mean), np.arange(len(pooled)), float(with_mean.mean())
    ends = np.append(0.0, np.cumsum(with_mean))[lags]  # sums over as many rows at either end as the lag
    return np.asarray((n * pooled * (1 - variance) + 2 * (n * variance - ends)) / (n - lags) - variance)


@dataclass(frozen=True, eq=False)
class WithoutMean:
    """What is left of the pooled products without the shift by the mean, and the evidence."""

    correlations: Array  # (lags + 1,)
    covariances: Array  # of the process at the same lags: correlations times 1 - h/n
    mean_variance: float
    process: Autoregression
    residual: float  # last change of the variance of the mean
    iterations: int


def without_mean(pooled: Array, n: int, numbers: float, max_order: int) -> WithoutMean:
    """Undo what the subtraction of the mean did to the pooled products of the lags 0, 1, ...

    The autoregression that the correlations determine tells the covariances of the rows with the mean, and these the
    correlations; both are iterated from none, until the variance of the mean is known. The equations for the process
    take products that are divided by n instead of n - h. That makes the correlation length of the process at most
    comparable with n, also where rows drift and are no stationary process, at the price of too short a one where it is
    long.
    """
    fade = 1 - np.arange(len(pooled)) / n
    least, most, with_mean = 0, max_order, np.zeros(n)
    for step in range(1, MAX_STEPS + 1):
        found = without_shift(pooled, with_mean)
        correlations = np.append(1.0, np.clip(found[1:], -LARGEST_CORRELATION, LARGEST_CORRELATION))
        process = chosen_autoregression(fade * correlations, numbers, most, least)
        if step == FREE_STEPS:
            least = most = process.order
        before, with_mean = with_mean.mean(), mean_covariances(process.autocovariance(fade * correlations, n))
        with_mean *= min(LARGEST_MEAN_VARIANCE / max(with_mean.mean(), LARGEST_MEAN_VARIANCE), 1.0)
        if abs(with_mean.mean() - before) < STEP:
            break
    change = float(abs(with_mean.mean() - before))
    return WithoutMean(correlations, fade * correlations, float(with_mean.mean()), process, change, step)
