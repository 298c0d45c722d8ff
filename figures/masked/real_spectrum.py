"""Handwritten digits: the spectrum of masked regression and of PCA against what noise would have."""

from figures.core import Context, Experiment, Row
from figures.masked.analysis import SPECTRUM_FIGSIZE, decorate_spectrum, matrix_spectrum, spectrum_panels, spectrum_rows
from figures.masked.real_data import missing

LAM = 0.2  # near the best one by cross-validation; the variance of a pixel is 20 on average


def compute(context: Context) -> list[Row]:
    from sklearn.datasets import load_digits

    pixels = load_digits()["data"]  # 1797 images of 8 x 8; three pixels are always blank
    pixels = pixels[:, pixels.std(axis=0) > 0]
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
    caption="CAPTION",
)
