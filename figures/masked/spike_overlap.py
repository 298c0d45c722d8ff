"""The overlap of the leading direction with a spike is compared between masked regression and three kinds of PCA."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import Experiment, Panel
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


EXPERIMENT = Experiment(
    title="What each method sees of a delocalized spike",
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
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    caption="The overlap is the squared cosine between the spike u, a random direction, and the leading direction v "
    "that a method finds: that of masked regression, of the covariance (PCA), of the correlation matrix or of "
    "the covariance without its diagonal. Lines are the theory in the limit d = infinity; markers are fits at d"
    " = {sizes}, extrapolated in 1/d, with error bars. Where the strength is less than 1.3 times the threshold,"
    " corrections are larger than 1/d and z is not judged; some markers there lie beside their line. Left, "
    "independent noise of two variances (0.3 on 80 %, 4 on 20 % of the coordinates): masked regression (lambda "
    "= 0.05) sees the spike from strength 0.48 on, correlation PCA from 0.37, PCA without the diagonal from "
    "2.69 and PCA from 3.89. All directions are compared in the units of the data. There masked regression has "
    "slightly less overlap than correlation PCA (0.66 and 0.67 at strength 2.5), but both have 0.77 with "
    "entries divided by standard deviations, as PCA of correlations reports its own. Right, equal variances, "
    "half the coordinates in pairs correlated by 0.95 and half in groups of ten correlated by 0.5: masked "
    "regression (lambda = 0.01) needs strength 1.98 and all three kinds of PCA, whose lines coincide, need "
    "4.36, so that masked regression is the best of the four.",
)
