"""Fits the logistic loss by Newton's method."""

import numpy as np
from scipy.special import expit

from simulate.glm.newton import Expansion, newton
from theory.core import Array

LEAST_CURVATURE = 1e-12  # keeps the linearized label finite for samples far on either side


def logistic(Z: Array, y: Array, offsets: Array, weights: Array) -> tuple[Array, Array, float, int]:
    """Minimize (1/2) |u|^2 + sum_i weights_i log(1 + exp(-y_i h_i)), h = Z u + offsets b; see `newton`."""

    def loss(h: Array) -> Array:
        return np.asarray(np.logaddexp(0, -y * h))

    def expand(h: Array) -> Expansion:
        against = expit(-y * h)  # minus the slope of the loss in y h
        return Expansion(y * against, against, np.maximum(against * (1 - against), LEAST_CURVATURE))

    return newton(Z, offsets, weights, loss, expand, name="logistic")
