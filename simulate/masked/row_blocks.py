"""Data matrices as blocks of rows, of which one at a time is in memory: their Gram matrix, means, and single rows.

All fits take their data in this form. A matrix in memory is the special case whose rows are at hand all at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.blas import dsyrk

from simulate.masked import checks
from simulate.masked.moments import Gram, Moments, Sums
from theory.core import Array, Count, checked
from theory.core.checks import dimension, fits_in_memory, function, instance, record, shown

BLOCK_NUMBERS = 2**20  # of one block: 8 MB, few beside the matrices of a fit and many enough for fast products
ROUNDING_SPREAD = 1e-14  # a spread below this share of the largest entry is rounding


def block_rows(d: int) -> int:
    """Return how many rows of d numbers make a block."""
    return max(256, BLOCK_NUMBERS // d)


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Rows of d finite numbers that come in blocks, which are produced anew each time that they are asked for.

    `blocks` returns an iterator of arrays (rows, d) of real numbers. `in_memory` holds all rows if they are in memory,
    and `known` their Gram matrix if it is known before any pass. Iterating yields checked float64 blocks in C order.
    It can be pickled where what was given as `blocks` can: functions that are defined in a module can, lambdas cannot.
    """

    d: int
    blocks: Callable[[], Iterator[Array]] = field(repr=False)
    name: str = "X"
    in_memory: Array | None = field(default=None, repr=False)
    known: Gram | None = field(default=None, repr=False)
    size: int | None = None  # number of rows, where it is known before any pass
    select: Callable[[NDArray[np.integer]], Array] | None = field(default=None, repr=False)  # rows by number, if fast

    def __post_init__(self) -> None:
        dimension(self.d)
        function("blocks", self.blocks, 0)
        instance("name", self.name, str, "text")
        if self.in_memory is not None and np.shape(self.in_memory)[1:] != (self.d,):
            raise ValueError(f"in_memory must have shape (n, {self.d}), got {np.shape(self.in_memory)}")
        if self.known is not None and record("known", self.known, Gram).d != self.d:
            raise ValueError(f"known must be the Gram matrix of {self.d} columns, got {self.known.d}")
        if self.size is not None:
            dimension(self.size, least=0, name="size")
        if self.select is not None:
            function("select", self.select, 1)

    @classmethod
    @checked
    def of_array(cls, name: str, X: Array, known: Gram | None = None) -> "RowBlocks":
        """Take a finite matrix (n, d) in memory, not copied where it is float64 in C order; blocks are views of it."""
        X = checks.block(name, X, None, None)
        return cls(X.shape[1], partial(views, X), name, X, known)

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

    @checked
    def numbered(self, start: int = 0) -> Iterator[tuple[int, Array]]:
        """Yield each block with the number of its first row, from the block that begins at row `start`."""
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
        return self.gram.n if self._known_size is None else self._known_size

    @cached_property
    def moments(self) -> Moments:
        """Moments about the mean, in one pass: those of each block about its own mean, put together without loss.

        A large common mean costs no digits.
        """
        return self.moments_of_parts(None, 1)[0]

    @checked
    def moments_of_parts(self, part: NDArray[np.integer] | None, count: Count) -> list[Moments]:
        """Measure the moments of `count` disjoint parts of the rows in one pass.

        `part` (n,) is the number of each row's part, from 0; rows of other numbers belong to none. ValueError where a
        part has no rows.
        """
        if part is None and count > 1:
            raise ValueError(f"count must be 1 where part is None, got {count}")
        fits_in_memory(f"the moments of count = {count} parts", float(count) * self.d**2)
        if part is not None:
            checks.one_for_each_row("part", part, self._known_size)
        sums = [Sums(self.d) for _ in range(count)]
        for start, block in self.numbered():
            if part is None:
                sums[0].add(block)
                continue
            own = checks.of_rows("part", part, start, len(block))
            for k in np.unique(own[(own >= 0) & (own < count)]):
                sums[k].add(block[own == k])
        if part is not None and not all(one.n for one in sums):
            empty = [k for k, one in enumerate(sums) if not one.n]
            raise ValueError(f"part must give rows to each of count = {count} parts, got none for part {empty[0]}")
        if not sums[0].n:
            raise ValueError(f"{self.name} must have at least one row, got none in its blocks")
        if part is None:
            self._require_size(np.diagonal(sums[0].scatter))
        return [one.moments() for one in sums]

    def _require_size(self, power: Array) -> None:
        """Raise ValueError where a column, with these sums of squares (d,), is too large or too small."""
        if not checks.representable(power):
            sizes = np.max([abs(block).max(axis=0) for block in self], axis=0)
            checks.raise_not_representable(self.name, sizes[None])

    def second_moments(self) -> Array:
        """Return a new lower triangle of X'X/n, in Fortran order, for n >= d."""
        if self.in_memory is not None and self.known is None and "gram" not in self.__dict__:
            return np.asarray(dsyrk(1 / self.n, self.in_memory.T, lower=1))
        products = self.gram.products
        if products is None:
            rows = self.all_rows()
            return np.asarray(dsyrk(1 / len(rows), rows.T, lower=1))
        return np.asarray(products / self.n)

    def all_rows(self) -> Array:
        """Return all rows at once, (n, d); cheap where they are in memory, and for fewer rows than coordinates."""
        if self.in_memory is not None:
            return self.in_memory
        held = self.gram.held
        return held if held is not None else np.concatenate(list(self))

    def triangle(self) -> Array:
        """Return the triangular factor R (min(n, d), d) of the QR decomposition of X, merged block by block.

        It has the singular values and right vectors of X to full precision, where the Gram matrix has half of it.
        """
        merged = np.empty((0, self.d))
        for block in self:
            merged = qr(np.concatenate([merged, block]), mode="r", overwrite_a=True, check_finite=False)[0]
            merged = merged[: min(self.d, len(merged))]
        return merged

    @checked
    def take(self, rows: NDArray[np.integer]) -> Array:
        """Return the rows (k, d) of these ascending numbers."""
        checks.row_numbers("rows", rows, self._known_size)
        if self.in_memory is not None:
            return np.asarray(self.in_memory[rows])
        if self.select is not None:
            return checks.block(self.name, self.select(rows), self.d, None)
        found, start = [], 0
        for block in self:
            first, last = np.searchsorted(rows, [start, start + len(block)])
            found.append(block[rows[first:last] - start])
            start += len(block)
        checks.row_numbers("rows", rows, start)
        return np.concatenate(found)

    @checked
    def mapped(self, change: Callable[[int, Array], Array], known: Gram | None = None) -> "RowBlocks":
        """Return blocks in which change(number of the first row, block) stands for each block; (rows, d) both."""
        if self.in_memory is not None:
            return RowBlocks.of_array(self.name, _changed_block(change, 0, self.in_memory), known)
        return RowBlocks(self.d, partial(_changed, self, change), self.name, known=known, size=self.size)

    @checked
    def centered(self, standardize: bool = False) -> "RowBlocks":
        """Return the rows minus their mean, with `standardize` in units of each column's standard deviation.

        The Gram matrix of the result comes from the one pass that measures the means. ValueError with `standardize` for
        a column that does not vary.
        """
        found = self.moments
        mean, unit = found.mean, None
        if standardize:
            spread = np.sqrt(found.variances)
            silent = spread <= ROUNDING_SPREAD * np.maximum(abs(found.lowest), abs(found.highest))
            if silent.any():
                column = int(silent.argmax())
                raise ValueError(f"{self.name} must vary in every column to be standardized, column {column} does not")
            unit = 1 / spread
        scatter = found.scatter if unit is None else np.asfortranarray(found.scatter * unit[:, None] * unit)
        known = Gram(found.n, scatter, None) if found.n >= self.d else None
        change = partial(_affine, mean, unit)
        if self.in_memory is None:
            return self.mapped(change, known)
        rows = change(0, self.in_memory)  # finite, as the rows are and their moments were checked to be
        return RowBlocks(self.d, partial(views, rows), self.name, rows, known)

    @checked
    def columns(self, chosen: Sequence[int]) -> "RowBlocks":
        """Return the same rows with the chosen columns alone."""
        if not len(chosen) or min(chosen) < -self.d or max(chosen) >= self.d:
            raise ValueError(f"chosen must be numbers of columns from 0 to {self.d - 1}, got {shown(chosen)}")
        kept = np.asarray(chosen, dtype=np.int64)
        if self.in_memory is not None:
            return RowBlocks.of_array(self.name, np.ascontiguousarray(self.in_memory[:, kept]))
        return RowBlocks(len(kept), partial(_columns, self, kept), self.name, size=self.size)

    @checked
    def rows(self, chosen: NDArray[np.bool_], known: Gram | None = None) -> "RowBlocks":
        """Return the rows (of all n) for which `chosen` (n,) is true, in their order."""
        checks.one_for_each_row("chosen", chosen, self._known_size)
        if self.in_memory is not None:
            return RowBlocks.of_array(self.name, self.in_memory[chosen], known)
        size = int(np.count_nonzero(chosen))
        return RowBlocks(self.d, partial(_chosen, self, chosen), self.name, known=known, size=size)

    @property
    def _known_size(self) -> int | None:
        """The number of rows where no pass is needed to know it."""
        return len(self.in_memory) if self.in_memory is not None else self.size


