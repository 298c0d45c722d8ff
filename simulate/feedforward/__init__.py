"""Measurements on feed-forward networks: Hamiltonian Monte Carlo, wide binary networks, transfer."""

from simulate.feedforward.binary import Decay, FieldStatistics, decay, field_statistics
from simulate.feedforward.stochastic import StochasticActivations, stochastic_activations

__all__ = [
    "Decay",
    "FieldStatistics",
    "StochasticActivations",
    "decay",
    "field_statistics",
    "stochastic_activations",
]
