"""Products of small matrices with long rows, compiled: in blocks of a few rows, whose numbers stay in the registers.

A library of linear algebra first copies its factors into its own order, which takes as long as such a product itself.
The number of rows may be any: what the blocks leave over is done row by row, which takes longer than rows of zeros that
fill up a block.
"""

from typing import Any

from simulate.core.kernels import cached_njit

BLOCK_ROWS = 4


@cached_njit(error_model="numpy", fastmath={"contract"})
def set_product(M: Any, x: Any, start: Any, out: Any, width: int) -> None:
    """Set the first `width` numbers of the rows of `out` (n, K) to start + M x, with M (n, m) and x (m, K).

    `start` has as many rows as M, or one for all.
    """
    n, m = M.shape
    rest, whole = m % 4, n - n % 4  # the first `rest` rows of x come one by one, then four at a time
    for a in range(n):
        o, first = out[a], start[a % len(start)]
        for k in range(width):
            o[k] = first[k]
        for b in range(rest):
            factor = M[a, b]
            for k in range(width):
                o[k] += factor * x[b, k]
    for a in range(0, whole, 4):
        o0, o1, o2, o3 = out[a], out[a + 1], out[a + 2], out[a + 3]
        for b in range(rest, m, 4):
            x0, x1, x2, x3 = x[b], x[b + 1], x[b + 2], x[b + 3]
            m00, m01, m02, m03 = M[a, b], M[a, b + 1], M[a, b + 2], M[a, b + 3]
            m10, m11, m12, m13 = M[a + 1, b], M[a + 1, b + 1], M[a + 1, b + 2], M[a + 1, b + 3]
            m20, m21, m22, m23 = M[a + 2, b], M[a + 2, b + 1], M[a + 2, b + 2], M[a + 2, b + 3]
            m30, m31, m32, m33 = M[a + 3, b], M[a + 3, b + 1], M[a + 3, b + 2], M[a + 3, b + 3]
            for k in range(width):
                p, q, r, s = x0[k], x1[k], x2[k], x3[k]
                o0[k] += m00 * p + m01 * q + m02 * r + m03 * s
                o1[k] += m10 * p + m11 * q + m12 * r + m13 * s
                o2[k] += m20 * p + m21 * q + m22 * r + m23 * s
                o3[k] += m30 * p + m31 * q + m32 * r + m33 * s
    for a in range(whole, n):
        for b in range(rest, m, 4):
            m00, m01, m02, m03 = M[a, b], M[a, b + 1], M[a, b + 2], M[a, b + 3]
            for k in range(width):
                out[a, k] += m00 * x[b, k] + m01 * x[b + 1, k] + m02 * x[b + 2, k] + m03 * x[b + 3, k]


@cached_njit(fastmath={"reassoc", "contract"})  # sums along rows vectorize
def add_inner_products(x: Any, y: Any, out: Any, width: int) -> None:
    """Add to out[a, b] the inner products of the first `width` numbers of the rows x[a] and y[b]."""
    n, m = out.shape
    zero = x.dtype.type(0)
    for b in range(0, m - 3, 4):
        for a in range(0, n, 2):
            other = a + 1 if a + 1 < n else a  # of an odd number of rows the last is taken twice, and added once
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            for k in range(width):
                p, q, r, s, t, u = y[b, k], y[b + 1, k], y[b + 2, k], y[b + 3, k], x[a, k], x[other, k]
                s00, s01, s02, s03 = s00 + t * p, s01 + t * q, s02 + t * r, s03 + t * s
                s10, s11, s12, s13 = s10 + u * p, s11 + u * q, s12 + u * r, s13 + u * s
            for c, s in enumerate((s00, s01, s02, s03)):
                out[a, b + c] += s
            if other > a:
                for c, s in enumerate((s10, s11, s12, s13)):
                    out[other, b + c] += s
    for b in range(m - m % 4, m):
        for a in range(n):
            total = zero
            for k in range(width):
                total += x[a, k] * y[b, k]
            out[a, b] += total


def in_blocks(number: int) -> int:
    """Return the number of rows of the blocks that hold so many rows."""
    return -(-number // BLOCK_ROWS) * BLOCK_ROWS
