"""Long ranges in pieces: the one loop that bounds the memory of temporaries."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Entry = TypeVar("Entry", bound=np.generic)

BLOCK = 2**22  # numbers of an intermediate array: 32 MB, so that a large batch never needs much more memory than itself


def blocks(count: int, numbers_each: int, most: int | None = None) -> Iterator[slice]:
    """Yield slices that cover range(count) in order, for items that need `numbers_each` numbers of memory each.

    A slice has as many items as fit into `most` numbers (2^22 where None), and at least one.
    """
    size = max(1, (BLOCK if most is None else most) // numbers_each)
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def in_blocks(points: NDArray[Entry], numbers_each: int, most: int) -> list[NDArray[Entry]]:
    """Split points (n, ...) along their first axis by `blocks`; no points at all are one empty block."""
    return [points[block] for block in blocks(len(points), numbers_each, most)] or [points]
