"""Measures generalized linear models: fits of data, samples of every model, replicates for sweeps."""

from simulate.glm.draw import Sample, draw
from simulate.glm.features import FeatureTask
from simulate.glm.fit import LinearFit, fit, fit_coupled
from simulate.glm.masked_site import MaskedSiteFit, conditional_entropy, fit_masked_site
from simulate.glm.measure import Measured, measure, resampled
from simulate.glm.message_passing import MessagePassing, message_passing
from simulate.glm.multiclass import MulticlassFit, fit_multiclass
from simulate.glm.penalized import fit_penalized
from simulate.glm.population import Group, Population, population
from simulate.glm.posterior_classes import posterior_error
from simulate.glm.posterior_passing import PosteriorPassing, posterior_message_passing
from simulate.glm.random_labels import random_inputs
from simulate.glm.replicate import (
    accuracy_minus,
    accuracy_plus,
    bias,
    disparate_impact,
    squared_norm,
    test_error,
    train_error,
    train_loss,
)
from simulate.glm.transfer import Network, draw_task, random_network, scratch_error, train
from theory.core.errors import FitError

__all__ = [
    "FeatureTask",
    "FitError",
    "Group",
    "LinearFit",
    "MaskedSiteFit",
    "Measured",
    "MessagePassing",
    "MulticlassFit",
    "Network",
    "Population",
    "PosteriorPassing",
    "Sample",
    "accuracy_minus",
    "accuracy_plus",
    "bias",
    "conditional_entropy",
    "disparate_impact",
    "draw",
    "draw_task",
    "fit",
    "fit_coupled",
    "fit_masked_site",
    "fit_multiclass",
    "fit_penalized",
    "measure",
    "message_passing",
    "population",
    "posterior_error",
    "posterior_message_passing",
    "random_inputs",
    "random_network",
    "resampled",
    "scratch_error",
    "squared_norm",
    "test_error",
    "train",
    "train_error",
    "train_loss",
]
