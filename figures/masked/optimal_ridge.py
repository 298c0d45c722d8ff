"""The test error has a best ridge, and with it the error falls monotonically as samples are added."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, Blocks, Covariance, GOEPrecision, MaskedRegression, MaskedRidge

COVARIANCES: dict[str, Covariance] = {
    "AR(1), $r = 0.6$": AR1(np.inf, 0.6),
    "blocks of 5, $r = 0.5$": Blocks(np.inf, 5, 0.5),
    r"GOE precision, $\nu = 3$": GOEPrecision(np.inf, 3.0),
}
ALPHAS = (0.5, 1.0, 2.0)


def test_error(model: MaskedRidge) -> float:
    return masked.solve(model).mean_test_error


def against_lam(covariance: Covariance, alpha: float) -> Callable[[float], MaskedRidge]:
    return lambda lam: MaskedRidge(covariance, alpha, lam)


def with_optimum(covariance: Covariance, alpha: float) -> Curve:
    return Curve(model=against_lam(covariance, alpha), stars=lambda: [masked.optimal_ridge(covariance, alpha).lam])


def tuned(covariance: Covariance) -> Curve:
    return Curve(
        model=partial(MaskedRegression, covariance), theory=lambda model: masked.optimal_ridge(model).mean_test_error
    )


AR = COVARIANCES["AR(1), $r = 0.6$"]
EXPERIMENT = Experiment(
    title="With the best ridge the error falls with every sample, and the peak is gone",
    panels=[
        Panel(
            title="AR(1), $r = 0.6$",
            curves={rf"$\alpha = {alpha}$": with_optimum(AR, alpha) for alpha in ALPHAS},
            ordered=True,
            line=np.geomspace(1e-3, 30, 81),
            points=(0.01, 0.1, 1.0, 10.0),
            xlabel=r"ridge $\lambda$",
            xscale="log",
        ),
        Panel(
            title="optimally regularized",
            curves={name: tuned(covariance) for name, covariance in COVARIANCES.items()},
            replicate=NONE,
            line=np.geomspace(0.1, 10, 41),
            points=(),
            table_points=(0.5, 1.0, 2.0, 5.0),
            xlabel=r"sample ratio $\alpha = n/d$",
            xscale="log",
        ),
    ],
    theory=test_error,
    replicate=mean_test_error,
    d=100,
    replicates=40,
    ylabel="mean test error",
    yscale="log",
    caption="With the best ridge the error falls monotonically, and the peak at n = d is "
    "gone. The vertical axis is the mean squared error of a coordinate predicted from all others on new samples, "
    "averaged over coordinates. (a) Lines are the theory in the limit d = infinity, markers simulations at d = "
    "{sizes}, extrapolated in 1/d, and stars mark the least error, a root of the exact derivative: the best ridge "
    "is 1.53, 0.83 and 0.48 at alpha = 0.5, 1 and 2. (b) Theory only, for this chain, for blocks of five "
    "coordinates with correlations 0.5, and for a covariance whose inverse is nu plus a matrix of the Gaussian "
    "orthogonal ensemble.",
)
