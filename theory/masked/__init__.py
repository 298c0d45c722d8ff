"""Masked self-supervised ridge regression: errors, learning curves, limits, optimum, replica saddle point."""

from theory.masked.errors import conditional_variances
from theory.masked.learning_curve import LearningCurve, learning_curve
from theory.masked.optimal_ridge import OptimalRidge, optimal_ridge
from theory.masked.replica import ReplicaSolution, replica
from theory.masked.ridgeless import PeakHeight, peak_height, ridgeless
from theory.masked.solution import MaskedRidgeSolution
from theory.masked.solve import predictor, solve
from theory.masked.teacher_student import TeacherStudentSolution, teacher_student

__all__ = [
    "LearningCurve",
    "MaskedRidgeSolution",
    "OptimalRidge",
    "PeakHeight",
    "ReplicaSolution",
    "TeacherStudentSolution",
    "conditional_variances",
    "learning_curve",
    "optimal_ridge",
    "peak_height",
    "predictor",
    "replica",
    "ridgeless",
    "solve",
    "teacher_student",
]
