"""Data matrices as blocks of rows, of which one at a time is in memory: their Gram matrix, means, and single rows.

All fits take their data in this form. A matrix in memory is the special case whose rows are at hand all at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.blas import dsyrk

from simulate.masked import checks
from simulate.masked.moments import Gram, Moments, Sums
from theory.core.arrays import Array

BLOCK_NUMBERS = 2**20  # of one block: 8 MB, few beside the matrices of a fit and many enough for fast products
SILENT = 1e-14  # a spread below this share of the largest entry is rounding


def block_rows(d: int) -> int:
    """Returns how many rows of d numbers make a block."""
    return max(256, BLOCK_NUMBERS // d)


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Rows of d finite numbers that come in blocks, which are produced anew each time that they are asked for.

    `blocks` returns an iterator of arrays (rows, d) of real numbers. `in_memory` holds all rows if they are in memory,
    and `known` their Gram matrix if it is known before any pass. Iterating yields checked float64 blocks in C order.
    """

    d: int
    blocks: Callable[[], Iterator[Array]] = field(repr=False)
    name: str = "X"
    in_memory: Array | None = field(default=None, repr=False)
    known: Gram | None = field(default=None, repr=False)
    size: int | None = None  # number of rows, where it is known before any pass
    select: Callable[[NDArray[np.integer]], Array] | None = field(default=None, repr=False)  # rows by number, if fast

    @classmethod
    def of_array(cls, name: str, X: Array, known: Gram | None = None) -> "RowBlocks":
        """Takes a checked float64 matrix in memory; blocks are views of it."""
        step = block_rows(X.shape[1])
        return cls(X.shape[1], lambda: (X[i : i + step] for i in range(0, len(X), step)), name, X, known)

    def __iter__(self) -> Iterator[Array]:
        if self.in_memory is not None:
            yield from self.blocks()  # they were checked when the matrix was taken
            return
        start = 0
        for given in self.blocks():
            block = checks.block(self.name, given, self.d, start)
            start += len(block)
            if len(block):
                yield block
        found = self.__dict__.get("gram") or self.known
        expected = self.size if found is None else found.n
        if expected is not None and start != expected:
            raise ValueError(
                f"{self.name} must give the same blocks each time that they are asked for, got {expected} rows "
                f"at first and {start} later"
            )

    def numbered(self, start: int = 0) -> Iterator[tuple[int, Array]]:
        """Yields each block with the number of its first row, from the block that begins at row `start`."""
        first = 0
        for block in self:
            if first >= start:
                yield first, block
            first += len(block)

    @cached_property
    def gram(self) -> Gram:
        """Second moments of all rows, accumulated in one pass. ValueError where there are no rows."""
        if self.known is not None:
            return self.known
        if self.in_memory is not None:
            n = len(self.in_memory)
            large = n >= self.d
            return Gram(n, dsyrk(1.0, self.in_memory.T, lower=1) if large else None, None if large else self.in_memory)
        n, power, held = 0, np.zeros(self.d), list[Array]()
        products: Array | None = None
        for block in self:
            n += len(block)
            power += np.einsum("ij,ij->j", block, block)
            held.append(block)
            if n < self.d:
                continue
            for rows in held:
                products = _add_products(products, rows)
            held.clear()
        if n == 0:
            raise ValueError(f"{self.name} must have at least one row, got none in its blocks")
        self._require_size(power)
        return Gram(n, products, np.concatenate(held) if n < self.d else None)

    @property
    def n(self) -> int:
        """The number of rows; where it is not known it takes the pass that accumulates the Gram matrix."""
        if self.in_memory is not None:
            return len(self.in_memory)
        return self.size if self.size is not None else self.gram.n

    @cached_property
    def moments(self) -> Moments:
        """Moments about the mean, in one pass: those of each block about its own mean, put together without loss.

        A large common mean costs no digits.
        """
        return self.moments_of_parts(None, 1)[0]

    def moments_of_parts(self, part: NDArray[np.integer] | None, count: int) -> list[Moments]:
        """Measures the moments of `count` disjoint parts of the rows in one pass.

        `part` (n,) is the number of each row's part, from 0; rows of other numbers belong to none. ValueError where a
        part has no rows.
        """
        sums = [Sums(self.d) for _ in range(count)]
        for start, block in self.numbered():
            if part is None:
                sums[0].add(block)
                continue
            own = part[start : start + len(block)]
            for k in np.unique(own[(own >= 0) & (own < count)]):
                sums[k].add(block[own == k])
        if not all(one.n for one in sums):
            raise ValueError(f"{self.name} must have at least one row, got none in its blocks")
        if part is None:
            self._require_size(np.diagonal(sums[0].scatter))
        return [one.moments() for one in sums]

    def _require_size(self, power: Array) -> None:
        """Raises ValueError where a column, with these sums of squares (d,), is too large or too small."""
        if not checks.representable(power):
            sizes = np.max([abs(block).max(axis=0) for block in self], axis=0)
            checks.raise_not_representable(self.name, sizes[None])

    def second_moments(self) -> Array:
        """Returns a new lower triangle of X'X/n, in Fortran order, for n >= d."""
        if self.in_memory is not None and self.known is None and "gram" not in self.__dict__:
            return np.asarray(dsyrk(1 / self.n, self.in_memory.T, lower=1))
        products = self.gram.products
        if products is None:
            rows = self.all_rows()
            return np.asarray(dsyrk(1 / len(rows), rows.T, lower=1))
        return np.asarray(products / self.n)

    def all_rows(self) -> Array:
        """Returns all rows at once, (n, d); cheap where they are in memory, and for fewer rows than coordinates."""
        if self.in_memory is not None:
            return self.in_memory
        held = self.gram.held
        return held if held is not None else np.concatenate(list(self))

    def triangle(self) -> Array:
        """Returns the triangular factor R (min(n, d), d) of the QR decomposition of X, merged block by block.

        It has the singular values and right vectors of X to full precision, where the Gram matrix has half of it.
        """
        merged = np.empty((0, self.d))
        for block in self:
            merged = qr(np.concatenate([merged, block]), mode="r", overwrite_a=True, check_finite=False)[0]
            merged = merged[: min(self.d, len(merged))]
        return merged

    def take(self, rows: NDArray[np.integer]) -> Array:
        """Returns the rows (k, d) of these ascending numbers."""
        if self.in_memory is not None:
            return np.asarray(self.in_memory[rows])
        if self.select is not None:
            return checks.block(self.name, self.select(rows), self.d, None)
        found, start = [], 0
        for block in self:
            first, last = np.searchsorted(rows, [start, start + len(block)])
            found.append(block[rows[first:last] - start])
            start += len(block)
        return np.concatenate(found)

    def mapped(self, change: Callable[[int, Array], Array], known: Gram | None = None) -> "RowBlocks":
        """Returns blocks in which change(number of the first row, block) stands for each block; (rows, d) both."""
        if self.in_memory is not None:
            return RowBlocks.of_array(self.name, np.ascontiguousarray(change(0, self.in_memory)), known)
        return RowBlocks(self.d, lambda: _changed(self, change), self.name, known=known, size=self.size)

    def centered(self, standardize: bool = False) -> "RowBlocks":
        """Returns the rows minus their mean, with `standardize` in units of each column's standard deviation.

        The Gram matrix of the result comes from the one pass that measures the means. ValueError with `standardize` for
        a column that does not vary.
        """
        found = self.moments
        mean, unit = found.mean, np.ones(self.d)
        if standardize:
            spread = np.sqrt(found.variances)
            silent = spread <= SILENT * np.maximum(abs(found.lowest), abs(found.highest))
            if silent.any():
                column = int(silent.argmax())
                raise ValueError(f"{self.name} must vary in every column to be standardized, column {column} does not")
            unit = 1 / spread
        known = None
        if found.n >= self.d:
            known = Gram(found.n, np.asfortranarray(found.scatter * unit[:, None] * unit), None)
        return self.mapped(lambda _, block: _affine(block, mean, unit), known)

    def columns(self, chosen: Sequence[int]) -> "RowBlocks":
        """Returns the same rows with the chosen columns alone."""
        kept = np.asarray(chosen, dtype=np.int64)
        if self.in_memory is not None:
            return RowBlocks.of_array(self.name, np.ascontiguousarray(self.in_memory[:, kept]))
        return RowBlocks(len(kept), lambda: (block[:, kept] for block in self), self.name, size=self.size)

    def rows(self, chosen: NDArray[np.bool_], known: Gram | None = None) -> "RowBlocks":
        """Returns the rows (of all n) for which `chosen` (n,) is true, in their order."""
        if self.in_memory is not None:
            return RowBlocks.of_array(self.name, self.in_memory[chosen], known)
        size = int(np.count_nonzero(chosen))
        return RowBlocks(self.d, lambda: _chosen(self, chosen), self.name, known=known, size=size)


def _add_products(products: Array | None, rows: Array) -> Array:
    if products is None:
        return np.asarray(dsyrk(1.0, rows.T, lower=1))
    return np.asarray(dsyrk(1.0, rows.T, beta=1.0, c=products, lower=1, overwrite_c=1))


def _affine(block: Array, mean: Array, unit: Array) -> Array:
    shifted = block - mean
    shifted *= unit
    return shifted


def _changed(rows: RowBlocks, change: Callable[[int, Array], Array]) -> Iterator[Array]:
    for start, block in rows.numbered():
        yield change(start, block)


def _chosen(rows: RowBlocks, chosen: NDArray[np.bool_]) -> Iterator[Array]:
    for start, block in rows.numbered():
        yield block[chosen[start : start + len(block)]]
