"""Where masked classification is that of a Gaussian mixture: temperature, density of the graph, number of colors."""

import math
from typing import TYPE_CHECKING

import numpy as np

from figures.core import Context, Experiment, Panel, Row, row
from figures.glm.masked_classification_data import COLORS, DEGREES, DENSE, SPARSE, masked_gap
from simulate.core import Estimate, Task, extrapolate
from theory.models.glm.modes import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

ALPHA, LAM = 2.0, 1.0
REDUCED, DEGREE = (0.3, 0.6, 0.9), (3.0, 6.0, 12.0)
SIZE = {DENSE: 31, COLORS: 16, SPARSE: 31, DEGREES: 31}  # sites; also twice as many others
AT = {DENSE: REDUCED, COLORS: REDUCED, SPARSE: REDUCED, DEGREES: DEGREE}
WARMTH, DENSITY, FLOOR = "temperature", "density", "Bayes floor"
CHAINS = 600
BURN_IN = {0.3: (15, 3), 0.6: (30, 5), 0.9: (100, 12)}  # sweeps; between records


def compute(context: Context) -> list[Row]:
    replicates, rows = range(context.replicates(5)), []
    points = [(family, x) for family in SIZE for x in context.thin(AT[family], 2)]
    sites = {(family, k): k * (context.size(SIZE[family], 16) - 1) + 1 for family in SIZE for k in (1, 2)}
    chains = context.size(CHAINS, 100)
    tasks = [
        Task(f"{family}/{x}/{k}/{r}", masked_gap, (family, x, sites[family, k], ALPHA, LAM, (chains, *pace(x)), r))
        for k in (2, 1)
        for family, x in points
        for r in replicates
    ]
    found = context.sweep(tasks)
    for family, x in points:
        pair = [np.stack([np.asarray(found[f"{family}/{x}/{k}/{r}"]) for r in replicates]) for k in (1, 2)]
        rows += measured(family, x, [sites[family, k] for k in (1, 2)], *pair)
    return rows


def pace(x: float) -> tuple[int, int]:
    return BURN_IN[x] if x in BURN_IN else BURN_IN[0.6]


def measured(family: str, x: float, sites: list[int], small: Array, large: Array) -> list[Row]:
    """Percent by which test loss and floor exceed those of the mixture, model by model, at both sizes and beyond."""
    rows = compared(family, x, DENSITY if family == DEGREES else WARMTH, sites, small[:, :2], large[:, :2])
    return rows + (compared(family, x, FLOOR, sites, small[:, 2:], large[:, 2:]) if family in (DENSE, SPARSE) else [])


def compared(family: str, x: float, panel: str, sites: list[int], small: Array, large: Array) -> list[Row]:
    gaps = [Estimate.of(100 * (runs[:, 0] / runs[:, 1] - 1)) for runs in (small, large)]
    sizes = (*zip(map(float, sites), gaps, strict=True), (math.inf, extrapolate(*gaps)))
    return [row(family, x, panel=panel, theory=0.0, d=d, estimate=e, judged=math.isinf(d)) for d, e in sizes]


def draw(axes: "Axes", rows: "DataFrame") -> None:
    axes.axhspan(-0.5, 0.5, color="0.9", zorder=0)


EXPERIMENT = Experiment(
    title=rf"Pseudo-likelihood of one site against the Gaussian mixture, $\alpha = {ALPHA:g}$, $\lambda = {LAM:g}$",
    compute=compute,
    panels=(
        Panel(title=WARMTH, curves={}, xlabel=r"$\beta/\beta_c$"),
        Panel(title=DENSITY, curves={}, xlabel="mean degree of the graph", xscale="log"),
        Panel(title=FLOOR, curves={}, xlabel=r"$\beta/\beta_c$", ylabel="entropy above the mixture's (%)"),
    ),
    figsize=(10, 2.6),
    ylabel="test loss above theory (%)",
    draw=draw,
)
