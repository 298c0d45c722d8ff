"""Ordinary encoders and stacks of factored attention on the exact population of a four-body model, against floors."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Row, row
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.core import Estimate, Task
from simulate.nets import train_encoder_on_population, train_on_population
from simulate.nets.network import missing_packages
from theory.models import VanillaEncoder
from theory.potts import enumerate_states, k_body_floor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

WIDTH, HEADS, ENCODER_RATE, STACK_RATE, SCALE = 16, 2, 3e-3, 1e-2, 0.8
RECORD = (1, 10, 30, 60, 100, 150, 200, 300, 400, 600, 800, 1_200)
ENCODERS = {1: "encoder, 1 block", 2: "encoder, 2 blocks"}
STACKS = {1: "factored stack, $N = 1$", 2: "factored stack, $N = 2$"}
FLOORS = {1: "sites alone", 2: "2-body floor", 3: "3-body floor", 4: "4-body floor (Bayes)"}


def encoder_losses(n_layers: int, steps: list[int], replicate: int) -> NDArray[np.float64]:
    """The masked loss after `steps` of an encoder from random weights."""
    settings = VanillaEncoder(n_sites=L, n_colors=C, n_layers=n_layers, n_heads=HEADS, width=WIDTH, mlp_ratio=2)
    trained = train_encoder_on_population(
        settings, population(), n_steps=max(steps), seed=replicate, rate=ENCODER_RATE, record=steps
    )
    return trained.losses


def stack_losses(n_layers: int, steps: list[int], replicate: int) -> NDArray[np.float64]:
    """The masked loss after `steps` of a factored stack from random weights."""
    stack = start(n_layers, SCALE, replicate)
    trained = train_on_population(
        stack, population(), n_steps=max(steps), rate=STACK_RATE, optimizer="adam", record=steps
    )
    return trained.losses


def compute(context: Context) -> list[Row]:
    steps = [round(step) for step in (RECORD[:2] if context.is_draft else RECORD)]
    seeds = range(2 if context.is_draft else context.replicates(2))
    kinds = {"encoder": (encoder_losses, ENCODERS), "stack": (stack_losses, STACKS)}
    found = context.sweep(
        Task(f"{kind}/{n}/{seed}", losses, (n, steps, seed))
        for kind, (losses, names) in kinds.items()
        for n in names
        for seed in seeds
    )
    rows = []
    for kind, (_, names) in kinds.items():
        for n, name in names.items():
            runs = np.array([found[f"{kind}/{n}/{seed}"] for seed in seeds])
            rows += [row(name, step, d=L, estimate=Estimate.of(runs[:, k])) for k, step in enumerate(steps)]
    exact = enumerate_states(four_body_model())
    levels = {name: k_body_floor(exact, k).loss for k, name in FLOORS.items()}
    return rows + [row(name, step, theory=level) for name, level in levels.items() for step in (steps[0], steps[-1])]


def draw(axes: "Axes", _rows: "DataFrame") -> None:
    """The legend where no curve passes."""
    axes.legend(fontsize=5.5, ncols=2, loc="lower left")


EXPERIMENT = Experiment(
    title="Encoders and factored stacks on an exact four-body population",
    compute=compute,
    xlabel="step of Adam, full batch",
    ylabel="masked loss (nats a site)",
    xscale="log",
    ylim=(0.72, 1.14),
    figsize=(4.6, 3.2),
    draw=draw,
    skip=missing_packages,
    caption=f"{L} sites of {C} colors. Means over two random starts, two standard errors; encoders of width {WIDTH} "
    f"with {HEADS} heads (rate {ENCODER_RATE}), stacks from scale {SCALE} (rate {STACK_RATE}). Lines: the least loss "
    "of predictions with interactions of at most k bodies. The number of blocks does not bound the order of an encoder "
    "with a perceptron: one block falls below the 3-body floor, which a stack of two layers cannot pass.",
)
