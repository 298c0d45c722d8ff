"""The spectra of handwritten digits, by masked regression and by PCA, are compared with those of noise."""

from dataclasses import replace

from figures.analyse.matrix import matrix_spectrum, spectrum_panels, spectrum_rows
from figures.analyse.matrix.spectrum.table import LOWEST_RANK
from figures.core import Axes, Context, DataFrame, Experiment, Row, row
from figures.core.digits import missing, varying_pixels

LAM = 0.2  # near the best one by cross-validation; the variance of a pixel is 20 on average
VISIBLE = 1e-6  # share of the largest eigenvalue from which on one is drawn


def compute(_context: Context) -> list[Row]:
    """Return the spectra of the digits at one ridge; ValueError where the analysis finds none."""
    pixels = varying_pixels()
    found = matrix_spectrum(pixels, [f"pixel {k}" for k in range(pixels.shape[1])], LAM)
    if isinstance(found, str):
        raise ValueError(found)
    return [_cumulative(entry, pixels.shape[1]) for entry in spectrum_rows(found)]


def _cumulative(ranked: Row, d: int) -> Row:
    """Turn a row that gives the eigenvalue of a rank into one that gives the share of eigenvalues below it.

    Of a measured eigenvalue itself one half counts as below.
    """
    measured, share = ranked["simulation"], 1 - ranked["x"] / d
    if measured is not None:
        return row(ranked["curve"], measured, panel=ranked["panel"], measured=share + 0.5 / d, d=d)
    below = 1.0 if ranked["x"] <= LOWEST_RANK else share  # a line ends at this rank in place of zero
    return row(ranked["curve"], ranked["theory"], panel=ranked["panel"], theory=below)


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Make the markers small, and cut a logarithmic axis to what is visible."""
    for line in axes.get_lines():
        if line.get_marker() not in ("None", ""):
            line.set(marker="o", markersize=2.5, markerfacecolor="none", markeredgewidth=0.7)
    if axes.get_xscale() == "log":
        seen = rows["x"][rows["x"] > VISIBLE * rows["x"].max()]
        axes.set_xlim(0.7 * seen.min(), 1.4 * seen.max())


EXPERIMENT = Experiment(
    title="Handwritten digits, 61 pixels: eigenvalues against noise",
    compute=compute,
    panels=[
        replace(panel, xlabel="eigenvalue", ylabel="share of eigenvalues below", xscale=panel.yscale, yscale="linear")
        for panel in spectrum_panels()
    ],
    draw=decorate,
    skip=missing,
    unjudged="the digits are one data set, and the lines are the laws of noise",
    caption="Each marker is one eigenvalue (horizontal) and the share of eigenvalues below it (vertical), for n = "
    "1797 images and a ridge of 0.2, of the masked predictor (left), the covariance (middle, in gray levels "
    "squared) and the correlation matrix (right). Lines are the cumulative distributions that theory gives for "
    "noise. Black: the eigenvalues after every pixel was permuted by itself, and the law of independent columns "
    "with these variances, to which nothing is fitted; the markers lie on the line and confirm it. The blue markers "
    "are the images as they are, and the blue line is the bulk of independent columns with the variances that "
    "remain when 12 detected directions are taken out. The dotted line is the edge of this bulk plus a margin, "
    "which the largest eigenvalue of such noise exceeds in 1 % of samples. Beyond the dotted line lie 17 "
    "eigenvalues of masked regression, 13 of the covariance and 17 of the correlation matrix; beyond the edge of "
    "independent columns with all of the variance there are 25, 7 and 12. Neighboring pixels are correlated at all "
    "scales, so that the estimate of the noise part does not settle: the digits are not a few directions in "
    "independent noise, and the counts say how far they are from it.",
)
