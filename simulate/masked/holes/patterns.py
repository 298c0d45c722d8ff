"""Groups the rows of a table by which of their entries were seen: rows of one pattern share one factorization."""

from dataclasses import dataclass
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import in_threads
from simulate.masked.holes.kernel import invert_blocks
from theory.core.arrays import Array

# The block of the holes is inverted up to this share of holes, beyond it that of the entries seen. Both need the cube
# of their size, but the sum over rows that the second one yields is multiplied twice by a whole matrix.
HOLES_UP_TO = 0.6
CHUNKS = 16  # parts in which blocks are inverted, by as many threads as numba may use
WORK_OF_THREADS = 2e7  # sum of the cubes of the sizes, below which threads cost more time than they save


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns (number, d) in which the entries of a table were seen, and the rows of each of them."""

    seen: NDArray[np.bool_]  # (n, d)
    patterns: NDArray[np.bool_]  # (number, d)
    rows: NDArray[np.int64]  # (n,), the rows of the first pattern, then those of the second one, ...
    firsts: NDArray[np.int64]  # (number + 1,), where the rows of each pattern begin

    @classmethod
    def of(cls, seen: NDArray[np.bool_]) -> "Patterns":
        """Group the rows of `seen` (n, d)."""
        packed = np.ascontiguousarray(np.packbits(seen, axis=1))
        _, first, group = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
        counts = np.bincount(group, minlength=len(first))
        firsts = np.concatenate([[0], np.cumsum(counts)])
        return cls(seen, seen[first], np.argsort(group, kind="stable"), firsts)

    def solve(self, matrix: Array, right: Array, holes: bool) -> "Blocks":
        """Solve with the block of `matrix` (d, d) at the holes of each row, or at its entries seen.

        `right` has the shape (right sides, n, d). LinAlgError where a block is not positive definite.
        """
        return self._solve(matrix, right, ~self.patterns if holes else self.patterns)

    def split(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return for each pattern, and for each row, whether it has so many holes that its seen block is cheaper."""
        many = (~self.patterns).mean(axis=1) > HOLES_UP_TO
        of_rows = np.empty(len(self.rows), dtype=bool)
        of_rows[self.rows] = np.repeat(many, np.diff(self.firsts))
        return many, of_rows

    def _solve(self, matrix: Array, right: Array, chosen: NDArray[np.bool_]) -> "Blocks":
        for name, array in (("matrix", matrix), ("right", right)):
            if array.dtype != np.float64:
                raise ValueError(f"{name} must be of dtype float64, got {array.dtype}")
        sizes = chosen.sum(axis=1)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        # A copy, since the kernel would be compiled once more for the columns that numpy gives of a few entries only.
        places = np.nonzero(chosen)[1].copy()
        solved, diagonal, right = np.zeros_like(right), np.zeros(right.shape[1:]), np.ascontiguousarray(right)
        chunks = _chunks(sizes)
        totals = np.zeros((len(chunks), *matrix.shape))

        def invert(chunk: int) -> int:
            part = chunks[chunk]
            upto = slice(part.start, part.stop + 1)
            failed = invert_blocks(
                matrix,
                places,
                starts[upto],
                self.rows,
                self.firsts[upto],
                right,
                solved,
                diagonal,
                totals[chunk],
            )
            return int(failed) + part.start if failed >= 0 else -1

        for failed in in_threads(invert, range(len(chunks)), min(len(chunks), numba.get_num_threads())):
            if failed >= 0:
                raise np.linalg.LinAlgError("the block of some row is not positive definite")
        total = totals.sum(axis=0)
        return Blocks(solved, diagonal, total + np.tril(total, -1).T)

    def conditional(self, matrix: Array, values: Array, diagonal: bool = False) -> "Conditional":
        """Compute means and covariances of the holes given the entries seen, for rows of mean 0 and covariance matrix.

        `values` (n, d) are zero at the holes. A row with few holes needs the block of the inverse of the matrix at its
        holes, one with many the block of the matrix at the entries seen. `diagonal` asks for the variance of each hole
        as well, which only the first way gives.
        """
        many, of_rows = self.split()
        if diagonal:
            many, of_rows = np.zeros_like(many), np.zeros_like(of_rows)
        filled, spread = values.copy(), np.zeros_like(matrix)
        variances = np.zeros_like(values)
        if not many.all():
            precision = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
            blocks = self._solve(precision, (values @ precision)[None], ~self.patterns & ~many[:, None])
            filled -= blocks.solved[0]
            spread += blocks.total
            variances += blocks.diagonal
        if many.any():
            blocks = self._solve(matrix, values[None], self.patterns & many[:, None])
            some = blocks.solved[0, of_rows] @ matrix
            filled[of_rows] = np.where(self.seen[of_rows], values[of_rows], some)
            spread += of_rows.sum() * matrix - matrix @ blocks.total @ matrix
        return Conditional(filled, spread, variances)


def _chunks(sizes: NDArray[np.int64]) -> list[range]:
    """Divide patterns, with blocks of these sizes, into parts of about equal work.

    There are as many parts whatever the number of threads, so that sums over the parts have the same rounding.
    """
    work = np.cumsum(sizes.astype(np.float64) ** 3)
    if len(work) == 0 or work[-1] < WORK_OF_THREADS:
        return [range(len(sizes))]
    cuts = np.searchsorted(work, work[-1] * np.arange(1, CHUNKS) / CHUNKS)
    edges = [0, *(int(cut) for cut in np.unique(cuts) if 0 < cut < len(sizes)), len(sizes)]
    return [range(first, last) for first, last in pairwise(edges)]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Solutions with the block of each row; all zero outside the blocks."""

    solved: Array  # (right sides, n, d)
    diagonal: Array  # (n, d), diagonals of the inverses
    total: Array  # (d, d), sum of the inverses over the rows


@dataclass(frozen=True, eq=False)
class Conditional:
    """The law of the holes given the entries seen."""

    filled: Array  # (n, d), means at the holes
    spread: Array  # (d, d), sum over the rows of the covariances of their holes
    variances: Array  # (n, d), variance of each hole where asked for; zero elsewhere
