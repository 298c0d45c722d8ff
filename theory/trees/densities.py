"""Exact densities of sets of numbers that the exponents of their primes decide, as products over all primes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from theory.core import Count, NonNegativeCount, Result, checked, checks
from theory.models.trees import RootedTree
from theory.trees.euler import SMALL_PRIMES_UP_TO, TERMS, agreed, euler_product


@dataclass(frozen=True, eq=False, repr=False)
class NumberDensity(Result):
    """The natural density of a set of numbers: the limit of the share of 1..N that belongs to it.

    `density` is a double; `residual` is the relative difference of two evaluations with 38 digits that take the primes
    up to 100 and up to 200 one by one, and the others through the prime zeta function.
    """

    density: float


@checked
def exponent_density(allowed: Callable[[int], Any]) -> NumberDensity:
    """Compute the density of the numbers whose primes all have exponents a >= 1 for which `allowed(a)` is true.

    It is the product over primes of 1 + sum_a (ok_a - ok_(a-1)) p^-a with ok_0 = 1 and ok_a = 1 for the exponents that
    are allowed: of the numbers, a share p^-a - p^-(a+1) has exactly the exponent a. Where exponent 1 is not allowed the
    density is zero. Exponents from 128 on are left out; they change no digit of a double. Derived here: by the Chinese
    remainder theorem the exponents of different primes are independent. ValueError for a function that does not return
    True or False.

    >>> exponent_density(lambda a: a == 1).density  # squarefree numbers, 6/pi^2
    0.6079271018540267
    """
    ok = [True, *(_truth(allowed, a) for a in range(1, TERMS))]
    if not ok[1]:
        return NumberDensity(0.0)
    return _product(tuple(int(ok[a]) - int(ok[a - 1]) for a in range(1, TERMS)))


@checked
def depth_density(depth: NonNegativeCount) -> NumberDensity:
    """Compute the density of the numbers whose tree has at most the `depth` (arXiv:2512.01870).

    A tree has depth <= k if all its exponents have trees of depth <= k - 1, see `exponent_density`. Depth 1 means
    squarefree. The exponents that make a tree deeper than 4 are 65536 and larger ones, so that from depth 4 on the
    density is 1 in double precision. ValueError for depth < 0.

    >>> [round(depth_density(k).density, 12) for k in (0, 1, 2, 3)]
    [0.0, 0.607927101854, 0.955923015862, 0.999992355113]
    """
    if depth == 0:
        return NumberDensity(0.0)
    return exponent_density(lambda a: _depth(a) < depth)


@checked
def squarefree_run_density(length: Count = 2) -> NumberDensity:
    """Compute the density of numbers n for which n, n + 1, ..., n + length - 1 are all squarefree.

    Modulo p^2 exactly `length` of the residues are forbidden, which gives the product of 1 - length/p^2. From length 4
    on it is zero, since one of four neighbors is a multiple of 4. Source: known (L. Mirsky, Quart. J. Math. 18, 178
    (1947)), rederived here: by the Chinese remainder theorem the residues of different primes are independent.
    ValueError for length < 1.

    >>> [round(squarefree_run_density(length).density, 12) for length in (1, 2, 3, 4)]
    [0.607927101854, 0.322634098939, 0.125486980906, 0.0]
    """
    return NumberDensity(0.0) if length >= 4 else _product((0, -length))


def _product(coefficients: tuple[int, ...]) -> NumberDensity:
    first, second = (euler_product(coefficients, small) for small in SMALL_PRIMES_UP_TO)
    density, residual = agreed(first, second, "a product over all primes")
    return NumberDensity(density, residual=residual)


def _truth(allowed: Callable[[int], Any], a: int) -> bool:
    try:
        own = allowed(a)
    except Exception as failed:  # a stranger's function may raise anything
        raise ValueError(f"allowed must be a function of one exponent, which failed at {a}: {failed!r}") from failed
    return checks.flag("allowed", own)


@lru_cache(maxsize=256)
def _depth(a: int) -> int:
    return RootedTree.of_number(a).depth
