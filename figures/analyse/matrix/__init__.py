"""Masked regression of a user's samples-by-features matrix: measured, predicted, and the ridge to use."""

from figures.analyse.matrix.admissible import admitted, constant_text
from figures.analyse.matrix.analyse import analyse_matrix
from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.figure import as_experiment, decorate, panels
from figures.analyse.matrix.record import BestRidge, MatrixAnalysis, UnlikeRows
from figures.analyse.matrix.report import report
from figures.analyse.matrix.spectrum import (
    MatrixSpectrum,
    decorate_spectrum,
    matrix_spectrum,
    spectrum_experiment,
    spectrum_panels,
    spectrum_report,
    spectrum_rows,
)

__all__ = [
    "BestRidge",
    "CenteredRows",
    "MatrixAnalysis",
    "MatrixSpectrum",
    "UnlikeRows",
    "admitted",
    "analyse_matrix",
    "as_experiment",
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
