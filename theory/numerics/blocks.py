"""Long arrays in pieces: the one loop that bounds the memory of temporaries."""

import itertools
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Entry = TypeVar("Entry", bound=np.generic)


def in_blocks(points: NDArray[Entry], cost: int, budget: int) -> list[NDArray[Entry]]:
    """Split points (n, ...) along the first axis into blocks of about `budget` numbers at `cost` numbers a point."""
    count = min(max(1, -(-len(points) * cost // budget)), max(1, len(points)))
    edges = [len(points) * i // count for i in range(count + 1)]
    return [points[start:stop] for start, stop in itertools.pairwise(edges)]
