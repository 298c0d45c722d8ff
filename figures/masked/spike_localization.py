"""A spike on few coordinates has a threshold that depends on their number, and differently for each method."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import COLORS, NAMES, finite_threshold, well_above_threshold
from simulate.masked import top_overlap
from theory import random_matrix
from theory.models import Covariance, Isotropic, SpikedData, SpikeMethod, TwoLevel

D = 400
Noise = Callable[[int], Covariance]
COUNTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 60, 100)
QUIET = "quiet coordinates of two-level noise"


def spiked(
    noise: Noise, method: SpikeMethod, lam: float | None, strength: float | None, count: float, d: int = D
) -> SpikedData:
    """Make the spike with equal entries on the first coordinates, which have low variance in two-level noise."""
    u = np.zeros(d)
    u[: int(count)] = 1 / np.sqrt(int(count))
    return SpikedData(noise(d), u, strength=strength, alpha=1.0, method=method, lam=lam)


def curves(noise: Noise, lam: float, strength: float | None = None) -> dict[str, Curve]:
    ways: dict[str, tuple[SpikeMethod, float | None]] = {rf"masked, $\lambda = {lam}$": ("ssr", lam)}
    ways |= {name: (method, None) for method, name in NAMES.items()}
    return {
        name: Curve(model=partial(partial, spiked, noise, *way, strength), color=COLORS[way[0]])
        for name, way in ways.items()
    }


def overlap(spike: Callable[..., SpikedData]) -> float:
    """Return the overlap in the limit of many coordinates, which no longer depends on their number."""
    return random_matrix.outlier(spike()).overlap


def measured_overlap(spike: Callable[..., SpikedData], d: int, rng: Generator) -> float:
    return float(top_overlap(spike(d=d), d, rng))


def overlaps(title: str, noise: Noise, lam: float, strength: float) -> Panel:
    """Declare the overlaps at one strength, which simulations at two sizes test."""
    return Panel(
        title=f"{title}, strength {strength:g}",
        curves=curves(noise, lam, strength),
        theory=overlap,
        replicate=measured_overlap,
        extrapolate=True,
        points=(2, 5, 20),
        d=120,
        replicates=40,
        ylabel=r"overlap $(u \cdot v)^2$",
        yscale="linear",
        ylim=(-0.02, 1),
    )


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw a dot for every number of coordinates, and a triangle at the top where no strength suffices."""
    if "strength" in rows["panel"].iloc[0]:
        return
    for position, (_, curve) in enumerate(rows.groupby("curve", sort=False)):
        axes.plot(curve["x"], curve["theory"], "o", color=f"C{position}", markersize=2.5)
        never = curve[curve["theory"].isna()]["x"] * 1.06**position
        axes.plot(never, 0 * never + 0.96, "^", color=f"C{position}", transform=axes.get_xaxis_transform())


EXPERIMENT = Experiment(
    title=r"Localized spikes, $\alpha = 1$",
    panels=[
        Panel(title="isotropic noise", curves=curves(Isotropic, 0.05), ylim=(0.9, 10)),
        Panel(title=QUIET, curves=curves(TwoLevel, 0.001), ylim=(0.2, 20)),
        overlaps("isotropic noise", Isotropic, 0.05, 4.0),
        overlaps("quiet coordinates", TwoLevel, 0.001, 2.0),
    ],
    theory=lambda spike: finite_threshold(spike()),
    judged=lambda spike: well_above_threshold(spike()),
    replicate=NONE,
    extrapolate=False,
    d=D,
    line=COUNTS,
    points=(),
    xlabel=r"coordinates of the spike $L$",
    ylabel=r"threshold $\theta_c$",
    xscale="log",
    yscale="log",
    draw=draw,
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    caption="The spike has equal entries on L of many coordinates, and alpha = 1. Top: each dot is the least "
    "strength at which a method sees it, by theory (lines join the dots); a triangle at the top, moved a little to "
    "the right for each further method, means that no strength suffices. Left, isotropic noise: a spike on one "
    "coordinate correlates with nothing, so that masked regression (lambda = 0.05) never sees it; it needs strength "
    "1.87, 1.44, 1.22 and 1.02 at L = 2, 3, 5 and 40. PCA needs 1 throughout and is better there, and PCA without "
    "the diagonal lies between the two from L = 2 on; correlation PCA needs L > 2 and strengths 3.00 and 1.67 at L "
    "= 3 and 5, and is worse. Right, a spike on quiet coordinates (variance 0.3, where others have 4): masked "
    "regression (lambda = 0.001) needs 0.60, 0.46 and 0.38 at L = 2, 3 and 5; correlation PCA cannot see L = 2 and "
    "needs 0.90 and 0.50; PCA needs 5.49 throughout, and PCA without the diagonal 4.57, 3.93 and 3.53. Masked "
    "regression is best of all here from L = 2 on; correlation PCA reaches it as L grows. Bottom: the squared "
    "overlap of the leading direction with the spike at a fixed strength; lines are theory in the limit d = "
    "infinity, markers fits at d = 120 and 240, extrapolated in 1/d, with error bars. By theory PCA has the largest "
    "overlap (0.75) at strength 4 in isotropic noise for every L, and masked regression at strength 2 on quiet "
    "coordinates (0.54, 0.60 and 0.61 at L = 2, 5 and 20). The simulation agrees within its error bars, and at L = "
    "20 it cannot tell the best methods apart. Where theory says that a method sees nothing, the overlaps approach "
    "zero only slowly as d grows, and z is not judged.",
)
