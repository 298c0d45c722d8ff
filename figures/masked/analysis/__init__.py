"""Masked regression of a user's samples-by-features matrix: measured, predicted, and the ridge to use."""

from figures.masked.analysis.admissible import constant_columns, constant_text
from figures.masked.analysis.analyse import analyse_matrix
from figures.masked.analysis.figure import FIGSIZE, as_experiment, decorate, panels
from figures.masked.analysis.record import BestRidge, MatrixAnalysis
from figures.masked.analysis.report import report
from figures.masked.analysis.spectrum import MatrixSpectrum, matrix_spectrum
from figures.masked.analysis.spectrum_figure import (
    SPECTRUM_FIGSIZE,
    decorate_spectrum,
    spectrum_experiment,
    spectrum_panels,
)
from figures.masked.analysis.spectrum_report import spectrum_report
from figures.masked.analysis.spectrum_table import spectrum_rows

__all__ = [
    "FIGSIZE",
    "SPECTRUM_FIGSIZE",
    "BestRidge",
    "MatrixAnalysis",
    "MatrixSpectrum",
    "analyse_matrix",
    "as_experiment",
    "constant_columns",
    "constant_text",
    "decorate",
    "decorate_spectrum",
    "matrix_spectrum",
    "panels",
    "report",
    "spectrum_experiment",
    "spectrum_panels",
    "spectrum_report",
    "spectrum_rows",
]
