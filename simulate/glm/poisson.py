"""Fits the Poisson loss exp(h) - y h of counts by Newton's method."""

import numpy as np

from simulate.glm.newton import Expansion, newton
from theory.core import Array

LARGEST_MOVE = 2.0  # of any field in a step: exp(h) grows by a factor of 7
LEAST_RATE = 1e-12  # keeps the linearized count finite


def poisson(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i (exp(h_i) - y_i h_i), h = Z u + offsets b; see `newton`."""

    def loss(h: Array) -> Array:
        return np.asarray(np.exp(h) - y * h)

    def expand(h: Array) -> Expansion:
        rate = np.exp(h)
        return Expansion(y - rate, y + rate, np.maximum(rate, LEAST_RATE))

    return newton(Z, offsets, weights, loss, expand, name="Poisson", largest_move=LARGEST_MOVE)
