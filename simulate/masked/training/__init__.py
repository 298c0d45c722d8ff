"""Masked regressions of a data matrix along their training: at any time, by steps, in one pass, with estimates."""

from simulate.masked.training.fit import TrainedFit, fit_training
from simulate.masked.training.path import TrainingPath, fit_training_path
from simulate.masked.training.patterns import pattern_replicate
from simulate.masked.training.replicate import TrainingErrors, training_replicate
from simulate.masked.training.steps import one_pass

__all__ = [
    "TrainedFit",
    "TrainingErrors",
    "TrainingPath",
    "fit_training",
    "fit_training_path",
    "one_pass",
    "pattern_replicate",
    "training_replicate",
]
