"""How often words occur: patterns of branches have a density, a single word has none and thins out as 1/log N."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np

from theory.core import Array, Result, Within, checked, checks
from theory.models.trees import RootedTree
from theory.models.trees.factors import primes_up_to
from theory.models.trees.tree import tree_named
from theory.trees.euler import prime_zeta

MAX_CHILDREN = 12  # children whose primes are summed over
BOUND = 10**6  # primes up to here are summed one by one
LARGEST_EXPONENT = 1000  # 2^-1000 is still a normal double; larger exponents add nothing to it
EXTRA_EXPONENTS = 64  # exponents beyond the smallest of a tree that still change a double


@dataclass(frozen=True, eq=False, repr=False)
class PatternDensity(Result):
    """The natural density of the numbers whose children other than leaves form one pattern.

    `density` is a double, and `residual` a bound for its relative error.
    """

    pattern: str
    density: float


@checked
def pattern_density(pattern: str) -> PatternDensity:
    """Compute the density of the numbers whose words become `pattern` when all leaves of the root are left out.

    The leaves of the root are the primes with exponent 1; what is left is the word of the powerful part, in which each
    prime has an exponent of 2 or more. With the trees t_1, ..., t_k of the pattern the density is

        6/pi^2 sum_(p_1 < ... < p_k) prod_i [sum_(a: tree t_i) p_i^-a] p_i/(p_i + 1),

    since the rest must be squarefree and prime to the p_i. Derived here: the exponents of different primes are
    independent. The densities of all patterns add up to one. The empty pattern stands for squarefree numbers; (()) for
    one prime with an exponent that is a prime. ValueError for a word that is not balanced, that has a leaf at its root,
    or more than 12 children.

    >>> [round(pattern_density(pattern).density, 10) for pattern in ("", "(())", "(())(())")]
    [0.6079271019, 0.2933105687, 0.042878199]
    """
    children = tree_named("pattern", pattern).children
    if len(children) > MAX_CHILDREN or any(not child.word for child in children):
        raise ValueError(f"pattern must have at most {MAX_CHILDREN} children and no leaf, got {checks.shown(pattern)}")
    total, error = ordered_sum(children, squarefree_rest=True)
    return PatternDensity(pattern, 6 / math.pi**2 * total, residual=error / total if total else 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class WordFrequency(Result):
    """The share of one word among the words of 1..N to leading order in log N; its limit, the `density`, is zero.

    `frequency` is `constant` (log log N)^(m-1)/((m-1)! log N), where m = `n_last_leaves` counts the leaves at the end
    of the word; it is zero for m = 0, where the words thin out as a power of N. `residual` bounds the relative error of
    the constant. The corrections to the leading order are of relative order 1/log log N, or 1/log N for m = 1: at any N
    that can be reached the frequency is only a rough one.
    """

    word: str
    frequency: float
    constant: float
    n_last_leaves: int
    density: float = 0.0


@checked
def word_frequency(word: str, n_numbers: Annotated[float, Within(10.0, closed=(True, False))]) -> WordFrequency:
    """Compute the share of `word` among the numbers up to N = `n_numbers`, to leading order in log N.

    A word fixes the number of primes, and numbers with a fixed number of primes have density zero: no single word has a
    positive density. After the last child that is no leaf, the word ends in m leaves, which are the largest primes. If
    b stands for the product of the others, the numbers b p_1 ... p_m <= N are by Landau's theorem, for each b,
    (N/b) (log log N)^(m-1)/((m-1)! log N), and the sum over all b with the first children of the word converges to
    `constant` = sum 1/b. Source: E. Landau, Bull. Soc. Math. France 28, 25 (1900), for the numbers with m primes; the
    sum over b is derived here. ValueError for a word that is not balanced or has more than 12 children before its last
    leaves, and for N < 10.

    >>> found = word_frequency("(())()", 1e7)
    >>> round(found.constant, 8), round(found.frequency, 6), found.density
    (0.67167522, 0.041672, 0.0)
    """
    tree = RootedTree(word)
    children = tree.children
    last_leaves = 0
    while last_leaves < len(children) and not children[-1 - last_leaves].word:
        last_leaves += 1
    first = children[: len(children) - last_leaves]
    if len(first) > MAX_CHILDREN:
        raise ValueError(f"word must have at most {MAX_CHILDREN} children before its last leaves, got {len(first)}")
    if not last_leaves:
        return WordFrequency(word, 0.0, 0.0, 0)
    constant, error = ordered_sum(first, squarefree_rest=False)
    logarithm = math.log(n_numbers)
    powers = (last_leaves - 1) * math.log(math.log(logarithm)) - math.lgamma(last_leaves)
    frequency = constant * math.exp(powers) / logarithm
    return WordFrequency(word, frequency, constant, last_leaves, residual=error / constant if constant else 0.0)


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
