"""What figures of training on the exact four-body population share: its floors, and the orders in the logits."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from figures.core import Axes, Curve, DataFrame, level
from figures.core.names import write_name
from figures.nets.four_body import L, four_body_model
from simulate.nets import EncoderTraining, StackTraining
from theory.core.arrays import Array
from theory.potts import enumerate_states, k_body_floor

LOSS = "masked loss"  # title of the panel of losses; the others show orders
SHARE = "share of the logits' variance"
SEEN = ("no other site", "1 other", "2 others", "3 others", "4 others")
MARKERS = dict(zip(SEEN, "vPX<p", strict=True))  # other ones than those of networks in the panel of losses
FLOORS = {1: "sites alone", 2: "2-body floor", 3: "3-body floor", 4: "4-body floor (Bayes)"}


def floor(k: int) -> float:
    """Return the least loss of predictions with interactions of at most k bodies."""
    return k_body_floor(enumerate_states(four_body_model()), k).loss


def floors(ends: tuple[float, float]) -> dict[str, Curve]:
    """Return the lines of all floors, by name."""
    return {name: level(partial(floor, k), ends) for k, name in FLOORS.items()}


def in_black(levels: Mapping[str, Curve]) -> dict[str, Curve]:
    """Return levels as dashed black lines that have their names beside them (`name_levels`) and none in a legend."""
    return {f"_{name}": replace(curve, style="--", color=6) for name, curve in levels.items()}


def name_levels(axes: Axes, rows: DataFrame, names: Mapping[str, tuple[str, str]]) -> None:
    """Write names of levels inside a panel, each at the end of its line and on the side of it that are given."""
    lines = rows[rows["size"].isna()]
    for name, (end, side) in names.items():
        x = lines["x"].min() if end == "left" else lines["x"].max()
        height = lines.loc[lines["curve"] == f"_{name}", "theory"].iloc[0]
        along, gap = ("bottom", 1.0) if side == "above" else ("top", -1.5)
        write_name(axes, name, (x, height), (0.0, gap), across=end, along=along)


def orders(setting: str, ends: tuple[float, float]) -> dict[str, Curve]:
    """Return the measured shares of all orders in a setting, and lines between two steps, which are not judged."""
    return {
        order: Curve(number=order, setting=setting, line=ends, line_only=True, marker=MARKERS[order]) for order in SEEN
    }


def losses_and_orders(trained: StackTraining | EncoderTraining) -> dict[str, Array]:
    """Return the numbers of a run after each recorded step; none has orders before its logits differ from zero."""
    shares = np.zeros((len(trained.losses), L)) if trained.orders is None else trained.orders
    return {LOSS: trained.losses} | dict(zip(SEEN, shares.T, strict=True))
