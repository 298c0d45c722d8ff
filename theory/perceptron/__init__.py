"""Perceptrons: discrete or stochastic weights, entropy of solutions, capacity, loss, and local stability."""

from theory.perceptron.discrete_capacity import (
    ZeroEntropyCapacity,
    first_moment_bound,
    gardner_capacity,
    zero_entropy_capacity,
)
from theory.perceptron.discrete_copies import CopyEntropy, copy_entropy
from theory.perceptron.discrete_entropy import EntropyCurve, SolutionEntropy, entropy_curve, solution_entropy
from theory.perceptron.stochastic import StochasticSaddlePoint, stochastic_saddle_point

__all__ = [
    "CopyEntropy",
    "EntropyCurve",
    "SolutionEntropy",
    "StochasticSaddlePoint",
    "ZeroEntropyCapacity",
    "copy_entropy",
    "entropy_curve",
    "first_moment_bound",
    "gardner_capacity",
    "solution_entropy",
    "stochastic_saddle_point",
    "zero_entropy_capacity",
]
