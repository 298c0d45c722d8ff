"""Nodes for averages over a standard normal vector: Gauss-Hermite products, sparse grids, and Sobol points.

Products are the most accurate in up to three dimensions. In more, a sparse grid needs the fewest nodes where the
integrand is smooth; some of its weights are negative, and at kinks it converges slowly or not at all. Sobol points
converge at any integrand, slowly.
"""

import itertools
import math
from functools import cache
from typing import Literal

import numpy as np

from theory.core.arrays import Array

Rule = Literal["product", "sparse grid", "Sobol"]
PER_AXIS = {1: 200, 2: 64, 3: 28}  # nodes of Gauss-Hermite products in few dimensions
PILOT_PER_AXIS = {2: (12, 32), 3: (8, 16)}  # of the coarser ones on which their solution is sought
POINTS, PILOT_POINTS = 2**14, 2**11  # scrambled Sobol points
MOST_SPARSE = 12_000  # nodes of a sparse grid
MAX_LEVEL = 7
MIN_WEIGHT = 1e-18  # weights of products that are left out


@cache
def gaussian_nodes(dimension: int, rule: Rule | None = None, *, other: bool = False) -> tuple[Array, Array]:
    """Return z (N, dimension) and weights (N,) that sum to 1, for averages over a standard normal vector.

    By default they are Gauss-Hermite products up to 3 dimensions, and 2^14 scrambled Sobol points in more. `other`
    nodes, to tell how much averages depend on them, are products of four fewer per axis, a sparse grid of one level
    less, or points of another scramble.
    """
    rule = ("product" if dimension in PER_AXIS else "Sobol") if rule is None else rule
    if rule == "product":
        return _product(dimension, PER_AXIS[dimension] - 4 * other)
    if rule == "sparse grid":
        return _sparse_grid(dimension, sparse_level(dimension) - other)
    return _sobol(dimension, POINTS, int(other))


@cache
def product_nodes(dimension: int, per_axis: int) -> tuple[Array, Array]:
    """Return the Gauss-Hermite product of so many nodes an axis."""
    return _product(dimension, per_axis)


@cache
def pilot_nodes(dimension: int) -> tuple[Array, Array]:
    """Return few Sobol points, on which a search finds the neighborhood of a solution at an eighth of the cost."""
    return _sobol(dimension, PILOT_POINTS, 0)


def scrambled_nodes(dimension: int, seed: int) -> tuple[Array, Array]:
    """Return half as many Sobol points of the scramble `seed`: the spread over scrambles tells the error of a mean."""
    return _sobol(dimension, POINTS // 2, seed)


def sparse_level(dimension: int) -> int:
    """Return the level of the largest sparse grid of at most `MOST_SPARSE` nodes."""
    # A node of level i in one dimension is one of 2 i that are not the center, which all levels share.
    counts, one = np.zeros(MAX_LEVEL + 1), np.array([1, *range(2, 2 * MAX_LEVEL + 1, 2)], float)
    counts[0] = 1
    for _ in range(dimension):
        counts = np.convolve(counts, one)[: MAX_LEVEL + 1]
    return int(np.searchsorted(np.cumsum(counts), MOST_SPARSE, side="right")) - 1


def _product(dimension: int, per_axis: int) -> tuple[Array, Array]:
    z, weights = np.polynomial.hermite_e.hermegauss(per_axis)
    grid = np.stack(np.meshgrid(*[z] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    product = np.prod(np.stack(np.meshgrid(*[weights] * dimension, indexing="ij"), axis=-1), axis=-1).ravel()
    product = product / math.sqrt(2 * math.pi) ** dimension
    kept = product > MIN_WEIGHT
    return grid[kept], product[kept] / product[kept].sum()


def _sobol(dimension: int, points: int, seed: int) -> tuple[Array, Array]:
    from scipy.special import ndtri
    from scipy.stats import qmc

    uniform = qmc.Sobol(dimension, scramble=True, seed=seed).random(points)
    return ndtri(np.clip(uniform, 1e-15, 1 - 1e-15)), np.full(points, 1 / points)


def _sparse_grid(dimension: int, level: int) -> tuple[Array, Array]:
    """Return Smolyak's combination of Gauss-Hermite products with 2 i + 1 nodes in an axis of level i.

    It is sum_t (-1)^(level - t) binom(dimension - 1, level - t) times all products whose levels add up to t, from
    t = level - dimension + 1 to `level`, and exact for polynomials of degree 2 level + 1.
    """
    axes = []
    for i in range(level + 1):
        z, weights = np.polynomial.hermite_e.hermegauss(2 * i + 1)
        z[i] = 0.0  # the center, which all levels share
        axes.append((z, weights / weights.sum()))
    places, factors = [], []
    for total in range(max(0, level - dimension + 1), level + 1):
        sign = (-1) ** (level - total) * math.comb(dimension - 1, level - total)
        for levels in _compositions(total, dimension):
            raised = [axis for axis in range(dimension) if levels[axis]]
            z, weights = np.zeros((1, dimension)), np.array([float(sign)])
            for axis in raised:
                nodes, shares = axes[levels[axis]]
                z = np.repeat(z, len(nodes), axis=0)
                z[:, axis] = np.tile(nodes, len(weights))
                weights = (weights[:, None] * shares).ravel()
            places.append(z)
            factors.append(weights)
    grid, which = np.unique(np.concatenate(places), axis=0, return_inverse=True)
    return grid, np.bincount(which.ravel(), np.concatenate(factors), len(grid)).astype(float)


def _compositions(total: int, parts: int) -> itertools.chain[tuple[int, ...]]:
    """Return all ways to write `total` as a sum of `parts` integers that are not negative, in their order."""

    def of_bars(bars: tuple[int, ...]) -> tuple[int, ...]:
        ends = (-1, *bars, total + parts - 1)
        return tuple(b - a - 1 for a, b in itertools.pairwise(ends))

    return itertools.chain(map(of_bars, itertools.combinations(range(total + parts - 1), parts - 1)))
