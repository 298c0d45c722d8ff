"""Random matrices: deterministic equivalents of sample covariances, laws of their eigenvalues, and spikes."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.random_matrix.bbp import (
        SpikeOutlier,
        SpikeOutliers,
        SpikeRidge,
        SpikeThreshold,
        SymmetricOutlier,
        optimal_ridge,
        outlier,
        spike_outliers,
        symmetric_outlier,
        threshold,
    )
    from theory.random_matrix.effective_ridge import (
        EffectiveRidge,
        degrees_of_freedom,
        effective_ridge,
        solve_effective_ridge,
        solve_population_ridge,
        solve_ridge_equation,
    )
    from theory.random_matrix.moments import CoordinateDiagonal, RidgeMoments, minor_moments, ridge_moments, shrinkage
    from theory.random_matrix.population import Population, population, population_errors
    from theory.random_matrix.spectral.law import SpectralLaw
    from theory.random_matrix.spectral.laws import (
        correlation_law,
        covariance_law,
        predictor_law,
    )
    from theory.random_matrix.training import DetectionTime, EmergenceTime, best_detection_time, emergence_time

__all__ = [
    "CoordinateDiagonal",
    "DetectionTime",
    "EffectiveRidge",
    "EmergenceTime",
    "Population",
    "RidgeMoments",
    "SpectralLaw",
    "SpikeOutlier",
    "SpikeOutliers",
    "SpikeRidge",
    "SpikeThreshold",
    "SymmetricOutlier",
    "best_detection_time",
    "correlation_law",
    "covariance_law",
    "degrees_of_freedom",
    "effective_ridge",
    "emergence_time",
    "minor_moments",
    "optimal_ridge",
    "outlier",
    "population",
    "population_errors",
    "predictor_law",
    "ridge_moments",
    "shrinkage",
    "solve_effective_ridge",
    "solve_population_ridge",
    "solve_ridge_equation",
    "spike_outliers",
    "symmetric_outlier",
    "threshold",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
