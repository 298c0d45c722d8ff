"""How much of a spike is read off late in training depends more on the read-out than on the time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import COLORS, two_level
from simulate.masked import compared_overlaps
from theory import random_matrix
from theory.core.arrays import Array
from theory.models import Flow, ReadOut, SpikedData

STRENGTH = 1.5
FLOW, RIDGE, PCA = "flow", r"ridge, $\lambda = 0.01$", "correlation PCA"
READ_OUTS: dict[str, ReadOut] = {
    "as reported": "reported",
    "in standard units": "standard_units",
    "best diagonal": "best_diagonal",
}
TITLES = {1.0: r"$\alpha = 1$: one method", 0.5: r"$\alpha = 1/2$: one read-out"}
# The times of lines, closer to each other where the overlap begins.
LINES = {
    1.0: np.append(np.geomspace(0.3, 1.5, 21), np.geomspace(2, 50, 10)),
    0.5: np.append(np.geomspace(0.3, 2.5, 25), np.geomspace(3, 25, 8)),
}
# Color, dashes and marker of the flow with each read-out, of the ridge, and of correlation PCA.
LOOKS = ((1, "--", "s"), (0, "-", "o"), (5, ":", "P"), (4, "--", "^"), (COLORS["correlation_pca"], "-.", "D"))
# What each number is: the method and the read-out.
NUMBERS: dict[str, tuple[str, ReadOut]] = {name: (FLOW, read_out) for name, read_out in READ_OUTS.items()}
NUMBERS |= {method: (method, "standard_units") for method in (FLOW, RIDGE, PCA)}


def record(alpha: float, method: str, time: float) -> SpikedData:
    data = SpikedData(two_level(), strength=STRENGTH, alpha=alpha)
    if method == PCA:
        return replace(data, method="correlation_pca")
    return replace(data, lam=0.01) if method == RIDGE else replace(data, training=Flow(float(time)))


def measured(alpha: float, points: Mapping[str, Sequence[float]], d: int, rng: np.random.Generator) -> dict[str, Array]:
    """Measure all methods, times and read-outs on one draw."""
    asked = {name: [(NUMBERS[name][0], time) for time in times] for name, times in points.items()}
    made = list(dict.fromkeys(one for own in asked.values() for one in own))
    read_outs = list(dict.fromkeys(NUMBERS[name][1] for name in points))
    found = compared_overlaps([record(alpha, *one) for one in made], d, rng, read_outs)
    return {
        name: found[[made.index(one) for one in own], read_outs.index(NUMBERS[name][1])] for name, own in asked.items()
    }


@cache
def overlap(alpha: float, name: str, time: float) -> float:
    method, read_out = NUMBERS[name]
    return random_matrix.outlier(record(alpha, method, time), read_out=read_out).overlap


def curve(
    alpha: float,
    name: str,
    line: Sequence[float] | Array,
    points: Sequence[float],
    judged: Callable[[float], bool],
    look: tuple[int, str, str],
) -> Curve:
    """Declare a number of one draw, which looks so: color, dashes, marker."""
    moving = NUMBERS[name][0] == FLOW

    def theory(alpha: float, times: Sequence[float]) -> dict[str, Array]:
        return {name: np.array([overlap(alpha, name, float(time) if moving else 1.0) for time in times])}

    return Curve(
        number=name,
        setting=TITLES[alpha],
        theory=theory,
        line=line,
        points=points,
        judged_where=judged,
        color=look[0],
        style=look[1],
        marker=look[2],
    )


def draw(axes: Axes, rows: DataFrame) -> None:
    """Say in the title of a panel what is compared in it; its declared title names a stream of random numbers."""
    title = str(rows["panel"].iloc[0])
    axes.set_title(
        {TITLES[1.0]: r"$\alpha = 1$: three read-outs", TITLES[0.5]: r"$\alpha = 1/2$: three methods"}[title]
    )


EXPERIMENT = Experiment(
    title="Late in training the read-out matters more than the time",
    measure=measured,
    by_point=True,
    by_number=True,
    settings={title: alpha for alpha, title in TITLES.items()},
    panels=[
        Panel(
            title=TITLES[1.0],
            curves={
                f"flow, {name}": curve(1.0, name, LINES[1.0], (0.3, 1.0, 6.0, 20.0), lambda time: time > 0.9, look)
                for name, look in zip(READ_OUTS, LOOKS, strict=False)
            },
        ),
        Panel(
            title=TITLES[0.5],
            curves={
                "flow, in standard units": curve(
                    0.5, FLOW, LINES[0.5], (0.5, 1.5, 6.0), lambda time: time > 1.2, LOOKS[1]
                ),
                RIDGE: curve(0.5, RIDGE, (0.3, 25.0), (6.9,), lambda _: True, LOOKS[3]),
                PCA: curve(0.5, PCA, (0.3, 25.0), (5.2,), lambda _: True, LOOKS[4]),
            },
        ),
    ],
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    d=140,
    replicates=14,
    xlabel="time of training $t$",
    ylabel=r"overlap $(u \cdot v)^2$",
    xscale="log",
    ylim=(-0.1, 0.8),
    draw=draw,
    caption="Late in training, how a direction is read off changes its overlap with the spike more than the time "
    "at which training stops. Noise: variance 0.3 on 80 % of the coordinates, 4 on 20 %; spike of strength 1.5. (a) "
    "The direction of gradient flow as reported, with entries divided by standard deviations, and with the best "
    "weights; the last two nearly coincide. (b) Flow, correlation PCA and a ridge (at any time) in standard units, "
    "which correlation PCA reports. Lines are theory for d = infinity; markers are simulations at d = {sizes}, "
    "extrapolated in 1/d, on the same draws; where theory is zero, finite sizes leave overlaps that this does not "
    "remove.",
)