def _add_products(products: Array | None, rows: Array) -> Array:
    if products is None:
        return np.asarray(dsyrk(1.0, rows.T, lower=1))
    return np.asarray(dsyrk(1.0, rows.T, beta=1.0, c=products, lower=1, overwrite_c=1))


# What the blocks are produced by stands in the module, so that fits, which hold them, can be pickled.
def views(X: Array) -> Iterator[Array]:
    """Yield the blocks of a matrix in memory."""
    step = block_rows(X.shape[1])
    return (X[i : i + step] for i in range(0, len(X), step))


def _columns(rows: RowBlocks, kept: NDArray[np.int64]) -> Iterator[Array]:
    return (block[:, kept] for block in rows)


def _affine(mean: Array, unit: Array | None, _: int, block: Array) -> Array:
    shifted = block - mean
    return shifted if unit is None else np.multiply(shifted, unit, out=shifted)


def _changed(rows: RowBlocks, change: Callable[[int, Array], Array]) -> Iterator[Array]:
    for start, block in rows.numbered():
        yield _changed_block(change, start, block)


def _changed_block(change: Callable[[int, Array], Array], start: int, block: Array) -> Array:
    return checks.block("the result of change", change(start, block), block.shape[1], start)


def _chosen(rows: RowBlocks, chosen: NDArray[np.bool_]) -> Iterator[Array]:
    for start, block in rows.numbered():
        yield block[checks.of_rows("chosen", chosen, start, len(block))]
