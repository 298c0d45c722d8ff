"""Stacks with skip connections rest at the best fit of one layer, and leave it when the start of a lower layer says."""

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, level, numbered
from figures.nets.floors_and_orders import FLOORS, floor, in_black, name_levels
from figures.nets.four_body import C, L, four_body_model, population
from simulate.core import stream
from simulate.nets import gradient_flow, train_on_population
from theory.models import FactoredStack
from theory.nets import FactoredFloor, LowerLayers, factored_floor, lower_layers

STARTS, SCALE, RATE = 6, 0.15, 0.5
FALL = 0.02  # nats per site below the plateau, at which a lower layer counts as having left it
TIMES = (0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.2, 3.0)  # in units of the law
SCALES = (0.07, 0.1, 0.15, 0.25)
LOSS, MOVED, RATIO = "masked loss", "displacements of three layers", "time to leave, over the law"
LAST, FIRST, OTHER = "last layer", "lower layer named by the law", "other lower layer"
LAYERS = {"$N = 2$": 2, "$N = 3$": 3}
Numbers = dict[str, NDArray[np.float64]]


@cache
def plateau() -> FactoredFloor:
    """Return the best fit of one layer of factored attention."""
    return factored_floor(four_body_model(), stream(0, "factored floor"))


def start(n_layers: int, replicate: int) -> FactoredStack:
    """Return a random start of scale one."""
    return FactoredStack.random(n_layers, L, C, 1.0, stream(0, "skip", n_layers, replicate), skip=True)


@cache
def law(n_layers: int, replicate: int) -> LowerLayers:
    """Return when each lower layer of a start leaves the plateau."""
    return lower_layers(four_body_model(), start(n_layers, replicate), plateau().layer)


def course(n_layers: int, times: list[float], _d: int, replicate: int) -> Numbers:
    """Return losses and displacements of one training at these times, in units of the law of its start."""
    found = law(n_layers, replicate)
    steps = [max(1, round(t * found.time(SCALE) / RATE)) for t in times]
    run = train_on_population(
        start(n_layers, replicate).scaled(SCALE),
        population(),
        n_steps=max(steps),
        rate=RATE,
        record=sorted({0, *steps}),
    )
    at = np.searchsorted(run.steps, steps)
    lower = [layer for layer in range(n_layers - 1) if layer != found.first - 1]
    moved = run.displacements[at]
    return {
        LOSS: run.losses[at],
        LAST: moved[:, -1],
        FIRST: moved[:, found.first - 1],
        OTHER: moved[:, lower[0]] if lower else np.full(len(times), np.nan),
    }


def delays(n_layers: int, scales: list[float], _d: int, replicate: int) -> Numbers:
    """Return the times of gradient flow to leave the plateau over those of the law, at each scale of one start."""
    found, stop = law(n_layers, replicate), plateau().loss - FALL
    flows = [
        gradient_flow(start(n_layers, replicate).scaled(s), population(), stop_loss=stop, max_evaluations=60_000)
        for s in scales
    ]
    times = np.array([flow.time if flow.converged else np.nan for flow in flows])
    return {RATIO: times / np.array([found.time(s) for s in scales])}


def measure(setting: tuple[int, str], points: list[float], d: int, replicate: int) -> Numbers:
    n_layers, what = setting
    return (course if what == LOSS else delays)(n_layers, points, d, replicate)


def laws(_setting: tuple[int, str], points: Sequence[float]) -> Numbers:
    return {RATIO: np.ones(len(points))}


ENDS = TIMES[0], TIMES[-1]
GUESSING, ONE, LAW = "guessing, $\\ln C$", "one layer", "law"
LEVELS = {GUESSING: level(lambda: np.log(C), ENDS), ONE: level(lambda: plateau().loss, ENDS)} | {
    FLOORS[k]: level(partial(floor, k), ENDS) for k in (2, 3, 4)
}
NAMES = {  # where each stands that is no entry of a legend
    LOSS: dict.fromkeys((ONE, FLOORS[3], FLOORS[4]), ("left", "above"))
    | {GUESSING: ("right", "above"), FLOORS[2]: ("left", "below")},
    MOVED: {},
    RATIO: {LAW: ("left", "below")},
}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the names of levels beside their lines."""
    name_levels(axes, rows, NAMES[axes.get_title()])


EXPERIMENT = Experiment(
    title="With skips the loss rests at the best fit of one layer until the lower layer learns",
    measure=measure,
    by_point=True,
    theory=laws,
    settings={f"{name}, {what}": (n, what) for name, n in LAYERS.items() for what in (LOSS, RATIO)},
    streams=numbered,
    panels=(
        Panel(
            title=LOSS,
            curves={name: Curve(number=LOSS, setting=f"{name}, {LOSS}", line=()) for name in LAYERS} | in_black(LEVELS),
            ylabel="nats per site",
            ylim=(0.82, 1.13),
        ),
        Panel(
            title=MOVED,
            curves={
                which: Curve(
                    number=which,
                    setting=f"$N = 3$, {LOSS}",
                    line=(),
                    average="geometric mean",
                    color=2 + k,
                    marker=mark,
                )
                for k, (which, mark) in enumerate({LAST: "^", FIRST: "v", OTHER: "P"}.items())
            },
            ylabel="mean square displacement",
            yscale="log",
            ylim=(1e-12, 1e2),
        ),
        Panel(
            title=RATIO,
            curves={name: Curve(number=RATIO, setting=f"{name}, {RATIO}", line=(), points=SCALES) for name in LAYERS}
            | in_black({LAW: level(lambda: 1.0, (SCALES[0], SCALES[-1]))}),
            xlabel=r"scale $\varepsilon$ of the initial weights",
            ylabel=r"$t\,\varepsilon^2/T_1$",
        ),
    ),
    points=TIMES,
    d=L,
    extrapolate=False,
    replicates=STARTS,
    draft={"points": TIMES[:3]},
    draw=draw,
    xlabel=r"time over that of the law, $t\,\varepsilon^2/T_1$",
    xscale="log",
    unjudged="the law is one of small weights",
    caption="The loss rests at the best fit of one layer until a lower layer learns. Markers are means over 6 random "
    "starts of N layers on four-body data of C = 3 colors, in (b) geometric means, in (a, b) at scale 0.15. "
    "Time is rate times steps over T_1/eps^2, when the first lower layer of that start leaves by theory. (a) "
    "Until time 1 the loss rests there, above the floor of two bodies. (b) Of three layers the last one has "
    "moved before; next moves the lower layer that the law names, which depends on the start. (c) Gradient "
    "flow leaves the plateau (by 0.02 nats) at times that tend to the law, 1, as starts become small.",
    papers={
        "arXiv:2410.19637, Fig. 2b and 2c": "It agrees, on a small exact model, that the loss first rests at the best "
        "two-body fit while the last layer alone has moved. Which lower layer moves next is decided by the start here; "
        "the published picture shows the second, then the first.",
    },
)
