"""Sums over increasing primes of products of powers, one power for each child of a tree."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from theory.core.arrays import Array
from theory.models.trees import RootedTree
from theory.models.trees.factors import primes_up_to
from theory.trees.euler import prime_zeta

BOUND = 10**6  # primes up to here are summed one by one
LARGEST_EXPONENT = 1000  # 2^-1000 is still a normal double; larger exponents add nothing to it
EXTRA_EXPONENTS = 64  # exponents beyond the smallest of a tree that still change a double


def ordered_sum(children: Sequence[RootedTree], *, squarefree_rest: bool) -> tuple[float, float]:
    """Return the sum over primes p_1 < p_2 < ... of prod_i g_i(p_i), and a bound for its error.

    g_i(p) is the sum of p^-a over the exponents a whose tree is the i-th of `children`, the last of which must be no
    leaf; with `squarefree_rest` it is multiplied by p/(p + 1), which the other primes then need as squarefree numbers.
    Primes up to 10^6 are summed one by one, the last alone beyond it through the prime zeta function. What is left out
    has two primes beyond 10^6.
    """
    primes = primes_up_to(BOUND).astype(float)
    below = np.ones_like(primes)  # the sum over the children so far, with all their primes smaller than this one
    totals = [1.0]
    for child in children:
        partial = np.cumsum(below * _weights(child, squarefree_rest))
        below = np.concatenate([[0.0], partial[:-1]])
        totals.append(float(partial[-1]))
    if not children:
        return 1.0, 0.0
    tail = _tail(children[-1], squarefree_rest)
    # A leaf before the last child has the weight 1/p; two primes beyond the bound then add about tail/log(bound).
    second = 1 / math.log(BOUND) if len(children) > 1 and not children[-2].word else tail
    missing = totals[-3] * tail * second if len(children) > 1 else 0.0
    value = totals[-1] + totals[-2] * tail
    return value, missing + 1e-14 * value


@lru_cache(maxsize=64)
def _exponents(child: RootedTree) -> tuple[int, ...]:
    """Return the exponents with this tree that matter in double precision, in increasing order."""
    if child.depth > 3:  # the smallest exponent is 65536
        return ()
    smallest = child.smallest_number
    if smallest > LARGEST_EXPONENT:
        return ()
    if not child.word:
        return (1,)
    return tuple(a for a in range(smallest, smallest + EXTRA_EXPONENTS) if RootedTree.of_number(a) == child)


@lru_cache(maxsize=64)
def _weights(child: RootedTree, squarefree_rest: bool) -> Array:
    primes = primes_up_to(BOUND).astype(float)
    found = np.zeros_like(primes)
    for a in _exponents(child):
        last = np.searchsorted(primes, 10.0 ** (300 / a))  # beyond it the power is no normal double
        found[:last] += primes[:last] ** -float(a)
    return found * primes / (primes + 1) if squarefree_rest else found


@lru_cache(maxsize=64)
def _tail(child: RootedTree, squarefree_rest: bool) -> float:
    """Return the sum of the weights of the primes beyond the bound, where only the smallest exponents matter."""
    total, primes = 0.0, primes_up_to(BOUND).astype(float)
    for a in _exponents(child):
        for power, sign in ((a, 1), (a + 1, -1 if squarefree_rest else 0)):
            if sign and power <= 4:
                total += sign * (float(prime_zeta(power)) - math.fsum(primes**-power))
    return max(total, 0.0)
