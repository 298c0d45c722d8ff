"""Masked regression: errors, learning curves, limits, optimum, replica saddle point, masks."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.masked import closed_forms
    from theory.masked.errors import conditional_variances
    from theory.masked.estimate import EstimatedRidgeSolution, estimate
    from theory.masked.holes import MissingEntriesSolution, OracleError, oracle_error
    from theory.masked.learning_curve import LearningCurve, learning_curve
    from theory.masked.masked_ridge import predictor
    from theory.masked.masks import (
        MaskCurve,
        OptimalMaskRate,
        RandomMasksSolution,
        SpanMaskSolution,
        SpanWindowsSolution,
        mask_curve,
        optimal_mask_rate,
    )
    from theory.masked.optimal_ridge import OptimalRidge, optimal_ridge
    from theory.masked.replica import ReplicaSolution, replica
    from theory.masked.ridgeless import PeakHeight, peak_height, ridgeless
    from theory.masked.solution import MaskedRidgeSolution
    from theory.masked.solve import solve
    from theory.masked.teacher_student import TeacherStudentSolution, teacher_student
    from theory.masked.training import (
        BestTime,
        MaskedTrainingSolution,
        OnePassSolution,
        PatternTrainingSolution,
        TrainedLearningCurve,
        TrainingCurve,
        best_time,
        trained_learning_curve,
        training_curve,
        training_predictor,
    )

__all__ = [
    "BestTime",
    "EstimatedRidgeSolution",
    "LearningCurve",
    "MaskCurve",
    "MaskedRidgeSolution",
    "MaskedTrainingSolution",
    "MissingEntriesSolution",
    "OnePassSolution",
    "OptimalMaskRate",
    "OptimalRidge",
    "OracleError",
    "PatternTrainingSolution",
    "PeakHeight",
    "RandomMasksSolution",
    "ReplicaSolution",
    "SpanMaskSolution",
    "SpanWindowsSolution",
    "TeacherStudentSolution",
    "TrainedLearningCurve",
    "TrainingCurve",
    "best_time",
    "closed_forms",
    "conditional_variances",
    "estimate",
    "learning_curve",
    "mask_curve",
    "optimal_mask_rate",
    "optimal_ridge",
    "oracle_error",
    "peak_height",
    "predictor",
    "replica",
    "ridgeless",
    "solve",
    "teacher_student",
    "trained_learning_curve",
    "training_curve",
    "training_predictor",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
