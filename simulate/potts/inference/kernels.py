"""Compiles sums over samples for a group of sites: logits, residuals, and their scatter into a gradient.

A table (L, C, W) has in row [j, b] what color b at site j adds to the W = (sites of the group) * C logits of the group,
filled up to a multiple of eight. Logits of many samples lie in slabs z (W/8, samples, 8): what is read and written
again and again, eight columns of the table and one slab, stays in the caches. The codes of several sites are those of
`codes`. For softmax some samples at a time are copied into rows (samples, W), where the colors of a site are neighbors;
all of it is one call, since threads that come back to Python after each block would wait for each other.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.potts.inference.exponentials import exponential
from simulate.potts.kernels.rows_of_eight import add_eight, spread_eight, sum_eight

Numbers = NDArray[Any]

BLOCK_SAMPLES = 64  # samples whose softmax is taken at a time, so that their rows, 38 kB, stay in the nearest caches


@cached_njit()
def add_tables(codes: Numbers, n_each: int, table: Numbers, z: Numbers) -> None:
    """Add to z the rows of `table` for the colors of all sites; `codes` (blocks, B) name those of `n_each` sites."""
    n_samples, n_codes = codes.shape[1], table.shape[1] ** n_each
    sums = np.zeros((4, n_codes, 8), table.dtype)
    width = np.uint64(8 * n_codes)
    for slab in range(len(z)):
        for p in range(0, len(codes), 4):
            for q in range(4):
                _write_out(table, (p + q) * n_each, n_each, slab, sums[q])
            for m in range(n_samples):
                first = np.uint64(8) * np.uint64(codes[p, m])
                second = width + np.uint64(8) * np.uint64(codes[p + 1, m])
                third = width + width + np.uint64(8) * np.uint64(codes[p + 2, m])
                fourth = width + width + width + np.uint64(8) * np.uint64(codes[p + 3, m])
                add_eight(z, np.uint64(8 * (slab * n_samples + m)), sums, first, second, third, fourth, None)


@cached_njit()
def scatter(codes: Numbers, n_each: int, z: Numbers, gradient: Numbers) -> None:
    """Add z[:, m] to gradient[j, color of j in sample m], for every site j; the transpose of `add_tables`."""
    n_samples, n_codes = codes.shape[1], gradient.shape[1] ** n_each
    sums, rest = np.empty((2, n_codes, 8), z.dtype), np.empty((n_codes, 8), z.dtype)
    width = np.uint64(8 * n_codes)
    for slab in range(len(z)):
        for p in range(0, len(codes), 2):
            sums[:] = 0
            for m in range(n_samples):
                place, first = np.uint64(8 * (slab * n_samples + m)), np.uint64(8) * np.uint64(codes[p, m])
                second = width + np.uint64(8) * np.uint64(codes[p + 1, m])
                spread_eight(sums, first, second, z, place)
            for q in range(2):
                _add_margins(sums[q], (p + q) * n_each, n_each, slab, gradient, rest)


@cached_njit()
def _write_out(table: Numbers, first: int, n_each: int, slab: int, sums: Numbers) -> None:
    """Set sums[code] (codes, 8) to what the colors of the sites from `first` on add to a slab; sites may be missing."""
    n_sites, n_colors, n_columns = table.shape
    count = 1
    sums[0] = 0
    for j in range(first, min(first + n_each, n_sites)):
        # From behind, so that no sum is overwritten before it is read; sums[0] comes last.
        for code in range(count - 1, -1, -1):
            for b in range(n_colors - 1, -1, -1):
                color = np.uint64((j * n_colors + b) * n_columns + 8 * slab)
                place = np.uint64(8 * (code * n_colors + b))
                sum_eight(sums, place, sums, np.uint64(8 * code), table, color)
        count *= n_colors


@cached_njit()
def _add_margins(sums: Numbers, first: int, n_each: int, slab: int, gradient: Numbers, rest: Numbers) -> None:
    """Add sums[code] (codes, 8), which it changes, to the gradient by each site's color; sites may be missing."""
    n_sites, n_colors, n_columns = gradient.shape
    last = min(first + n_each, n_sites)
    count = n_colors ** max(last - first, 0)
    for j in range(last - 1, first - 1, -1):
        count //= n_colors
        # The last color runs fastest: the sums of one color are n_colors apart, those of other sites are neighbors.
        start = j * n_colors * n_columns + 8 * slab
        _add_rows(gradient, start, n_columns, n_colors, sums, 1, n_colors, count)
        if j > first:
            rest[:count] = 0
            _add_rows(rest, 0, 8, count, sums, n_colors, 1, n_colors)
            # A loop, since an array that is assigned to a slice has the message of another shape compiled with it.
            for code in range(count):
                for k in range(8):
                    sums[code, k] = rest[code, k]


@cached_njit()
def _add_rows(
    target: Numbers, start: int, step: int, n_rows: int, sums: Numbers, row_step: int, term_step: int, n_terms: int
) -> None:
    """Add sums[r row_step + t term_step], over all t < n_terms, to the eight numbers at start + r step, r < n_rows."""
    apart = np.uint64(8 * term_step)
    # Neighboring turns of the inner loops add to different places, of which none waits for the other.
    for t in range(0, n_terms - 3, 4):
        for r in range(n_rows):
            first = np.uint64(8 * (r * row_step + t * term_step))
            second, third, fourth = first + apart, first + apart + apart, first + apart + apart + apart
            add_eight(target, np.uint64(start + r * step), sums, first, second, third, fourth, None)
    for t in range(n_terms - n_terms % 4, n_terms):
        for r in range(n_rows):
            place = np.uint64(start + r * step)
            sum_eight(target, place, target, place, sums, np.uint64(8 * (r * row_step + t * term_step)))


