"""Sums over the levels of one weight at all points of an equidistant grid of its random field, by matrix products.

A weight w at the point z of the grid has the exponent a w^2 + s z w. With z = c + t, c the center of a block of
neighboring points, its exponential is that at c times exp(s t w), and all blocks share the second factor: sums over
levels at the N points are products of a matrix of N/B centers with one of B distances t, and take N/B + B instead of
N exponentials for each level.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array

MANY_LEVELS = 32  # from which on this is faster than the exponentials of all levels at all points
BLOCK = 16  # points of a block at most
MAX_RANGE = 500.0  # of the exponents s t w in a block: at its center no level that matters in it has underflowed
LOG_UNDERFLOW = -600.0  # exp of it is nothing beside 1
CACHED = 2**16  # numbers of an array that are worked on at once


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The exponentials of n pairs (a, s) in M blocks of B points, divided by the largest one at each center."""

    law: Array = field(repr=False)  # (n, M, L), at the centers
    top: Array = field(repr=False)  # (n, M), the exponents of the largest
    beside: Array = field(repr=False)  # (n, L, B), the factors of the distances to a center

    @classmethod
    def of(cls, levels: Array, squares: Array, fields: Array, z: Array, size: int) -> "_Blocks":
        step = _step(z)
        shifts = (np.arange(size) - (size - 1) / 2) * step
        centers = z[0] + step * (size * np.arange(math.ceil(len(z) / size)) + (size - 1) / 2)
        law = np.multiply.outer(np.multiply.outer(fields, centers), levels)
        law += np.multiply.outer(squares, levels**2)[:, None, :]
        top = law.max(axis=2)
        law -= top[:, :, None]
        np.maximum(law, LOG_UNDERFLOW, out=law)  # exp takes much longer where it underflows
        np.exp(law, out=law)
        return cls(law, top, np.exp(np.multiply.outer(np.multiply.outer(fields, levels), shifts)))


def tilted_sums(levels: Array, squares: Array, fields: Array, z: Array, powers: Array) -> tuple[Array, Array]:
    """Return sum_w p(w) exp(a w^2 + s z w - c) for many (a, s) = (`squares`, `fields`) (n,), and the shifts c.

    `levels` (L,) are at most 1 in absolute value, `z` (N,) is equidistant, and `powers` (k, L) has the values of each p
    at the levels. The sums are (k, n, N) and the shifts (n, N), constant over blocks of z: the largest exponent at the
    center of the block. Sums of positive p have relative errors of 1e-15 times the size of the exponents.
    """
    sums, tops = np.empty((len(powers), len(fields), len(z))), np.empty((len(fields), len(z)))
    sizes = _sizes(fields, z)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        for some in np.array_split(rows, math.ceil(powers.size * len(rows) * len(z) / (size * CACHED))):
            if not len(some):
                continue
            blocks = _Blocks.of(levels, squares[some], fields[some], z, int(size))
            n, M, L = blocks.law.shape
            if size == 1:
                found = np.moveaxis(blocks.law @ powers.T, 2, 1)
            else:
                # All powers in one product, since those of a few centers alone are too small to be fast.
                laws = blocks.law[:, None] * powers[:, None, :]
                found = (laws.reshape(n, len(powers) * M, L) @ blocks.beside).reshape(n, len(powers), -1)
            sums[:, some] = np.moveaxis(found, 1, 0)[:, :, : len(z)]
            tops[some] = np.repeat(blocks.top, size, axis=1)[:, : len(z)]
    return sums, tops


def tilted_moments(levels: Array, square: float, linear: float, z: Array) -> tuple[Array, Array, Array, Array]:
    """Return mean, mean square and variance of w, and the logarithm of the normalization, all (N,), for one (a, s).

    Deviations are taken from the mean at the center of a block, which keeps the digits of a variance that is much
    smaller than the square.
    """
    fields = np.array([linear])
    size = int(_sizes(fields, z)[0])
    blocks = _Blocks.of(levels, np.array([square]), fields, z, size)
    law, beside = blocks.law[0], blocks.beside[0]
    middle = (law @ levels) / law.sum(axis=1)
    deviation = levels - middle[:, None]
    total = law @ beside
    second = (law @ (beside * (levels**2)[:, None])) / total
    law *= deviation
    first = (law @ beside) / total
    law *= deviation
    variance = (law @ beside) / total - first**2
    logs = blocks.top[0][:, None] + np.log(total)
    every = (middle[:, None] + first, second, np.maximum(variance, 0.0), logs)
    mean, second, variance, logs = (each.ravel()[: len(z)] for each in every)
    return mean, second, variance, logs


def _sizes(fields: Array, z: Array) -> Array:
    """Return how many points a block has (n,), a power of two: one where the field is strong."""
    # Fields that are not numbers, far from all solutions, give sums that are not.
    strength = np.where(np.isfinite(fields), fields, 0.0) * _step(z)
    return np.asarray(2 ** np.floor(np.log2(np.clip(MAX_RANGE / np.maximum(strength, 1.0), 1.0, BLOCK))).astype(int))


def _step(z: Array) -> float:
    """Return the step of a grid: two neighboring points have lost digits of it."""
    return float(z[-1] - z[0]) / (len(z) - 1)
