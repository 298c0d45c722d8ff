"""Arrays that begin where a line of the cache does, for loops to whose time accesses across two lines matter."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

CACHE_LINE_BYTES = 64


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros of this shape, contiguous, of which the first begins a line of the cache."""
    itemsize = np.dtype(dtype).itemsize
    flat = np.zeros(prod(shape) + CACHE_LINE_BYTES // itemsize, dtype)
    start = -flat.ctypes.data % CACHE_LINE_BYTES // itemsize
    return flat[start : start + prod(shape)].reshape(shape)
