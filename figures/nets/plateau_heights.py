"""Heights of the plateaus of masked prediction: gains of k-body floors against beta, and their closed form."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment
from simulate.core import stream
from theory import nets, potts
from theory.models import Interaction, ManyBodyPottsModel

ORDERS = (1, 2, 3, 4)
LINE, POINTS = np.geomspace(0.005, 0.7, 30), (0.005, 0.02, 0.07, 0.2, 0.4, 0.7)


@dataclass(frozen=True)
class Floor:
    """Describes predictions with interactions of up to `order` bodies, of a four-body model at `beta`."""

    order: int
    beta: float

    @property
    def model(self) -> ManyBodyPottsModel:
        """Five sites of three colors with Gaussian J_ijkl and symmetric W, which also holds orders below four."""
        rng, groups = stream(0, "plateau heights"), list(combinations(range(5), 4))
        W = rng.standard_normal((3,) * 4)
        W = sum(W.transpose(order) for order in permutations(range(4))) / np.sqrt(24)
        return ManyBodyPottsModel(5, [Interaction(groups, rng.standard_normal(len(groups)), W)], beta=self.beta)


def expansion(floor: Floor) -> float:
    """Return the gain over uniform predictions to second order in beta, divided by beta^2."""
    return float(nets.high_temperature_floors(floor.model).gains[floor.order - 1]) / floor.beta**2


def exact(floor: Floor) -> float:
    """Return the gain of the best predictions of each site, divided by beta^2."""
    return float(np.log(3) - potts.k_body_floor(floor.model, floor.order, tol=1e-16).loss) / floor.beta**2


def truncation(floor: Floor) -> float:
    """Return the gain of the true logits without interactions of more bodies, divided by beta^2."""
    return float(np.log(3) - nets.truncated_conditional_loss(floor.model, floor.order)) / floor.beta**2


def curves(order: int) -> dict[str, Curve]:
    """Return the closed form, the exact floor and the truncated truth of one order, in one color."""

    def curve(theory: Callable[[Floor], float], **where: Any) -> Curve:
        return Curve(model=lambda beta: Floor(order, beta), theory=theory, replicate=NONE, color=order - 1, **where)

    found = {
        f"$k = {order}$": curve(expansion, line=LINE, points=(), style="-"),
        f"_exact, k = {order}": curve(exact, line=(), points=POINTS),
    }
    # With k = 1 the truth predicts worse than nothing at a low temperature, with k = 4 nothing is left out.
    if order in (2, 3):
        found[f"_truncated, k = {order}"] = curve(truncation, line=LINE, points=(), style=":")
    return found


def draw(axes: Axes, _rows: DataFrame) -> None:
    """Say in the legend what the marks are that have no entry of their own."""
    axes.plot([], [], "*", color="0.3", markersize=9, label="exact floor")
    axes.plot([], [], ":", color="0.3", label="truncated truth")
    axes.legend()


EXPERIMENT = Experiment(
    title=r"For small $\beta$ every order of interaction adds its own energy",
    curves={label: curve for order in ORDERS for label, curve in curves(order).items()},
    extrapolate=False,
    xlabel=r"inverse temperature $\beta$",
    ylabel=r"gain $(\ln C - \mathrm{loss})/\beta^2$ (nats per site)",
    xscale="log",
    yscale="log",
    ylim=(0.004, 2),
    draw=draw,
    caption="To second order in beta every order of interaction adds the energy of its own part of the logits to "
    "what a model can gain. Lines are this gain, over beta^2, of models with interactions of up to k bodies over "
    "uniform ones. Stars are the gains of the exact floors, the least losses that predictions with interactions "
    "of up to k bodies can have. Dotted lines are those of the true logits without higher orders, which belong to "
    "the class but are not its best.",
)
