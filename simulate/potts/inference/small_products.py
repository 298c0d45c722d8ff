"""Products of small matrices with long rows, compiled: in blocks of a few rows, whose numbers stay in the registers.

A library of linear algebra first copies its factors into its own order, which takes as long as such a product itself.
Numbers of rows and columns of the matrices are multiples of four: rows of zeros, which fill them up, take less time
than loops over what blocks of four leave over.
"""

from typing import Any

from simulate.core.kernels import cached_njit

BLOCK_ROWS = 4


@cached_njit(error_model="numpy", fastmath={"contract"})
def set_product(M: Any, x: Any, start: Any, out: Any, width: int) -> None:
    """Set the first `width` numbers of the first n rows of `out` to start + M x, with M (n, m) and the rows of x.

    `start` has as many rows as M, or one for all; `x` and `out` may have more rows than belong to M.
    """
    n, m = M.shape
    for a in range(0, n, 4):
        o0, o1, o2, o3 = out[a], out[a + 1], out[a + 2], out[a + 3]
        for row in range(a, a + 4):
            o, first = out[row], start[row % len(start)]
            for k in range(width):
                o[k] = first[k]
        for b in range(0, m, 4):
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


@cached_njit(fastmath={"reassoc", "contract"})  # sums along rows vectorize
def add_inner_products(x: Any, y: Any, out: Any, width: int) -> None:
    """Add to out[a, b] the inner products of the first `width` numbers of the rows x[a] and y[b]."""
    n, m = out.shape
    zero = x.dtype.type(0)
    for b in range(0, m, 4):
        for a in range(0, n, 2):
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            for k in range(width):
                p, q, r, s, t, u = y[b, k], y[b + 1, k], y[b + 2, k], y[b + 3, k], x[a, k], x[a + 1, k]
                s00, s01, s02, s03 = s00 + t * p, s01 + t * q, s02 + t * r, s03 + t * s
                s10, s11, s12, s13 = s10 + u * p, s11 + u * q, s12 + u * r, s13 + u * s
            for c, s in enumerate((s00, s01, s02, s03)):
                out[a, b + c] += s
            for c, s in enumerate((s10, s11, s12, s13)):
                out[a + 1, b + c] += s


def in_blocks(number: int) -> int:
    """Return the least multiple of four that is not below a number of rows."""
    return -(-number // BLOCK_ROWS) * BLOCK_ROWS
