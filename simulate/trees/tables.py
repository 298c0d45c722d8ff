"""Hash tables of counts that grow as keys come in."""

import numpy as np
from numpy.typing import NDArray

from simulate.trees.kernels import FREE_PLACE, count_keys, insert_keys, look_up

Integers = NDArray[np.int64]


class KeyCounts:
    """Counts how often each integer key >= 0 was added; the memory grows with the number of different keys only."""

    def __init__(self, bits: int = 12) -> None:
        self._bits, self._used = bits, 0
        self._keys = np.full(2**bits, FREE_PLACE)
        self._counts = np.zeros(2**bits, dtype=np.int64)

    def add(self, found: Integers) -> None:
        """Count all entries of `found`."""
        while True:
            used = count_keys(found, self._keys, self._counts, 64 - self._bits, self._used)
            if used >= 0:
                self._used = used
                return
            found = found[-1 - used :]  # those before are counted already
            self._grow()

    def sorted(self) -> tuple[Integers, Integers]:
        """Return all keys in increasing order, and their counts."""
        there = self._keys != FREE_PLACE
        keys, counts = self._keys[there], self._counts[there]
        order = np.argsort(keys)
        return keys[order], counts[order]

    def _grow(self) -> None:
        keys, counts = self.sorted()
        self._bits += 2
        self._keys = np.full(2**self._bits, FREE_PLACE)
        self._counts = np.zeros(2**self._bits, dtype=np.int64)
        insert_keys(keys, counts, self._keys, self._counts, 64 - self._bits)
        self._used = len(keys)


class KeyTable:
    """Looks up the value of each of the different `keys` >= 0, which is -1 for any other key."""

    def __init__(self, keys: Integers, values: Integers) -> None:
        bits = max(4, int(2 * len(keys)).bit_length())
        self._shift = 64 - bits
        self._keys = np.full(2**bits, FREE_PLACE)
        self._values = np.zeros(2**bits, dtype=np.int64)
        insert_keys(keys, values, self._keys, self._values, self._shift)

    def __call__(self, found: Integers) -> Integers:
        """Return the values of the keys `found`."""
        out = np.empty(len(found), dtype=np.int64)
        look_up(found, self._keys, self._values, self._shift, out)
        return out
