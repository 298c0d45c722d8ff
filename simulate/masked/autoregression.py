"""The autoregression in time of the rows of a data matrix, by the products of neighbors pooled over all columns."""

from dataclasses import dataclass, field
from math import ceil
from typing import Any

from numpy.random import Generator

from simulate.masked.autocorrelation import PERMUTATIONS, TEST_LEVEL, most_lags, permutation_test
from simulate.masked.lagged_products import (
    Autoregression,
    centered_rows,
    effective_columns,
    pooled_products,
    without_mean,
)
from theory.core import Array, Count, NonNegativeCount, OpenShare, Result, checked, checks
from theory.models import Autocovariance


@dataclass(frozen=True, eq=False, repr=False)
class RowAutoregression(Result):
    """An autoregression x_i = sum_j coefficients_j x_(i-j) + noise, of one order for all columns.

    `order` is 0 for rows that the test of independence does not reject. `autocovariance` (order + 1,) are the
    covariances of the rows at the lags 0 to order, 1 at lag 0, and `dependence(n)` continues them to n rows.
    `noise` is the share of the variance that the rows before do not tell, `mean_variance` the variance of the mean of
    all rows in units of that of one row, and `p_value` that of the test.
    """

    order: int
    coefficients: Array
    autocovariance: Array
    noise: float
    p_value: float
    effective_columns: float
    mean_variance: float
    n: int
    _process: Autoregression = field(repr=False)

    @checked
    def dependence(self, n: Count) -> Autocovariance:
        """Return the law of n successive rows, which `MaskedFit.corrected_error` and `whitened` take.

        >>> from simulate.core import stream
        >>> from simulate.masked import sample
        >>> from theory.models import AR1
        >>> X = sample(AR1(d=30, correlation=0.5), 201, stream(0, "docstring"))
        >>> found = autoregressive_rows(X[1:] + X[:-1])
        >>> found.dependence(100).n
        100
        """
        checks.fits_in_memory(f"autocovariances of {n} rows", 4 * float(n))
        return Autocovariance(self._process.autocovariance(self.autocovariance, n))


@checked
def autoregressive_rows(
    X: Any,
    rng: Generator | None = None,
    max_order: NonNegativeCount | None = None,
    level: OpenShare = TEST_LEVEL,
    permutations: Count = PERMUTATIONS,
) -> RowAutoregression:
    """Fit an autoregression to the rows of X (n, d) in their order, if the exact test says that they are dependent.

    The correlations of the rows are those of `row_autocorrelation`, without the shift by the columns' means. They
    determine the coefficients by the equations of Yule and Walker, at lag h times 1 - h/n: this keeps rows that drift
    from having a longer memory than n, and makes it too short where it is long. The order is that of the least BIC for
    n d_eff numbers, d_eff the effective number of columns, up to `max_order` (10, or a fifth of few rows, where left
    out). It is 0 unless the permutation test rejects independence at `level`: BIC alone finds an order above zero in
    3 % of the tables of few independent rows. `rng` draws the permutations; without it they are always the same ones.

    ValueError as in `row_autocorrelation`, for a max_order that is not below n, and for so few permutations that no
    p-value can reach the level.

    >>> from simulate.core import stream
    >>> from simulate.masked import sample
    >>> from theory.models import AR1
    >>> X = sample(AR1(d=30, correlation=0.5), 200, stream(0, "docstring"))
    >>> autoregressive_rows(X).order
    0
    >>> for i in range(1, 200):
    ...     X[i] = 0.6 * X[i - 1] + 0.8 * X[i]
    >>> found = autoregressive_rows(X)
    >>> print(found.order, found.coefficients.round(2), found.p_value)
    1 [0.59] 0.005
    """
    rows = centered_rows("X", X)
    n = len(rows)
    most = most_lags(n) if max_order is None else max_order
    if most >= n:
        raise ValueError(f"max_order must be below the number of rows, which is {n}, got {most}")
    least = ceil((1 - 1e-9) / level) - 1
    if permutations < least:
        raise ValueError(f"permutations must be at least {least} to reach level = {level:g}, got {permutations}")
    p_value = permutation_test(rows, _usual_orders(n) if rng is None else rng, permutations)
    columns = effective_columns(rows)
    found = without_mean(pooled_products(rows, most), n, n * columns, most if p_value <= level else 0)
    process = found.process
    return RowAutoregression(
        order=process.order,
        coefficients=process.coefficients,
        autocovariance=found.covariances[: process.order + 1],
        noise=process.noise,
        p_value=p_value,
        effective_columns=columns,
        mean_variance=found.mean_variance,
        n=n,
        residual=found.residual,
        iterations=found.iterations,
        _process=process,
    )


def _usual_orders(n: int) -> Generator:
    from simulate.core import stream  # loads what runs processes, of which an estimate has no need

    return stream(0, "orders of rows", n)
