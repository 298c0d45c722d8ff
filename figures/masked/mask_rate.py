"""Masking a fraction of the inputs acts as a ridge that is made of the variances of the data."""

from functools import partial

import numpy as np

from figures.core import Curve, Experiment, Panel
from figures.masked.second_shades import SECOND_SHADES
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, RandomMasks

COVARIANCE = AR1(np.inf, 0.6)


def problem(rate: float, alpha: float, lam: float) -> RandomMasks:
    return RandomMasks(COVARIANCE, alpha, lam, rate)


EXPERIMENT = Experiment(
    title="Masking acts like a ridge: hiding some inputs lowers the error at $n = d$",
    panels=[
        Panel(
            title=r"$\alpha = 1$",
            curves={rf"$\lambda = {lam}$": partial(problem, alpha=1.0, lam=lam) for lam in (1e-3, 0.01, 0.1, 1.0)},
            ordered=True,
        ),
        Panel(
            title=r"$\lambda = 0.01$",
            curves={
                rf"$\alpha = {alpha}$": Curve(model=partial(problem, alpha=alpha, lam=0.01), color=shade)
                for alpha, shade in zip((0.5, 1.0, 2.0, 4.0), SECOND_SHADES, strict=True)
            },
        ),
    ],
    theory=lambda model: masked.solve(model).mean_test_error,
    replicate=mean_test_error,
    line=np.concatenate([np.linspace(0, 0.1, 31), np.linspace(0.11, 0.95, 85)]),
    points=(0.0, 0.05, 0.15, 0.3, 0.5, 0.8),
    d=50,
    replicates=40,
    xlabel="mask rate $p$",
    ylabel="mean test error under masking",
    yscale="log",
    caption="Masking acts like a ridge: with a small ridge at n = d, hiding 15 % of the inputs lowers the error, and "
    "the best mask rate falls as samples are added. Each input is masked, set to zero, with probability p, and every "
    "masked coordinate is predicted from the inputs that are shown; the fit is that of infinitely many masks of each "
    "sample. Inputs are AR(1) with r = 0.6. The vertical axis is the mean squared error on new samples masked at the "
    "same rate; at p = 0 all other inputs are shown. Lines are the theory for d = infinity; markers are "
    "simulations at d = {sizes}, extrapolated; alpha = n/d.",
)
