"""Records of perceptrons with discrete or stochastic weights."""

from theory.models.perceptron.discrete import DiscretePerceptron, equally_spaced_levels
from theory.models.perceptron.stochastic import StochasticPerceptron

__all__ = [
    "DiscretePerceptron",
    "StochasticPerceptron",
    "equally_spaced_levels",
]
