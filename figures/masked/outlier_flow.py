"""The outlier of a spike leaves the bulk of noise at some number of samples, which differs between methods."""

from functools import partial

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import name_curve
from figures.masked.spiked_noise import two_level, well_above_threshold
from simulate.masked import top_eigenvalue
from theory import random_matrix
from theory.models import SpikedData, SpikeMethod

# The strengths, each with the sample ratios on both sides of where its outlier leaves the bulk.
POINTS = {1.0: (0.5, 2.0, 8.0, 32.0, 100.0), 2.5: (0.2, 0.5, 2.0, 8.0, 32.0), 6.0: (0.1, 0.2, 0.5, 2.0, 8.0)}
# The method and the ridge of each panel, and the sample ratios at which the outliers of the strengths leave the bulk.
MASKED, PCA = r"masked predictor, $\lambda = 1$", "PCA"
THRESHOLDS: dict[str, tuple[SpikeMethod, float | None, tuple[float, float, float]]] = {
    MASKED: ("ssr", 1.0, (1.39, 0.36, 0.11)),
    PCA: ("pca", None, (50.9, 4.07, 0.26)),
}


def model(method: SpikeMethod, lam: float | None, strength: float, alpha: float) -> SpikedData:
    return SpikedData(two_level(), strength=strength, alpha=alpha, method=method, lam=lam)


def edge(data: SpikedData) -> float:
    return random_matrix.outlier(data).edge


def curves(method: SpikeMethod, lam: float | None) -> dict[str, Curve]:
    flows = {
        rf"$\theta = {strength}$": Curve(model=partial(model, method, lam, strength), points=points)
        for strength, points in POINTS.items()
    }
    bulk = Curve(model=partial(model, method, lam, 1.0), theory=edge, replicate=NONE, points=(), color="C1")
    return flows | {"edge of the bulk": bulk}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark with a star where each outlier leaves the bulk, and name those lines of PCA whose ends stand apart."""
    method, lam, thresholds = THRESHOLDS[str(rows["panel"].iloc[0])]
    for strength, alpha in zip(POINTS, thresholds, strict=True):
        color = next(line.get_color() for line in axes.lines if line.get_gid() == rf"$\theta = {strength}$")
        level = edge(model(method, lam, strength, alpha))
        axes.plot(alpha, level, "*", color=color, markersize=8, markeredgecolor="white", markeredgewidth=0.5, zorder=4)
    if method == "pca":
        for name in list(POINTS)[1:]:
            name_curve(axes, rf"$\theta = {name}$", rf"$\theta = {name}$", offset=(3.0, 0.0))


EXPERIMENT = Experiment(
    title="The outlier leaves the bulk at fewer samples in masked regression",
    papers={
        "arXiv:2601.23208 (transition)": "It agrees with the abstract that the predictor begins to recover a spike at "
        "a transition of Baik, Ben Arous and Peche; the body of the paper was not readable.",
    },
    panels=[
        Panel(title=MASKED, curves=curves("ssr", 1.0), ylabel="largest eigenvalue of $A$"),
        Panel(title=PCA, curves=curves("pca", None), ylabel="largest eigenvalue of $C$", yscale="log"),
    ],
    theory=lambda data: random_matrix.outlier(data).eigenvalue,
    replicate=top_eigenvalue,
    judged=well_above_threshold,
    d=200,
    replicates=12,
    line=np.geomspace(0.1, 300, 81),
    xlabel=r"sample ratio $\alpha = n/d$",
    xscale="log",
    ordered=True,
    draw=draw,
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    caption="In noise of two variances masked regression sees each spike with fewer samples than PCA: its outlier "
    "leaves the bulk (stars) at alpha = 1.39, 0.36 and 0.11 for strengths 1, 2.5 and 6, that of PCA at 50.9 (by "
    "theory), 4.07 and 0.26. (a) The largest eigenvalue of the fitted predictor, whose row k holds the coefficients "
    "for coordinate k; (b) of the sample covariance, in the looks of (a). Variances are 0.3 on 80 % of the "
    "coordinates and 4 on the others; the spike is spread out. Lines are the theory for d = infinity, the dash- "
    "dotted one is the bulk's edge; markers are simulations at d = {sizes}, extrapolated in 1/d.",
)
