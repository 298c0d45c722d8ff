"""Means over the natural numbers: edges beyond those of the primes, depth, and the number of children, which grows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from theory.core import AtLeast, Result, Within, checked, checks
from theory.models.trees import RootedTree
from theory.numerics import Solution
from theory.trees.densities import depth_density
from theory.trees.euler import DIGITS, GUARD_DIGITS, TERMS, prime_zeta

LARGEST_VALUE = 1e15
RELATIVE_TRUNCATION = 1e-14  # size of the terms that are left out, relative to the mean
MAX_TERMS = 20


@dataclass(frozen=True, eq=False, repr=False)
class NumberMean(Result):
    """The limit of a mean over 1..N; `residual` bounds the relative change by the terms that are left out."""

    mean: float


@checked
def additive_mean(value: Callable[[int], Any]) -> NumberMean:
    """Compute the mean over all numbers of the sum of `value(a)` over the exponents a >= 2 of their primes.

    A share p^-a - p^-(a+1) of the numbers has exactly the exponent a at p; summed over primes this is P(a) - P(a+1),
    with the prime zeta function P, so that the mean is sum_(a>=2) value(a) (P(a) - P(a+1)). Derived here: the mean of
    the sum over primes is the sum of the means, since it converges from exponent 2 on. Exponent 1 is left out, since
    its share of all numbers has no limit, see `mean_children`. ValueError for values that are no finite numbers up to
    10^15; ConvergenceError where exponents from 128 on could matter.

    >>> round(additive_mean(lambda a: a - 1).mean, 12)  # prime factors with multiplicity minus different ones
    0.77315666905
    """
    import mpmath

    values = [_real(value, a) for a in range(2, TERMS)]
    with mpmath.workdps(DIGITS + GUARD_DIGITS):
        terms = [mpmath.mpf(own) * (prime_zeta(a) - prime_zeta(a + 1)) for a, own in enumerate(values, start=2) if own]
        mean = float(mpmath.fsum(terms))
    # Further values are taken to grow by less than half from one exponent to the next: then this bounds their share.
    left = 4 * max(map(abs, values[-8:])) * 2.0**-TERMS
    residual = left / abs(mean) if mean else left
    advice = "give values that matter for exponents far below 128"
    Solution.verified(mean, residual, RELATIVE_TRUNCATION, what="the mean of an additive function", advice=advice)
    return NumberMean(mean, residual=residual)


@checked
def mean_excess_edges() -> NumberMean:
    """Compute the limit of the mean of (edges of the tree) - (number of different primes), arXiv:2512.01870.

    Each prime is an edge, and its exponent a adds the edges of the tree of a, so this is `additive_mean` of them.

    >>> round(mean_excess_edges().mean, 12)
    0.50615238326
    """
    return additive_mean(lambda a: _edges(a))


@checked
def mean_depth() -> NumberMean:
    """Compute the limit of the mean depth of the trees, which is the sum over k >= 0 of 1 - density{depth <= k}.

    Derived here: the mean of a depth is the sum of the shares of all larger ones, which `depth_density` gives.

    >>> round(mean_depth().mean, 12)
    1.436157527171
    """
    shares = [depth_density(k) for k in range(5)]
    return NumberMean(math.fsum(1 - one.density for one in shares), residual=max(one.residual for one in shares))


@dataclass(frozen=True, eq=False, repr=False)
class MeanChildren(Result):
    """The mean number of children over 1..N as an asymptotic series; it has no limit, since it grows as log log N.

    `mean` is log log N + M + sum_j c_j/(log N)^j up to j = `n_terms`, with M = 0.261497... the constant of Mertens.
    `last_term` is the last term of the sum. The series diverges: beyond its smallest term more terms make it worse, and
    the size of the last one says how far the mean may be off.
    """

    mean: float
    n_terms: int
    last_term: float


@checked
def mean_children(
    n_numbers: Annotated[float, Within(10.0, closed=(True, False))],
    n_terms: Annotated[int, AtLeast(0, most=MAX_TERMS)] = 3,
) -> MeanChildren:
    """Compute the mean number of different primes of the numbers up to N = `n_numbers`, which is that of children.

    The mean is (1/N) sum_p floor(N/p). With the prime number theorem the missing fractions give an expansion in 1/log
    N, c_j = (j - 1)! (sum_(k<j) gamma_k/k! - 1), where gamma_k are the constants of Stieltjes (gamma_0 is Euler's). It
    follows from the integral of {u} (log u)^(j-1)/u^2 from 1 on, which the Laurent series of the zeta function at 1
    contains. The first coefficient is c_1 = -0.4228, whose term is still 10 % of M at N = 10^7: with `n_terms` = 0, log
    log N + M, convergence is very slow. Source: log log N + M is a theorem of F. Mertens (J. reine angew. Math. 78, 46
    (1874)); the further terms are rederived here. ValueError for N < 10 or not finite, and for more than 20 terms.

    >>> round(mean_children(1e7).mean - math.log(math.log(1e7)), 4)
    0.2331
    """
    import mpmath

    logarithm = math.log(n_numbers)
    coefficients = _children_coefficients()
    terms = [coefficients[j] / logarithm**j for j in range(1, n_terms + 1)]
    mean = math.log(logarithm) + float(mpmath.mertens) + math.fsum(terms)
    return MeanChildren(mean, n_terms, terms[-1] if terms else float(mpmath.mertens))


@lru_cache(maxsize=1)
def _children_coefficients() -> list[float]:
    """Return c_0 = 0 (unused) and c_j of `mean_children`."""
    import mpmath

    total, found = mpmath.mpf(-1), [0.0]
    for k in range(MAX_TERMS):
        total += mpmath.stieltjes(k) / mpmath.factorial(k)
        found.append(float(total * mpmath.factorial(k)))
    return found


def _real(value: Callable[[int], Any], a: int) -> float:
    try:
        own = value(a)
    except Exception as failed:  # a stranger's function may raise anything
        raise ValueError(f"value must be a function of one exponent, which failed at {a}: {failed!r}") from failed
    found = checks.real("value", own)
    if abs(found) > LARGEST_VALUE:
        raise ValueError(f"value must be at most {LARGEST_VALUE:g} in absolute value, got {found:g} at {a}")
    return found


@lru_cache(maxsize=256)
def _edges(a: int) -> int:
    return RootedTree.of_number(a).n_edges
