"""Measurements on data with a spiked cumulant: samples, the power of tests, networks against random features."""

from simulate.core import DivergenceError
from simulate.cumulants.classification import (
    known_spike_accuracy,
    labeled_samples,
    network_accuracy,
    random_features_accuracy,
)
from simulate.cumulants.descent import descended_accuracy
from simulate.cumulants.likelihood_ratio import enumerated_norm
from simulate.cumulants.network import ReluNetwork, network_gradient, train_network
from simulate.cumulants.norm_statistic import NormStatistics, norm_statistics
from simulate.cumulants.random_features import fit_random_features
from simulate.cumulants.samples import draw_spike, sample_null, sample_spiked
from simulate.cumulants.wishart import enumerated_wishart_norm, sample_wishart

__all__ = [
    "DivergenceError",
    "NormStatistics",
    "ReluNetwork",
    "descended_accuracy",
    "draw_spike",
    "enumerated_norm",
    "enumerated_wishart_norm",
    "fit_random_features",
    "known_spike_accuracy",
    "labeled_samples",
    "network_accuracy",
    "network_gradient",
    "norm_statistics",
    "random_features_accuracy",
    "sample_null",
    "sample_spiked",
    "sample_wishart",
    "train_network",
]
