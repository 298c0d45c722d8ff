"""The norm of the low-degree part of the likelihood ratio, by which tests that take polynomial time are judged."""

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.special import gammaln, logsumexp

from theory.core import Array, AtLeast, Count, Result, checked
from theory.cumulants.overlap import log_coefficients
from theory.models import SpikedCumulant, SpikedWishart

Degree = Annotated[int, AtLeast(0, most=1000)]
MAX_EXPONENT = 700.0


@dataclass(frozen=True, eq=False, repr=False)
class LowDegreeNorm(Result):
    """The squared norm of the projection of the likelihood ratio on polynomials of degree up to `degree`.

    `log_norm` is its natural logarithm, and `excess` is the norm less one to its own relative precision, or infinite
    where no floating-point number holds it. `log_contributions` (degree + 1,) holds the logarithms of what each degree
    m = 0, 1, ... adds, -inf where that is nothing.
    """

    log_norm: float
    excess: float
    degree: int
    log_contributions: Array = field(repr=False)

    @property
    def norm(self) -> float:
        """The squared norm itself, 1 + excess; infinite beyond floating-point numbers."""
        return 1 + self.excess


@checked
def low_degree_norm(model: SpikedCumulant, n: Count, degree: Degree) -> LowDegreeNorm:
    """Compute ||L_n^{<=D}||^2, where D = `degree` counts the powers of all n d numbers of a data set together.

    Expanding f(lambda)^n in powers of lambda gives (arXiv:2312.14922)

        ||L_n^{<=D}||^2 = sum_{m <= D} b_m E lambda^m,   b_m = [t^m] (sum_k r^k h_k^2/k! t^k)^n,

    with lambda the overlap of two spikes of the `prior`. Every term is positive; sums are taken of logarithms, so that
    neither n nor d has to be small. For a latent variable of signs the first terms are kappa r^4/2 (degree 4) and
    (105/72) kappa^2 r^8 (degree 8) at n = kappa d^2: the norm grows once n is of order d^2, and generally d^(p/2) for
    the first p > 2 with h_p not zero. It is conjectured, not proven, that a norm which stays bounded for all D of order
    log n means that no test in polynomial time succeeds.

    ValueError for n that is no integer from 1 to 2^63 - 1, a degree that is none from 0 to 1000, and an infinite d.

    >>> model = SpikedCumulant(d=50, beta=10.0)
    >>> [round(low_degree_norm(model, n=2500, degree=D).norm, 11) for D in (3, 4, 8)]
    [1.0, 1.33695330465, 2.02974592012]
    """
    return summed(log_power_coefficients(log_coefficients(model, degree), n) + log_overlap_moments(model, degree))


def summed(log_terms: Array) -> LowDegreeNorm:
    """Return the norm whose degrees contribute the exponentials of `log_terms` (D + 1,), of which the first is one."""
    D = len(log_terms) - 1
    log_excess = float(logsumexp(log_terms[1:])) if D and log_terms[1:].max() > -math.inf else -math.inf
    excess = math.exp(log_excess) if log_excess < MAX_EXPONENT else math.inf
    return LowDegreeNorm(float(np.logaddexp(0.0, log_excess)), excess, D, log_terms)


def log_power_coefficients(log_coefficients: Array, n: int) -> Array:
    """Compute log [t^m] (sum_k a_k t^k)^n for m = 0 to D, from log a_k (D + 1,) with a_0 = 1 and all a_k >= 0.

    The derivative of the power gives m b_m = sum_k ((n + 1) k - m) a_k b_(m-k). If n is so small that some factors
    are negative, which would cancel, the power is taken by squaring instead.
    """
    D = len(log_coefficients) - 1
    present = np.flatnonzero(log_coefficients[1:] > -math.inf) + 1
    log_b = np.full(D + 1, -math.inf)
    log_b[0] = 0.0
    if len(present) == 0:
        return log_b
    if (n + 1) * int(present[0]) < D:
        return _log_power_by_squaring(log_coefficients, n)
    k = present.astype(float)
    log_a = log_coefficients[present]
    with np.errstate(divide="ignore"):  # a factor may be zero
        for m in range(1, D + 1):
            used = present <= m
            if used.any():
                # n + 1 is rounded here by 1e-16 of itself at most, and m is only subtracted where both are small.
                factors = np.log(float(n + 1) * k[used] - m)
                log_b[m] = _log_sum(factors + log_a[used] + log_b[m - present[used]]) - math.log(m)
    return log_b


def _log_power_by_squaring(log_coefficients: Array, n: int) -> Array:
    """Multiply truncated series in logarithms: all their terms are positive."""
    power = np.full(len(log_coefficients), -math.inf)
    power[0] = 0.0
    square = log_coefficients
    while n:
        if n % 2:
            power = _log_product(power, square)
        n //= 2
        if n:
            square = _log_product(square, square)
    return power


def _log_product(one: Array, other: Array) -> Array:
    return np.array([_log_sum(one[: m + 1] + other[m::-1]) for m in range(len(one))])


def _log_sum(terms: Array) -> float:
    return float(logsumexp(terms)) if terms.max() > -math.inf else -math.inf


def log_overlap_moments(model: SpikedCumulant | SpikedWishart, degree: int) -> Array:
    """Compute log E lambda^m for m = 0 to `degree`; -inf for odd m, since lambda and -lambda have the same law."""
    d, m = float(model.size), np.arange(degree + 1.0)
    logs = np.full(degree + 1, -math.inf)
    if model.prior == "sphere":  # (2j - 1)!!/(d (d + 2) ... (d + 2j - 2))
        logs[::2] = np.concatenate([[0.0], np.cumsum(np.log(m[1::2] / (d + m[1::2] - 1)))])[: len(logs[::2])]
    else:  # d lambda is a sum of d signs, whose moments are m! [t^m] cosh(t)^d
        log_cosh = np.where(m % 2 == 0, -gammaln(m + 1), -math.inf)
        logs = log_power_coefficients(log_cosh, model.size) + gammaln(m + 1) - m * math.log(d)
    return logs
