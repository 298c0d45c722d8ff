"""The rows of a matrix about their mean: made once, at the door of an analysis, and handed through all its steps.

Whether the rows are in memory or come in blocks is asked here, once, and nowhere behind this door.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

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


@dataclass(frozen=True, eq=False, kw_only=True)
class CenteredRows(ABC):
    """Finite rows (n, d) about a mean that is not known, with what is asked of them again and again.

    `notes` are sentences on what was left out or changed. A record of this kind can be pickled, as its rows can.
    """

    rows: RowBlocks = field(repr=False)  # in the units of the analysis; their mean is not yet taken out
    names: tuple[str, ...]
    notes: tuple[str, ...]
    n: int
    d: int
    mean: Array = field(repr=False)  # (d,)
    variances: Array = field(repr=False)  # (d,), about the mean
    size: Array = field(repr=False)  # (d,), of the largest entry of each column
    constant: tuple[int, ...]  # positions of the columns that are constant up to rounding

    said_of_permuted: ClassVar[tuple[str, ...]] = ()

    def changed(self, rows: RowBlocks, note: str, kept: Sequence[int] | None = None) -> "CenteredRows":
        """Return other rows in the place of these, with a note on what was changed, and the names of `kept` columns."""
        names = self.names if kept is None else tuple(self.names[k] for k in kept)
        return centered_rows(rows, names, (*self.notes, note))

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
    def covariance(self) -> Empirical:
        """Return the unbiased covariance of the rows about their mean."""

    @abstractmethod
    def permuted(self, seed: int) -> RowBlocks:
        """Return contrasts of the rows in which each column is permuted by itself, so that no relation is left."""

    @abstractmethod
    def training_sets(self, order: NDArray[np.integer], sizes: Sequence[int]) -> Iterator[tuple[Array, RowBlocks]]:
        """Yield mean and contrasts of the first rows of the `order`, as many as each of the ascending `sizes`."""


class _InMemory(CenteredRows):
    """Rows that are in memory all at once."""

    def standardized(self) -> RowBlocks:
        X = self.rows.all_rows()
        return RowBlocks.of_array("X", (X - self.mean) / X.std(axis=0))

    def contrasts(self) -> RowBlocks:
        return _of_array(self.rows.all_rows(), self.mean)

    def covariance(self) -> Empirical:
        rows = self.contrasts().all_rows()
        return Empirical(rows.T @ rows / len(rows))

    def permuted(self, seed: int) -> RowBlocks:
        return _of_array(stream(seed, "spectrum", "permuted").permuted(self.rows.all_rows(), axis=0))

    def training_sets(self, order: NDArray[np.integer], sizes: Sequence[int]) -> Iterator[tuple[Array, RowBlocks]]:
        X = self.rows.all_rows()
        for size in sizes:
            training = X[order[:size]]
            mean = training.mean(axis=0)
            yield mean, _of_array(training, mean)


class _InBlocks(CenteredRows):
    """Rows that come block by block, of which one pass knows the moments."""

    said_of_permuted = ("permuted columns of the spectrum are permuted within blocks of rows, each about its own mean",)

    def standardized(self) -> RowBlocks:
        return self.rows.centered(standardize=True)

    def contrasts(self) -> RowBlocks:
        return _of_moments(self.rows, self.rows.moments)

    def covariance(self) -> Empirical:
        return Empirical(self.rows.moments.covariance)

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
        scatter = np.asfortranarray(found.scatter * unit[:, None] * unit)
        shift = next(iter(within))[0] / (1 + np.sqrt(found.n))  # as in contrasts; the mean is zero
        return _without_first(within, lambda block: (block - shift) * unit, found.n, scatter)

    def training_sets(self, order: NDArray[np.integer], sizes: Sequence[int]) -> Iterator[tuple[Array, RowBlocks]]:
        """Yield them by one pass, which accumulates the moments of what each size adds to the one before."""
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        added = self.rows.moments_of_parts(np.searchsorted(sizes, rank, side="right"), len(sizes))
        so_far: Moments | None = None
        for size, more in zip(sizes, added, strict=True):
            so_far = more if so_far is None else so_far.with_rows(more)
            if size <= self.d + 1:  # fewer rows than a Gram matrix has
                training = self.rows.take(np.sort(order[:size]))
                mean = training.mean(axis=0)
                yield mean, _of_array(training, mean)
            else:
                yield so_far.mean, _of_moments(self.rows.rows(rank < size), so_far)


def centered_rows(rows: RowBlocks, names: Sequence[str] = (), notes: tuple[str, ...] = ()) -> CenteredRows:
    """Make the record of these rows; columns without names are numbered."""
    X, kind = rows.in_memory, _InBlocks if rows.in_memory is None else _InMemory
    if X is None:
        known = rows.moments
        mean, variances, lowest, highest = known.mean, known.variances, known.lowest, known.highest
    else:
        mean, variances, lowest, highest = X.mean(axis=0), X.var(axis=0), X.min(axis=0), X.max(axis=0)
    size = np.maximum(abs(lowest), abs(highest))
    constant = np.flatnonzero(highest - lowest <= ROUNDING * size)
    return kind(
        rows=rows,
        names=tuple(names) or numbered(rows.d),
        notes=notes,
        n=rows.n,
        d=rows.d,
        mean=mean,
        variances=variances,
        size=size,
        constant=tuple(map(int, constant)),
    )


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


def _of_array(X: Array, mean: Array | None = None) -> RowBlocks:
    """Return the contrasts of a matrix in memory, whose mean may be known."""
    mean = X.mean(axis=0) if mean is None else mean
    rows: Array = X[1:] - mean
    rows -= (X[0] - mean) / (1 + np.sqrt(len(X)))
    return RowBlocks.of_array("X", rows)


def _of_moments(rows: RowBlocks, moments: Moments) -> RowBlocks:
    """Return the contrasts of rows in blocks, of which the moments are known."""
    shift = moments.mean + (next(iter(rows))[0] - moments.mean) / (1 + np.sqrt(moments.n))
    return _without_first(rows, lambda block: block - shift, moments.n, moments.scatter)


def _without_first(rows: RowBlocks, change: Callable[[Array], Array], n: int, scatter: Array) -> RowBlocks:
    """Return n - 1 of these n rows, all but the first, each changed, of which the second moments are known."""
    known = Gram(n - 1, scatter, None) if n > rows.d else None
    return replace(rows.mapped(lambda start, block: change(block if start else block[1:]), known), size=n - 1)
