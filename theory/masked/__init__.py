"""Masked self-supervised ridge regression: errors, learning curves, limits, optimum, replica saddle point."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from theory.masked.errors import conditional_variances
from theory.masked.learning_curve import LearningCurve, learning_curve
from theory.masked.optimal_ridge import OptimalRidge, optimal_ridge
from theory.masked.replica import ReplicaSolution, replica
from theory.masked.ridgeless import PeakHeight, peak_height, ridgeless
from theory.masked.solution import MaskedRidgeSolution
from theory.masked.solve import predictor, solve
from theory.masked.teacher_student import TeacherStudentSolution, teacher_student

if TYPE_CHECKING:
    from theory.masked.masks import (
        MaskCurve,
        RandomMasksSolution,
        SpanMaskSolution,
        mask_curve,
        random_masks,
        span_mask,
        span_windows,
    )

__all__ = [
    "LearningCurve",
    "MaskCurve",
    "MaskedRidgeSolution",
    "OptimalRidge",
    "PeakHeight",
    "RandomMasksSolution",
    "ReplicaSolution",
    "SpanMaskSolution",
    "TeacherStudentSolution",
    "closed_forms",
    "conditional_variances",
    "high_precision",
    "learning_curve",
    "mask_curve",
    "optimal_ridge",
    "peak_height",
    "predictor",
    "random_masks",
    "replica",
    "ridgeless",
    "solve",
    "span_mask",
    "span_windows",
    "teacher_student",
]


_MASKS = (
    "MaskCurve",
    "RandomMasksSolution",
    "SpanMaskSolution",
    "mask_curve",
    "random_masks",
    "span_mask",
    "span_windows",
)


def __getattr__(name: str) -> Any:
    """What is loaded when first used: sympy and mpmath take a second to import, masks have a room of their own."""
    if name in ("closed_forms", "high_precision"):
        return import_module(f"theory.masked.{name}")
    if name in _MASKS:
        return getattr(import_module("theory.masked.masks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
