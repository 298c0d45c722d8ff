"""A spike that masked regression sees early in its training is lost later."""

import math
from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, level
from figures.core.names import name_curve
from figures.masked.half_chain import half_chain_of
from simulate.masked import compared_overlaps
from theory import random_matrix
from theory.core.arrays import Array
from theory.models import Flow, SpikedData
from theory.random_matrix import SpikeOutlier

STRENGTHS = (20.0, 10.0)
NEEDED, PCA = "what it takes to be seen", "PCA, three kinds alike"
LINE = np.array(sorted({*np.geomspace(0.01, 30, 17).round(4), 0.26, 0.38, 0.41, 0.43, 0.7}))  # finer near 0.42
JUDGED = 1.2  # times its threshold


def data(strength: float, time: float) -> SpikedData:
    return SpikedData(half_chain_of(math.inf), strength=strength, alpha=1.0, training=Flow(float(time)))


@cache
def found(strength: float, time: float) -> SpikeOutlier:
    return random_matrix.outlier(data(strength, time))


def predicted(strength: float, times: Sequence[float]) -> dict[str, Array]:
    return {"overlap": np.array([found(strength, float(time)).overlap for time in times])}


def measured(strength: float, times: Sequence[float], d: int, rng: np.random.Generator) -> dict[str, Array]:
    return {"overlap": compared_overlaps([data(strength, time) for time in times], d, rng)[:, 0]}


def judged(strength: float, time: float) -> bool:
    return strength > JUDGED * found(strength, time).threshold


def least(time: float) -> float:
    return found(STRENGTHS[0], float(time)).threshold


@cache
def lost_at() -> tuple[float, ...]:
    """Return the time at which the weaker spike falls below the threshold."""
    return (float(np.exp(brentq(lambda log_t: least(np.exp(log_t)) - STRENGTHS[1], *np.log([0.38, 0.46]), xtol=2e-3))),)


def pca() -> float:
    return float(random_matrix.threshold(SpikedData(half_chain_of(math.inf), alpha=1.0, method="pca")))


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the strengths at their lines, and name that of PCA shortly: the caption says which kinds are alike."""
    if rows["panel"].iloc[0] == NEEDED:
        for place, strength in enumerate(STRENGTHS):
            axes.text(LINE[0], strength + 0.2, rf"$\theta = {strength:g}$", color=f"C{place}", fontsize=7)
        for line in axes.lines:
            if line.get_label() == PCA:
                line.set_label(f"_{PCA}")
        name_curve(axes, PCA, "PCA")


EXPERIMENT = Experiment(
    title="Training can forget a spike that it sees at first",
    measure=measured,
    by_point=True,
    settings={f"theta = {strength:g}": strength for strength in STRENGTHS},
    panels=[
        Panel(
            title="what is seen",
            curves={
                rf"$\theta = {strength:g}$": Curve(
                    number="overlap",
                    setting=f"theta = {strength:g}",
                    theory=predicted,
                    points=(0.03, 0.2, 1.0, 4.0),
                    judged_where=partial(judged, strength),
                )
                for strength in STRENGTHS
            },
            ylabel=r"overlap $(u \cdot v)^2$, extrapolated",
            ylim=(-0.3, 1.1),
        ),
        Panel(
            title=NEEDED,
            curves={
                "threshold, flow": Curve(model=float, theory=least, points=(), stars=lost_at, color=4, style="-."),
                PCA: level(pca, (LINE[0], LINE[-1]), style=":", color=6),
                **{
                    rf"_$\theta = {strength:g}$": level(
                        partial(float, strength), (LINE[0], LINE[-1]), "reference", style=dash, color=place
                    )
                    for place, (strength, dash) in enumerate(zip(STRENGTHS, ("-", "--"), strict=True))
                },
            },
            ylabel=r"strength of the spike $\theta$",
            ylim=(6, 22),
        ),
    ],
    draw=draw,
    unjudged="corrections are larger than 1/d where a spike is less than 1.2 times as strong as its threshold",
    line=LINE,
    d=120,
    replicates=14,
    xlabel="time of training $t$",
    xscale="log",
    caption="Training can forget a direction that it sees at first: by theory the spike of strength 10 has an outlier "
    "up to t = 0.42 and none from then on; that of strength 20 stays above the threshold, while its overlap falls "
    "from 0.93 to 0.81. Noise has variance 1; half the coordinates are an AR(1) chain with r = 0.8, half independent; "
    "n = d. (a) Lines are theory for d = infinity, markers simulations at d = {sizes}, extrapolated in 1/d, which may "
    "be negative; those of one strength share draws. (b) The threshold by theory along training and that of PCA (the "
    "same with correlations or without the diagonal); the star: the weaker spike is lost.",
)
