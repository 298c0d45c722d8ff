"""The rows of a matrix about their mean: made once, at the door of an analysis, and handed through all its steps.

Whether the rows are in memory or come in blocks is asked here, once, and nowhere behind this door.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.memory import MOST_CELLS
from figures.analyse.reading.tables.columns import numbered
from simulate.core import stream
from simulate.masked import RowBlocks, row_blocks
from simulate.masked.moments import Gram, Moments
from theory.core.arrays import Array
from theory.models import Empirical

ROUNDING = 1e-12  # a spread below this share of the largest entry counts as none


@dataclass(frozen=True, eq=False)
class CenteredRows(ABC):
    """Finite rows (n, d) whose mean is not known, in the units of the analysis, with the names of their columns.

    `notes` are sentences on what was left out or changed. A record of this kind can be pickled, as its rows can.
    """

    rows: RowBlocks
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.rows.n

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.rows.d

    @property
    @abstractmethod
    def mean(self) -> Array:
        """The means (d,) of the columns."""

    @property
    @abstractmethod
    def variances(self) -> Array:
        """The variances (d,) of the columns about their means."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest entries (d,) of the columns."""

    @property
    @abstractmethod
    def covariance(self) -> Empirical:
        """The unbiased covariance of the rows about their mean."""

    @cached_property
    def constant(self) -> list[int]:
        """The positions of the columns that are constant up to rounding."""
        lowest, highest = self.extremes
        return [int(k) for k in np.flatnonzero(highest - lowest <= ROUNDING * np.maximum(abs(lowest), abs(highest)))]

    def changed(self, rows: RowBlocks, note: str, kept: Sequence[int] | None = None) -> "CenteredRows":
        """Return other rows in the place of these, with a note on what was changed, and the names of `kept` columns."""
        names = self.names if kept is None else tuple(self.names[k] for k in kept)
        return centered_rows(rows, names, (*self.notes, note))

    def centered(self) -> RowBlocks:
        """Return the rows minus their mean."""
        return self.rows.centered()

    @abstractmethod
    def standardized(self) -> RowBlocks:
        """Return the rows minus their mean, in units of the standard deviation of each column."""

    @abstractmethod
    def contrasts(self) -> RowBlocks:
        """Reflect the rows so that their mean is one row, and return the others, (n - 1, d).

        The Householder reflection that sends (1, ..., 1)/sqrt(n) to the first axis. For independent rows of covariance
        Sigma these are n - 1 independent rows of mean 0 and covariance Sigma, so that all formulas for data of known
        mean hold for them; and their Gram matrix X'X is that of the centered rows.
        """

    @abstractmethod
    def permuted(self, seed: int) -> RowBlocks:
        """Return contrasts of the rows in which each column is permuted by itself, so that no relation is left."""

    @property
    def said_of_permuted(self) -> list[str]:
        """Sentences on how the columns are permuted, where that is not within all rows."""
        return []

    @abstractmethod
    def training_sets(self, order: NDArray[np.integer], sizes: Sequence[int]) -> Iterator["CenteredRows"]:
        """Yield the first rows of the `order`, as many as each of the ascending `sizes`."""


@dataclass(frozen=True, eq=False)
class _InMemory(CenteredRows):
    """Rows that are in memory all at once."""

    @property
    def X(self) -> Array:
        """All rows (n, d)."""
        return self.rows.all_rows()

    @property
    def mean(self) -> Array:
        return np.asarray(self.X.mean(axis=0))

    @cached_property
    def variances(self) -> Array:
        return np.asarray(self.X.var(axis=0))

    @property
    def extremes(self) -> tuple[Array, Array]:
        return self.X.min(axis=0), self.X.max(axis=0)

    @property
    def covariance(self) -> Empirical:
        rows = self._reflected()
        return Empirical(rows.T @ rows / len(rows))

    def standardized(self) -> RowBlocks:
        return RowBlocks.of_array("X", (self.X - self.mean) / self.X.std(axis=0))

    def contrasts(self) -> RowBlocks:
        return RowBlocks.of_array("X", self._reflected())

    def _reflected(self) -> Array:
        X, mean = self.X, self.mean
        rows: Array = X[1:] - mean
        rows -= (X[0] - mean) / (1 + np.sqrt(len(X)))
        return rows

    def permuted(self, seed: int) -> RowBlocks:
        return _held(stream(seed, "spectrum", "permuted").permuted(self.X, axis=0)).contrasts()

    def training_sets(self, order: NDArray[np.integer], sizes: Sequence[int]) -> Iterator[CenteredRows]:
        return (_held(self.X[order[:size]]) for size in sizes)


