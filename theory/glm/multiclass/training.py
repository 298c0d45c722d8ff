"""The share of training samples of each class that the trained classifier puts into another class."""

import math

import numpy as np

from theory.core.arrays import Array
from theory.glm.multiclass.channel import contrasts, softmax_prox, symmetric_root
from theory.glm.multiclass.decisions import ROUNDING, decision_probabilities
from theory.glm.multiclass.nodes import scrambled_nodes

SCRAMBLES = 8  # of Sobol's points: the spread over them is the error estimate


def training_chances(means: Array, V: Array, q: Array, loss: str) -> tuple[Array, float]:
    """Return P(output k is the largest) of training samples of class c at [c, k], (K, K), and its numerical error.

    The outputs of class c are h, normal with mean `means[c]` and covariance `q[c]`, and those of a sample that is
    trained on are prox(h) at the response `V[c]`; all are (K, K, ..). For square loss prox(h) = (h + v e_c)/(1 + v)
    with the multiple v of the identity in V, and two classes of softmax are equally likely where h + V (e_c - 1/2) has
    equal entries: both are a normal law of the outputs, shifted by what was learned from the label. Softmax of more
    classes bends the boundaries between them; the samples right of them are counted among scrambled Sobol points, and
    the error is three standard errors of the mean over the scrambles.
    """
    K = len(means)
    if loss == "square" or K == 2:
        shifts = [V[c] @ (np.eye(K)[c] - (0.5 if loss == "softmax" else 0.0)) for c in range(K)]
        found = [decision_probabilities(means[c] + shifts[c], q[c]) for c in range(K)]
        return np.stack([chances for chances, _ in found]), max(error for _, error in found)
    basis = contrasts(K)
    counted = np.array([[_counted(basis, means[c], V[c], q[c], c, s) for c in range(K)] for s in range(SCRAMBLES)])
    error = 3 * float(counted.std(axis=0, ddof=1).max()) / math.sqrt(SCRAMBLES)
    return counted.mean(axis=0), max(error, ROUNDING)


def _counted(basis: Array, mean: Array, V: Array, q: Array, label: int, seed: int) -> Array:
    """Return the shares of the points of one scramble at which each output of the prox is the largest, (K,)."""
    z, weights = scrambled_nodes(len(basis), seed)
    h = basis @ mean + z @ symmetric_root(basis @ q @ basis.T)
    outputs = softmax_prox(h, basis @ V @ basis.T, label, basis) @ basis
    return np.bincount(outputs.argmax(axis=1), weights, len(mean)).astype(float)
