"""Euler products and sums over all primes in high precision: small primes one by one, all others by prime zeta."""

from functools import lru_cache
from typing import Any

from theory.models.trees.factors import primes_up_to
from theory.numerics import Solution

DIGITS = 30  # digits of every product and sum here; the results of users are doubles
GUARD_DIGITS = 8  # further digits of the arithmetic
SMALL_PRIMES_UP_TO = (100, 200)  # primes up to here are taken one by one: two choices, which must agree
TOLERANCE = 1e-20  # largest difference of two evaluations of one number; the rounding to a double is larger
TERMS = 128  # powers of 1/p: 2^-128 is below the working precision


@lru_cache(maxsize=64)
def euler_product(coefficients: tuple[int, ...], small: int) -> Any:
    """Return the product over all primes of f(1/p), f(x) = 1 + sum_a coefficients[a - 1] x^a, as a number of mpmath.

    The coefficient of x itself must be zero, else the product has no limit. Primes up to `small` are multiplied one by
    one. For the others log f(x) = sum_m b_m x^m, with m b_m = m c_m - sum_(j<m) j b_j c_(m-j), is added up over
    primes: each power gives the prime zeta function P(m) = sum_p p^-m without its small primes.
    """
    import mpmath

    with mpmath.workdps(DIGITS + GUARD_DIGITS):
        logs = [mpmath.mpf(0)]
        known = [*coefficients, *[0] * (TERMS - len(coefficients))]
        for m in range(1, TERMS):
            lower = mpmath.fsum(j * logs[j] * known[m - j - 1] for j in range(1, m))
            logs.append(known[m - 1] - lower / m)
        product = mpmath.mpf(1)
        for p in primes_up_to(small).tolist():
            x = mpmath.mpf(1) / p
            product *= 1 + mpmath.fsum(c * x ** (a + 1) for a, c in enumerate(coefficients) if c)
        if product == 0:
            return product
        wanted = mpmath.mpf(10) ** -(DIGITS + 2)
        tail = mpmath.mpf(0)
        for m in range(2, TERMS):
            # Above `small` the sum of p^-m falls as small^(1-m), much faster than the b_m grow.
            if mpmath.mpf(small) ** (1 - m) * max(1, abs(logs[m])) < wanted:
                break
            if logs[m]:
                tail += logs[m] * prime_zeta_above(m, small)
        return product * mpmath.exp(tail)


@lru_cache(maxsize=1024)
def prime_zeta_above(m: int, small: int) -> Any:
    """Return the sum of p^-m over the primes p > `small`, for m >= 2, as a number of mpmath."""
    import mpmath

    with mpmath.workdps(DIGITS + GUARD_DIGITS):
        return prime_zeta(m) - mpmath.fsum(mpmath.mpf(p) ** -m for p in primes_up_to(small).tolist())


@lru_cache(maxsize=1024)
def prime_zeta(m: int) -> Any:
    """Return the prime zeta function P(m) = sum over primes of p^-m, for m >= 2, as a number of mpmath."""
    import mpmath

    with mpmath.workdps(DIGITS + GUARD_DIGITS):
        return mpmath.primezeta(m)


def agreed(first: Any, second: Any, problem: str) -> tuple[float, float]:
    """Return `second` as a double, and its relative difference from `first`; ConvergenceError unless that is small."""
    scale = max(abs(first), abs(second))
    residual = float(abs(first - second) / scale) if scale else 0.0
    return Solution.verified(float(second), residual, TOLERANCE, what=problem).value, residual
