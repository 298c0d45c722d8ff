"""Overlap of the leading direction with a spike against its strength, for masked regression and three kinds of PCA."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from figures.core import Experiment, Panel
from figures.masked.spiked_noise import NAMES, pairs_and_blocks, two_level, well_above_threshold
from simulate.masked import top_overlap
from theory import random_matrix
from theory.models import Covariance, SpikedData, SpikeMethod

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


def overlap(data: SpikedData) -> float:
    return random_matrix.outlier(data).overlap


def model(
    noise: Callable[[], Covariance], alpha: float, method: SpikeMethod, lam: float | None, strength: float
) -> SpikedData:
    return SpikedData(noise(), strength=strength, alpha=alpha, method=method, lam=lam)


def curves(noise: Callable[[], Covariance], alpha: float, lam: float) -> dict[str, Callable[[float], SpikedData]]:
    ways: dict[str, tuple[SpikeMethod, float | None]] = {"masked regression": ("ssr", lam)}
    ways |= {name: (method, None) for method, name in NAMES.items()}
    return {name: partial(model, noise, alpha, *way) for name, way in ways.items()}


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """One legend, where there is room."""
    legend = axes.get_legend()
    if legend is not None and rows["panel"].str.contains("two").all():
        legend.remove()


EXPERIMENT = Experiment(
    title="What each method sees of a delocalized spike",
    panels=[
        Panel(
            title=r"two variances, $\alpha = 1$, $\lambda = .05$",
            curves=curves(two_level, 1.0, 0.05),
            line=np.linspace(0.02, 8, 121),
            points=(1.0, 2.5, 5.0, 7.5),
        ),
        Panel(
            title=r"pairs and blocks, $\alpha = 2$, $\lambda = .01$",
            curves=curves(pairs_and_blocks, 2.0, 0.01),
            theory_at=lambda data, d: (
                random_matrix.outlier(data).overlap
            ),  # more pairs and blocks of the same kind: the same theory
            line=np.linspace(0.02, 8, 121),
            points=(1.0, 3.0, 5.5, 7.5),
        ),
    ],
    theory=overlap,
    replicate=top_overlap,
    judged=well_above_threshold,
    d=200,
    replicates=30,
    xlabel=r"strength of the spike $\theta$",
    ylabel=r"overlap $(u \cdot v)^2$",
    ylim=(-0.02, 1),
    draw=draw,
    caption="Lines: d = infinity; markers: fits extrapolated from d = 200 and 400, judged from 1.3 times the threshold "
    "on. "
    "Left, independent noise of two variances: masked regression (lam = .05) sees the spike from 0.48 on and "
    "correlation PCA from 0.37; PCA without the diagonal needs 2.69 and PCA 3.89: masked regression wins over PCA and "
    "narrowly loses to correlation PCA, with which it ties as lam -> 0. Right, equal variances, half the coordinates "
    "in pairs correlated by .95 and half in tens correlated by .5: masked regression (lam = .01) needs 1.98, all three "
    "kinds of PCA 4.36: it beats them all.",
)
