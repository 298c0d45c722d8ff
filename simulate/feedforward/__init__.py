"""Measurements on feed-forward networks: Hamiltonian Monte Carlo, wide binary networks, transfer."""

from simulate.feedforward.binary import Decay, FieldStatistics, decay, field_statistics
from simulate.feedforward.multilayer import Multilayer, TrainedMultilayer, train_multilayer
from simulate.feedforward.narrow import NarrowSample, narrow_risk, sample_narrow
from simulate.feedforward.narrow_fit import NarrowFit, fit_narrow
from simulate.feedforward.narrow_version_space import VersionSpaceSample, sample_version_space
from simulate.feedforward.similarity import canonical_similarity, linear_alignment, procrustes_similarity
from simulate.feedforward.stochastic import StochasticActivations, stochastic_activations
from simulate.feedforward.transfer import frozen_risks, warm_start_risks
from simulate.feedforward.transfer_networks import Teacher, draw_teachers, transfer_network

__all__ = [
    "Decay",
    "FieldStatistics",
    "Multilayer",
    "NarrowFit",
    "NarrowSample",
    "StochasticActivations",
    "Teacher",
    "TrainedMultilayer",
    "VersionSpaceSample",
    "canonical_similarity",
    "decay",
    "draw_teachers",
    "field_statistics",
    "fit_narrow",
    "frozen_risks",
    "linear_alignment",
    "narrow_risk",
    "procrustes_similarity",
    "sample_narrow",
    "sample_version_space",
    "stochastic_activations",
    "train_multilayer",
    "transfer_network",
    "warm_start_risks",
]
