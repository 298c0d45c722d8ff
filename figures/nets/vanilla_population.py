"""Ordinary encoders and factored stacks on four-body data: the loss against floors by order, and the orders learned."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, missing_extra, numbered
from figures.nets.floors_and_orders import (
    FLOORS,
    LOSS,
    SEEN,
    SHARE,
    floors,
    in_black,
    losses_and_orders,
    name_levels,
    orders,
)
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.nets import train_encoder_on_population, train_on_population
from simulate.nets.network import PACKAGES
from theory.models import VanillaEncoder
from theory.nets import order_fractions

WIDTH, HEADS, ENCODER_RATE, STACK_RATE, SCALE = 16, 2, 3e-3, 1e-2, 0.8
RECORD = (1, 3, 10, 20, 30, 60, 100, 150, 200, 300, 400, 600, 800, 1_200)
STARTS = 8
ENDS = RECORD[0], RECORD[-1]
STACKS = {"stack, 1 layer": 1, "stack, 2 layers": 2}
ONE, TWO = "encoder, 1 block", "encoder, 2 blocks"
ORDERS = {ONE: "orders of an encoder of one block", TWO: "orders of an encoder of two blocks"}


def course(settings: VanillaEncoder | int, steps: list[int], _d: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Return the loss of an encoder and the orders in its logits after `steps`, or the loss of a stack."""
    options: dict[str, Any] = {"n_steps": max(steps), "record": steps}
    if isinstance(settings, VanillaEncoder):
        trained = train_encoder_on_population(
            settings, population(), seed=replicate, rate=ENCODER_RATE, orders=True, **options
        )
        return losses_and_orders(trained)
    stack = start(settings, SCALE, replicate)
    return {LOSS: train_on_population(stack, population(), rate=STACK_RATE, optimizer="adam", **options).losses}


def encoder(n_layers: int) -> VanillaEncoder:
    return VanillaEncoder(n_sites=L, n_colors=C, n_layers=n_layers, n_heads=HEADS, width=WIDTH, mlp_ratio=2)


def shares(_settings: VanillaEncoder, _steps: Sequence[float]) -> dict[str, float]:
    return dict(zip(SEEN, order_fractions(four_body_model()).fractions, strict=True))


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the names of the floors beside their lines."""
    if axes.get_title() == LOSS:
        name_levels(axes, rows, {name: ("left" if k > 1 else "right", "below") for k, name in FLOORS.items()})


EXPERIMENT = Experiment(
    title="The number of blocks does not bound the order that an encoder learns",
    measure=course,
    by_point=True,
    settings={ONE: encoder(1), TWO: encoder(2)} | STACKS,
    streams=numbered,
    panels=(
        Panel(
            title=LOSS,
            curves={name: Curve(number=LOSS, setting=name) for name in (*ORDERS, *STACKS)} | in_black(floors(ENDS)),
            ylabel="nats per site",
            ylim=(0.8, 1.14),
        ),
        *(
            Panel(title=title, curves=orders(name, ENDS), theory=shares, ylabel=SHARE, ylim=(-0.03, 1.05), ordered=True)
            for name, title in ORDERS.items()
        ),
    ),
    points=RECORD,
    d=L,
    extrapolate=False,
    replicates=STARTS,
    # JAX compiles each architecture for seconds, so that a draft has one.
    draft={"points": RECORD[:2], "settings": {ONE: encoder(1), TWO: encoder(1)} | STACKS},
    draw=draw,
    xlabel="step of Adam, full batch",
    xscale="log",
    skip=partial(missing_extra, "nets", *PACKAGES),
    caption="One block of an encoder with a perceptron falls below the three-body floor, which a factored stack "
    "of two layers cannot pass. The population is a four-body model of 5 sites with 3 colors. Markers are means "
    "over 8 random starts; encoders have width 16, 2 heads (rate 0.003), stacks start from scale 0.8 "
    "(rate 0.01). "
    "(a) The masked loss; lines are the least losses of predictions with interactions of at most k bodies. (b, c) "
    "How much of the variance of the logits of one and two blocks comes from interactions of the hidden site with "
    "so many others; lines are the true shares, to which orders rise in turn, in one block nearly as fast as in "
    "two.",
    papers={
        "arXiv:2410.19637, Fig. 1 (encoders)": "It agrees that low orders are learned before high ones; encoders and "
        "data are far smaller, and already one block passes the three-body floor.",
    },
)
