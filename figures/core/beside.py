"""Writes the names of curves where an experiment places them itself, in the letters of a legend."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def write_beside(
    axes: "Axes",
    name: str,
    at: tuple[float, float],
    offset: tuple[float, float] = (3.0, 0.0),
    *,
    color: Any = "black",
    across: str = "left",
    along: str = "center",
    x_is_share: bool = False,
) -> None:
    """Write a name `offset` typographic points from a place of the panel, in its color or one dark enough for letters.

    `across` and `along` say which part of the text stands there. With `x_is_share` the place along x is a share of the
    width of the panel, as for a line through all of it.
    """
    from matplotlib import rcParams

    from figures.core.direct_labels import readable

    axes.annotate(
        name,
        at,
        offset,
        xycoords=axes.get_yaxis_transform() if x_is_share else "data",
        textcoords="offset points",
        ha=across,
        va=along,
        color=readable(color),
        fontsize=rcParams["legend.fontsize"],
        linespacing=1.0,
        annotation_clip=False,
    )
