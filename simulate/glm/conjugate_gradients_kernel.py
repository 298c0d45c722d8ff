"""The compiled kernel of truncated Newton steps: conjugate gradients, each of which reads the inputs once.

A product with the matrix of Newton's equations takes the inputs from either side. Here both happen while four rows of
them are in the cache, and nothing is called in between.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core import Array

Numbers = NDArray[Any]  # in single precision


@cached_njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def conjugate_gradients(
    inputs: Numbers,
    curvature: Numbers,
    diagonal: Array,
    factor: Numbers,
    r: Array,
    step: Array,
    enough: float,
    most: int,
) -> tuple[int, bool]:
    """Solve (diag(diagonal) + inputs' diag(curvature) inputs) x = r, adding x to `step` and leaving in r what is left.

    `inputs` is (n, q) in single precision, as `curvature` (n,); `factor` is the upper triangular one, F'F, of a
    preconditioner, (q, q), or empty. It ends where |r| is at most `enough`, where the matrix is not positive, or after
    `most` products. Returns the number of products, and whether it has ended before this number told it to.
    """
    n, p = inputs.shape
    q, z, image = np.empty(p), np.empty(p), np.empty(p)
    single, back = np.empty(p, np.float32), np.empty(p, np.float32)
    zero = np.float32(0.0)
    before = 1.0
    bent, m = np.empty(n, np.int64), 0  # rows with a curvature, which alone are read
    for i in range(n):
        if curvature[i] != zero:
            bent[m] = i
            m += 1
    for taken in range(most):
        for j in range(p):
            z[j] = r[j]
        if len(factor):
            for j in range(p):
                single[j] = r[j]
            for j in range(p):
                single[j] /= factor[j, j]
                share = single[j]
                for k in range(j + 1, p):
                    single[k] -= share * factor[j, k]
            for j in range(p - 1, -1, -1):
                total = single[j]
                for k in range(j + 1, p):
                    total -= factor[j, k] * single[k]
                single[j] = total / factor[j, j]
            for j in range(p):
                z[j] = single[j]
        rz = 0.0
        for j in range(p):
            rz += r[j] * z[j]
        turn = rz / before if taken else 0.0
        before = rz
        for j in range(p):
            q[j] = z[j] + turn * q[j] if taken else z[j]
            single[j] = q[j]
            back[j] = zero
        for s in range(0, m - 3, 4):
            i0, i1, i2, i3 = bent[s], bent[s + 1], bent[s + 2], bent[s + 3]
            row0, row1, row2, row3 = inputs[i0], inputs[i1], inputs[i2], inputs[i3]
            h0, h1, h2, h3 = zero, zero, zero, zero
            for j in range(p):
                x = single[j]
                h0 += row0[j] * x
                h1 += row1[j] * x
                h2 += row2[j] * x
                h3 += row3[j] * x
            h0 *= curvature[i0]
            h1 *= curvature[i1]
            h2 *= curvature[i2]
            h3 *= curvature[i3]
            for j in range(p):
                back[j] += h0 * row0[j] + h1 * row1[j] + (h2 * row2[j] + h3 * row3[j])
        for s in range(m - m % 4, m):
            i = bent[s]
            row = inputs[i]
            h = zero
            for j in range(p):
                h += row[j] * single[j]
            h *= curvature[i]
            for j in range(p):
                back[j] += h * row[j]
        bend = 0.0
        for j in range(p):
            image[j] = diagonal[j] * q[j] + back[j]
            bend += q[j] * image[j]
        if not bend > 0:
            return taken + 1, True
        length, left = rz / bend, 0.0
        for j in range(p):
            step[j] += length * q[j]
            r[j] -= length * image[j]
            left += r[j] * r[j]
        if not left > enough * enough:
            return taken + 1, True
    return most, False
