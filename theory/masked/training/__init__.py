"""Masked regression along training: errors at any time, curves, the best time to stop, and one pass over the rows."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.masked.training.best_time import BestTime, best_time
    from theory.masked.training.curve import TrainingCurve, training_curve
    from theory.masked.training.one_pass import OnePassSolution
    from theory.masked.training.patterns import PatternTrainingSolution
    from theory.masked.training.ratios import TrainedLearningCurve, trained_learning_curve
    from theory.masked.training.solution import MaskedTrainingSolution, solve_training, training_predictor

__all__ = [
    "BestTime",
    "MaskedTrainingSolution",
    "OnePassSolution",
    "PatternTrainingSolution",
    "TrainedLearningCurve",
    "TrainingCurve",
    "best_time",
    "solve_training",
    "trained_learning_curve",
    "training_curve",
    "training_predictor",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
