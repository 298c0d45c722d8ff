"""Inverts the blocks of a matrix that belong to the holes, or to the entries seen, of each row: compiled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array


@cached_njit()
def invert_blocks(
    matrix: Array,
    places: NDArray[Any],
    starts: NDArray[Any],
    rows: NDArray[Any],
    firsts: NDArray[Any],
    right: Array,
    solved: Array,
    diagonal: Array,
    total: Array,
) -> int:
    """Invert one block of a positive definite matrix for each pattern, and solve with it for the rows of the pattern.

    Pattern p has the block of the places I = `places[starts[p]:starts[p + 1]]` and the rows
    `rows[firsts[p]:firsts[p + 1]]`. For each of them `solved[:, row, I]` becomes matrix_II^-1 right[:, row, I],
    `diagonal[row, I]` the diagonal of matrix_II^-1, and matrix_II^-1 is added to `total[I, I]`. Return the number of
    the first pattern whose block is not positive definite, or -1. `right` has the shape (right sides, n, d).
    """
    d = len(matrix)
    block, pivots = np.empty((d, d)), np.empty(d)
    for p in range(len(starts) - 1):
        first, size = starts[p], starts[p + 1] - starts[p]
        for i in range(size):
            for j in range(i + 1):
                block[i, j] = matrix[places[first + i], places[first + j]]
        # The sweep operator on the lower triangle needs no more operations than Cholesky's factor and its inverse, and
        # its innermost loop runs along rows. After all sweeps the block is minus its inverse.
        for k in range(size):
            pivot = block[k, k]
            if not pivot > 0.0:
                return p
            for i in range(k):
                pivots[i] = block[k, i]
            for i in range(k, size):
                pivots[i] = block[i, k]
            for i in range(size):
                factor = pivots[i] / pivot
                line = block[i]
                for j in range(i + 1):
                    line[j] -= factor * pivots[j]
            for i in range(k):
                block[k, i] = pivots[i] / pivot
            for i in range(k + 1, size):
                block[i, k] = pivots[i] / pivot
            block[k, k] = -1.0 / pivot
        n_rows = firsts[p + 1] - firsts[p]
        for i in range(size):
            for j in range(i):
                block[i, j] = -block[i, j]
                block[j, i] = block[i, j]
                total[places[first + i], places[first + j]] += n_rows * block[i, j]
                total[places[first + j], places[first + i]] += n_rows * block[i, j]
            block[i, i] = -block[i, i]
            total[places[first + i], places[first + i]] += n_rows * block[i, i]
        for r in range(firsts[p], firsts[p + 1]):
            row = rows[r]
            for side in range(len(right)):
                for i in range(size):
                    pivots[i] = right[side, row, places[first + i]]
                for i in range(size):
                    one = 0.0
                    for j in range(size):
                        one += block[i, j] * pivots[j]
                    solved[side, row, places[first + i]] = one
            for i in range(size):
                diagonal[row, places[first + i]] = block[i, i]
    return -1
