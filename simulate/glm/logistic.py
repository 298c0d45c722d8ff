"""Fits the logistic loss by Newton's method."""

import numpy as np

from simulate.glm.newton import Expansion
from simulate.glm.smooth import Minimum, smooth_minimum
from theory.core import Array

LEAST_CURVATURE = 1e-12  # keeps the linearized label finite for samples far on either side


def logistic(X: Array, y: Array, offsets: Array, weights: Array, ridge: float) -> Minimum:
    """Minimize (ridge/2) |v|^2 + sum_i weights_i log(1 + exp(-y_i h_i)), h = X v + offsets b; see `smooth_minimum`."""
    return smooth_minimum(X, y, offsets, weights, ridge, _loss, _expand, _force, name="logistic")


def _loss(h: Array, y: Array) -> Array:
    return np.asarray(np.logaddexp(0, -y * h))


def _expand(h: Array, y: Array) -> Expansion:
    margin = y * h
    small = np.exp(-abs(margin))
    large = 1 / (1 + small)
    against = np.where(margin > 0, small * large, large)  # minus the slope of the loss in the margin
    return Expansion(y * against, against, np.maximum(small * large * large, LEAST_CURVATURE))


def _force(h: Array, y: Array) -> Array:
    return np.asarray(y / (1 + np.exp(y * h)))
