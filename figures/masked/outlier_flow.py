"""The outlier of a spike from few samples to the population: out of the bulk, and away from it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from figures.masked.spiked_noise import two_level, well_above_threshold
from simulate.masked import top_eigenvalue
from theory import random_matrix
from theory.models import SpikedData, SpikeMethod

STRENGTHS = (1.0, 2.5, 6.0)


def model(method: SpikeMethod, lam: float | None, strength: float, alpha: float) -> SpikedData:
    return SpikedData(two_level(), strength=strength, alpha=alpha, method=method, lam=lam)


def edge(data: SpikedData) -> float:
    return random_matrix.outlier(data).edge


def curves(method: SpikeMethod, lam: float | None) -> dict[str, Curve | Callable[[float], SpikedData]]:
    flows: dict[str, Curve | Callable[[float], SpikedData]] = {
        rf"$\theta = {strength}$": partial(model, method, lam, strength) for strength in STRENGTHS
    }
    bulk = Curve(model=partial(model, method, lam, 1.0), theory=edge, replicate=NONE, points=(), style=":")
    return flows | {"edge of the bulk": bulk}


EXPERIMENT = Experiment(
    title="The outlier from sample to population",
    panels=[
        Panel(title=r"masked predictor, $\lambda = 1$", curves=curves("ssr", 1.0), ylabel="largest eigenvalue of $A$"),
        Panel(title="PCA", curves=curves("pca", None), ylabel="largest eigenvalue of $C$", yscale="log"),
    ],
    theory=lambda data: random_matrix.outlier(data).eigenvalue,
    replicate=top_eigenvalue,
    judged=well_above_threshold,
    d=200,
    replicates=20,
    line=np.geomspace(0.1, 300, 121),
    points=(0.5, 2.0, 8.0, 32.0),
    xlabel=r"sample ratio $\alpha = n/d$",
    xscale="log",
    caption="Largest eigenvalue of the fitted masked predictor and of the sample covariance against the number of "
    "samples; noise of variances 0.3 (80 %) and 4 (20 %), a delocalized spike; lines d = infinity, markers "
    "extrapolated from d = 200 and 400, judged from 1.3 times the threshold on. In the population (right end) every "
    "strength has its outlier; a sample shows it from where its line leaves the dotted edge: at strengths 1, 2.5, 6 "
    "from alpha = 1.39, 0.36, 0.11 on in the predictor and only from 50.9, 4.07, 0.26 on in PCA.",
)
