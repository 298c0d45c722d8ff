"""Replica saddle points and random-matrix expressions for masked self-supervised learning.

All subjects are imported here, which costs an eighth of a second beyond numpy and scipy; only the symbolic closed forms
of `theory.masked.closed_forms` wait for their first use, because sympy takes longer than everything else.
"""

from theory import (
    cumulants,
    feedforward,
    glm,
    masked,
    models,
    nets,
    perceptron,
    potts,
    random_matrix,
    topics,
    trees,
)
from theory.models.errors import MaskedSSLError
from theory.numerics import ConvergenceError, ReplicaSymmetryError

__all__ = [
    "ConvergenceError",
    "MaskedSSLError",
    "ReplicaSymmetryError",
    "cumulants",
    "feedforward",
    "glm",
    "masked",
    "models",
    "nets",
    "perceptron",
    "potts",
    "random_matrix",
    "topics",
    "trees",
]
