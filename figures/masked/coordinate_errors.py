"""Error of each masked coordinate where variances and correlations differ from coordinate to coordinate."""

import numpy as np

from figures.core import Experiment
from simulate.masked import coordinate_test_errors
from theory import masked
from theory.models import AR1, MaskedRidge, Scaled

D = 60
# scales rise by a factor of four along the chain: neighbors are correlated, and no two coordinates alike
COVARIANCE = Scaled(AR1(D, 0.7), np.geomspace(0.5, 2.0, D))


EXPERIMENT = Experiment(
    title=f"Heteroscedastic AR(1), $d = {D}$",
    curves={rf"$\alpha = {alpha}$": MaskedRidge(COVARIANCE, alpha, 0.05) for alpha in (0.5, 1.0, 3.0)},
    theory=lambda model: masked.solve(model, exact_size=True).test_error,
    replicate=coordinate_test_errors,
    by_coordinate=True,
    extrapolate=False,
    d=D,
    replicates=200,
    points=tuple(range(0, D, 4)),
    xlabel="masked coordinate",
    ylabel="test error",
    yscale="log",
    caption="Standard deviations rise from 0.5 to 2 along an AR(1) chain with r = 0.7; lam = 0.05. Lines: theory at "
    "this size (d - 1 unknowns each); markers: simulation, bars of two standard errors. The ends have one neighbor.",
)
