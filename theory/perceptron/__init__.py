"""Perceptrons with discrete or stochastic weights: entropy of solutions, capacity, loss, and local stability."""

from theory.perceptron.stochastic import StochasticSaddlePoint, stochastic_saddle_point

__all__ = ["StochasticSaddlePoint", "stochastic_saddle_point"]
