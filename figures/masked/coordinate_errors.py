"""Each masked coordinate has an error of its own where variances and correlations differ along the chain."""

import numpy as np

from figures.core import Experiment
from simulate.masked import coordinate_test_errors
from theory import masked
from theory.models import AR1, MaskedRidge, Scaled

D = 60
# Standard deviations rise by a factor of four along the chain, so that no two coordinates are alike.
COVARIANCE = Scaled(AR1(D, 0.7), np.geomspace(0.5, 2.0, D))


EXPERIMENT = Experiment(
    title="The two ends of a chain are harder to predict than their neighbors",
    curves={rf"$\alpha = {alpha}$": MaskedRidge(COVARIANCE, alpha, 0.05) for alpha in (0.5, 1.0, 3.0)},
    theory=lambda model: masked.solve(model, exact_size=True).test_error,
    replicate=coordinate_test_errors,
    by_coordinate=True,
    extrapolate=False,
    d=D,
    replicates=200,
    points=(*range(0, D, 4), D - 1),  # both ends
    ordered=True,
    xlabel="masked coordinate",
    ylabel="test error",
    yscale="log",
    caption="The error of a coordinate grows with its variance, and an end of a chain, which has only one neighbor, is "
    "harder to predict than the coordinates beside it. Each is predicted from all others by ridge regression "
    "(ridge 0.05) on n = alpha d samples; the vertical axis is the mean squared error on new samples. The chain "
    "is AR(1) with d = 60 and r = 0.7 between neighbors; its standard deviations rise from 0.5 to 2 along it. "
    "Lines are the theory for this size (d - 1 unknowns), which alone shows the coordinates next to the ends; "
    "markers are means of simulated fits at every fourth coordinate and the last, most bars smaller than the "
    "markers.",
)
