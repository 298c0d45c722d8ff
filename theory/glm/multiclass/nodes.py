"""Nodes for averages over a standard normal vector: a product rule in few dimensions, scrambled Sobol points beyond."""

import math
from functools import cache

import numpy as np

from theory.models.arrays import Array

PER_AXIS = {1: 200, 2: 64, 3: 28}
POINTS = 2**14


@cache
def gaussian_nodes(dimension: int) -> tuple[Array, Array]:
    """z (N, dimension) and weights that sum to 1: Gauss-Hermite products up to 3 dimensions, else 2^14 Sobol points."""
    if dimension in PER_AXIS:
        z, weights = np.polynomial.hermite_e.hermegauss(PER_AXIS[dimension])
        grid = np.stack(np.meshgrid(*[z] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
        product = np.prod(np.stack(np.meshgrid(*[weights] * dimension, indexing="ij"), axis=-1), axis=-1).ravel()
        product = product / math.sqrt(2 * math.pi) ** dimension
        kept = product > 1e-18
        return grid[kept], product[kept] / product[kept].sum()
    from scipy.special import ndtri
    from scipy.stats import qmc

    uniform = qmc.Sobol(dimension, scramble=True, seed=0).random(POINTS)
    return ndtri(np.clip(uniform, 1e-15, 1 - 1e-15)), np.full(POINTS, 1 / POINTS)
