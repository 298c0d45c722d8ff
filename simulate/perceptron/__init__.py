"""Measurements on perceptrons with discrete or stochastic weights: enumeration, Gibbs sampling, descent, two layers."""

from simulate.perceptron.discrete_enumeration import SolutionSet, enumerate_solutions, solution_counts
from simulate.perceptron.discrete_measurements import (
    entropy_profile,
    extrapolate_sizes,
    pair_entropies,
    solution_entropy,
    zero_entropy_capacity,
)
from simulate.perceptron.discrete_pairs import pair_entropy_change
from simulate.perceptron.discrete_search import CopySearch, search_with_copies
from simulate.perceptron.stochastic_descent import StochasticDescent, descend_stochastic_weights
from simulate.perceptron.stochastic_gibbs import StochasticWeightSample, sample_stochastic_weights
from simulate.perceptron.two_layer_network import TwoLayerNetwork
from simulate.perceptron.two_layer_training import TwoLayerTraining, train_two_layers

__all__ = [
    "CopySearch",
    "SolutionSet",
    "StochasticDescent",
    "StochasticWeightSample",
    "TwoLayerNetwork",
    "TwoLayerTraining",
    "descend_stochastic_weights",
    "entropy_profile",
    "enumerate_solutions",
    "extrapolate_sizes",
    "pair_entropies",
    "pair_entropy_change",
    "sample_stochastic_weights",
    "search_with_copies",
    "solution_counts",
    "solution_entropy",
    "train_two_layers",
    "zero_entropy_capacity",
]
