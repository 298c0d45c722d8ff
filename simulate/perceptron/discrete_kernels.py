"""Compiled loops over all weight vectors of a small perceptron, and the Walsh transform of a set of them.

A configuration has the number sum_i k_i L^i, where k_i is the position of weight i in the alphabet of L levels. The
weights are cut into three parts: the first ones (low), the next ones (rows), and the others, which are the same for a
whole block of rows. The field of a pattern is the sum of what the parts give. A row stores a pattern together with the
low configurations whose field is above what its own field leaves: for each pattern these are sorted once, and the sets
of those above each place in this order are written as words of 64 bits. To each row, one search in the order and a few
operations on words then take the place of hundreds of comparisons.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

Integers = NDArray[np.integer[Any]]
Words = NDArray[np.uint64]

CACHED_ENTRIES = 4096  # entries of the Walsh transform that stay in the nearest cache
SMALL_TRANSFORM_ENTRIES = 64  # entries of the transform that are known for each word
# Most configurations of the first weights, whose sets for one pattern then stay in a cache.
MAX_LOW_CONFIGURATIONS = 512
MAX_BLOCK_ROWS = 4096  # most rows of one block
ZERO, ONE, WORD_BITS = np.uint64(0), np.uint64(1), 64
# Masks and shifts with which the ones of a word are counted.
PAIRS, FOURS, BYTES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
SUM, TWO, FOUR, LAST = np.uint64(0x0101010101010101), np.uint64(2), np.uint64(4), np.uint64(56)


@cached_njit()
def _ones(word: Any) -> Any:
    """Count the ones of a word: neighboring sums of 1, 2 and 4 bits, then all bytes by a multiplication."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    return (((word + (word >> FOUR)) & BYTES) * SUM) >> LAST


@cached_njit()
def _fields(pattern: Array, levels: Array, first: int, stop: int, fields: Array) -> None:
    """Write the fields of the weights first, ..., stop - 1 in all their configurations."""
    fields[0], filled = 0.0, 1
    for i in range(first, stop):
        # From the highest level down, so that the part that all are made from is overwritten last.
        for level in range(len(levels) - 1, -1, -1):
            step = levels[level] * pattern[i]
            for j in range(filled):
                fields[level * filled + j] = fields[j] + step
        filled *= len(levels)


@cached_njit()
def _ascending(
    pattern: Array, levels: Array, n_low: int, fields: Array, codes: Integers, old: Array, old_codes: Integers
) -> None:
    """Write the fields of the first `n_low` weights in ascending order, and the configurations that they belong to.

    Each weight adds its levels to the list that is there: the shifted lists are in order, and are merged from the back.
    """
    fields[0], codes[0], filled = 0.0, 0, 1
    for i in range(n_low):
        for j in range(filled):
            old[j], old_codes[j] = fields[j], codes[j]
            fields[j] += levels[0] * pattern[i]
        size = filled
        for level in range(1, len(levels)):
            step = levels[level] * pattern[i]
            a, b, place = size - 1, filled - 1, size + filled - 1
            while a >= 0 and b >= 0:  # both numbers are read and one is chosen: no branch is mispredicted
                one, other = fields[a], old[b] + step
                first = one > other
                fields[place] = max(one, other)
                codes[place] = codes[a] if first else old_codes[b] + level * filled
                a -= first
                b -= not first
                place -= 1
            for j in range(b + 1):
                fields[j], codes[j] = old[j] + step, old_codes[j] + level * filled
            size += filled
        filled = size


