"""Spikes in noise: thresholds, outliers and overlaps of masked regression and of three kinds of PCA."""

from theory.random_matrix.bbp.outliers import SpikeOutlier, SpikeOutliers, outlier, spike_outlier, spike_outliers
from theory.random_matrix.bbp.ridge_choice import SpikeRidge, optimal_ridge, optimal_spike_ridge
from theory.random_matrix.bbp.symmetric_part import SymmetricOutlier, symmetric_outlier, symmetric_part_outlier
from theory.random_matrix.bbp.transition import SpikeThreshold, spike_threshold, threshold

__all__ = [
    "SpikeOutlier",
    "SpikeOutliers",
    "SpikeRidge",
    "SpikeThreshold",
    "SymmetricOutlier",
    "optimal_ridge",
    "optimal_spike_ridge",
    "outlier",
    "spike_outlier",
    "spike_outliers",
    "spike_threshold",
    "symmetric_outlier",
    "symmetric_part_outlier",
    "threshold",
]
