"""Marks in the map of scores the columns of the sites, and the contacts that are known."""

from typing import Any

import numpy as np

from figures.core import Axes, DataFrame

MAP = "interaction map"
COLUMN, CONTACT = "column", "contact"  # curves in the table of the figure
MANY = 100  # contacts: circles around more are drawn small
MOST_TICKS = 6


def mark_sites(axes: Axes, rows: DataFrame) -> None:
    """Label the axes of the map by columns of the file, and draw circles around known contacts above the diagonal."""
    columns, contacts = (rows[rows["curve"] == name].sort_values("x") for name in (COLUMN, CONTACT))
    if len(columns):
        _label(axes, columns["theory"].to_numpy(dtype=float))
    if len(contacts):
        size, width = (2, 0.4) if len(contacts) > MANY else (4, 0.6)
        ring: dict[str, Any] = {"color": "C1", "markerfacecolor": "none", "markersize": size, "markeredgewidth": width}
        axes.plot(contacts["theory"], contacts["x"], "o", **ring, label="contact")
        axes.legend(loc="upper right")  # on circles, so that the layout moves it below: it would hide scores elsewhere


def _label(axes: Axes, columns: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    """Put ticks at sites whose columns are round numbers, or next to these, since some columns are left out."""
    span = columns[-1] - columns[0]
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if span / s <= MOST_TICKS)
    wanted = np.arange(np.ceil(columns[0] / step) * step, columns[-1] + 1, step)
    places = np.unique(np.searchsorted(columns, wanted).clip(0, len(columns) - 1))
    names = [f"{columns[place]:.0f}" for place in places]
    axes.set_xticks(places + 1.0, names)
    axes.set_yticks(places + 1.0, names)
    axes.set(xlabel="column $i$ of the file", ylabel="column $j$ of the file")
