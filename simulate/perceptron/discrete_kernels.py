"""Compiled loops over all weight vectors of a small perceptron, and the Walsh transform of a set of them.

A configuration has the number sum_i k_i L^i, where k_i is the position of weight i in the alphabet of L levels. Fields
are sums of two parts: those of the first weights are read from a table, those of the others are summed once for a whole
run through that table. A run keeps a list of the configurations that have stored all patterns so far: each pattern
shortens it to about a half, so that a configuration costs about two comparisons, however many patterns there are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.models.arrays import Array

Integers = NDArray[np.integer[Any]]

BLOCK = 4096  # entries of the Walsh transform that stay in the nearest cache


@cached_njit()
def _partial_fields(patterns: Array, levels: Array, n_low: int) -> Array:
    """Computes the fields of the first `n_low` weights in all their configurations, (P, L^n_low)."""
    n_levels = len(levels)
    table = np.zeros((len(patterns), n_levels**n_low))
    for mu in range(len(patterns)):
        filled = 1
        for i in range(n_low):
            # From the highest level down, so that the part that all are made from is overwritten last.
            for level in range(n_levels - 1, -1, -1):
                step = levels[level] * patterns[mu, i]
                for j in range(filled):
                    table[mu, level * filled + j] = table[mu, j] + step
            filled *= n_levels
    return table


@cached_njit()
def _filter(
    patterns: Array,
    levels: Array,
    threshold: float,
    table: Array,
    n_low: int,
    high: int,
    digits: Integers,
    alive: Integers,
    counts: Integers,
) -> int:
    """Leaves in `alive` the configurations of one run that store all patterns; returns how many."""
    n_weights = patterns.shape[1]
    for i in range(n_low, n_weights):
        digits[i] = high % len(levels)
        high //= len(levels)
    left = table.shape[1]
    for j in range(left):
        alive[j] = j
    for mu in range(len(patterns)):
        needed = threshold
        for i in range(n_low, n_weights):
            needed -= levels[digits[i]] * patterns[mu, i]
        kept = 0
        for j in range(left):
            # Every entry is written, and the next one overwrites it unless it counts: no branch is mispredicted.
            one = alive[j]
            alive[kept] = one
            kept += table[mu, one] > needed
        left = kept
        if left == 0:
            break
        counts[mu + 1] += left
    return int(left)


@cached_njit()
def count_after_each(patterns: Array, levels: Array, threshold: float, n_low: int) -> NDArray[np.int64]:
    """Counts the configurations with all fields above `threshold`, after each of the patterns (P, N), (P + 1,)."""
    n_weights = patterns.shape[1]
    table = _partial_fields(patterns, levels, n_low)
    digits = np.zeros(n_weights, np.int64)
    alive = np.empty(table.shape[1], np.int32)
    counts = np.zeros(len(patterns) + 1, np.int64)
    counts[0] = len(levels) ** n_weights
    for high in range(len(levels) ** (n_weights - n_low)):
        _filter(patterns, levels, threshold, table, n_low, high, digits, alive, counts)
    return counts


@cached_njit()
def find_solutions(patterns: Array, levels: Array, threshold: float, n_low: int, found: Integers) -> None:
    """Writes the numbers of all configurations with fields above `threshold` into `found`, in ascending order."""
    n_weights = patterns.shape[1]
    table = _partial_fields(patterns, levels, n_low)
    digits = np.zeros(n_weights, np.int64)
    alive = np.empty(table.shape[1], np.int32)
    counts = np.zeros(len(patterns) + 1, np.int64)
    filled = 0
    for high in range(len(levels) ** (n_weights - n_low)):
        left = _filter(patterns, levels, threshold, table, n_low, high, digits, alive, counts)
        for j in range(left):
            found[filled] = high * table.shape[1] + alive[j]
            filled += 1


@cached_njit()
def _butterflies(values: Integers, start: int, stop: int, half: int) -> None:
    """Makes one pass of the Walsh transform over values[start:stop]: sums and differences of entries `half` apart."""
    for block in range(start, stop, 2 * half):
        for j in range(block, block + half):
            a, b = values[j], values[j + half]
            values[j] = a + b
            values[j + half] = a - b


@cached_njit()
def walsh_power(codes: Integers, n_bits: int) -> NDArray[np.int64]:
    """Computes sums of squares of the Walsh transform of a set of words over all frequencies of 0, ..., n_bits ones."""
    size = 1 << n_bits
    values = np.zeros(size, np.int32)
    for code in codes:
        values[code] = 1
    near = min(size, BLOCK)
    for start in range(0, size, near):  # the passes over near neighbors, block by block while they are in the cache
        half = 1
        while half < near:
            _butterflies(values, start, start + near, half)
            half *= 2
    half = near
    while half < size:
        _butterflies(values, 0, size, half)
        half *= 2
    ones = np.zeros(BLOCK, np.int64)
    for k in range(1, BLOCK):
        ones[k] = ones[k >> 1] + (k & 1)
    power = np.zeros(n_bits + 1, np.int64)
    for start in range(0, size, near):
        high, rest = 0, start
        while rest:
            rest &= rest - 1
            high += 1
        for j in range(near):
            square = np.int64(values[start + j]) * np.int64(values[start + j])
            power[high + ones[j]] += square
    return power
