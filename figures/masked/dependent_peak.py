"""Dependence between rows does not move the interpolation peak, and costs most of the rows far above it."""

import math
from functools import partial

import numpy as np
from numpy.random import Generator

from figures.core import Curve, Experiment, Panel
from simulate.masked import fit, mean_test_error, sample, whitened
from theory import masked
from theory.models import AR1, AR1Rows, MaskedRegression

COVARIANCE = AR1(math.inf, 0.6)
CORRELATIONS = (0.0, 0.6, 0.9)


def least_squares(phi: float, alpha: float) -> MaskedRegression:
    return MaskedRegression(COVARIANCE, alpha, row_dependence=AR1Rows(math.inf, phi))


def noise(d: int) -> float:
    """Return the mean error of the population's predictor, at a finite size."""
    return float(np.mean(1 / np.diagonal(np.linalg.inv(COVARIANCE.resized(d).matrix))))


def share(model: MaskedRegression, d: int, rng: Generator) -> float:
    """Measure the share of the rows that independent rows with the same test error would be."""
    return 1 / (model.alpha * (1 - noise(d) / mean_test_error(model, d, rng)))


def of_whitened(phi: float, model: MaskedRegression, d: int, rng: Generator) -> float:
    """Draw rows of this correlation, whiten them, and measure the test error of what is fitted then."""
    covariance, n = COVARIANCE.resized(d), round(model.alpha * d)
    rows = AR1Rows(n, phi)
    return fit(whitened(sample(covariance, n, rng, row_dependence=rows), rows), 0.0).mean_test_error(covariance)


EXPERIMENT = Experiment(
    title="By theory the peak stays at $n = d$ however much rows depend on each other",
    panels=[
        Panel(
            title="error",
            curves={rf"$\phi = {phi:g}$": Curve(model=partial(least_squares, phi)) for phi in CORRELATIONS}
            | {
                r"$\phi = 0.9$, whitened": Curve(
                    model=partial(least_squares, 0.0),
                    replicate=partial(of_whitened, 0.9),
                    line=(),
                    points=(2.2, 5.0),
                    color="C1",
                )
            },
            theory=lambda model: masked.solve(model).mean_test_error,
            replicate=mean_test_error,
            line=np.concatenate([np.linspace(0.2, 0.985, 60), np.geomspace(1.015, 9, 60)]),
            points=(0.3, 0.6, 0.75, 1.35, 1.8, 3.0, 7.0),
            ylabel="mean test error",
            yscale="log",
            ylim=(0.4, 9),
        ),
        Panel(
            title="effective rows",
            curves={rf"$\phi = {phi:g}$": Curve(model=partial(least_squares, phi)) for phi in CORRELATIONS},
            theory=lambda model: model.row_dependence.effective_share(model.alpha),
            replicate=share,
            line=np.geomspace(1.005, 12, 81),
            points=(1.35, 1.8, 2.5, 5.0, 9.0),
            ylabel="effective rows / rows",
            ylim=(0, 1.2),
        ),
    ],
    d=80,
    replicates=14,
    xlabel=r"sample ratio $\alpha = n/d$",
    xscale="log",
    ordered=True,
    caption="By theory the interpolation peak stays at n = d however much rows depend on each other; below it the "
    "error is that of independent rows, and far above it dependent rows are worth few independent ones. "
    "Successive rows have the correlation phi, coordinates are AR(1) with 0.6. Lines are theory for d = "
    "infinity, markers simulations at d = {sizes}, extrapolated in 1/d. (a) The error on an independent new "
    "row, which diverges at n = d. Triangles are fits of whitened rows at phi = 0.9, on the line of "
    "independent rows. (b) How many independent rows have the same error, over all rows; this falls from 1 at "
    "the peak to (1 - phi^2)/(1 + phi^2).",
)
