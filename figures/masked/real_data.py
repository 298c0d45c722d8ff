"""Handwritten digits: every pixel predicted from the others, measured, predicted, and predicted from the data alone."""

from figures.analyse.matrix import FIGSIZE, analyse_matrix, decorate, panels
from figures.core import Context, Experiment, Row
from figures.masked.digits import missing, varying_pixels

LAMS = (0.02, 0.2, 2.0)  # the variance of a pixel is 20 on average


def compute(context: Context) -> list[Row]:
    """The table that `figures analyse` would give for the digits."""
    return analyse_matrix(varying_pixels(), lams=LAMS, repeats=context.replicates(20), run=context.sweep).rows


EXPERIMENT = Experiment(
    title="Handwritten digits, 61 pixels with gray levels 0 to 16",
    compute=compute,
    panels=panels(LAMS, 61),
    draw=decorate,
    figsize=FIGSIZE,
    skip=missing,
    caption="Mean squared error (gray levels squared) of a pixel predicted from the other 60 by masked ridge. "
    "Left: on held-out images (markers, two standard errors over random splits) against Gaussian theory with the "
    "covariance of the data, corrected for its own sampling noise (lines) or as it is (dotted). Middle: generalized "
    "cross-validation of the same fits, which needs no other images. Right: the choice of the ridge for all 1797.",
)
