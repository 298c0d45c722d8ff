"""The compiled kernels of gradients near a base: products of inputs in single precision with what has changed since."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core import Array

Numbers = NDArray[Any]  # in single precision


@cached_njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def moved_fields(inputs: Numbers, move: Numbers, base: Array, h: Array) -> None:
    """Write into h (n,) the fields `base` plus inputs times the move of the coordinates, (n, q) times (q,)."""
    n, q = inputs.shape
    zero = np.float32(0.0)
    for i in range(0, n - 3, 4):
        row0, row1, row2, row3 = inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]
        h0, h1, h2, h3 = zero, zero, zero, zero
        for j in range(q):
            x = move[j]
            h0 += row0[j] * x
            h1 += row1[j] * x
            h2 += row2[j] * x
            h3 += row3[j] * x
        h[i] = base[i] + h0
        h[i + 1] = base[i + 1] + h1
        h[i + 2] = base[i + 2] + h2
        h[i + 3] = base[i + 3] + h3
    for i in range(n - n % 4, n):
        row0 = inputs[i]
        h0 = zero
        for j in range(q):
            h0 += row0[j] * move[j]
        h[i] = base[i] + h0


@cached_njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def add_changed_pulls(inputs: Numbers, pull: Array, base: Array, back: Array) -> None:
    """Add inputs'(pull - base) to `back`, (q,); sums of 512 rows are in single precision, those beyond in double."""
    n, q = inputs.shape
    part = np.empty(q, np.float32)
    for start in range(0, n, 512):
        end = min(n, start + 512)
        for j in range(q):
            part[j] = 0.0
        for i in range(start, end - 3, 4):
            row0, row1, row2, row3 = inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]
            g0, g1 = np.float32(pull[i] - base[i]), np.float32(pull[i + 1] - base[i + 1])
            g2, g3 = np.float32(pull[i + 2] - base[i + 2]), np.float32(pull[i + 3] - base[i + 3])
            for j in range(q):
                part[j] += g0 * row0[j] + g1 * row1[j] + (g2 * row2[j] + g3 * row3[j])
        for i in range(end - (end - start) % 4, end):
            row0, g0 = inputs[i], np.float32(pull[i] - base[i])
            for j in range(q):
                part[j] += g0 * row0[j]
        for j in range(q):
            back[j] += part[j]
