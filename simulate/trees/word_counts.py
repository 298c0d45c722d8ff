"""The record of how often each word occurs in a text, and what follows from it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, DataFrame, Result, checked, table
from theory.models.trees import NumberText, RootedTree
from theory.models.trees.tree import tree_named


@dataclass(frozen=True, eq=False, repr=False)
class WordCounts(Result):
    """How often each word occurs in the text of `numbers`: the vocabulary with its counts.

    `words` (V,) are the words in balanced parentheses, the most frequent first, those of equal counts in the order of
    their length and then of their letters with "(" after ")". `counts` (V,) add up to the number of words. `seconds` is
    the time that the sieve took, the only number here that differs from run to run.
    """

    numbers: NumberText
    words: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    seconds: float = 0.0

    @property
    def n_words(self) -> int:
        """The number V of different words."""
        return len(self.words)

    @property
    def numbers_per_second(self) -> float:
        """How many numbers the sieve read in a second."""
        return self.numbers.n_words / self.seconds if self.seconds else float("inf")

    @property
    def entropy(self) -> float:
        """The entropy of the frequencies in bits: the loss of a predictor that knows nothing else."""
        shares = self.counts / self.counts.sum()
        return float(-shares @ np.log2(shares))

    @property
    def depth_counts(self) -> NDArray[np.int64]:
        """How many words have depth 0, 1, ..., up to the largest depth that occurs."""
        depths = [tree.depth for tree in self._trees()]
        return np.bincount(depths, weights=self.counts).astype(np.int64)

    @property
    def n_edges(self) -> int:
        """The number of edges of all words together."""
        return int(sum(tree.n_edges * int(count) for tree, count in zip(self._trees(), self.counts, strict=True)))

    @property
    def n_children(self) -> int:
        """The number of children of all roots together, which is that of the pairs of a number and a prime of it."""
        return int(sum(tree.n_children * int(count) for tree, count in zip(self._trees(), self.counts, strict=True)))

    @checked
    def count(self, word: str) -> int:
        """Return how often `word` occurs; 0 for one that does not. ValueError for text that is no balanced word."""
        known = dict(zip(self.words, self.counts.tolist(), strict=True))
        return int(known.get(RootedTree(word).word, 0))

    @checked
    def depth_share(self, depth: int) -> float:
        """Return the share of words whose depth is at most `depth`."""
        return float(self.depth_counts[: max(depth, -1) + 1].sum() / self.numbers.n_words)

    @checked
    def pattern_share(self, pattern: str) -> float:
        """Return the share of words that become `pattern` when the leaves of the root are left out."""
        wanted = tree_named("pattern", pattern).word
        kept = ["".join(f"({child.word})" for child in tree.children if child.word) for tree in self._trees()]
        matching = np.array([own == wanted for own in kept])
        return float(self.counts[matching].sum() / self.numbers.n_words)

    @property
    def frequencies(self) -> Array:
        """The shares (V,) of the words, in falling order: the curve of frequency against rank."""
        return np.asarray(self.counts / self.numbers.n_words)

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each word; needs pandas."""
        return table(word=list(self.words), count=self.counts)

    def _trees(self) -> list[RootedTree]:
        return [RootedTree(word) for word in self.words]
