"""Masked regression along training: errors at any time, curves, the best time to stop, and one pass over the rows."""

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
