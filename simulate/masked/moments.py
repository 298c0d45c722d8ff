"""Second moments of rows, about zero and about their mean, that can be accumulated block by block."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.blas import dsyr, dsyrk

from theory.core import Array, checked

CHUNK_NUMBERS = 2**17  # of rows that are shifted at a time: 1 MB, which the second cache holds
SIDE_BY_SIDE = 16  # rows that make one, since numpy goes through long rows faster than through short ones


def mirrored(lower: Array) -> Array:
    """Return the symmetric matrix (d, d) of which the lower triangle is given."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


@dataclass(frozen=True, eq=False)
class Gram:
    """Second moments of the rows: their number n, and the lower triangle (d, d) of X'X, in Fortran order.

    Where there are fewer rows than coordinates the rows themselves take less memory, and `products` is None.
    """

    n: int
    products: Array | None = field(repr=False)
    held: Array | None = field(repr=False)  # the rows (n, d), for n < d

    @property
    def d(self) -> int:
        """The number of columns of the rows."""
        kept = self.products if self.products is not None else self.held
        return 0 if kept is None else int(kept.shape[1])

    @property
    def trace(self) -> float:
        """The sum of the squares of all entries."""
        if self.products is not None:
            return float(np.trace(self.products))
        return float(np.vdot(self.held, self.held)) if self.held is not None else 0.0


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the rows about their mean, in one pass: number, means, spread, lowest and highest entries (d,).

    `scatter` (d, d) is the lower triangle of the sum over rows of (x - mean)(x - mean)', in Fortran order.
    """

    n: int
    mean: Array
    scatter: Array = field(repr=False)
    lowest: Array = field(repr=False)
    highest: Array = field(repr=False)

    @checked
    def with_rows(self, other: "Moments") -> "Moments":
        """Return the moments of these rows and of others together."""
        if len(other.mean) != len(self.mean):
            raise ValueError(f"other must be the moments of {len(self.mean)} columns, got {len(other.mean)}")
        share, step = other.n / (self.n + other.n), other.mean - self.mean
        scatter = dsyr(self.n * share, step, a=self.scatter + other.scatter, lower=1, overwrite_a=1)
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return Moments(self.n + other.n, self.mean + share * step, scatter, lowest, highest)

    @property
    def variances(self) -> Array:
        """Mean squares of the columns about their means, (d,)."""
        return np.diagonal(self.scatter) / self.n

    @property
    def covariance(self) -> Array:
        """The symmetric matrix (d, d) of the scatter divided by n - 1."""
        return mirrored(self.scatter) / (self.n - 1)


class Sums:
    """Moments that grow by one block after the other.

    For two groups of n and m rows the scatter about the common mean is the sum of both scatters and of
    n m/(n + m) (difference of the means)(same)' (Chan, Golub and LeVeque 1983).
    """

    def __init__(self, d: int) -> None:
        self.n, self.mean, self.scatter = 0, np.zeros(d), np.zeros((d, d), order="F")
        self.lowest, self.highest = np.full(d, np.inf), np.full(d, -np.inf)

    def add(self, block: Array) -> None:
        """Add the rows of a block (rows, d)."""
        own = block.mean(axis=0)
        step, share = own - self.mean, len(block) / (self.n + len(block))
        rows = max(1, CHUNK_NUMBERS // block.shape[1])
        shifted = np.empty((min(rows, len(block)), block.shape[1]))  # used again and again, so that it stays in cache
        for start in range(0, len(block), rows):
            part = block[start : start + rows]
            about_mean = np.subtract(part, own, out=shifted[: len(part)])
            self.scatter = dsyrk(1.0, about_mean.T, beta=1.0, c=self.scatter, lower=1, overwrite_c=1)
        self.scatter = dsyr(self.n * share, step, a=self.scatter, lower=1, overwrite_a=1)
        self.mean += share * step
        self.n += len(block)
        for few in _side_by_side(block):
            np.minimum(self.lowest, few.min(axis=0).reshape(-1, len(own)).min(axis=0), out=self.lowest)
            np.maximum(self.highest, few.max(axis=0).reshape(-1, len(own)).max(axis=0), out=self.highest)

    def moments(self) -> Moments:
        """Return the moments of all rows so far."""
        return Moments(self.n, self.mean, self.scatter, self.lowest, self.highest)


def _side_by_side(block: Array) -> list[Array]:
    """Return the rows (rows, d), in C order, as longer rows of several each, and those that are left over."""
    whole = len(block) // SIDE_BY_SIDE * SIDE_BY_SIDE
    parts = (block[:whole].reshape(-1, SIDE_BY_SIDE * block.shape[1]), block[whole:])
    return [part for part in parts if len(part)]
