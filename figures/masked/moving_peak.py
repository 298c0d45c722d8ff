"""Along training the interpolation peak sits where there are as many rows as directions that are learned by then."""

import math
from functools import cache

import numpy as np
from numpy.random import Generator

from figures.core import Curve, Experiment, Panel
from figures.masked.two_blocks import TwoBlocks, two_blocks
from simulate.masked import fit_training_path, sample
from theory import masked
from theory.models import Isotropic, MaskedRegression
from theory.numerics import ConvergenceError

TIMES = {"isotropic": (1.0, 3.0, 10.0, 100.0), "two blocks": (3.0, 30.0, 1e3, 1e6)}
NAMES = {1e3: "10^3", 1e6: "10^6"}
COVARIANCES = {"isotropic": Isotropic(math.inf), "two blocks": two_blocks()}
POINTS = {
    "isotropic": (0.25, 0.4, 0.6, 0.8, 1.0, 1.3, 2.0),
    "two blocks": (0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 0.95, 1.2, 2.0),
}


def times_of(model: MaskedRegression) -> tuple[float, ...]:
    return TIMES["two blocks" if isinstance(model.covariance, TwoBlocks) else "isotropic"]


def errors(model: MaskedRegression, d: int, rng: Generator) -> dict[str, float]:
    """Measure the error at each time on one data set: of the small coordinates, where there are two blocks."""
    covariance, times = model.covariance.resized(d), times_of(model)
    path = fit_training_path(sample(covariance, round(model.alpha * d), rng), times)
    found = [path.test_error(i, covariance) for i in range(len(times))]
    if isinstance(model.covariance, TwoBlocks):
        found = [error[d // 2 :] / model.covariance.small for error in found]
    return {str(time): float(error.mean()) for time, error in zip(times, found, strict=True)}


@cache  # the curves of all times ask for the same numbers
def predicted(model: MaskedRegression) -> dict[str, float]:
    unit = model.covariance.small if isinstance(model.covariance, TwoBlocks) else 1.0
    return {str(time): error_at(model, time) / unit for time in times_of(model)}


def error_at(model: MaskedRegression, time: float) -> float:
    """Return the error of the last class of coordinates, the small ones where there are two."""
    try:
        return float(masked.training_curve(model.covariance, model.alpha, [time]).test_error[0, -1])
    except ConvergenceError:  # so late that double precision does not tell the error from its limit
        return float(masked.ridgeless(model).test_error[-1])


def panel(name: str, title: str, ylabel: str) -> Panel:
    curves = {
        f"$t = {NAMES.get(time, f'{time:g}')}$": Curve(setting=name, number=str(time), points=POINTS[name])
        for time in TIMES[name]
    }
    return Panel(title=title, curves=curves, ylabel=ylabel)


EXPERIMENT = Experiment(
    title="The interpolation peak moves along training, as directions are learned",
    panels=[
        panel("isotropic", "isotropic", "mean test error"),
        panel("two blocks", "two blocks, the small one", "error / variance"),
    ],
    settings={
        name: lambda alpha, covariance=covariance: MaskedRegression(covariance, alpha)
        for name, covariance in COVARIANCES.items()
    },
    measure=errors,
    theory=predicted,
    line=np.geomspace(0.2, 3, 61),
    d=80,
    replicates=12,
    xlabel=r"sample ratio $\alpha = n/d$",
    xscale="log",
    yscale="log",
    caption="Along training the interpolation peak moves to more rows, as if these had to be as many as the directions "
    "learned. (a) Independent coordinates of variance 1, whose peak moves to n = d: by theory it is at alpha = 0.47, "
    "0.73, 0.90 and 0.99 at the four times. (b) Half of the coordinates have the variance 1, the other half, a chain "
    "with r = 0.9, have 0.001; their error over their variance peaks at n = d/2 once the large directions are "
    "learned, and has a second, lower peak near n = d when the small ones are learned too. Lines are theory for d = "
    "infinity, markers simulations at d = {sizes}, extrapolated.",
)
