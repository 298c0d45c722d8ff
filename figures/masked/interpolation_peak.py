"""Masked regression has an interpolation peak at n = d, which a ridge removes."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import Experiment, Panel
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, Covariance, GaussianFreeField, Isotropic, MaskedRidge

COVARIANCES: dict[str, Covariance] = {
    "isotropic": Isotropic(np.inf),
    "AR(1), $r = 0.7$": AR1(np.inf, 0.7),
    "free field, mass 0.5": GaussianFreeField(np.inf, 0.5),
}


def test_error(model: MaskedRidge) -> float:
    return masked.solve(model).mean_test_error


def curves(covariance: Covariance) -> dict[str, Callable[[float], MaskedRidge]]:
    return {rf"$\lambda = {lam}$": partial(MaskedRidge, covariance, lam=lam) for lam in (1e-3, 0.03, 1.0)}


EXPERIMENT = Experiment(
    title=r"The error of masked regression peaks at $n = d$ with a small ridge, not with $\lambda = 1$",
    papers={
        "arXiv:2601.23208 (errors)": "The lines are explicit errors for large n and d, which the abstract announces. "
        "The body of the paper was not readable; the covariances and sizes are our own.",
    },
    panels=[Panel(title=name, curves=curves(covariance)) for name, covariance in COVARIANCES.items()],
    theory=test_error,
    replicate=mean_test_error,
    line=np.geomspace(0.2, 5, 161),
    points=(0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0),
    d=100,
    replicates=14,
    xlabel=r"sample ratio $\alpha = n/d$",
    ylabel="mean test error",
    xscale="log",
    yscale="log",
    ordered=True,
    caption="With a small ridge the error of masked regression peaks at n = d, where the fit can just interpolate "
    "its samples; a ridge of order one removes the peak. The vertical axis is the mean squared error of a "
    "coordinate predicted from all others on new samples, averaged over the coordinates. These are (a) "
    "independent, (b) an AR(1) chain with the correlation 0.7 between neighbors, (c) a Gaussian free field on a "
    "ring, whose inverse covariance is the squared mass minus the lattice Laplacian. Lines are the theory in the "
    "limit d = infinity; markers are simulations at d = {sizes}, extrapolated in 1/d.",
)