@dataclass(frozen=True, eq=False)
class _InBlocks(CenteredRows):
    """Rows that come block by block, of which one pass knows the moments."""

    known: Moments | None = field(default=None, repr=False)  # where these are known before any pass

    @property
    def moments(self) -> Moments:
        """The moments of the rows about their mean."""
        return self.known or self.rows.moments

    @property
    def mean(self) -> Array:
        return self.moments.mean

    @property
    def variances(self) -> Array:
        return self.moments.variances

    @property
    def extremes(self) -> tuple[Array, Array]:
        return self.moments.lowest, self.moments.highest

    @property
    def covariance(self) -> Empirical:
        return Empirical(self.moments.covariance)

    def standardized(self) -> RowBlocks:
        return self.rows.centered(standardize=True)

    def contrasts(self) -> RowBlocks:
        moments, first = self.moments, next(iter(self.rows))[0]
        n = moments.n
        shift = moments.mean + (first - moments.mean) / (1 + np.sqrt(n))
        known = Gram(n - 1, moments.scatter, None) if n > self.d else None
        return _without_first(self.rows, lambda block: block - shift, known, n)

    def permuted(self, seed: int) -> RowBlocks:
        """Permute the columns within each block.

        The means of the blocks, which would keep relations of columns, are taken out, and the columns are brought back
        to the variances that they have in the data.
        """

        def shuffled(start: int, block: Array) -> Array:
            return np.asarray(stream(seed, "spectrum", "permuted", start).permuted(block - block.mean(axis=0), axis=0))

        within = self.rows.mapped(shuffled)
        found = within.moments
        unit = np.sqrt(self.variances / np.where(found.variances > 0, found.variances, 1.0))
        known = Gram(found.n - 1, np.asfortranarray(found.scatter * unit[:, None] * unit), None)
        return _without_first(within, lambda block: block * unit, known if found.n > self.d else None, found.n)

    @property
    def said_of_permuted(self) -> list[str]:
        return ["permuted columns of the spectrum are permuted within blocks of rows, each about its own mean"]

    def training_sets(self, order: NDArray[np.integer], sizes: Sequence[int]) -> Iterator[CenteredRows]:
        """Yield them by one pass, which accumulates the moments of what each size adds to the one before."""
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        added = self.rows.moments_of_parts(np.searchsorted(sizes, rank, side="right"), len(sizes))
        so_far: Moments | None = None
        for size, more in zip(sizes, added, strict=True):
            so_far = more if so_far is None else so_far.with_rows(more)
            if size <= self.d + 1:  # fewer rows than a Gram matrix has
                yield _held(self.rows.take(np.sort(order[:size])))
            else:
                yield _InBlocks(self.rows.rows(rank < size), known=so_far)


def centered_rows(rows: RowBlocks, names: Sequence[str] = (), notes: tuple[str, ...] = ()) -> CenteredRows:
    """Make the record of these rows; columns without names are numbered."""
    named = tuple(names) or numbered(rows.d)
    return (_InBlocks if rows.in_memory is None else _InMemory)(rows, named, notes)


def table_rows(X: Any) -> RowBlocks:
    """Take a matrix (n, d) as rows, without copying it: in blocks where it is mapped from a file or large."""
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        return RowBlocks.of_array("X", X) if X.size <= MOST_CELLS else row_blocks([X])
    return row_blocks(X)


def ridge_of_contrasts(lam: Array | float, n: int) -> Array:
    """Convert a ridge of n centered rows to that of their n - 1 contrasts, with the same predictor.

    The loss is a mean over rows, so that the penalty relative to the sum, n lam, is what is kept.
    """
    return np.asarray(lam, dtype=float) * (n / (n - 1))


def _held(X: Array) -> _InMemory:
    return _InMemory(RowBlocks.of_array("X", X))


def _without_first(rows: RowBlocks, change: Callable[[Array], Array], known: Gram | None, n: int) -> RowBlocks:
    """Return n - 1 of these n rows, all but the first, each changed."""
    left = rows.mapped(lambda start, block: change(block if start else block[1:]), known)
    return replace(left, size=n - 1)
