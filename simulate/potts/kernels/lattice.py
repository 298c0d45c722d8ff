"""Runs the heat bath of the Potts ferromagnet on a periodic square lattice: compiled, chain by chain.

A color's weight exp(beta n) depends on the number n of neighbors that have it. It is a sum of one share of every
color, exp(0), and, for each neighbor, of exp(beta (m + 1)) - exp(beta m), m counting earlier neighbors of its color.
So the draw is one among four neighbors and "any color", at a cost that does not grow with the number of colors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Array = NDArray[Any]

# At a larger beta exp(-beta) is far below the 2^-53 of a random number, and only overflow could change a draw.
LARGEST_BETA = 150.0
TO_UNIT = 2.0**-53


@cached_njit()
def lattice_sweeps(
    states: Array,
    generators: Array,
    betas: Array,
    rows: int,
    columns: int,
    n_colors: int,
    n_sweeps: int,
    first: int,
    last: int,
) -> None:
    """Advances the chains `first` to `last` - 1 in place; `states` (n_chains, rows * columns) holds colors.

    `generators` (n_chains, 2) uint64 are states of xoroshiro128+, `betas` (n_chains,). Even sites are
    updated before odd ones, so that no site waits for the one before it. Where a width is odd, even sites do interact,
    and the scan goes row by row.
    """
    classes = 2 if rows % 2 == 0 and columns % 2 == 0 else 1
    step = np.empty(4)
    for chain in range(first, last):
        beta = min(betas[chain], LARGEST_BETA)
        for m in range(4):
            step[m] = np.exp(beta * m) * np.expm1(beta)
        s0, s1 = generators[chain]
        s = states[chain]
        for _ in range(n_sweeps):
            for parity in range(classes):
                for row in range(rows):
                    here = row * columns
                    above = (row - 1 if row > 0 else rows - 1) * columns
                    below = (row + 1 if row < rows - 1 else 0) * columns
                    for column in range((row + parity) % classes, columns, classes):
                        a = s[above + column]
                        b = s[below + column]
                        c = s[here + (column - 1 if column > 0 else columns - 1)]
                        d = s[here + (column + 1 if column < columns - 1 else 0)]
                        upto_a = step[0]
                        upto_b = upto_a + step[int(b == a)]
                        upto_c = upto_b + step[int(c == a) + int(c == b)]
                        upto_d = upto_c + step[int(d == a) + int(d == b) + int(d == c)]

                        word = s0 + s1
                        s1 ^= s0
                        s0 = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
                        s1 = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))

                        u = np.int64(word >> np.uint64(11)) * TO_UNIT * (n_colors + upto_d)
                        # Selections need no branch, which a random number would make unpredictable.
                        drawn = b if u >= upto_a else a
                        drawn = c if u >= upto_b else drawn
                        drawn = d if u >= upto_c else drawn
                        s[here + column] = min(int(u - upto_d), n_colors - 1) if u >= upto_d else drawn
        generators[chain, 0] = s0
        generators[chain, 1] = s1


@cached_njit()
def lattice_scores(states: Array, rows: int, columns: int) -> Array:
    """Counts the bonds between equal colors, (n_chains,), in states (n_chains, rows * columns)."""
    scores = np.empty(len(states))
    for chain in range(len(states)):
        s = states[chain]
        equal = 0
        for row in range(rows):
            here = row * columns
            below = (row + 1 if row < rows - 1 else 0) * columns
            for column in range(columns):
                color = s[here + column]
                equal += int(s[below + column] == color)
                equal += int(s[here + (column + 1 if column < columns - 1 else 0)] == color)
        scores[chain] = equal
    return scores
