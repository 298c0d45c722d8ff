"""The Curie-Weiss Potts ferromagnet of N sites, exactly: sums over how many sites have each color."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import gammaln, logsumexp

from theory.models import checks
from theory.models.arrays import Array

MAX_SITES = 4000


@dataclass(frozen=True, eq=False)
class FiniteCurieWeiss:
    """S = (1/N) sum_{i<j} delta(s_i, s_j) at beta, N = `n_sites`.

    `log_color_weights` (N + 1,) of n sites of one color: a state has the product of these over colors, its
    occupations n_a summing to N, and the factor N!.
    """

    n_sites: int
    n_colors: int
    beta: float
    log_color_weights: Array = field(repr=False)

    @cached_property
    def log_partition_function(self) -> float:
        """log Z."""
        return float(gammaln(self.n_sites + 1) + self._log_total)

    @cached_property
    def occupation_distribution(self) -> Array:
        """P(n sites have color 0), n = 0 to N, (N + 1,)."""
        log_weights = self.log_color_weights + self._log_others[::-1]
        return np.asarray(np.exp(log_weights - self._log_total))

    @property
    def energy_per_site(self) -> float:
        """Of -S: -(q/(2 N^2)) <n (n - 1)>."""
        n = np.arange(self.n_sites + 1)
        return float(-self.n_colors * (self.occupation_distribution @ (n * (n - 1))) / (2 * self.n_sites**2))

    @cached_property
    def largest_distribution(self) -> Array:
        """P(the most frequent color has n sites), n = 0 to N, (N + 1,): the histogram of max_a x_a at x = n/N.

        Above N/2 only one color can be the most frequent. Below, P(no color has more than n) counts the states of
        colors that are cut off at n.
        """
        N = self.n_sites
        largest = self.n_colors * self.occupation_distribution
        half = N // 2
        cut = [np.exp(self._log_total_below(n) - self._log_total) for n in range(half + 1)]
        largest[: half + 1] = np.maximum(np.diff(cut, prepend=0.0), 0.0)  # rounding may leave -1e-17
        return largest

    @property
    def largest_fraction(self) -> float:
        """<max_a n_a/N>."""
        return float(self.largest_distribution @ np.arange(self.n_sites + 1)) / self.n_sites

    @cached_property
    def _log_others(self) -> Array:
        """Log weight of all colors but one, by the number of their sites."""
        return _power(self.log_color_weights, self.n_colors - 1)

    @cached_property
    def _log_total(self) -> float:
        return float(logsumexp(self.log_color_weights + self._log_others[::-1]))

    def _log_total_below(self, most: int) -> float:
        """The same with at most `most` sites of every color."""
        if most * self.n_colors < self.n_sites:
            return -np.inf
        cut = np.where(np.arange(self.n_sites + 1) <= most, self.log_color_weights, -np.inf)
        return float(logsumexp(cut + _power(cut, self.n_colors - 1)[::-1]))


def finite_curie_weiss(n_sites: int, n_colors: int, beta: float) -> FiniteCurieWeiss:
    """The exactly solved system of `n_sites` sites; ValueError above 4000 of them."""
    N = int(checks.dimension(n_sites, name="n_sites"))
    if N > MAX_SITES:
        raise ValueError(f"n_sites must be at most {MAX_SITES} for exact sums, got {n_sites}; see curie_weiss")
    q = int(checks.dimension(n_colors, least=2, name="n_colors"))
    beta = checks.non_negative("beta", beta)
    n = np.arange(N + 1)
    return FiniteCurieWeiss(N, q, beta, beta * n * (n - 1) / (2 * N) - gammaln(n + 1))


def _power(log_weights: Array, exponent: int) -> Array:
    """Log of the coefficients of a power of the polynomial sum_n exp(log_weights[n]) z^n, up to the same degree."""
    result, square = np.full(len(log_weights), -np.inf), log_weights
    result[0] = 0.0
    while exponent:
        if exponent % 2:
            result = _product(result, square)
        if exponent := exponent // 2:
            square = _product(square, square)
    return result


def _product(a: Array, b: Array) -> Array:
    """Log of the coefficients of a product of polynomials."""
    padded = np.concatenate([np.full(len(b) - 1, -np.inf), b])
    shifted = np.lib.stride_tricks.sliding_window_view(padded, len(b))[:, ::-1]  # [n, k]: b[n - k]
    degree = int(np.flatnonzero(np.isfinite(a))[-1])
    terms = a[: degree + 1] + shifted[:, : degree + 1]
    top = terms.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.exp(terms - np.where(np.isfinite(top), top, 0.0)[:, None]).sum(axis=1)) + top)
