"""Measurements on perceptrons with discrete or stochastic weights: enumeration, Gibbs sampling, descent."""

from simulate.perceptron.stochastic_descent import StochasticDescent, descend_stochastic_weights
from simulate.perceptron.stochastic_gibbs import StochasticWeightSample, sample_stochastic_weights

__all__ = [
    "StochasticDescent",
    "StochasticWeightSample",
    "descend_stochastic_weights",
    "sample_stochastic_weights",
]
