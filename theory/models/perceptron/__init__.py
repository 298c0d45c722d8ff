"""Records of perceptrons with discrete or stochastic weights."""

from theory.models.perceptron.discrete import DiscretePerceptron, equally_spaced_levels

__all__ = ["DiscretePerceptron", "equally_spaced_levels"]
