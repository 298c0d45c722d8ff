"""Stacks of one, two and three layers on four-body data: the loss against floors by order, and the orders learned."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from figures.core import Curve, Experiment, Panel, level, numbered
from figures.nets.floors_and_orders import LOSS, SEEN, SHARE, floors, losses_and_orders, orders
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.nets import train_on_population
from theory.nets import escape_time

SCALE, RATE, STARTS = 0.8, 0.2, 8
RECORD = (10, 30, 100, 200, 300, 450, 600, 800, 1_000, 1_300, 1_700, 2_200, 3_000, 4_500, 6_000)
ENDS = RECORD[0], RECORD[-1]
ESCAPING = 300  # a step at which the deeper stacks are about to leave the plateau
LAYERS = {"$N = 1$": 1, "$N = 2$": 2, "$N = 3$": 3}
ORDERS = {"$N = 2$": "orders of two layers", "$N = 3$": "orders of three layers"}


def course(n_layers: int, steps: list[int], _n_sites: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Return the loss and the shares of the orders in the logits after `steps`."""
    stack = start(n_layers, SCALE, replicate)
    trained = train_on_population(stack, population(), n_steps=max(steps), rate=RATE, record=steps, orders=True)
    return losses_and_orders(trained)


@cache
def at_escape(n_layers: int) -> dict[str, float]:
    """Return the mean orders in the direction in which the flow from small multiples of the starts escapes."""
    model, found = four_body_model(), np.zeros((STARTS, L))
    for replicate in range(STARTS):
        fractions = escape_time(model, start(n_layers, SCALE, replicate)).order_fractions
        if fractions is not None:
            found[replicate, : len(fractions)] = fractions
    return dict(zip(SEEN, found.mean(axis=0).tolist(), strict=True))


EXPERIMENT = Experiment(
    title="Deeper stacks stay longer on the first plateau, and then no stair is seen",
    measure=course,
    by_point=True,
    settings=LAYERS,
    streams=numbered,
    panels=(
        Panel(
            title=LOSS,
            curves={name: Curve(number=LOSS, setting=name) for name in LAYERS}
            | {"uniform, $\\ln C$": level(lambda: np.log(C), ENDS)}
            | floors(ENDS),
            ylabel="nats per site",
            ylim=(0.72, 1.14),
        ),
        *(
            Panel(
                title=title,
                curves=orders(name, (RECORD[0], ESCAPING)),
                theory=lambda n_layers, _steps: at_escape(n_layers),
                ylabel=SHARE,
                ylim=(0.0, 1.2),
            )
            for name, title in ORDERS.items()
        ),
    ),
    points=RECORD,
    d=L,
    extrapolate=False,
    replicates=STARTS,
    draft={"points": RECORD[:3]},
    xlabel=f"step of gradient descent (rate {RATE})",
    xscale="log",
    caption="Stacks wait at the loss of guessing, longer with more layers, and then fall without a plateau "
    "through the floors of fewer bodies to just above their own. Markers are means over 8 random starts of scale "
    "0.8 on a four-body population (L = 5, C = 3). (a) The loss of N layers, of up to 2^(N-1) + 1 bodies; lines "
    "are guessing (ln C) and the least losses with interactions of at most k bodies. (b, c) The shares of the "
    "variance of the logits that depend on no other site, on one, and so on, for two and three layers; lines are "
    "these shares as flow from small multiples of the starts leaves the plateau.",
    papers={
        "arXiv:2410.19637, Fig. 2 (another network)": "The published stacks have skip connections and rest at the best "
        "two-body fit, three layers also at the best three-body fit. Stacks without skips, which are drawn here, rest "
        "at ln C only and reach the highest orders last.",
    },
)
