"""Inverts the blocks of a matrix that belong to the holes, or to the entries seen, of each row: compiled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

WHOLE_UP_TO = 32  # the size of a block that is swept at once; larger ones are halved, since products of halves are fast


@cached_njit(fastmath={"contract", "reassoc"})
def _sweep(block: Array, size: int, pivot: Array, lines: Array, factors: Array) -> bool:
    """Replace the lower triangle of a positive definite block by that of minus its inverse; False where it is not."""
    # The sweep operator on the lower triangle needs no more operations than Cholesky's factor and its inverse. It
    # takes four pivots at a time, so that a row is read and written once for four products. After all sweeps the
    # block is minus its inverse.
    for k in range(0, size, 4):
        end = min(k + 4, size)
        pivot[:] = 0.0
        for a in range(4):
            pivot[a, a] = 1.0
            for i in range(size):
                lines[a, i] = 0.0
        for a in range(end - k):
            for b in range(a + 1):
                pivot[a, b] = pivot[b, a] = block[k + a, k + b]
            for i in range(k):
                lines[a, i] = block[k + a, i]
            for i in range(end, size):
                lines[a, i] = block[i, k + a]
        for a in range(4):
            head = pivot[a, a]
            if not head > 0.0:
                return False
            pivot[a, a] = 1.0
            for b in range(4):
                pivot[a, b] /= head
            for c in range(4):
                if c != a:
                    factor = pivot[c, a]
                    pivot[c, a] = 0.0
                    for b in range(4):
                        pivot[c, b] -= factor * pivot[a, b]
        one, two, three, four = lines[0], lines[1], lines[2], lines[3]
        for i in range(size):
            if i < k or i >= end:
                for a in range(4):
                    factors[a] = 0.0
                    for b in range(4):
                        factors[a] += lines[b, i] * pivot[b, a]
                f, g, h, e = factors[0], factors[1], factors[2], factors[3]
                line = block[i]
                for j in range(i + 1):
                    line[j] -= f * one[j] + g * two[j] + h * three[j] + e * four[j]
                for a in range(end - k):
                    if i < k:
                        block[k + a, i] = factors[a]
                    else:
                        block[i, k + a] = factors[a]
        for a in range(end - k):
            for b in range(a + 1):
                block[k + a, k + b] = -pivot[a, b]
    return True


@cached_njit(fastmath={"contract", "reassoc"})
def _invert(block: Array, size: int, pivot: Array, lines: Array, factors: Array) -> bool:
    """Do the same by halves where the block is large: A and, with X = A^-1 B, the Schur complement C - B'X."""
    if size <= WHOLE_UP_TO:
        return _sweep(block, size, pivot, lines, factors)
    half = size // 2
    rest = size - half
    if not _invert(block, half, pivot, lines, factors):
        return False
    first, cross = np.empty((half, half)), np.empty((rest, half))
    for i in range(half):
        for j in range(i + 1):
            first[i, j] = first[j, i] = -block[i, j]
    for i in range(rest):
        for j in range(half):
            cross[i, j] = block[half + i, j]
    along = np.dot(cross, first)  # X'
    schur = np.dot(along, cross.T)
    for i in range(rest):
        for j in range(i + 1):
            schur[i, j] = block[half + i, half + j] - schur[i, j]
    if not _invert(schur, rest, pivot, lines, factors):
        return False
    for i in range(rest):
        for j in range(i + 1):
            block[half + i, half + j] = schur[i, j]
            schur[j, i] = schur[i, j]
    below = np.dot(schur, along)  # minus (C - B'X)^-1 X'
    own = np.dot(along.T, below)
    for i in range(half):
        for j in range(i + 1):
            block[i, j] += own[i, j]
    for i in range(rest):
        for j in range(half):
            block[half + i, j] = -below[i, j]
    return True


@cached_njit(fastmath={"contract", "reassoc"})
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
    `diagonal[row, I]` the diagonal of matrix_II^-1, and the lower triangle of matrix_II^-1 is added to `total[I, I]`.
    Return the number of the first pattern whose block is not positive definite, or -1. `right` has the shape (right
    sides, n, d), and places ascend. Arrays of real numbers are of double precision, which `Patterns` sees to.
    """
    d = len(matrix)
    block, entries, answers = np.empty((d, d)), np.empty(d), np.empty(d)
    pivot, lines, factors = np.empty((4, 4)), np.empty((4, d)), np.empty(4)
    for p in range(len(starts) - 1):
        first, size = starts[p], starts[p + 1] - starts[p]
        for i in range(size):
            for j in range(i + 1):
                block[i, j] = matrix[places[first + i], places[first + j]]
        if not _invert(block, size, pivot, lines, factors):
            return p
        n_rows = firsts[p + 1] - firsts[p]
        for i in range(size):
            line, sums = block[i], total[places[first + i]]
            for j in range(i + 1):
                line[j] = -line[j]
                sums[places[first + j]] += n_rows * line[j]
        for r in range(firsts[p], firsts[p + 1]):
            row = rows[r]
            for side in range(len(right)):
                for i in range(size):
                    entries[i], answers[i] = right[side, row, places[first + i]], 0.0
                for i in range(size):
                    line, head, answer = block[i], entries[i], 0.0
                    for j in range(i):
                        answer += line[j] * entries[j]
                        answers[j] += line[j] * head
                    answers[i] += answer + line[i] * head
                for i in range(size):
                    solved[side, row, places[first + i]] = answers[i]
            for i in range(size):
                diagonal[row, places[first + i]] = block[i, i]
    return -1
