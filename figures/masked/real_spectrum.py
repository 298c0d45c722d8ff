"""The spectra of handwritten digits, by masked regression and by PCA, are compared with those of noise."""

from figures.analyse.matrix import decorate_spectrum, matrix_spectrum, spectrum_panels, spectrum_rows
from figures.core import Context, Experiment, Row
from figures.core.digits import missing, varying_pixels

LAM = 0.2  # near the best one by cross-validation; the variance of a pixel is 20 on average


def compute(_context: Context) -> list[Row]:
    """Returns the spectra of the digits at one ridge; ValueError where the analysis finds none."""
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
    skip=missing,
    unjudged="the digits are one data set, and the bulks are those of noise",
    caption="Each marker is one eigenvalue (vertical) and its rank from the largest on (horizontal), for n = 1797 "
    "images and a ridge of 0.2. Black: the eigenvalues after every pixel was permuted by itself, and the law of "
    "independent columns with these variances, to which nothing is fitted. Blue line: the bulk of independent "
    "columns with the variances that remain when 12 detected directions are taken out; the dotted lines are its "
    "edge and the margin that noise exceeds in 1% of samples. Beyond this margin lie 17 eigenvalues of masked "
    "regression, 13 of the covariance and 17 of the correlation matrix; beyond that of independent columns there "
    "are 25, 7 and 12. Neighboring pixels are correlated at all scales, so that the estimate of the noise part does "
    "not settle: the digits are not a few directions in independent noise, and the counts say how far they are from "
    "it.",
)
