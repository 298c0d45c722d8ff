"""Compiles sums over samples for a group of sites: logits, residuals, and their scatter into a gradient.

A table (L, C, W) has in row [j, b] what color b at site j adds to the W = (sites of the group) * C logits of the group.
A gather or scatter of whole rows replaces products with one-hot matrices, and rows of many sites fill vector units.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Numbers = NDArray[Any]


@cached_njit()
def logits(columns: Numbers, own: Numbers, table: Numbers, fields: Numbers, weights: Numbers, z: Numbers) -> float:
    """Fill z (B, W) with logits less the maximum of each site; return -sum_m w_m sum_i z[m, own color of i].

    `columns` (L, B) are the colors of all sites, `own` (sites of the group, B) those of the group.
    """
    n_sites, n_samples = columns.shape
    n_colors = table.shape[1]
    for m in range(n_samples):
        for k in range(len(fields)):
            z[m, k] = fields[k]
    # Four sites in one pass read and write the logits a quarter as often, which is what takes the time.
    for j in range(0, n_sites - 3, 4):
        for m in range(n_samples):
            row = z[m]
            one, two = table[j, columns[j, m]], table[j + 1, columns[j + 1, m]]
            three, four = table[j + 2, columns[j + 2, m]], table[j + 3, columns[j + 3, m]]
            for k in range(len(fields)):
                row[k] += (one[k] + two[k]) + (three[k] + four[k])
    for j in range(n_sites - n_sites % 4, n_sites):
        for m in range(n_samples):
            row, one = z[m], table[j, columns[j, m]]
            for k in range(len(fields)):
                row[k] += one[k]
    total = 0.0
    for m in range(n_samples):
        for i in range(len(own)):
            first = i * n_colors
            top = z[m, first]
            for k in range(first, first + n_colors):
                top = max(top, z[m, k])
            for k in range(first, first + n_colors):
                z[m, k] -= top
            total -= weights[m] * z[m, first + own[i, m]]
    return total


@cached_njit()
def residuals(own: Numbers, weights: Numbers, n_colors: int, z: Numbers, squares: Numbers, hits: Numbers) -> float:
    """Turn exp(logits) in z into w_m (P - one-hot); return sum_m w_m sum_i log(normalization).

    It adds w_m P^2 to `squares` (W,), and w_m P of the color that is there to `hits` (W,). The weights have the type
    of z, so that the loops over colors fill vector units.
    """
    total, one = 0.0, z.dtype.type(1)
    for m in range(len(z)):
        weight = weights[m]
        for i in range(len(own)):
            first = i * n_colors
            normalization = z[m, first]
            for k in range(first + 1, first + n_colors):
                normalization += z[m, k]
            total += weight * math.log(normalization)
            inverse = one / normalization
            for k in range(first, first + n_colors):
                P = z[m, k] * inverse
                z[m, k] = weight * P
                squares[k] += z[m, k] * P
            observed = first + own[i, m]
            hits[observed] += z[m, observed]
            z[m, observed] -= weight
    return total


@cached_njit()
def scatter(columns: Numbers, z: Numbers, gradient: Numbers) -> None:
    """Add z[m] (B, W) to gradient[j, color of j in sample m], for every site j."""
    n_sites, n_samples = columns.shape
    for j in range(0, n_sites - 3, 4):  # four sites in one pass read z a quarter as often
        for m in range(n_samples):
            one, two = gradient[j, columns[j, m]], gradient[j + 1, columns[j + 1, m]]
            three, four = gradient[j + 2, columns[j + 2, m]], gradient[j + 3, columns[j + 3, m]]
            row = z[m]
            for k in range(z.shape[1]):
                added = row[k]
                one[k] += added
                two[k] += added
                three[k] += added
                four[k] += added
    for j in range(n_sites - n_sites % 4, n_sites):
        for m in range(n_samples):
            row, added = gradient[j, columns[j, m]], z[m]
            for k in range(z.shape[1]):
                row[k] += added[k]


@cached_njit()
def sums(z: Numbers) -> Numbers:
    """Return the sums of the columns of z (B, W) in double precision, sample after sample."""
    total = np.zeros(z.shape[1])
    for m in range(len(z)):
        for k in range(len(total)):
            total[k] += z[m, k]
    return total
