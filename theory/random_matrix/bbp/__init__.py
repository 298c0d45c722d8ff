"""Spikes in noise: thresholds, outliers and overlaps of masked regression and of three kinds of PCA."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.random_matrix.bbp.outliers import SpikeOutlier, SpikeOutliers, outlier, spike_outliers
    from theory.random_matrix.bbp.ridge_choice import SpikeRidge, optimal_ridge
    from theory.random_matrix.bbp.symmetric_part import SymmetricOutlier, symmetric_outlier
    from theory.random_matrix.bbp.transition import SpikeThreshold, threshold

__all__ = [
    "SpikeOutlier",
    "SpikeOutliers",
    "SpikeRidge",
    "SpikeThreshold",
    "SymmetricOutlier",
    "optimal_ridge",
    "outlier",
    "spike_outliers",
    "symmetric_outlier",
    "threshold",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
