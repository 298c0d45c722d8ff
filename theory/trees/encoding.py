"""From a number to its word, and from a word to the smallest number that has it."""

from theory.core.arguments import checked
from theory.models.trees import RootedTree


@checked
def word_of(n: int) -> str:
    """Return the word of the number n >= 1 in balanced parentheses (see `theory.models.RootedTree`).

    A pair of parentheses stands for each prime that divides n, in increasing order, and holds the word of its exponent
    (arXiv:2512.01870). ValueError for n < 1 and for numbers whose factors are out of reach; no n < 10^18 is.

    >>> [word_of(n) for n in (1, 7, 12, 18, 65536)]
    ['', '()', '(())()', '()(())', '(((())))']
    """
    return RootedTree.of_number(n).word


@checked
def smallest_number(word: str) -> int:
    """Return the smallest number n with `word_of(n) == word`.

    The map from numbers to words cannot be inverted, since it forgets the primes; on the smallest number of each word,
    which takes the first primes and the smallest exponents, it can. Derived here: a word fixes only the order of its
    primes, and the exponent of each is the smallest number of its child. ValueError where the word is not balanced, and
    where the number has more than 10^6 binary digits.

    >>> [smallest_number(word) for word in ("", "()", "(())()", "()(())", "(((())))")]
    [1, 2, 12, 18, 65536]
    """
    return RootedTree(word).smallest_number
