"""Masked self-supervised ridge regression, measured: fits of data, samplers of inputs, replicates for sweeps."""

from simulate.masked.fit import MaskedFit, fit
from simulate.masked.path import MaskedPath, fit_path

__all__ = ["MaskedFit", "MaskedPath", "fit", "fit_path"]
