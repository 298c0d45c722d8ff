"""Divides rows that depend on each other into fitted and held-out ones that are far from each other."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.plan import Plan
from simulate.core import stream

Rows = NDArray[np.int64]

FOLDS = 5  # blocks, or sets of groups, of which each is held out once


@dataclass(frozen=True)
class LaterBlocks:
    """Blocks of `held_out` successive rows at the end of a table, predicted from rows that end `gap` rows before.

    There are `count` of them, each begun `stride` rows after the last.
    """

    held_out: int
    count: int
    stride: int
    gap: int

    @classmethod
    def of(cls, plan: Plan) -> "LaterBlocks":
        """Return the blocks of a plan that has a gap."""
        return cls(plan.n_test, plan.repeats, plan.stride, plan.gap or 0)

    def order(self, n: int, repeat: int) -> Rows:
        """Return the rows before the block, the nearest first, then those that are not used, and last the block."""
        start = n - self.stride * (self.count - repeat)
        block = np.arange(start, start + self.held_out)
        before = np.arange(start - self.gap)[::-1]
        unused = np.concatenate([np.arange(start - self.gap, start), np.arange(start + self.held_out, n)])
        return np.concatenate([before, unused, block])

    def folds(self, n: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of each of FOLDS blocks, and the rows that are further than the gap from it, on both sides."""
        for block in np.array_split(np.arange(n), FOLDS):
            far = np.r_[np.arange(max(block[0] - self.gap, 0)), np.arange(min(block[-1] + 1 + self.gap, n), n)]
            if len(block) and len(far) >= 2:
                yield block, far


@dataclass(frozen=True, eq=False)
class WholeGroups:
    """Groups of rows, of which the number of each is given for every row (`groups`, (n,)), held out as a whole."""

    groups: NDArray[np.int64] = field(repr=False)
    seed: int

    def order(self, _n: int, repeat: int) -> Rows:
        """Return the rows by groups in a random order, so that at most one group is divided at any place."""
        rank = stream(self.seed, "groups", repeat).permutation(int(self.groups.max()) + 1)
        return np.asarray(np.argsort(rank[self.groups], kind="stable"))

    def folds(self, _n: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of each of FOLDS sets of groups, and all others."""
        rank = stream(self.seed, "folds of groups").permutation(int(self.groups.max()) + 1)
        part = rank[self.groups] % FOLDS
        for k in range(FOLDS):
            block, far = np.flatnonzero(part == k), np.flatnonzero(part != k)
            if len(block) and len(far) >= 2:
                yield block, far
