"""Deterministic equivalents of sample covariances."""

from theory.random_matrix.effective_ridge import (
    EffectiveRidge,
    degrees_of_freedom,
    effective_ridge,
    solve_effective_ridge,
    solve_ridge_equation,
    tangent_step,
)
from theory.random_matrix.moments import CoordinateDiagonal, RidgeMoments, minor_moments, ridge_moments, shrinkage

__all__ = [
    "CoordinateDiagonal",
    "EffectiveRidge",
    "RidgeMoments",
    "degrees_of_freedom",
    "effective_ridge",
    "minor_moments",
    "ridge_moments",
    "shrinkage",
    "solve_effective_ridge",
    "solve_ridge_equation",
    "tangent_step",
]
