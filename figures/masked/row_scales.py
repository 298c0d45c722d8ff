"""Rows of different scale change the learning curve, but not below n = d without a ridge."""

import numpy as np

from figures.core import Curve, Experiment, Panel
from figures.masked.two_scales import two_scales
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, EqualScales, MaskedRegression, MaskedRidge, RowScales, StudentTScales

COVARIANCE = AR1(np.inf, 0.6)
LAWS: dict[str, RowScales] = {
    "Gaussian rows": EqualScales(),
    "Student-t rows, 6 d.o.f.": StudentTScales(6.0),
    "two scales, $h = 3$": two_scales(3.0),
}
BELOW, ABOVE = np.linspace(0.1, 0.985, 80), np.geomspace(1.015, 6, 80)


def ridge(law: RowScales) -> Curve:
    return Curve(model=lambda alpha: MaskedRidge(COVARIANCE, alpha, 0.01, law))


def no_ridge(law: RowScales) -> Curve:
    return Curve(model=lambda alpha: MaskedRegression(COVARIANCE, alpha, law))


EXPERIMENT = Experiment(
    title="With a ridge rows of different scale lower the peak, AR(1), $r = 0.6$",
    panels=[
        Panel(
            title=r"$\lambda = 0.01$",
            curves={name: ridge(law) for name, law in LAWS.items()},
            line=np.geomspace(0.2, 6, 121),
            points=(0.3, 0.6, 1.0, 1.5, 2.5, 4.5),
        ),
        Panel(
            title=r"$\lambda \to 0$",
            curves={name: no_ridge(law) for name, law in LAWS.items()},
            line=np.concatenate([BELOW, ABOVE]),
            points=(0.25, 0.5, 0.7, 1.5, 2.5, 4.5),
            ylim=(0.4, 9),
        ),
    ],
    theory=lambda model: masked.solve(model).mean_test_error,
    replicate=mean_test_error,
    d=100,
    replicates=20,
    xlabel=r"sample ratio $\alpha = n/d$",
    ylabel="mean test error",
    xscale="log",
    yscale="log",
    caption="With a ridge, the more unlike the rows are in scale, the lower is the peak at n = d and the higher "
    "the error above it; without a ridge the law of the scales does not matter below n = d, where each row is "
    "fitted exactly. Rows are multiplied by square roots of random scales of mean 1; h is their mean square: 1 "
    "for Gaussian rows, 2 for Student-t rows with 6 degrees of freedom, 3 for two scales, "
    "a quarter of them larger. The vertical axis is the error on new such rows. Lines are the theory in the limit d = "
    "infinity; markers are simulations at d = {sizes}, extrapolated in 1/d.",
)
