"""Masked self-supervised ridge regression, measured: fits of data, samplers of inputs, replicates for sweeps."""

from simulate.masked.contrasts import contrasts
from simulate.masked.fit import MaskedFit, fit
from simulate.masked.path import MaskedPath, fit_path
from simulate.masked.replicate import (
    coordinate_test_errors,
    effective_ridge,
    mean_test_error,
    mean_train_error,
)
from simulate.masked.sampler import sample
from simulate.masked.teacher_student import teacher_student_error

__all__ = [
    "MaskedFit",
    "MaskedPath",
    "contrasts",
    "coordinate_test_errors",
    "effective_ridge",
    "fit",
    "fit_path",
    "mean_test_error",
    "mean_train_error",
    "sample",
    "teacher_student_error",
]
