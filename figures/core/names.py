"""Writes a name beside what it names in a panel, where the ends of curves leave no place for names."""

from typing import TYPE_CHECKING, Any

import numpy as np

from figures.core.annotations import Axes

if TYPE_CHECKING:
    from matplotlib.text import Annotation

NAME = "name of a curve"  # the mark of these words among the artists of a panel
MIN_CONTRAST = 3.5  # of a name with the paper, as the ratio of luminances that WCAG 2 defines


def write_name(
    axes: Axes,
    name: str,
    at: tuple[float, float],
    offset: tuple[float, float] = (3.0, 0.0),
    *,
    color: Any = "black",
    across: str = "left",
    along: str = "center",
    x_is_share: bool = False,
) -> "Annotation":
    """Write a name at a place of a panel, in its color or one dark enough for letters, and return it.

    `offset` is how far it stands from the place, in typographic points to the right and up, and `across` and `along`
    say which part of it stands there, in the words of matplotlib ("left", "center", "right"; "bottom", "center",
    "top"). With `x_is_share` the place along x is a share of the width of the panel, as for a line through all of it.
    Legends keep away from the name.
    """
    from matplotlib import rcParams

    return axes.annotate(
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
        zorder=5,
        gid=NAME,
    )


def name_curve(axes: Axes, curve: str, name: str, *, x: float = np.inf, **placed: Any) -> None:
    """Write a name beside that point of a curve which lies nearest to x, by default the last, in its color.

    `curve` is its label as declared, with the underscore that keeps it out of a legend; `placed` is as in `write_name`.
    """
    lines = [line for line in axes.lines if line.get_gid() == curve and np.size(line.get_xdata())]
    points = np.concatenate([np.asarray(line.get_xydata(), dtype=float) for line in lines])
    place = points[:, 0].argmax() if x == np.inf else np.abs(points[:, 0] - x).argmin()
    write_name(axes, name, (float(points[place, 0]), float(points[place, 1])), color=lines[0].get_color(), **placed)


def readable(color: Any) -> tuple[float, float, float]:
    """Return a color dark enough for letters: of the same hue, with a contrast of MIN_CONTRAST with white paper.

    >>> readable("black")
    (0.0, 0.0, 0.0)
    """
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(color)
    while 1.05 / (_luminance(red, green, blue) + 0.05) < MIN_CONTRAST:
        red, green, blue = 0.95 * red, 0.95 * green, 0.95 * blue
    return red, green, blue


def _luminance(*color: float) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
