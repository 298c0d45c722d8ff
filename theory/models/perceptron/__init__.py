"""Records of perceptrons with discrete or stochastic weights."""

from theory.models.perceptron.stochastic import StochasticPerceptron

__all__ = ["StochasticPerceptron"]
