"""Runs the heat bath of the Potts ferromagnet on a periodic square lattice: compiled, chain by chain or many abreast.

A color's weight exp(beta n) depends on the number n of neighbors that have it. It is a sum of one share of every
color, exp(0), and, for each neighbor, of exp(beta (m + 1)) - exp(beta m), m counting earlier neighbors of its color.
So the draw is one among four neighbors and "any color", at a cost that does not grow with the number of colors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Array = NDArray[Any]

# At a larger beta exp(-beta) is far below the 2^-53 of a random number, and only overflow could change a draw.
MAX_BETA = 150.0
TO_UNIT = 2.0**-53
# Fewer chains abreast do not fill vector units, and the states of more do not fit into the cache.
MIN_ABREAST_CHAINS, BLOCK_CHAINS = 8, 64


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
    """Advance the chains `first` to `last` - 1 in place; `states` (n_chains, rows * columns) holds colors.

    `generators` (n_chains, 2) uint64 are states of xoroshiro128+, `betas` (n_chains,).
    """
    order, step = _order(rows, columns), np.empty(4)
    for chain in range(first, last):
        beta = min(betas[chain], MAX_BETA)
        for m in range(4):
            # The difference of two exponentials would lose its digits at a small beta.
            step[m] = np.exp(beta * m) * np.expm1(beta)
        s0, s1 = generators[chain]
        s = states[chain]
        for _ in range(n_sweeps):
            for at in order:
                a, b, c, d = s[at[1]], s[at[2]], s[at[3]], s[at[4]]
                upto_a = step[0]
                upto_b = upto_a + step[int(b == a)]
                upto_c = upto_b + step[int(c == a) + int(c == b)]
                upto_d = upto_c + step[int(d == a) + int(d == b) + int(d == c)]

                # xoroshiro128+, of which the upper 53 bits make a number: its lowest bits are the weak ones.
                word = s0 + s1
                s1 ^= s0
                s0 = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
                s1 = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))

                u = np.int64(word >> np.uint64(11)) * TO_UNIT * (n_colors + upto_d)
                # Selections need no branch, which a random number would make unpredictable.
                drawn = b if u >= upto_a else a
                drawn = c if u >= upto_b else drawn
                drawn = d if u >= upto_c else drawn
                # Rounding can bring u to the upper end of its range, hence the minimum.
                s[at[0]] = min(int(u - upto_d), n_colors - 1) if u >= upto_d else drawn
        generators[chain, 0] = s0
        generators[chain, 1] = s1


@cached_njit()
def lattice_block_sweeps(
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
    """Do what `lattice_sweeps` does, to the last bit, with the chains of a block abreast, up to five times as fast.

    Colors are floating-point numbers here, so that comparisons and what they select fill the same vector units.
    """
    order, n_sites = _order(rows, columns), rows * columns
    for start in range(first, last, BLOCK_CHAINS):
        size = min(BLOCK_CHAINS, last - start)
        # The colors of one site in all chains lie side by side, since the loops run over chains.
        s, step, drawn = np.empty((n_sites, size)), np.empty((4, size)), np.empty(size)
        words = np.empty((2, size), np.uint64)
        for k in range(size):
            beta = min(betas[start + k], MAX_BETA)
            for m in range(4):
                step[m, k] = np.exp(beta * m) * np.expm1(beta)
            words[0, k], words[1, k] = generators[start + k, 0], generators[start + k, 1]
            for i in range(n_sites):
                s[i, k] = states[start + k, i]
        for _ in range(n_sweeps):
            for at in order:
                _uniform(words[0], words[1], drawn)
                _draw(s[at[1]], s[at[2]], s[at[3]], s[at[4]], step, float(n_colors), drawn)
                target = s[at[0]]
                for k in range(size):
                    target[k] = drawn[k]
        for k in range(size):
            generators[start + k, 0], generators[start + k, 1] = words[0, k], words[1, k]
            for i in range(n_sites):
                states[start + k, i] = int(s[i, k])


def fastest_sweeps(n_chains: int) -> Callable[..., None]:
    """Return the one of the two kernels that advances so many chains faster."""
    return lattice_sweeps if n_chains < MIN_ABREAST_CHAINS else lattice_block_sweeps


@cached_njit()
def _order(rows: int, columns: int) -> Array:
    """Return the sites in the order of a sweep, each with its neighbors above, below, left and right, (n_sites, 5).

    Even sites come before odd ones, so that no site waits for the one before it. Where a width is odd, even sites do
    interact, and the scan goes row by row.
    """
    classes = 2 if rows % 2 == 0 and columns % 2 == 0 else 1
    order, place = np.empty((rows * columns, 5), np.int64), 0
    for parity in range(classes):
        for row in range(rows):
            above, here, below = (row - 1) % rows * columns, row * columns, (row + 1) % rows * columns
            for column in range((row + parity) % classes, columns, classes):
                left, right = (column - 1) % columns, (column + 1) % columns
                sites = (here + column, above + column, below + column, here + left, here + right)
                for k in range(5):
                    order[place, k] = sites[k]
                place += 1
    return order


@cached_njit()
def _uniform(first: Array, second: Array, u: Array) -> None:
    """Fill u with the next numbers in [0, 1) of xoroshiro128+, whose states are `first` and `second`."""
    for k in range(len(u)):
        s0, s1 = first[k], second[k]
        word = s0 + s1
        s1 ^= s0
        first[k] = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
        second[k] = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))
        u[k] = np.int64(word >> np.uint64(11)) * TO_UNIT


@cached_njit()
def _draw(a: Array, b: Array, c: Array, d: Array, step: Array, n_colors: float, u: Array) -> None:
    """Replace the uniform numbers u by the colors drawn beside neighbors of the colors a, b, c and d."""
    none, one, two, three = step[0], step[1], step[2], step[3]
    for k in range(len(u)):
        upto_a = none[k]
        upto_b = upto_a + (one[k] if b[k] == a[k] else none[k])
        equal = (1.0 if c[k] == a[k] else 0.0) + (1.0 if c[k] == b[k] else 0.0)
        share = one[k] if equal == 1.0 else none[k]
        upto_c = upto_b + (two[k] if equal == 2.0 else share)
        equal = (1.0 if d[k] == a[k] else 0.0) + (1.0 if d[k] == b[k] else 0.0) + (1.0 if d[k] == c[k] else 0.0)
        share = one[k] if equal == 1.0 else none[k]
        share = two[k] if equal == 2.0 else share
        upto_d = upto_c + (three[k] if equal == 3.0 else share)
        at = u[k] * (n_colors + upto_d)
        free = np.floor(at - upto_d)
        free = n_colors - 1.0 if free > n_colors - 1.0 else free
        color = b[k] if at >= upto_a else a[k]
        color = c[k] if at >= upto_b else color
        color = d[k] if at >= upto_c else color
        u[k] = free if at >= upto_d else color


@cached_njit()
def lattice_scores(states: Array, rows: int, columns: int) -> Array:
    """Count the bonds between equal colors, (n_chains,), in states (n_chains, rows * columns)."""
    scores = np.empty(len(states))
    for chain in range(len(states)):
        s = states[chain]
        # Every bond is counted from its upper or left end alone, and so once.
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
