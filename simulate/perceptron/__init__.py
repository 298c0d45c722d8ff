"""Measurements on perceptrons with discrete or stochastic weights: enumeration, Gibbs sampling, descent."""

from simulate.perceptron.discrete_enumeration import SolutionSet, enumerate_solutions, solution_counts
from simulate.perceptron.discrete_measurements import (
    entropy_profile,
    extrapolate_sizes,
    pair_entropies,
    solution_entropy,
    zero_entropy_capacity,
)

__all__ = [
    "SolutionSet",
    "entropy_profile",
    "enumerate_solutions",
    "extrapolate_sizes",
    "pair_entropies",
    "solution_counts",
    "solution_entropy",
    "zero_entropy_capacity",
]