@cached_njit()
def _sets_above(codes: Integers, sets: Words) -> None:
    """Write into sets[r] the configurations codes[r], codes[r + 1], ..., one bit for each."""
    n, n_words = len(codes), sets.shape[1]
    for word in range(n_words):
        sets[n, word] = ZERO
    for r in range(n - 1, -1, -1):
        for word in range(n_words):
            sets[r, word] = sets[r + 1, word]
        sets[r, codes[r] // WORD_BITS] |= ONE << np.uint64(codes[r] % WORD_BITS)


@cached_njit()
def _first_above(ascending: Array, values: Array, places: Integers) -> None:
    """Write the place of the first number above each value, which is the length where there is none.

    All values are searched for side by side: halving by halving, there is then no branch that could be mispredicted.
    """
    size = len(ascending)
    for k in range(len(values)):
        places[k] = 0
    while size > 1:
        half = size // 2
        for k in range(len(values)):
            places[k] += half if ascending[places[k] + half - 1] <= values[k] else 0
        size -= half
    for k in range(len(values)):
        places[k] += 1 if ascending[places[k]] <= values[k] else 0


@cached_njit()
def _filter(
    patterns: Array,
    levels: Array,
    threshold: float,
    parts: tuple[int, int],
    high: int,
    alive: Words,
    rows: Integers,
    counts: Integers,
) -> int:
    """Leave in `rows` the rows of one block that store all patterns, with their sets in `alive`; return how many.

    `parts` are the numbers of weights in the first part and in the first two parts. Adds to `counts` how many
    configurations of the block store the patterns so far, after each of them.
    """
    n_levels, (n_low, n_inner) = len(levels), parts
    n, left = n_levels**n_low, len(alive)
    fields, codes, old, old_codes = np.empty(n), np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
    row_fields, values, places = np.empty(left), np.empty(left), np.empty(left, np.int64)
    sets = np.empty((n + 1, alive.shape[1]), np.uint64)
    for row in range(left):
        rows[row] = row
        # Bits behind the last configuration vanish with the first pattern, whose sets do not have them.
        alive[row] = ~ZERO
    for mu in range(len(patterns)):
        pattern = patterns[mu]
        needed, rest = threshold, high
        for i in range(n_inner, patterns.shape[1]):
            needed -= levels[rest % n_levels] * pattern[i]
            rest //= n_levels
        _fields(pattern, levels, n_low, n_inner, row_fields)
        _ascending(pattern, levels, n_low, fields, codes, old, old_codes)
        _sets_above(codes, sets)
        for k in range(left):
            values[k] = needed - row_fields[rows[k]]
        _first_above(fields, values[:left], places)
        kept, total = 0, ZERO
        for k in range(left):
            row = rows[k]
            mine, above, found = alive[row], sets[places[k]], ZERO
            for word in range(len(mine)):
                mine[word] &= above[word]
                found += _ones(mine[word])
            # The row stays if anything is left of it; this is written without a branch, and the order is kept.
            rows[kept] = row
            kept += int(found > ZERO)
            total += found
        left = kept
        if left == 0:
            break
        counts[mu + 1] += np.int64(total)
    return int(left)


@cached_njit()
def _parts(n_levels: int, n_weights: int) -> tuple[int, int]:
    """Return how many weights are in the first part, and how many in the first two."""
    n_low, low, n_inner, rows = 0, 1, 0, 1
    # The first part has a word at least and, as far as there is room, half of all weights.
    while n_low < n_weights and low * n_levels <= MAX_LOW_CONFIGURATIONS and (low < WORD_BITS or 2 * n_low < n_weights):
        n_low, low = n_low + 1, low * n_levels
    n_inner = n_low
    while n_inner < n_weights and rows * n_levels <= MAX_BLOCK_ROWS:
        n_inner, rows = n_inner + 1, rows * n_levels
    return n_low, n_inner


@cached_njit()
def count_after_each(patterns: Array, levels: Array, threshold: float) -> NDArray[np.int64]:
    """Count the configurations with all fields above `threshold`, after each of the patterns (P, N), (P + 1,)."""
    n_levels, n_weights = len(levels), patterns.shape[1]
    n_low, n_inner = _parts(n_levels, n_weights)
    alive = np.empty((n_levels ** (n_inner - n_low), (n_levels**n_low + WORD_BITS - 1) // WORD_BITS), np.uint64)
    rows = np.empty(len(alive), np.int64)
    counts = np.zeros(len(patterns) + 1, np.int64)
    counts[0] = n_levels**n_weights
    for high in range(n_levels ** (n_weights - n_inner)):
        _filter(patterns, levels, threshold, (n_low, n_inner), high, alive, rows, counts)
    return counts


@cached_njit()
def find_solutions(patterns: Array, levels: Array, threshold: float, found: Integers) -> None:
    """Write the numbers of all configurations with fields above `threshold` into `found`, in ascending order."""
    n_levels, n_weights = len(levels), patterns.shape[1]
    n_low, n_inner = _parts(n_levels, n_weights)
    low = n_levels**n_low
    alive = np.empty((n_levels ** (n_inner - n_low), (low + WORD_BITS - 1) // WORD_BITS), np.uint64)
    rows = np.empty(len(alive), np.int64)
    counts = np.zeros(len(patterns) + 1, np.int64)
    filled = 0
    for high in range(n_levels ** (n_weights - n_inner)):
        left = _filter(patterns, levels, threshold, (n_low, n_inner), high, alive, rows, counts)
        for row in rows[:left]:
            for number in range(alive.shape[1]):
                word = alive[row, number]
                while word:
                    rest = word & (word - ONE)  # without its last one
                    bit = np.int64(_ones((word ^ rest) - ONE))
                    found[filled] = (high * len(alive) + row) * low + number * WORD_BITS + bit
                    filled += 1
                    word = rest


@cached_njit()
def _butterflies(values: Integers, start: int, stop: int, half: int) -> None:
    """Make one pass of the Walsh transform over values[start:stop]: sums and differences of entries `half` apart."""
    for block in range(start, stop, 2 * half):
        left, right = values[block : block + half], values[block + half : block + 2 * half]
        for j in range(half):
            a, b = left[j], right[j]
            left[j] = a + b
            right[j] = a - b


@cached_njit()
def walsh_power(codes: Integers, n_bits: int) -> NDArray[np.int64]:
    """Compute sums of squares of the Walsh transform of a set of words over all frequencies of 0, ..., n_bits ones."""
    size = 1 << n_bits
    values = np.zeros(size, np.int32)
    # Of the passes over the nearest neighbors the sum is known: each word adds one row of a small transform.
    half = min(size, SMALL_TRANSFORM_ENTRIES)
    signs = np.ones((half, half), np.int32)
    for k in range(half):
        for j in range(half):
            if _ones(np.uint64(k & j)) & ONE:
                signs[k, j] = -1
    for code in codes:
        start, row = code & ~(half - 1), code & (half - 1)
        block, own = values[start : start + half], signs[row]
        for j in range(half):
            block[j] += own[j]
    near = min(size, CACHED_ENTRIES)
    for start in range(0, size, near):  # block by block, while they are in the cache
        step = half
        while step < near:
            _butterflies(values, start, start + near, step)
            step *= 2
    step = near
    while step < size:
        _butterflies(values, 0, size, step)
        step *= 2
    squares = np.zeros((n_bits + 1, near), np.int64)  # by the ones of the number of a block, and the place in it
    for start in range(0, size, near):
        high = np.int64(_ones(np.uint64(start)))
        block, total = values[start : start + near], squares[high]
        for j in range(near):
            # By Parseval's theorem all squares add up to 2^N times the size of the set: 64 bits hold them up to N = 31.
            total[j] += np.int64(block[j]) * np.int64(block[j])
    power = np.zeros(n_bits + 1, np.int64)
    for ones in range(len(squares)):
        for j in range(near):
            if squares[ones, j]:
                power[ones + np.int64(_ones(np.uint64(j)))] += squares[ones, j]
    return power
