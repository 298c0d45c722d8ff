"""Measures masked self-supervised ridge regression: fits of data, samplers of inputs, replicates for sweeps.

A replicate takes the same record as the theory: `mean_test_error(MaskedRidge(...), d, rng)`, and likewise for the
records `RandomMasks`, `SpanMask`, `SpanWindows`, `TeacherStudent` and `SpikedData` of `theory.models`.
"""

from simulate.masked.autocorrelation import RowAutocorrelation, row_autocorrelation
from simulate.masked.autoregression import RowAutoregression, autoregressive_rows
from simulate.masked.blocked import BlockedError, blocked_error
from simulate.masked.compared_outliers import compared_overlaps, needed_strengths
from simulate.masked.contrasts import contrasts
from simulate.masked.diagnosis import RowDiagnosis, diagnose_rows
from simulate.masked.fit import MaskedFit, fit
from simulate.masked.held_out import WindowErrors, window_errors
from simulate.masked.heterogeneity import RowHeterogeneity, row_heterogeneity
from simulate.masked.holes import (
    HolesDependence,
    ImputationErrors,
    Imputed,
    holes_depend_on_values,
    imputation_error,
    impute,
    with_holes,
)
from simulate.masked.outliers import symmetric_outlier, top_eigenvalue, top_outlier, top_overlap
from simulate.masked.path import MaskedPath, fit_path
from simulate.masked.population_covariance import population_covariance
from simulate.masked.replicate import (
    coordinate_test_errors,
    effective_ridge,
    mean_gcv_error,
    mean_loo_error,
    mean_test_error,
    mean_train_error,
)
from simulate.masked.replicate_rows import mean_corrected_error, mean_fold_error, mean_next_row_error
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.row_dependence import whitened
from simulate.masked.row_sources import row_blocks
from simulate.masked.sampler import Inputs, sample
from simulate.masked.spectra import correlation_eigenvalues, covariance_eigenvalues, predictor_eigenvalues
from simulate.masked.teacher_student import teacher_student_error
from simulate.masked.training import (
    TrainedFit,
    TrainingErrors,
    TrainingPath,
    fit_training,
    fit_training_path,
    one_pass,
    pattern_replicate,
    training_replicate,
)

__all__ = [
    "BlockedError",
    "HolesDependence",
    "ImputationErrors",
    "Imputed",
    "Inputs",
    "MaskedFit",
    "MaskedPath",
    "RowAutocorrelation",
    "RowAutoregression",
    "RowBlocks",
    "RowDiagnosis",
    "RowHeterogeneity",
    "TrainedFit",
    "TrainingErrors",
    "TrainingPath",
    "WindowErrors",
    "autoregressive_rows",
    "blocked_error",
    "compared_overlaps",
    "contrasts",
    "coordinate_test_errors",
    "correlation_eigenvalues",
    "covariance_eigenvalues",
    "diagnose_rows",
    "effective_ridge",
    "fit",
    "fit_path",
    "fit_training",
    "fit_training_path",
    "holes_depend_on_values",
    "imputation_error",
    "impute",
    "mean_corrected_error",
    "mean_fold_error",
    "mean_gcv_error",
    "mean_loo_error",
    "mean_next_row_error",
    "mean_test_error",
    "mean_train_error",
    "needed_strengths",
    "one_pass",
    "pattern_replicate",
    "population_covariance",
    "predictor_eigenvalues",
    "row_autocorrelation",
    "row_blocks",
    "row_heterogeneity",
    "sample",
    "symmetric_outlier",
    "teacher_student_error",
    "top_eigenvalue",
    "top_outlier",
    "top_overlap",
    "training_replicate",
    "whitened",
    "window_errors",
    "with_holes",
]
