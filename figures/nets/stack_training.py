"""Stacks of one, two and three layers on four-body data: the loss against floors by order, and the orders learned."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, level, numbered
from figures.core.names import write_name
from figures.nets.floors_and_orders import (
    FLOORS,
    LOSS,
    MARKERS,
    SEEN,
    SHARE,
    floors,
    in_black,
    losses_and_orders,
    name_levels,
)
from figures.nets.four_body import C, L, population, start
from simulate.nets import train_on_population

SCALE, RATE, STARTS = 0.8, 0.2, 8
RECORD = (10, 30, 100, 200, 300, 450, 600, 800, 1_000, 1_300, 1_700, 2_200, 3_000, 4_500, 6_000)
ENDS = RECORD[0], RECORD[-1]
GUESSING = "guessing, $\\ln C$"
ORDERS_AT = (10, 100, 300, 600, 1_000, 1_700, 3_000, 6_000)
LAYERS = {"$N = 1$": 1, "$N = 2$": 2, "$N = 3$": 3}
ORDERS = {"$N = 2$": "orders of two layers", "$N = 3$": "orders of three layers"}


def course(n_layers: int, steps: dict[str, list[int]], _n_sites: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Return the loss and the shares of the orders in the logits, each after its own `steps`."""
    stack, record = start(n_layers, SCALE, replicate), sorted({step for own in steps.values() for step in own})
    trained = train_on_population(
        stack, population(), n_steps=max(record), rate=RATE, record=record, orders=len(steps) > 1
    )
    found = losses_and_orders(trained)
    return {name: found[name][[record.index(step) for step in own]] for name, own in steps.items()}


def panels(orders_at: tuple[int, ...]) -> list[Panel]:
    """Describe the panel of the losses, and those of the orders, which are shown after fewer steps."""
    losses = {name: Curve(number=LOSS, setting=name) for name in LAYERS}
    levels = {GUESSING: level(lambda: np.log(C), ENDS)} | floors(ENDS)
    losses |= in_black(levels)
    shares = [
        Panel(
            title=title,
            curves={
                order: Curve(number=order, setting=name, points=orders_at, marker=MARKERS[order]) for order in SEEN
            },
            ylabel=SHARE,
            ylim=(-0.02, 0.8),
            ordered=True,
        )
        for name, title in ORDERS.items()
    ]
    return [Panel(title=LOSS, curves=losses, ylabel="nats per site", ylim=(0.8, 1.15)), *shares]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the names of the floors beside their lines, and join the shares of each order by a thin line.

    That of no other site is dashed, since its shade is hardly another one than that of one other site.

    The floor of sites alone is hardly below the loss of guessing.
    """
    if axes.get_title() == LOSS:
        name_levels(axes, rows, {FLOORS[k]: ("left", "above") for k in (2, 3, 4)})
        write_name(axes, f"{GUESSING}; {FLOORS[1]}", (ENDS[1], np.log(C)), (0, 4), across="right", along="bottom")
        return
    shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    for order, own in rows.groupby("curve", sort=False):
        look: dict[str, Any] = {"linestyle": "--" if order == SEEN[0] else "-", "linewidth": 0.6}
        axes.plot(own["x"], own["simulation"], color=shown[order].get_color(), zorder=1, **look)
        shown[order].set(**look)  # of the entry in the legend
    axes.legend()


EXPERIMENT = Experiment(
    title="Deeper stacks stay longer on the first plateau; then their mean loss falls without a stair",
    measure=course,
    by_point=True,
    by_number=True,
    settings=LAYERS,
    streams=numbered,
    panels=panels(ORDERS_AT),
    points=RECORD,
    d=L,
    extrapolate=False,
    replicates=STARTS,
    draft={"points": RECORD[:3], "panels": panels(RECORD[:2])},
    xlabel=f"step of gradient descent (rate {RATE})",
    xscale="log",
    draw=draw,
    figsize=(7.0, 3.2),
    caption="Stacks wait at the loss of guessing, longer with more layers; then the mean loss falls without a plateau"
    " through the floors of fewer bodies to just above their own. The population has four-body interactions "
    "(L = 5, C = 3). Markers are means over 8 random starts of scale 0.8, which fall at different times, so "
    "that means could hide plateaus. (a) The loss of N layers, of up to 2^(N-1) + 1 bodies; lines are "
    "guessing (ln C) and the least losses with interactions of at most k bodies. (b, c) Shares of the logits'"
    " variance that depend on no other site, on one, and so on, for two and three layers; thin lines join "
    "their means.",
    papers={
        "arXiv:2410.19637, Fig. 2 (another network)": "The published stacks have skip connections and rest at the best "
        "two-body fit, three layers also at the best three-body fit. Stacks without skips, which are drawn here, rest "
        "at ln C only and reach the highest orders last.",
    },
)
