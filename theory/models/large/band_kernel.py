"""The diagonal of the inverse of a banded matrix, with two derivatives, in one pass down and one up.

A = a + c P is factored as L D L^T row by row. Entries Z of A^-1 inside the band then follow from the last row upwards
by Takahashi's recursion, Z_ij = [i = j]/D_i - sum_{k > i} L_ki Z_kj, because A^-1 L = L^-T D^-1 is upper triangular.
The same two passes carry the derivatives of all numbers with respect to log c and a, along which dA = c P and dA = 1.
That gives the diagonals of A^-1 c P A^-1 and A^-2, which involve all entries of A^-1, also those outside the band.
"""

import numpy as np

from theory.core.arrays import Array
from theory.core.kernels import cached_njit


@cached_njit(error_model="numpy")
def banded_inverse(band: Array, a: float, c: float) -> tuple[Array, Array, Array, Array]:
    """Compute the diagonals of A^-1, c P A^-1, A^-1 c P A^-1 and A^-2, each (d,), for A = a + c P.

    `band` (d, b + 1) holds P[i, i - m] at [i, m], and zeros where i < m. A must be positive definite.
    """
    d, width = band.shape
    b = width - 1
    # The factor and its two derivatives: D_i at [i, 0], L[i, i - m] at [i, m].
    factor, along, shift = np.zeros((d, width)), np.zeros((d, width)), np.zeros((d, width))
    row, row_along, row_shift = np.zeros(width), np.zeros(width), np.zeros(width)  # L_ij D_j of one row, at i - j
    for i in range(d):
        reach = min(b, i)
        pivot = a + c * band[i, 0]
        pivot_along = c * band[i, 0]
        pivot_shift = 1.0
        for m in range(reach, 0, -1):
            j = i - m
            value = c * band[i, m]
            value_along = value
            value_shift = 0.0
            for n in range(m + 1, min(reach, m + b) + 1):  # k = i - n, left of j
                other, other_along, other_shift = factor[j, n - m], along[j, n - m], shift[j, n - m]
                value -= row[n] * other
                value_along -= row_along[n] * other + row[n] * other_along
                value_shift -= row_shift[n] * other + row[n] * other_shift
            row[m], row_along[m], row_shift[m] = value, value_along, value_shift
            entry = value / factor[j, 0]
            entry_along = (value_along - entry * along[j, 0]) / factor[j, 0]
            entry_shift = (value_shift - entry * shift[j, 0]) / factor[j, 0]
            factor[i, m], along[i, m], shift[i, m] = entry, entry_along, entry_shift
            pivot -= value * entry
            pivot_along -= value_along * entry + value * entry_along
            pivot_shift -= value_shift * entry + value * entry_shift
        factor[i, 0], along[i, 0], shift[i, 0] = pivot, pivot_along, pivot_shift
    own, product = np.zeros(d), np.zeros(d)
    own_along, own_shift = np.zeros(d), np.zeros(d)
    # Entries of A^-1 and its derivatives among the b coordinates below i, each at its number modulo b + 1.
    Z, Z_along, Z_shift = np.zeros((width, width)), np.zeros((width, width)), np.zeros((width, width))
    for i in range(d - 1, -1, -1):
        reach, at = min(b, d - 1 - i), i % width
        diagonal = 1 / factor[i, 0]
        diagonal_along = -along[i, 0] * diagonal * diagonal
        diagonal_shift = -shift[i, 0] * diagonal * diagonal
        for m in range(1, reach + 1):
            to = (i + m) % width
            z, z_along, z_shift = 0.0, 0.0, 0.0
            for n in range(1, reach + 1):
                k, of = i + n, (i + n) % width
                z -= factor[k, n] * Z[of, to]
                z_along -= along[k, n] * Z[of, to] + factor[k, n] * Z_along[of, to]
                z_shift -= shift[k, n] * Z[of, to] + factor[k, n] * Z_shift[of, to]
            Z[at, to], Z_along[at, to], Z_shift[at, to] = z, z_along, z_shift
        for m in range(1, reach + 1):
            k, to = i + m, (i + m) % width
            z = Z[at, to]
            Z[to, at], Z_along[to, at], Z_shift[to, at] = z, Z_along[at, to], Z_shift[at, to]
            diagonal -= factor[k, m] * z
            diagonal_along -= along[k, m] * z + factor[k, m] * Z_along[at, to]
            diagonal_shift -= shift[k, m] * z + factor[k, m] * Z_shift[at, to]
            product[i] += c * band[k, m] * z
            product[k] += c * band[k, m] * z
        Z[at, at], Z_along[at, at], Z_shift[at, at] = diagonal, diagonal_along, diagonal_shift
        own[i], own_along[i], own_shift[i] = diagonal, -diagonal_along, -diagonal_shift
        product[i] += c * band[i, 0] * diagonal
    return own, product, own_along, own_shift
