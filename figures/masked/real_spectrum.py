"""Handwritten digits: the spectrum of masked regression and of PCA against what noise would have."""

from figures.analyse.matrix import SPECTRUM_FIGSIZE, decorate_spectrum, matrix_spectrum, spectrum_panels, spectrum_rows
from figures.core import Context, Experiment, Row
from figures.masked.digits import missing, varying_pixels

LAM = 0.2  # near the best one by cross-validation; the variance of a pixel is 20 on average


def compute(_context: Context) -> list[Row]:
    """The spectra of the digits at one ridge; ValueError where the analysis finds none."""
    pixels = varying_pixels()
    found = matrix_spectrum(pixels, [f"pixel {k}" for k in range(pixels.shape[1])], LAM)
    if isinstance(found, str):
        raise ValueError(found)
    return spectrum_rows(found)


EXPERIMENT = Experiment(
    title="Handwritten digits, 61 pixels: eigenvalues against noise",
    compute=compute,
    panels=spectrum_panels(),
    draw=decorate_spectrum,
    figsize=SPECTRUM_FIGSIZE,
    skip=missing,
    caption="Rank of every eigenvalue, n = 1797, lam = 0.2. Black: every pixel permuted by itself, and the law of "
    "independent columns of these variances (no fit). Blue line: the bulk of the noise part, independent columns "
    "of the variances that 12 detected directions leave; dotted: its edge and the margin that noise exceeds in 1% "
    "of samples. Beyond it lie 17 eigenvalues of masked regression, 13 of the covariance, 17 of the correlation "
    "matrix; beyond that of independent columns 25, 7 and 12. Neighboring pixels are correlated through all "
    "scales, so that the noise part does not settle: the digits are no few directions in independent noise, and "
    "these counts say how far from it.",
)
