"""Gaussian theory predicts how well pixels of handwritten digits are predicted from the other pixels."""

from figures.analyse.matrix import analyse_matrix, decorate, panels
from figures.analyse.matrix.table import HELD_OUT
from figures.core import Context, Experiment, Panel, Row
from figures.core.digits import missing, varying_pixels

LAMS = (0.02, 0.2, 2.0)  # the variance of a pixel is 20 on average


def compute(context: Context) -> list[Row]:
    """Return the table that `figures analyse` would give for the digits."""
    return analyse_matrix(varying_pixels(), lams=LAMS, repeats=context.replicates(20), run=context.sweep).rows


EXPERIMENT = Experiment(
    title="Gaussian theory predicts the errors on 61 pixels of handwritten digits",
    compute=compute,
    panels=(
        *panels(LAMS, 61),
        Panel(
            title="held-out errors over theory",
            ratio_of=HELD_OUT,
            curves={},
            xlabel="training rows $n$ ($d = 61$)",
            ylabel="error/theory $-$ 1",
            xscale="log",
        ),
    ),
    draw=decorate,
    skip=missing,
    unjudged="pixels are not Gaussian, and random splits share images, so that their scatter is not all of the error",
    caption="From 500 images on Gaussian theory predicts the held-out errors of pixels within 2 %, and within 16 "
    "% at every number of images. Each pixel is predicted from the other 60 by masked ridge regression; errors "
    "are in squared gray levels, and the black horizontal line is that of predicting the mean. (a) Markers are "
    "held-out errors; solid lines are Gaussian theory, corrected for the noise of its covariance, dash-dotted "
    "ones that of rows of different scale; black lines belong to the ridge that cross-validation chooses. (b) The "
    "error that generalized cross-validation reports. (c) All 1797 images against the ridge; the star is the "
    "ridge that is chosen. (d) Held-out errors over Gaussian theory, moved aside.",
)
