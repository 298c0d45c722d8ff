"""Draws the points of a panel as simulation over theory, so that an agreement of a percent can be seen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame, Series

MARKERS = "osD^vPX"
DODGE_SHARE = 0.012  # share of the axis, between the points of two curves at one place


def best_points(points: "DataFrame") -> "DataFrame":
    """Return the row of each x with the best number: the extrapolated one, else that of the largest size."""
    return points.sort_values("size", kind="stable").drop_duplicates("x", keep="last").sort_values("x")


def bars(points: "DataFrame") -> NDArray[np.float64]:
    """Return how far the bar of each point reaches below and above its marker, (2, n)."""
    return np.asarray(np.abs([points["simulation"] - points["low"], points["high"] - points["simulation"]]))


def draw_ratios(ax: "Axes", rows: "DataFrame", colors: Mapping[str, str]) -> None:
    """Draw simulation/theory - 1 of every measured row with a theory, in the `colors` and markers of its own panel."""
    labels = list(rows["curve"].drop_duplicates())
    measured = rows[rows["stderr"].notna() & rows["theory"].notna() & (rows["theory"] != 0)]
    shown = [label for label in labels if label in set(measured["curve"])]
    for rank, label in enumerate(shown):
        position = labels.index(label)
        points = best_points(measured[measured["curve"] == label])
        theory = points["theory"].abs()
        shift = DODGE_SHARE * (rank - (len(shown) - 1) / 2)
        ax.errorbar(
            points["x"] * _span(measured["x"]) ** shift,
            (points["simulation"] - points["theory"]) / theory,
            bars(points) / theory.to_numpy(),
            color=colors[label],
            marker=MARKERS[position % len(MARKERS)],
            linestyle="",
            markerfacecolor="white",
            elinewidth=0.8,
        )
    ax.axhline(0, color="0.5", linewidth=0.8, zorder=0)


def _span(x: "Series[float]") -> float:
    """Return the largest x over the smallest, or 1 where some x is not positive, so that points are not moved."""
    places = np.asarray(x, dtype=float)
    return float(places.max() / places.min()) if places.size and places.min() > 0 else 1.0
