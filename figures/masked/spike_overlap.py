"""The overlap of the leading direction with a spike is compared between masked regression and three kinds of PCA."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import Axes, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import NAMES, pairs_and_blocks, two_level, well_above_threshold
from simulate.masked import top_overlap
from theory import random_matrix
from theory.models import Covariance, SpikedData, SpikeMethod


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


def draw(axes: Axes, _rows: DataFrame) -> None:
    """Write the zero of each ridge; the titles of panels have none, since they name the random draws."""
    axes.set_title(axes.get_title().replace("= .", "= 0."))


EXPERIMENT = Experiment(
    title="Masked regression sees spikes of half the strength that PCA needs, in pairs and blocks",
    papers={
        "arXiv:2601.23208 (against PCA)": "It agrees with the abstract that masked regression outperforms PCA in "
        "structured noise; the noises are our own, and two more kinds of PCA stand beside it.",
    },
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
            # A larger size has more pairs and blocks of the same kind, so that its theory is the same.
            theory_at=lambda data, _d: random_matrix.outlier(data).overlap,
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
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    caption="With pairs and blocks masked regression sees spikes of half the strength that PCA needs; with two "
    "variances it comes second to PCA of the correlation matrix. The overlap is the squared cosine between "
    "the spike and the leading direction that a method finds. Lines are the theory in the limit d = infinity;"
    " markers are fits at d = {sizes}, extrapolated in 1/d, which can fall below 0. Below 1.3 times the "
    "threshold corrections are larger than 1/d, and z is not judged. (a) Independent noise of variance 0.3 on"
    " 80 % of the coordinates and 4 on 20 %. (b) Half the coordinates in pairs correlated by 0.95, half in "
    "groups of ten by 0.5; all PCA coincide.",
)
