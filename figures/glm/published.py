"""Draws numbers of other authors as black crosses, which hide no marker of our own."""

from figures.core import Axes

SIZE = 4.5  # typographic points


def cross_out(axes: Axes) -> None:
    """Make black crosses of the stars of a panel and of its legend."""
    for line in axes.get_lines():
        if line.get_marker() == "*":
            line.set(marker="x", color="black", markersize=SIZE, markeredgewidth=0.9, zorder=4)
    if axes.get_legend() is not None:
        axes.legend()
