"""Compiles sums over samples for a group of sites: logits, residuals, and their scatter into a gradient.

A table (L, C, W) has in row [j, b] what color b at site j adds to the W = (sites of the group) * C logits of the group.
A gather or scatter of whole rows replaces products with one-hot matrices, and rows of many sites fill vector units.
"""

import math
from typing import Any

from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Numbers = NDArray[Any]


@cached_njit()
def logits(columns: Numbers, own: Numbers, table: Numbers, fields: Numbers, weights: Numbers, z: Numbers) -> float:
    """Fills z (B, W) with logits less the maximum of each site; returns -sum_m w_m sum_i z[m, own color of i].

    `columns` (L, B) are the colors of all sites, `own` (sites of the group, B) those of the group.
    """
    n_sites, n_samples = columns.shape
    n_colors = table.shape[1]
    for m in range(n_samples):
        for k in range(len(fields)):
            z[m, k] = fields[k]
    for j in range(n_sites):
        for m in range(n_samples):
            b = columns[j, m]
            for k in range(len(fields)):
                z[m, k] += table[j, b, k]
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
def residuals(own: Numbers, weights: Numbers, n_colors: int, z: Numbers) -> float:
    """Turns exp(logits) in z into w_m (P - one-hot); returns sum_m w_m sum_i log(normalization)."""
    total = 0.0
    for m in range(len(z)):
        for i in range(len(own)):
            first = i * n_colors
            normalization = 0.0
            for k in range(first, first + n_colors):
                normalization += z[m, k]
            total += weights[m] * math.log(normalization)
            for k in range(first, first + n_colors):
                z[m, k] *= weights[m] / normalization
            z[m, first + own[i, m]] -= weights[m]
    return total


@cached_njit()
def scatter(columns: Numbers, z: Numbers, gradient: Numbers) -> None:
    """Adds z[m] (B, W) to gradient[j, color of j in sample m], for every site j."""
    n_sites, n_samples = columns.shape
    for j in range(n_sites):
        for m in range(n_samples):
            b = columns[j, m]
            for k in range(z.shape[1]):
                gradient[j, b, k] += z[m, k]
