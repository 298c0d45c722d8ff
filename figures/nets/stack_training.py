"""Stacks of one, two and three layers on four-body data: the loss against floors by order, and the orders learned."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.nets.floors_and_orders import LOSS, SEEN, floors
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.core import Estimate, Task
from simulate.nets import train_on_population
from theory.nets import escape_time

SCALE, RATE, STARTS = 0.8, 0.2, 8
RECORD = (10, 30, 100, 200, 300, 450, 600, 800, 1_000, 1_300, 1_700, 2_200, 3_000, 4_500, 6_000)
ESCAPING = 300  # a step at which the deeper stacks are about to leave the plateau
LAYERS = {1: "$N = 1$", 2: "$N = 2$", 3: "$N = 3$"}
ORDERS = {2: "orders of two layers", 3: "orders of three layers"}


def course(n_layers: int, steps: list[int], replicate: int) -> NDArray[np.float64]:
    """The loss and the shares of the orders in the logits after `steps`, (steps, 1 + L)."""
    stack = start(n_layers, SCALE, replicate)
    trained = train_on_population(stack, population(), n_steps=max(steps), rate=RATE, record=steps, orders=True)
    orders = np.zeros((len(steps), L)) if trained.orders is None else trained.orders
    return np.column_stack([trained.losses, orders])


def at_escape(n_layers: int, replicates: int) -> NDArray[np.float64]:
    """The orders in the direction in which the flow from small multiples of the starts leaves the plateau; the mean."""
    model, found = four_body_model(), np.zeros((replicates, L))
    for replicate in range(replicates):
        fractions = escape_time(model, start(n_layers, SCALE, replicate)).order_fractions
        if fractions is not None:
            found[replicate, : len(fractions)] = fractions
    return np.asarray(found.mean(axis=0))


def compute(context: Context) -> list[Row]:
    steps = [round(step) for step in (RECORD[:3] if context.is_draft else RECORD)]
    seeds = range(context.replicates(STARTS))
    tasks = [Task(f"{n}/{seed}", course, (n, steps, seed)) for n in reversed(LAYERS) for seed in seeds]
    found, ends, rows = context.sweep(tasks), (steps[0], steps[-1]), []
    for n, name in LAYERS.items():
        runs = np.array([found[f"{n}/{seed}"] for seed in seeds])  # (seeds, steps, 1 + L)
        for k, step in enumerate(steps):
            rows.append(row(name, step, panel=LOSS, d=L, estimate=Estimate.of(runs[:, k, 0])))
            for r, order in enumerate(SEEN if n in ORDERS else ()):
                estimate = Estimate.of(runs[:, k, 1 + r])
                rows.append(row(order, step, panel=ORDERS[n], d=L, estimate=estimate, judged=False))
        if n in ORDERS and not context.is_draft:
            shares = at_escape(n, len(seeds))
            rows += [
                row(order, step, panel=ORDERS[n], theory=share)
                for order, share in zip(SEEN, shares, strict=True)
                for step in (steps[0], ESCAPING)
            ]
    levels = {"uniform, $\\ln C$": float(np.log(C))} | floors()
    return rows + [row(name, step, panel=LOSS, theory=level) for name, level in levels.items() for step in ends]


EXPERIMENT = Experiment(
    title="Training stacks on the exact population of a four-body model, $L = 5$, $C = 3$",
    compute=compute,
    panels=(
        Panel(title=LOSS, curves={}, ylabel="nats a site", ylim=(0.72, 1.14)),
        *(
            Panel(title=title, curves={}, ylabel="share of the logits' variance", ylim=(0.0, 1.2))
            for title in ORDERS.values()
        ),
    ),
    xlabel=f"step of gradient descent (rate {RATE})",
    xscale="log",
    caption=f"Markers are means over {STARTS} random starts of scale {SCALE}, with error bars. Left: the loss of "
    "stacks of N layers; lines are the loss of guessing (ln C) and the least losses of predictions with interactions "
    "of at most k bodies, each site by itself. N layers can express interactions of up to 2^(N-1) + 1 bodies. Middle "
    "and right: the shares of the variance of the logits that depend on no other site, on one other site, and so on. "
    "Lines there are these shares in the direction in which gradient flow from small multiples of the same starts "
    "leaves the first plateau; starts of this scale are only on their way to it. The one plateau that is seen lies "
    "at ln C, and lasts the longer the more layers there are. The loss then falls through the lower floors without a "
    "plateau at each, so that there is no stair. With two layers the share of one other site rises first, and then "
    "that of two others; with three layers two others have the largest share throughout, and that of three others "
    "rises late.",
    papers={
        "arXiv:2410.19637, Fig. 2": "Deeper stacks do reach interactions of more sites, and the highest orders last, "
        "at a size whose floors are exact; a stair of plateaus at the floors, which the published words claim, is not "
        "seen: there is one plateau, at ln C.",
    },
)
