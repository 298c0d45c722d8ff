"""Spikes in noise: thresholds, outliers and overlaps of masked regression and of three kinds of PCA."""

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
