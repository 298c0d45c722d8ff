"""Masked regression of a user's samples-by-features matrix: measured, predicted, and the ridge to use."""

from figures.masked.analysis.admissible import constant_columns, constant_text
from figures.masked.analysis.analyse import analyse_matrix
from figures.masked.analysis.figure import FIGSIZE, as_experiment, decorate, panels
from figures.masked.analysis.record import BestRidge, MatrixAnalysis
from figures.masked.analysis.report import report

__all__ = [
    "FIGSIZE",
    "BestRidge",
    "MatrixAnalysis",
    "analyse_matrix",
    "as_experiment",
    "constant_columns",
    "constant_text",
    "decorate",
    "panels",
    "report",
]
