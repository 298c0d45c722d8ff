"""Spikes in noise: thresholds, outliers and overlaps of masked regression and of three kinds of PCA."""

from theory.random_matrix.bbp.optimal_ridge import SpikeRidge, optimal_spike_ridge
from theory.random_matrix.bbp.outlier import SpikeOutlier, SpikeOutliers, spike_outlier, spike_outliers
from theory.random_matrix.bbp.spiked_data import optimal_ridge, outlier, symmetric_outlier, threshold
from theory.random_matrix.bbp.symmetric_part import SymmetricOutlier, symmetric_part_outlier
from theory.random_matrix.bbp.threshold import SpikeThreshold, spike_threshold

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
