"""The error of coordinates of small variance falls, rises and falls again as masked regression is trained."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from figures.core import Curve, Experiment
from figures.masked.two_blocks import TwoBlocks, two_blocks
from simulate.masked import fit_training_path, sample
from theory import masked
from theory.core import Array
from theory.models import MaskedRegression

SETTINGS = {
    r"$\alpha = 0.6$": (0.6, two_blocks(shared=0.3), (0.12, 0.4, 2.0, 15.0, 130.0, 1e3, 1e4, 2e5)),
    r"$\alpha = 1.2$": (1.2, two_blocks(shared=0.3), (0.15, 0.75, 3.0, 12.0, 130.0, 1.2e3, 1.2e4, 2e5)),
    r"$\alpha = 1.2$, standardized": (1.2, two_blocks(shared=0.3, small=1.0), (0.15, 0.8, 3.0, 12.0, 100.0)),
}


def small_errors(model: MaskedRegression, times: Sequence[float], d: int, rng: Generator) -> dict[str, Array]:
    """Measure the mean error of the small coordinates over their variance, at each time, on one data set."""
    covariance = model.covariance.resized(d)
    path = fit_training_path(sample(covariance, round(model.alpha * d), rng), times)
    found = np.array([path.test_error(i, covariance)[d // 2 :].mean() for i in range(len(times))])
    return {"error": found / small_variance(model)}


def predicted_errors(model: MaskedRegression, times: Sequence[float]) -> dict[str, Array]:
    curve = masked.training_curve(model.covariance, model.alpha, times)
    return {"error": curve.test_error[:, 1] / small_variance(model)}


def small_variance(model: MaskedRegression) -> float:
    assert isinstance(model.covariance, TwoBlocks)
    return model.covariance.small


EXPERIMENT = Experiment(
    title="The error of coordinates of small variance rises and falls again along training",
    curves={name: Curve(setting=name, number="error", points=points) for name, (_, _, points) in SETTINGS.items()},
    settings={name: MaskedRegression(covariance, alpha) for name, (alpha, covariance, _) in SETTINGS.items()},
    measure=small_errors,
    theory=predicted_errors,
    by_point=True,
    line=np.geomspace(0.05, 1e6, 81),
    d=100,
    replicates=20,
    xlabel="time $t$",
    ylabel="error of a small coordinate / its variance",
    xscale="log",
    yscale="log",
    caption="The error of coordinates of small variance falls, rises and falls again along training, before it "
    "rises to its limit: training first fits the large coordinates to the noise in the small ones. With "
    "standardized coordinates it has one minimum. Half of the coordinates are independent with variance "
    "1; the others have 0.001, of which 30 % comes from one large coordinate each, the rest from an AR(1) "
    "chain with r = 0.9. Errors on new rows are over the variance of the small coordinates. Lines are the "
    "theory for d = infinity, markers simulations at d = {sizes}, extrapolated. Maxima are 2.95 at t = "
    "122 (alpha = 0.6) and 1.07 at t = 12 (1.2).",
)