@cached_njit()
def softmax_residuals(
    z: Numbers, fields: Numbers, own: Numbers, weights: Numbers, n_colors: int, sums: Numbers
) -> float:
    """Turn logits z, to which the `fields` (W,) are added, into w_m (P - one-hot), and return the loss of the samples.

    Of the samples `own` (sites of the group, samples) are the colors of the group. Added to the rows of `sums` (3, W)
    are the sums of what is left in z, and the squares and hits of `residuals`.
    """
    n_columns, n_samples, total = 8 * len(z), z.shape[1], 0.0
    rows = np.empty((BLOCK_SAMPLES, n_columns), z.dtype)
    parts = np.empty((2, n_columns), z.dtype)
    for start in range(0, n_samples, BLOCK_SAMPLES):
        row = rows[: min(BLOCK_SAMPLES, n_samples - start)]
        parts[:] = 0
        total += logits(z, start, fields, own, weights, n_colors, row)
        _exponentials(row.reshape(-1))
        total += residuals(start, own, weights, n_colors, row, parts[0], parts[1])
        put_back(row, z, start, sums[0])
        for k in range(n_columns):
            sums[1, k] += parts[0, k]
            sums[2, k] += parts[1, k]
    return total


@cached_njit(fastmath={"contract"})
def _exponentials(x: Numbers) -> None:
    for k in range(len(x)):
        x[k] = exponential(x[k])


@cached_njit()
def logits(
    z: Numbers, start: int, fields: Numbers, own: Numbers, weights: Numbers, n_colors: int, row: Numbers
) -> float:
    """Fill rows (B, W) with logits of the samples from `start` on, less the maximum of each site.

    Returns -sum_m w_m sum_i row[m, own color of i] of these samples; `own` (sites of the group, samples) are the colors
    of the group in all samples.
    """
    n_columns, n_samples, total = row.shape[1], z.shape[1], 0.0
    for m in range(len(row)):
        for slab in range(len(z)):
            place = np.uint64(8 * (slab * n_samples + start + m))
            sum_eight(row, np.uint64(m * n_columns + 8 * slab), z, place, fields, np.uint64(8 * slab))
    for m in range(len(row)):
        for i in range(len(own)):
            z_i = row[m, i * n_colors : (i + 1) * n_colors]
            # Four maxima side by side, of which none waits for the other.
            a = b = c = d = z_i[0]
            for k in range(0, n_colors - 3, 4):
                a, b, c, d = max(a, z_i[k]), max(b, z_i[k + 1]), max(c, z_i[k + 2]), max(d, z_i[k + 3])
            for k in range(n_colors - n_colors % 4, n_colors):
                a = max(a, z_i[k])
            top = max(max(a, b), max(c, d))
            for k in range(n_colors):
                z_i[k] -= top
            total -= weights[start + m] * z_i[own[i, start + m]]
    return total


@cached_njit()
def residuals(
    start: int, own: Numbers, weights: Numbers, n_colors: int, row: Numbers, squares: Numbers, hits: Numbers
) -> float:
    """Turn exp(logits) of samples from `start` on into w_m (P - one-hot); return sum_m w_m sum_i log(normalization).

    It adds w_m P^2 to `squares` (W,), and w_m P of the color that is there to `hits` (W,). The weights have the type
    of the rows, so that the loops over colors fill vector units.
    """
    total, one = 0.0, row.dtype.type(1)
    for m in range(len(row)):
        weight = weights[start + m]
        for i in range(len(own)):
            place = slice(i * n_colors, (i + 1) * n_colors)
            p, of_squares = row[m, place], squares[place]
            a = b = c = d = row.dtype.type(0)
            for k in range(0, n_colors - 3, 4):
                a, b, c, d = a + p[k], b + p[k + 1], c + p[k + 2], d + p[k + 3]
            for k in range(n_colors - n_colors % 4, n_colors):
                a += p[k]
            normalization = (a + b) + (c + d)
            total += weight * math.log(normalization)
            inverse = one / normalization
            for k in range(n_colors):
                P = p[k] * inverse
                p[k] = weight * P
                of_squares[k] += p[k] * P
            observed = own[i, start + m]
            hits[i * n_colors + observed] += p[observed]
            p[observed] -= weight
    return total


@cached_njit()
def put_back(row: Numbers, z: Numbers, start: int, total: Numbers) -> None:
    """Copy rows (B, W) into the samples of z from `start` on, and add them to `total` (W,) in double precision."""
    n_columns, n_samples, nothing = row.shape[1], z.shape[1], np.zeros(8, z.dtype)
    for m in range(len(row)):
        for slab in range(len(z)):
            place = np.uint64(8 * (slab * n_samples + start + m))
            sum_eight(z, place, row, np.uint64(m * n_columns + 8 * slab), nothing, np.uint64(0))
        for k in range(n_columns):
            total[k] += row[m, k]
