"""Products of small matrices with long rows, compiled: in blocks of four by four, which stay in the registers.

A library of linear algebra first copies its factors into its own order, which takes as long as such a product itself.
The number of rows may be any: what four does not divide is done row by row.
"""

from typing import Any

from simulate.core.kernels import cached_njit


@cached_njit(fastmath={"contract"})
def set_product(M: Any, x: Any, start: Any, out: Any, width: int) -> None:
    """Set the first `width` numbers of the rows of `out` (n, K) to start + M x, with M (n, m) and x (m, K).

    `start` has as many rows as M, or one for all.
    """
    n, m = M.shape
    rest = m % 4  # rows of x that come first, one by one
    for a in range(n):
        o, first = out[a], start[a % len(start)]
        if rest:
            x0, m0 = x[0], M[a, 0]
            for k in range(width):
                o[k] = first[k] + m0 * x0[k]
        else:
            for k in range(width):
                o[k] = first[k]
        for b in range(1, rest):
            x0, m0 = x[b], M[a, b]
            for k in range(width):
                o[k] += m0 * x0[k]
    for a in range(0, n - 3, 4):
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
    for a in range(n - n % 4, n):
        o = out[a]
        for b in range(rest, m, 4):
            x0, x1, x2, x3 = x[b], x[b + 1], x[b + 2], x[b + 3]
            m00, m01, m02, m03 = M[a, b], M[a, b + 1], M[a, b + 2], M[a, b + 3]
            for k in range(width):
                o[k] += m00 * x0[k] + m01 * x1[k] + m02 * x2[k] + m03 * x3[k]


@cached_njit(fastmath={"reassoc", "contract"})  # sums along rows vectorize
def add_inner_products(x: Any, y: Any, out: Any, width: int) -> None:
    """Add to out[a, b] the inner products of the first `width` numbers of the rows x[a] and y[b]."""
    n, m = out.shape
    zero = x.dtype.type(0)
    for b in range(0, m - 3, 4):
        y0, y1, y2, y3 = y[b], y[b + 1], y[b + 2], y[b + 3]
        for a in range(0, n - 3, 4):
            x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = zero
            for k in range(width):
                p, q, r, s = y0[k], y1[k], y2[k], y3[k]
                s00, s01, s02, s03 = s00 + x0[k] * p, s01 + x0[k] * q, s02 + x0[k] * r, s03 + x0[k] * s
                s10, s11, s12, s13 = s10 + x1[k] * p, s11 + x1[k] * q, s12 + x1[k] * r, s13 + x1[k] * s
                s20, s21, s22, s23 = s20 + x2[k] * p, s21 + x2[k] * q, s22 + x2[k] * r, s23 + x2[k] * s
                s30, s31, s32, s33 = s30 + x3[k] * p, s31 + x3[k] * q, s32 + x3[k] * r, s33 + x3[k] * s
            _add_four(out[a], b, s00, s01, s02, s03)
            _add_four(out[a + 1], b, s10, s11, s12, s13)
            _add_four(out[a + 2], b, s20, s21, s22, s23)
            _add_four(out[a + 3], b, s30, s31, s32, s33)
        for a in range(n - n % 4, n):
            _add_four(out[a], b, *_four_products(x[a], y0, y1, y2, y3, width))
    for b in range(m - m % 4, m):
        for a in range(0, n - 3, 4):
            s00, s10, s20, s30 = _four_products(y[b], x[a], x[a + 1], x[a + 2], x[a + 3], width)
            out[a, b] += s00
            out[a + 1, b] += s10
            out[a + 2, b] += s20
            out[a + 3, b] += s30
        for a in range(n - n % 4, n):
            total = zero
            for k in range(width):
                total += x[a, k] * y[b, k]
            out[a, b] += total


@cached_njit()
def repeat_columns(source: Any, target: Any) -> None:
    """Fill each row of `target` with copies of that of `source`."""
    size = source.shape[1]
    for a in range(len(target)):
        for first in range(0, target.shape[1], size):
            for k in range(size):
                target[a, first + k] = source[a, k]


@cached_njit()
def _add_four(row: Any, b: int, s0: Any, s1: Any, s2: Any, s3: Any) -> None:
    row[b] += s0
    row[b + 1] += s1
    row[b + 2] += s2
    row[b + 3] += s3


@cached_njit(fastmath={"reassoc", "contract"})
def _four_products(x: Any, y0: Any, y1: Any, y2: Any, y3: Any, width: int) -> Any:
    zero = x.dtype.type(0)
    s0, s1, s2, s3 = zero, zero, zero, zero
    for k in range(width):
        s0, s1, s2, s3 = s0 + x[k] * y0[k], s1 + x[k] * y1[k], s2 + x[k] * y2[k], s3 + x[k] * y3[k]
    return s0, s1, s2, s3
