"""Heights of the plateaus of masked prediction: gains of k-body floors against beta, and their closed form."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy.special import log_softmax

from figures.core import NONE, Axes, Curve, DataFrame, Experiment
from figures.core.names import write_name
from simulate.core import stream
from theory import nets, potts
from theory.models import Interaction, ManyBodyPottsModel

ORDERS = (1, 2, 3, 4)
SEQUENCES, NEWTON_STEPS = 10**8, 6  # in each sample, and of a regression, whose last steps change nothing
LINE, POINTS = np.geomspace(0.02, 0.7, 16), (0.05, 0.1, 0.2, 0.4, 0.7)


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


def fitted(floor: Floor, n_sequences: int, rng: np.random.Generator) -> float:
    """Measure what is `exact` by fits to sampled sequences, on as many others.

    Each site is a softmax regression on the colors of all groups of less than `order` other sites.
    """
    exact = potts.enumerate_states(floor.model)
    learned, tested = (rng.multinomial(n_sequences, exact.probabilities) / n_sequences for _ in range(2))
    losses = [_regression_loss(exact.states, site, floor.order, learned, tested) for site in range(5)]
    return float(np.log(3) - np.mean(losses)) / floor.beta**2


def _regression_loss(states: Any, site: int, order: int, learned: Any, tested: Any) -> float:
    """Return the loss under the weights `tested` of the softmax regression of a site under the weights `learned`."""
    others = np.eye(3)[states[:, [k for k in range(5) if k != site]]][..., :2] - 1 / 3  # (states, other sites, 2)
    columns = [np.ones((len(states), 1))]
    for size in range(1, order):
        for group in combinations(range(4), size):
            product = np.ones((len(states), 1))
            for other in group:
                product = (product[:, :, None] * others[:, other, None]).reshape(len(states), -1)
            columns.append(product)
    X, truth = np.hstack(columns), np.eye(3)[states[:, site]]
    weights = np.zeros((X.shape[1], 2))  # the third color has none

    def logs() -> Any:
        return log_softmax(np.hstack([X @ weights, np.zeros((len(X), 1))]), axis=1)

    for _ in range(NEWTON_STEPS):
        p = np.exp(logs())[:, :2]
        gradient = X.T @ (learned[:, None] * (truth[:, :2] - p))
        blocks = [[X.T @ (X * (learned * (p[:, a] * ((a == b) - p[:, b])))[:, None]) for b in (0, 1)] for a in (0, 1)]
        step = np.linalg.solve(np.block(blocks), gradient.T.ravel())
        weights = weights + step.reshape(2, -1).T
    return float(-(tested * (truth * logs()).sum(axis=1)).sum())


def curves(order: int) -> dict[str, Curve]:
    """Return the closed form, the exact floor and fits to samples of one order, in one color."""

    def curve(theory: Callable[[Floor], float], **where: Any) -> Curve:
        look: dict[str, Any] = {"replicate": NONE, "color": order - 1} | where
        return Curve(model=lambda beta: Floor(order, beta), theory=theory, **look)

    return {
        f"$k = {order}$": curve(expansion, line=LINE, points=(), style="-"),
        f"_exact, k = {order}": curve(exact, line=LINE, points=(), style="--"),
        f"_fitted, k = {order}": curve(exact, line=(), points=POINTS, replicate=fitted, d=SEQUENCES, replicates=8),
    }


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the names of the orders at the ends of their lines, and of the kinds of lines beside the lowest ones."""
    shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))

    def point(curve: str, place: int) -> tuple[float, float]:
        x, y = rows.loc[rows["curve"] == curve, ["x", "theory"]].to_numpy()[place]
        return float(x), float(y)

    for order, (name, handle) in zip(ORDERS, shown.items(), strict=True):
        write_name(axes, name, point(f"_exact, k = {order}", -1), (5.0, 0.0), color=handle.get_color())
    look = {"color": shown["$k = 1$"].get_color(), "across": "right"}
    write_name(axes, "exact", point("_exact, k = 1", -3), (-6.0, 4.0), along="bottom", **look)
    write_name(axes, r"second order in $\beta$", point("$k = 1$", -1), (0.0, -2.0), along="top", **look)
    axes.legend().remove()


EXPERIMENT = Experiment(
    title=r"For small $\beta$ every order of interaction adds its own energy",
    curves={label: curve for order in ORDERS for label, curve in curves(order).items()},
    extrapolate=False,
    xlabel=r"inverse temperature $\beta$",
    ylabel=r"gain $(\ln C - \mathrm{loss})/\beta^2$ (nats per site)",
    xscale="log",
    yscale="log",
    ylim=(0.004, 2),
    ordered=True,
    draw=draw,
    caption="To second order in beta every order of interaction adds the energy of its own part of the logits to "
    "what a model can gain. Solid lines are this gain, over beta^2, of models with interactions of up to k bodies "
    "over uniform ones, for a four-body model of five sites and C = 3 colors; dashed lines are the exact gains, from "
    "the least losses that predictions with interactions of up to k bodies can have. Markers are means over "
    "{replicates} fits, with bars: softmax regressions of each site on groups of less than k others, fitted to 10^8 "
    "sampled sequences and tested on as many others.",
)
