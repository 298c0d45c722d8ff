"""Which rows of a table repeat another one in every cell, exactly or up to rounding, and would not do so by chance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.copies.rounding import rounded_copies
from simulate.core import stream
from simulate.masked import RowBlocks
from theory.core.arrays import Array

Hashes = NDArray[np.uint64]

CHANCE_SHARE = (
    0.1  # rows that agree in three quarters of the columns alone, over copies found, above which it is chance
)
PARTS = 4  # random choices of three quarters of the columns
MAX_ROUNDED_CELLS = 2e6  # of a table in which copies up to rounding are looked for: seconds
MAX_SINGLE = 1e38  # beyond it there are no numbers of single precision
MIN_SEEN = 2  # cells of a row without which it says too little to be a copy


@dataclass(frozen=True, eq=False)
class CopiedRows:
    """Which row stands for each row: itself, or the one that it is a copy of.

    `of` (n,) are numbers of rows from 0, of which every one that is named stands for itself; `rounded` (n,) says which
    copies differ from that row by rounding.
    """

    of: NDArray[np.int64] = field(repr=False)
    rounded: NDArray[np.bool_] = field(repr=False)

    @property
    def copies(self) -> NDArray[np.int64]:
        """The rows (k,) that are copies of another one."""
        return np.flatnonzero(self.of != np.arange(len(self.of)))

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows (n,) stand for themselves."""
        return np.asarray(self.of == np.arange(len(self.of)))


def find_copies(X: Array | RowBlocks) -> CopiedRows:
    """Return which rows of X (n, d), which may have NaN in its holes, are copies of each other.

    Rows that are equal in every cell are found in any table, and those that are equal up to rounding (to fewer
    decimals or digits than the row that they repeat, or to single precision) in one in memory of up to
    MAX_ROUNDED_CELLS cells. Of exact copies the first stands for all, else the row with the most digits.

    Rows of few different numbers, such as answers to five questions, agree by chance. Such rows also agree in any three
    quarters of the columns without agreeing in the last one: where these are more than CHANCE_SHARE of the copies, or
    of the different rows, no row is called a copy. Rows with fewer than two cells that are seen are none.

    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> find_copies(np.vstack([X, X[4:6], X[7:8].round(4)])).of[20:]
    array([4, 5, 7])
    """
    blocks = X.blocks() if isinstance(X, RowBlocks) else [X]
    d = X.d if isinstance(X, RowBlocks) else X.shape[1]
    whole = X.in_memory if isinstance(X, RowBlocks) else X
    hashes, seen = _hashes(blocks, _parts(d), d)
    of = _equal(hashes, seen)
    rounded = np.zeros(len(of), dtype=np.bool_)
    if whole is not None and whole.size <= MAX_ROUNDED_CELLS and abs(whole).max() < MAX_SINGLE:
        alone = np.flatnonzero(of == np.arange(len(of)))
        single, seen = _hashes([whole[alone].astype(np.float32).astype(np.float64)], _parts(d), d)
        found = _equal(single, seen)
        pairs = {int(alone[k]): int(alone[found[k]]) for k in np.flatnonzero(found != np.arange(len(found)))}
        pairs |= rounded_copies(whole, alone[~np.isin(alone, list(pairs))], _parts(d))
        of, rounded = _joined(of, pairs)
    return CopiedRows(of, rounded)


def _parts(d: int) -> list[NDArray[np.int64]]:
    """Return random choices of three quarters of d columns, and of at least one."""
    left = max(1, d - max(1, round(d / 4)))
    return [np.sort(stream(0, "copied rows", k).permutation(d)[:left]) for k in range(PARTS)]


def _hashes(
    blocks: Iterable[Array], parts: Sequence[NDArray[np.int64]], d: int
) -> tuple[list[Hashes], list[NDArray[np.int64]]]:
    """Return a number for each row that only equal rows share, of all its columns and of those of each part.

    The second list says how many cells of these are seen. A number is the sum over columns of 64 bits that hash the
    column and the bits of the cell, so that two of 10^5 different rows share one in 10^-9 of tables.
    """
    keys = np.random.default_rng(0).integers(1, 2**63, d, dtype=np.uint64)
    chosen = [np.arange(d), *parts]
    found: list[list[Hashes]] = [[] for _ in chosen]
    seen: list[list[NDArray[np.int64]]] = [[] for _ in chosen]
    for block in blocks:
        numbers = np.asarray(block, dtype=np.float64) + 0.0  # a new array, in which -0 is 0
        there = ~np.isnan(numbers)
        numbers[~there] = np.inf
        bits = numbers.view(np.uint64) + keys
        for multiplier in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # the finalizer of splitmix64
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(multiplier)
        bits ^= bits >> np.uint64(31)
        for k, columns in enumerate(chosen):
            found[k].append(bits[:, columns].sum(axis=1, dtype=np.uint64))
            seen[k].append(there[:, columns].sum(axis=1))
    return [np.concatenate(one) for one in found], [np.concatenate(one) for one in seen]


def _equal(hashes: Sequence[Hashes], seen: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the first row (n,) that each one equals, itself where that may be chance."""
    n = len(hashes[0])
    own = np.arange(n)
    some = np.flatnonzero(seen[0] >= MIN_SEEN)
    _, first, inverse = np.unique(hashes[0][some], return_index=True, return_inverse=True)
    copies, distinct = len(some) - len(first), len(first)
    if not copies or _by_chance(hashes, seen) > CHANCE_SHARE * min(copies, distinct):
        return own
    of = own.copy()
    of[some] = some[first[inverse]]
    return of


def _by_chance(hashes: Sequence[Hashes], seen: Sequence[NDArray[np.int64]]) -> int:
    """Count different rows that are equal in three quarters of the columns, the most of several choices of these."""
    most = 0
    for part, there in zip(hashes[1:], seen[1:], strict=True):
        some = (seen[0] >= MIN_SEEN) & (there >= min(MIN_SEEN, int(there.max(initial=0))))
        most = max(most, len(np.unique(hashes[0][some])) - len(np.unique(part[some])))
    return most


def _joined(of: NDArray[np.int64], pairs: dict[int, int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Let copies up to rounding follow the row that they repeat, whose own copies follow too."""
    of = of.copy()
    for copy, first in pairs.items():
        of[copy] = first
    while (of[of] != of).any():
        of = of[of]
    rounded = np.zeros(len(of), dtype=np.bool_)
    rounded[list(pairs)] = True
    return of, rounded
