"""Compiles the passes over long vectors in which a penalty is added and limited-memory BFGS makes its steps.

Steps and changes are rows of arrays (pairs, n) in single precision. The two passes that read all of them, for the
products and for the move, work on the numbers from `start` to `stop`, so that threads can share the pieces of vectors,
and read them in blocks that stay in the first cache. Products are summed within a block in the precision of the
vectors, and over blocks in double precision.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Numbers = NDArray[Any]

HISTORY_PAIRS = 4  # pairs of steps and changes, which the loops below name one by one
BLOCK_NUMBERS = 512  # of ten vectors, which the passes read: blocks of this length fill 20 kB of the first cache

# Sums of products may be reordered, so that they fill vector units. None of these kernels relies on the order of sums.
_compiled = cached_njit(fastmath={"contract", "reassoc"})


@_compiled
def _dot(a: Numbers, b: Numbers) -> Any:
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@_compiled
def add_products(
    start: int, stop: int, g: Numbers, steps: Numbers, changes: Numbers, newest: int, scale: Numbers, found: Numbers
) -> None:
    """Add to `found` (rows, 8), in row j, the products that the two-loop recursion needs of step s_j and change y_j.

    In columns 0 to 3 they are y_j D y_k with the change y_k of every row k, where D is `scale`; then come y_j D g,
    s_j g, and s_j y_n and s_n y_j with the newest pair n.
    """
    number = g.dtype.type
    scaled = np.empty(BLOCK_NUMBERS, g.dtype)
    for first in range(start, stop, BLOCK_NUMBERS):
        last = min(first + BLOCK_NUMBERS, stop)
        gradient, D, z = g[first:last], scale[first - start : last - start], scaled[: last - first]
        y0, y1, y2, y3 = changes[0, first:last], changes[1, first:last], changes[2, first:last], changes[3, first:last]
        newest_change, newest_step = changes[newest, first:last], steps[newest, first:last]
        for j in range(len(found)):
            change, step = changes[j, first:last], steps[j, first:last]
            a = b = c = d = e = number(0)
            for k in range(last - first):
                z[k] = change[k] * D[k]
            for k in range(last - first):
                a += z[k] * y0[k]
                b += z[k] * y1[k]
                c += z[k] * y2[k]
                d += z[k] * y3[k]
                e += z[k] * gradient[k]
            found[j, 0] += a
            found[j, 1] += b
            found[j, 2] += c
            found[j, 3] += d
            found[j, 4] += e
            a = b = c = number(0)
            for k in range(last - first):
                a += step[k] * gradient[k]
                b += step[k] * newest_change[k]
                c += newest_step[k] * change[k]
            found[j, 5] += a
            found[j, 6] += b
            found[j, 7] += c


@_compiled
def move(
    start: int,
    stop: int,
    x: Numbers,
    g: Numbers,
    scale: Numbers,
    factor: float,
    steps: Numbers,
    changes: Numbers,
    by_steps: Numbers,
    by_changes: Numbers,
    direction: Numbers,
    kept: Numbers,
) -> float:
    """Set direction = -factor D (g - by_changes y) + by_steps s, add it to x, copy g to `kept`, and return the slope.

    `direction` and `kept` may be rows of steps s and changes y, and `kept` may be g.
    """
    number, total = g.dtype.type, 0.0
    made = np.empty(BLOCK_NUMBERS, g.dtype)
    minus = number(-factor)
    a0, a1, a2, a3 = by_changes[0], by_changes[1], by_changes[2], by_changes[3]
    b0, b1, b2, b3 = by_steps[0], by_steps[1], by_steps[2], by_steps[3]
    for first in range(start, stop, BLOCK_NUMBERS):
        last = min(first + BLOCK_NUMBERS, stop)
        gradient, D, d = g[first:last], scale[first - start : last - start], made[: last - first]
        y0, y1, y2, y3 = changes[0, first:last], changes[1, first:last], changes[2, first:last], changes[3, first:last]
        for k in range(last - first):
            d[k] = gradient[k] - (a0 * y0[k] + a1 * y1[k]) - (a2 * y2[k] + a3 * y3[k])
        s0, s1, s2, s3 = steps[0, first:last], steps[1, first:last], steps[2, first:last], steps[3, first:last]
        for k in range(last - first):
            d[k] = minus * D[k] * d[k] + (b0 * s0[k] + b1 * s1[k]) + (b2 * s2[k] + b3 * s3[k])
        total += _dot(gradient, d)
        copy, step, point = kept[first:last], direction[first:last], x[first:last]
        for k in range(last - first):
            copy[k] = gradient[k]
        for k in range(last - first):
            step[k] = d[k]
        for k in range(last - first):
            point[k] += d[k]
    return total


@_compiled
def add_comparison(before: Numbers, after: Numbers, direction: Numbers, found: Numbers) -> None:
    """Add to `found` (5,) the products after d, after^2, d y, d^2 and y^2, where y = after - before are gradients."""
    for first in range(0, len(after), BLOCK_NUMBERS):
        last = first + BLOCK_NUMBERS
        g, d, old = after[first:last], direction[first:last], before[first:last]
        a_d = a_a = d_y = d_d = y_y = after.dtype.type(0)
        for k in range(len(g)):
            change = g[k] - old[k]
            a_d += g[k] * d[k]
            a_a += g[k] * g[k]
            d_y += d[k] * change
            d_d += d[k] * d[k]
            y_y += change * change
        found[0] += a_d
        found[1] += a_a
        found[2] += d_y
        found[3] += d_d
        found[4] += y_y


@_compiled
def add_penalty(x: Numbers, l2: float, gradient: Numbers) -> float:
    """Add 2 l2 x to the gradient, and return the sum of squares of x."""
    factor, total = x.dtype.type(2 * l2), 0.0
    for k in range(len(x)):
        gradient[k] += factor * x[k]
        total += float(x[k]) * x[k]
    return total
