"""Compares eigenvalues of the masked predictor and of PCA of a user's matrix with those of noise."""

from figures.analyse.matrix.spectrum.analyse import matrix_spectrum
from figures.analyse.matrix.spectrum.figure import (
    decorate_spectrum,
    spectrum_experiment,
    spectrum_panels,
)
from figures.analyse.matrix.spectrum.record import MatrixSpectrum
from figures.analyse.matrix.spectrum.report import spectrum_report
from figures.analyse.matrix.spectrum.table import spectrum_rows

__all__ = [
    "MatrixSpectrum",
    "decorate_spectrum",
    "matrix_spectrum",
    "spectrum_experiment",
    "spectrum_panels",
    "spectrum_report",
    "spectrum_rows",
]
