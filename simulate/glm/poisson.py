"""Fits the Poisson loss exp(h) - y h of counts by Newton's method."""

import numpy as np

from simulate.glm.newton import Expansion
from simulate.glm.smooth import Minimum, smooth_minimum
from theory.core import Array

LARGEST_MOVE = 2.0  # of any field in a step: exp(h) grows by a factor of 7
LEAST_RATE = 1e-12  # keeps the linearized count finite


def poisson(X: Array, y: Array, offsets: Array, weights: Array, ridge: float) -> Minimum:
    """Minimize (ridge/2) |v|^2 + sum_i weights_i (exp(h_i) - y_i h_i), h = X v + offsets b; see `smooth_minimum`."""
    own = _loss, _expand, _force
    return smooth_minimum(X, y, offsets, weights, ridge, *own, name="Poisson", largest_move=LARGEST_MOVE)


def _loss(h: Array, y: Array) -> Array:
    return np.asarray(np.exp(h) - y * h)


def _expand(h: Array, y: Array) -> Expansion:
    rate = np.exp(h)
    return Expansion(y - rate, y + rate, np.maximum(rate, LEAST_RATE))


def _force(h: Array, y: Array) -> Array:
    return np.asarray(y - np.exp(h))
