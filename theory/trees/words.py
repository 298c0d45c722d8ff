"""How often words occur: patterns of branches have a density, a single word has none and thins out as 1/log N."""

import math
from dataclasses import dataclass
from typing import Annotated

from theory.core import Result, Within, checked, checks
from theory.models.trees import RootedTree
from theory.models.trees.tree import tree_named
from theory.trees.prime_sums import ordered_sum

MAX_CHILDREN = 12  # children whose primes are summed over


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

    since the rest must be squarefree and prime to the p_i. The densities of all patterns add up to one. The empty
    pattern stands for squarefree numbers; (()) for one prime with an exponent that is a prime. ValueError for a word
    that is not balanced, that has a leaf at its root, or more than 12 children.

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
    `constant` = sum 1/b. ValueError for a word that is not balanced or has more than 12 children before its last
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
