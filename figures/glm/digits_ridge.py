"""Learning curves for odd against even handwritten digits are predicted from the moments of the data."""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from figures.core import Experiment, Panel
from figures.core.digits import missing, varying_pixels, written_digits
from figures.glm.observables import test_error, train_loss
from simulate.glm import resampled
from theory.core.arrays import Array
from theory.models import GaussianCovariateModel

LAMS = (1e-3, 0.03, 1.0)  # a pixel has variance one on average


@lru_cache(maxsize=1)
def digits() -> tuple[Array, Array]:
    """Load the pixels (1797, 61) without the three blank ones, in one unit, and the parity +-1; both centered."""
    pixels, parity = varying_pixels(), np.where(written_digits() % 2 == 1, 1.0, -1.0)
    pixels = pixels - pixels.mean(axis=0)
    return pixels / np.sqrt(np.mean(pixels**2)), parity - parity.mean()


@lru_cache(maxsize=256)
def moments(alpha: float, lam: float) -> GaussianCovariateModel:
    return GaussianCovariateModel.from_data(*digits(), alpha=alpha, lam=lam)


def measured(model: Any, d: int, rng: np.random.Generator, name: str) -> float:
    return float(getattr(resampled(*digits(), round(model.alpha * d), model.lam, rng), name))


def curves() -> dict[str, partial[GaussianCovariateModel]]:
    return {rf"$\lambda = {lam}$": partial(moments, lam=lam) for lam in LAMS}


EXPERIMENT = Experiment(
    title="Two moments predict how handwritten digits are learned",
    papers={
        "arXiv:2102.08127 (real images)": "It agrees that first and second moments predict learning curves of ridge "
        "regression on images. The authors take scattering features of 60,000 images of MNIST, here there are 61 "
        "pixels of smaller images.",
    },
    panels=[
        Panel(
            title="test",
            curves=curves(),
            theory=test_error,
            replicate=partial(measured, name="test_error"),
            ylabel="mean squared test error",
            yscale="log",
        ),
        Panel(
            title="training",
            curves=curves(),
            theory=train_loss,
            replicate=partial(measured, name="train_loss"),
            ylabel="training loss per image",
        ),
    ],
    ordered=True,
    line=np.geomspace(0.3, 16, 61),
    points=(0.4, 0.8, 1.0, 1.5, 2.5, 5.0, 10.0, 16.0),
    d=61,
    extrapolate=False,
    replicates=24,
    judged=lambda model: False,
    xlabel=r"images per pixel $\alpha = n/p$",
    xscale="log",
    skip=missing,
    unjudged="pixels are not Gaussian",
    caption="First and second moments of the pixels predict the test errors of a ridge regression that tells odd from "
    "even digits within 5 %, but for 8 to 12 % at the peak and right of it. Lines are the Gaussian covariate "
    "model with the means and covariances of all 1797 images of 61 pixels; markers are fits of n images drawn "
    "with replacement and tested on all of them, so that both describe the same population. No z is given, "
    "because pixels are not Gaussian. Training losses agree within 0.02; their largest deviations in percent "
    "are those of losses near zero.",
)
