"""The spectra of handwritten digits, by masked regression and by PCA, are compared with those of noise."""

from dataclasses import replace

from figures.analyse.matrix import matrix_spectrum, spectrum_panels, spectrum_rows
from figures.analyse.matrix.spectrum.table import LOWEST_RANK
from figures.core import Axes, Context, DataFrame, Experiment, Row, row
from figures.core.digits import missing, varying_pixels
from figures.core.names import write_name

LAM = 0.2  # near the best one by cross-validation; the variance of a pixel is 20 on average
DATA, LIMIT = "the data", "limit of the noise part"  # the curves of the analysis whose eigenvalues are counted
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
    """Make the markers small, cut a logarithmic axis to what is visible, and count eigenvalues beyond the limit."""
    for line in axes.get_lines():
        if line.get_marker() not in ("None", ""):
            line.set(marker="o", markersize=2.5, markerfacecolor="none", markeredgewidth=0.7)
    limit = rows.loc[rows["curve"] == LIMIT, "x"].max()
    beyond = int((rows.loc[rows["curve"] == DATA, "x"] > limit).sum())
    if axes.get_xscale() == "log":
        seen = rows["x"][rows["x"] > VISIBLE * rows["x"].max()]
        axes.set_xlim(0.7 * seen.min(), 1.4 * seen.max())
    write_name(axes, f"{beyond}\nbeyond", (limit, 0.1), color="C0")


EXPERIMENT = Experiment(
    title="Handwritten digits are not a few directions in independent noise",
    compute=compute,
    panels=[
        replace(panel, xlabel="eigenvalue", ylabel="share of eigenvalues below", xscale=panel.yscale, yscale="linear")
        for panel in spectrum_panels()
    ],
    draw=decorate,
    skip=missing,
    unjudged="the digits are one data set, and the lines are the laws of noise",
    caption="Images are no noise plus a few directions: blue circles miss the blue line, and more eigenvalues lie "
    "beyond the dotted line than the 12 directions explain: 17, 13 and 17. Each circle is one eigenvalue and the "
    "share of eigenvalues below it, for 1797 images of 61 pixels and ridge 0.2: (a) the masked predictor, (b) the "
    "covariance in gray levels squared, (c) the correlation matrix. Black: every pixel permuted by itself, and the "
    "law of independent columns of these variances, to which nothing is fitted. Blue: images, and independent columns "
    "with the smaller variances left without the detected directions. Dotted: its edge plus a margin that such noise "
    "exceeds in 1 % of samples.",
)
