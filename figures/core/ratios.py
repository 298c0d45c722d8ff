"""Draws the points of a panel as simulation over theory, so that an agreement of a percent can be seen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

MARKERS = "osD^vPX"


def best_points(points: "DataFrame") -> "DataFrame":
    """Return the row of each x with the best number: the extrapolated one, else that of the largest size."""
    return points.sort_values("size", kind="stable").drop_duplicates("x", keep="last").sort_values("x")


def bars(points: "DataFrame") -> NDArray[np.float64]:
    """Return how far the bar of each point reaches below and above its marker, (2, n)."""
    return np.asarray(np.abs([points["simulation"] - points["low"], points["high"] - points["simulation"]]))


def draw_ratios(ax: "Axes", rows: "DataFrame", colors: Mapping[str, str], places: Mapping[str, int]) -> None:
    """Draw simulation/theory - 1 of every measured row with a theory, in the `colors` and markers of its own panel.

    `places` are those of its curves among the markers.
    """
    labels = list(rows["curve"].drop_duplicates())
    measured = rows[rows["stderr"].notna() & rows["theory"].notna() & (rows["theory"] != 0)]
    for label in (label for label in labels if label in set(measured["curve"])):
        points = best_points(measured[measured["curve"] == label])
        theory = points["theory"].abs()
        look: dict[str, Any] = {"color": colors[label], "marker": MARKERS[places[label] % len(MARKERS)]}
        look |= {"linestyle": "", "markerfacecolor": "white"}
        ax.errorbar(
            points["x"],
            (points["simulation"] - points["theory"]) / theory,
            bars(points) / theory.to_numpy(),
            **look,
            elinewidth=0.8,
        )
        ax.plot([], [], **look, label=label)  # so that the legend of its own panel is seen to explain this one too
    ax.axhline(0, color="0.5", linewidth=0.8, zorder=0)
