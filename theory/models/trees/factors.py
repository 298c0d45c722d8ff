"""The exponents in the factorization of a number, in the order of its primes, and the primes below a bound."""

from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core import checks

TRIAL = 10**6  # primes up to here are divided out; what is left below TRIAL^3 has at most two prime factors
BASES = (
    2,
    3,
    5,
    7,
    11,
    13,
    17,
    19,
    23,
    29,
    31,
    37,
    41,
)  # they decide whether a number below MILLER_RABIN_BOUND is prime
MILLER_RABIN_BOUND = 3_317_044_064_679_887_385_961_981  # Sorenson and Webster, Math. Comp. 86, 985 (2017)


@lru_cache(maxsize=4)
def primes_up_to(bound: int) -> NDArray[np.int64]:
    """Return all primes up to `bound`, by the sieve of Eratosthenes; the array is shared and read-only."""
    is_prime = np.ones(bound + 1, dtype=bool)
    is_prime[:2] = False
    for p in range(2, isqrt(bound) + 1):
        if is_prime[p]:
            is_prime[p * p :: p] = False
    primes = np.flatnonzero(is_prime)
    primes.setflags(write=False)
    return primes


def exponents(n: int) -> list[int]:
    """Return the exponents of the primes that divide n >= 1, smallest prime first.

    The large primes themselves are not needed: once the primes below the cube root of what is left are divided out, a
    rest above one is a prime, the square of a prime, or a product of two, which one test of primality tells. ValueError
    where the rest is neither below 10^18 nor a prime or its square below 3 10^24: its factors are too hard to find.

    >>> exponents(2**4 * 3 * 1_000_003**2)
    [4, 1, 2]
    """
    found, rest = [], n
    for p in _trial_primes():
        if p**3 > rest:
            break
        if rest % p == 0:
            exponent, rest = _divided_out(rest, p)
            found.append(exponent)
    if rest == 1:
        return found
    root = isqrt(rest) if rest < MILLER_RABIN_BOUND else 0
    if rest < MILLER_RABIN_BOUND and _is_prime(rest):
        return [*found, 1]
    if root and root * root == rest and (rest < TRIAL**3 or _is_prime(root)):
        return [*found, 2]
    if rest < TRIAL**3:
        return [*found, 1, 1]
    raise ValueError(
        f"n must have at most two prime factors above {TRIAL}, which multiply to less than {TRIAL**3}, or a single one "
        f"below {MILLER_RABIN_BOUND:.3g}: {checks.shown(n)} is too hard to factor"
    )


@lru_cache(maxsize=1)
def _trial_primes() -> tuple[int, ...]:
    return tuple(primes_up_to(TRIAL).tolist())


def _divided_out(n: int, p: Any) -> tuple[int, int]:
    """Return (a, rest) with n = p^a rest, where p divides n once at least; the steps double, as a may be large."""
    exponent, rest = _divided_out(n // p, p * p) if n // p % (p * p) == 0 else (0, n // p)
    return (2 * exponent + 2, rest // p) if rest % p == 0 else (2 * exponent + 1, rest)


def _is_prime(n: int) -> bool:
    """Return the test of Miller and Rabin with bases that leave no exception below MILLER_RABIN_BOUND."""
    if n in BASES:
        return True
    if n < 2 or any(n % p == 0 for p in BASES):
        return False
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    for base in BASES:
        power = pow(base, (n - 1) >> twos, n)
        if power in (1, n - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % n
            if power == n - 1:
                break
        else:
            return False
    return True
