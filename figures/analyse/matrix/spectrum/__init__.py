"""Compares eigenvalues of the masked predictor and of PCA of a user's matrix with those of noise."""

from figures.analyse.matrix.spectrum.analyse import matrix_spectrum
from figures.analyse.matrix.spectrum.directions import (
    Directions,
    directions_of,
    loadings_frame,
    scores_frame,
)
from figures.analyse.matrix.spectrum.figure import (
    decorate_spectrum,
    spectrum_experiment,
    spectrum_panels,
)
from figures.analyse.matrix.spectrum.record import MatrixSpectrum
from figures.analyse.matrix.spectrum.report import spectrum_report, spectrum_sentences, spectrum_table
from figures.analyse.matrix.spectrum.table import spectrum_rows

__all__ = [
    "Directions",
    "MatrixSpectrum",
    "decorate_spectrum",
    "directions_of",
    "loadings_frame",
    "matrix_spectrum",
    "scores_frame",
    "spectrum_experiment",
    "spectrum_panels",
    "spectrum_report",
    "spectrum_rows",
    "spectrum_sentences",
    "spectrum_table",
]
