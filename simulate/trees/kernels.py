"""The compiled sieve that writes words, and hash tables that count what occurs in them.

A word of balanced parentheses is held as the binary number in which 1 opens and 0 closes: it begins with 1, so that
its length needs no mark. The word of a number below 10^14 fits into 64 bits with room to spare.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Array = NDArray[Any]
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number near 2^64 over the golden ratio: multiplied by it, bits spread
FREE_PLACE = np.int64(-1)  # an empty place of a hash table; what is stored is never negative


@cached_njit()
def write_codes(first: int, codes: Array, products: Array, primes: Array, small: Array) -> None:
    """Write the words of first, first + 1, ... into `codes` (n,) int64.

    `products` (n,) int64 is scratch, `primes` holds all primes up to the root of the last number, and `small` (48,)
    the words of 0 (unused), 1, 2, ..., which stand for exponents. Primes come in increasing order, so that every child
    is written behind those before it: multiples of p get a leaf, those of p^2 have it replaced by the tree of their
    exponent. Where the product of what was found is not yet the number, one larger prime is left.
    """
    n = len(codes)
    codes[:] = 0
    products[:] = 1
    for p in primes:
        square = p * p
        if square > first + n - 1:
            break
        for i in range((-first) % p, n, p):
            codes[i] = (codes[i] << 2) | 2
            products[i] *= p
        for i in range((-first) % square, n, square):
            rest = (first + i) // square
            exponent = 2
            products[i] *= p
            while rest % p == 0:
                rest //= p
                exponent += 1
                products[i] *= p
            child = small[exponent]
            width = 0
            while child >> width:
                width += 1
            codes[i] = (((codes[i] >> 2) << (width + 2)) | (1 << (width + 1))) | (child << 1)
    for i in range(n):
        if products[i] != first + i:
            codes[i] = (codes[i] << 2) | 2


@cached_njit()
def place_of(key: int, keys: Array, shift: int) -> Any:
    """Find the place of `key` in a table of 2^(64 - shift) places, or the empty place where it belongs."""
    mask = len(keys) - 1
    place = np.int64((np.uint64(key) * SPREAD) >> np.uint64(shift))
    while keys[place] != key and keys[place] != FREE_PLACE:
        place = (place + 1) & mask
    return place


@cached_njit()
def count_keys(found: Array, keys: Array, counts: Array, shift: int, used: int) -> int:
    """Count every entry of `found` in the table (keys, counts), and return how many of its places are used then.

    Before the table is more than half full it stops, and returns -1 - (number of entries that are counted).
    """
    most = len(keys) // 2
    for i in range(len(found)):
        place = place_of(found[i], keys, shift)
        if keys[place] == FREE_PLACE:
            if used >= most:
                return -1 - i
            keys[place] = found[i]
            used += 1
        counts[place] += 1
    return used


@cached_njit()
def insert_keys(new: Array, their_values: Array, keys: Array, values: Array, shift: int) -> None:
    """Put different keys with their values into a table that has places enough."""
    for i in range(len(new)):
        place = place_of(new[i], keys, shift)
        keys[place] = new[i]
        values[place] = their_values[i]


@cached_njit()
def look_up(found: Array, keys: Array, values: Array, shift: int, out: Array) -> None:
    """Write the value that the table has for every entry of `found` into `out`, and -1 where it has none."""
    for i in range(len(found)):
        place = place_of(found[i], keys, shift)
        out[i] = values[place] if keys[place] != FREE_PLACE else -1
