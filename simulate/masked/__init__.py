"""Measures masked self-supervised ridge regression: fits of data, samplers of inputs, replicates for sweeps.

A replicate takes the same record as the theory: `mean_test_error(MaskedRidge(...), d, rng)`, and likewise for the
records `RandomMasks`, `SpanMask`, `SpanWindows`, `TeacherStudent` and `SpikedData` of `theory.models`.
"""

from simulate.masked.contrasts import contrasts
from simulate.masked.fit import MaskedFit, fit
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
from simulate.masked.replicate import (
    coordinate_test_errors,
    effective_ridge,
    mean_gcv_error,
    mean_loo_error,
    mean_test_error,
    mean_train_error,
)
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.row_sources import row_blocks
from simulate.masked.sampler import Inputs, sample
from simulate.masked.spectra import correlation_eigenvalues, covariance_eigenvalues, predictor_eigenvalues
from simulate.masked.teacher_student import teacher_student_error

__all__ = [
    "HolesDependence",
    "ImputationErrors",
    "Imputed",
    "Inputs",
    "MaskedFit",
    "MaskedPath",
    "RowBlocks",
    "RowHeterogeneity",
    "contrasts",
    "coordinate_test_errors",
    "correlation_eigenvalues",
    "covariance_eigenvalues",
    "effective_ridge",
    "fit",
    "fit_path",
    "holes_depend_on_values",
    "imputation_error",
    "impute",
    "mean_gcv_error",
    "mean_loo_error",
    "mean_test_error",
    "mean_train_error",
    "predictor_eigenvalues",
    "row_blocks",
    "row_heterogeneity",
    "sample",
    "symmetric_outlier",
    "teacher_student_error",
    "top_eigenvalue",
    "top_outlier",
    "top_overlap",
    "with_holes",
]
