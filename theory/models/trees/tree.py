"""The record of a planar rooted tree, written as balanced parentheses, and its numbers."""

from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import Any, Self

from theory.core import checked, checks
from theory.models.covariance import set_checked
from theory.models.trees.factors import exponents, primes_up_to

MOST_BITS = 10**6  # most bits of a number that is written out
MAX_CHARACTERS = 10**6  # characters of a word
MAX_DEPTH = 5  # the smallest number of a deeper tree is 2^(2^65536) at least


@dataclass(frozen=True)
class RootedTree:
    """A planar rooted tree, given by its word of balanced parentheses, as natural numbers spell it.

    A number n = prod_i p_i^(a_i), with p_1 < p_2 < ..., has a child for each prime that divides it, in this order, and
    the i-th child is the tree of the exponent a_i; so its word is D(n) = (D(a_1))(D(a_2))..., and D(1) is empty
    (arXiv:2512.01870). The root itself is not written. The order of the children counts: 12 and 18 are different words.
    Many numbers share a tree, such as all primes. ValueError for text that is no balanced word.

    >>> tree = RootedTree.of_number(12)
    >>> tree, tree.depth, tree.n_edges, tree.n_children
    (RootedTree(word='(())()'), 2, 3, 2)
    >>> RootedTree("(())()").smallest_number
    12
    """

    word: str

    def __post_init__(self) -> None:
        if not isinstance(self.word, str):
            raise ValueError(f"word must be text of balanced parentheses, got {checks.shown(self.word)}")
        if len(self.word) > MAX_CHARACTERS:
            raise ValueError(f"word must have at most {MAX_CHARACTERS} characters, got {len(self.word)}")
        height = 0
        for letter in self.word:
            height += {"(": 1, ")": -1}.get(letter, -MAX_CHARACTERS)
            if height < 0:
                break
        if height:
            raise ValueError(f"word must be balanced parentheses such as '(())()', got {checks.shown(self.word)}")
        set_checked(self, word=str(self.word))

    @classmethod
    @checked
    def of_number(cls, n: int) -> Self:
        """Make the tree of a number n >= 1.

        ValueError for n < 1, and where the factorization is out of reach: all primes up to 10^6 are divided out, and
        the rest must be below 10^18, or a prime or the square of one below 3 10^24. Every n < 10^18 is within reach.

        >>> [RootedTree.of_number(n).word for n in (2, 4, 6, 18, 64, 65536)]
        ['()', '(())', '()()', '()(())', '(()())', '(((())))']
        """
        if n < 1:
            raise ValueError(f"n must be an integer >= 1, got {checks.shown(n)}")
        if n.bit_length() > MOST_BITS:
            raise ValueError(f"n must have at most {MOST_BITS} binary digits, got {n.bit_length()}")
        return cls(_word(n))

    @property
    def depth(self) -> int:
        """The number of edges on the longest way from the root to a leaf: 0 for the tree of 1, 1 for squarefree n."""
        height = deepest = 0
        for letter in self.word:
            height += 1 if letter == "(" else -1
            deepest = max(deepest, height)
        return deepest

    @property
    def n_edges(self) -> int:
        """The number of edges, which is the number of nodes beside the root."""
        return len(self.word) // 2

    @property
    def n_children(self) -> int:
        """The number of children of the root, which is that of the different primes of its numbers."""
        return len(self.children)

    @property
    def children(self) -> tuple["RootedTree", ...]:
        """The trees of the exponents, in the order of the primes."""
        found, height, start = [], 0, 0
        for place, letter in enumerate(self.word):
            height += 1 if letter == "(" else -1
            if height == 0:
                found.append(RootedTree(self.word[start + 1 : place]))
                start = place + 1
        return tuple(found)

    @property
    def smallest_number(self) -> int:
        """The smallest number that has this tree: the first primes, to the smallest powers that have the children.

        The map from numbers to trees forgets which primes they are, so this is its inverse on one number of each tree.
        ValueError where that number has more than 10^6 binary digits.
        """
        if self.depth > MAX_DEPTH:
            raise ValueError(
                f"word must be of depth <= {MAX_DEPTH}, else its number is too large, got depth {self.depth}"
            )
        children = self.children
        primes = primes_up_to(MOST_BITS)[: len(children)].tolist()
        if len(primes) < len(children):
            raise ValueError(self._too_large())
        powers = [child.smallest_number for child in children]
        if sum(a * log2(p) for p, a in zip(primes, powers, strict=True)) > MOST_BITS:
            raise ValueError(self._too_large())
        number = 1
        for p, a in zip(primes, powers, strict=True):
            number *= p**a
        return number

    def _too_large(self) -> str:
        return f"word must have a number of at most {MOST_BITS} binary digits, got {checks.shown(self.word)}"


def tree_named(name: str, word: Any) -> RootedTree:
    """Return the tree of `word`; ValueError that calls it by the name of the argument that holds it."""
    try:
        return RootedTree(word)
    except ValueError as refused:
        raise ValueError(str(refused).replace("word", name, 1)) from None


@lru_cache(maxsize=4096)
def _word(n: Any) -> str:
    return "".join(f"({_word(exponent)})" for exponent in exponents(n))
