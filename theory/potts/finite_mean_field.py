"""The Curie-Weiss Potts ferromagnet of N sites, solved exactly by sums over how many sites have each color."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import gammaln, logsumexp

from theory.core import Array, Count, NonNegative, Result, Several, checked

MAX_SITES = 4000
LARGEST_BETA = 1e300  # so that no score times beta overflows


@dataclass(frozen=True, eq=False, repr=False)
class FiniteCurieWeiss(Result):
    """Gives exact statistics of the ferromagnet S = (1/N) sum_{i<j} delta(s_i, s_j) of N = `n_sites` sites.

    A state counts only by its occupations n_a, the numbers of sites with color a, which sum to N. All states with
    these occupations have together the weight N! prod_a w(n_a); `log_color_weights` (N + 1,) is log w(n) for n = 0
    to N.
    """

    n_sites: int
    n_colors: int
    beta: float
    log_color_weights: Array = field(repr=False)

    @cached_property
    def log_partition_function(self) -> float:
        """The logarithm of the partition function Z = sum_s exp(beta S(s))."""
        return float(gammaln(self.n_sites + 1) + self._log_total)

    @cached_property
    def occupation_distribution(self) -> Array:
        """The probability that n sites have color 0, for n = 0 to N, (N + 1,)."""
        log_weights = self.log_color_weights + self._log_others[::-1]
        return np.asarray(np.exp(log_weights - self._log_total))

    @property
    def energy_per_site(self) -> float:
        """The mean of -S/N, which is -(q/(2 N^2)) <n (n - 1)> with n the number of sites of one color."""
        n = np.arange(self.n_sites + 1)
        return float(-self.n_colors * (self.occupation_distribution @ (n * (n - 1))) / (2 * self.n_sites**2))

    @cached_property
    def largest_distribution(self) -> Array:
        """The probability that the most frequent color has n sites, for n = 0 to N, (N + 1,).

        Above N/2 only one color can be that frequent, so the probability is q times that of color 0. Below, the
        distribution function P(no color has more than n) is the sum over states with all occupations cut off at n.
        """
        N = self.n_sites
        largest = self.n_colors * self.occupation_distribution
        half = N // 2
        cut = [np.exp(self._log_total_below(n) - self._log_total) for n in range(half + 1)]
        largest[: half + 1] = np.maximum(np.diff(cut, prepend=0.0), 0.0)  # differences of equal numbers may be -1e-17
        return largest

    @property
    def largest_fraction(self) -> float:
        """The mean share of sites that have the most frequent color, <max_a n_a>/N."""
        return float(self.largest_distribution @ np.arange(self.n_sites + 1)) / self.n_sites

    @cached_property
    def _log_others(self) -> Array:
        """The logarithm of the summed weight of all colors but one, by the number of their sites, (N + 1,)."""
        return _power(self.log_color_weights, self.n_colors - 1)

    @cached_property
    def _log_total(self) -> float:
        return float(logsumexp(self.log_color_weights + self._log_others[::-1]))

    def _log_total_below(self, most: int) -> float:
        """Return the logarithm of the total weight of the states with at most `most` sites of every color."""
        if most * self.n_colors < self.n_sites:
            return -np.inf
        cut = np.where(np.arange(self.n_sites + 1) <= most, self.log_color_weights, -np.inf)
        return float(logsumexp(cut + _power(cut, self.n_colors - 1)[::-1]))


@checked
def finite_curie_weiss(n_sites: Count, n_colors: Several, beta: NonNegative) -> FiniteCurieWeiss:
    """Solve the Curie-Weiss Potts ferromagnet of `n_sites` sites and `n_colors` colors exactly.

    The sums over occupations take a time of order n_sites^2. Derived here: S = sum_a n_a (n_a - 1)/(2 N) depends on the
    occupations alone, so that Z/N! is the coefficient of z^N in the q-th power of the polynomial sum_n w(n) z^n of
    `FiniteCurieWeiss`. ValueError above 4000 sites, for which `curie_weiss` gives the limit of infinitely many.

    >>> two = finite_curie_weiss(n_sites=2, n_colors=2, beta=2.0)
    >>> round(two.largest_fraction, 6)  # both sites agree with probability e/(e + 1)
    0.865529
    """
    N = n_sites
    if N > MAX_SITES:
        raise ValueError(f"n_sites must be at most {MAX_SITES} for exact sums, got {n_sites}; see curie_weiss")
    if beta > LARGEST_BETA:
        raise ValueError(f"beta must be at most {LARGEST_BETA:g}, got {beta!r}")
    n = np.arange(N + 1)
    return FiniteCurieWeiss(N, n_colors, beta, beta * n * (n - 1) / (2 * N) - gammaln(n + 1))


def _power(log_weights: Array, exponent: int) -> Array:
    """Return log coefficients of a power of the polynomial sum_n exp(log_weights[n]) z^n, up to the same degree."""
    result, square = np.full(len(log_weights), -np.inf), log_weights
    result[0] = 0.0
    while exponent:
        if exponent % 2:
            result = _product(result, square)
        if exponent := exponent // 2:
            square = _product(square, square)
    return result


def _product(a: Array, b: Array) -> Array:
    """Return the log coefficients of a product of two polynomials, up to the degree of the second."""
    padded = np.concatenate([np.full(len(b) - 1, -np.inf), b])
    shifted = np.lib.stride_tricks.sliding_window_view(padded, len(b))[:, ::-1]  # entry [n, k] is b[n - k]
    degree = int(np.flatnonzero(np.isfinite(a))[-1])
    terms = a[: degree + 1] + shifted[:, : degree + 1]
    top = terms.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.exp(terms - np.where(np.isfinite(top), top, 0.0)[:, None]).sum(axis=1)) + top)
