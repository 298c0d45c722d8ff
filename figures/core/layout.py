"""Arranges panels in rows and columns within the width of a page, and puts words where they hide nothing."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from figures.core.direct_labels import label_curves
from figures.core.legends import place_legends
from figures.core.wrapping import place, wrap_labels, wrap_title

TEXT_WIDTH_INCHES = 7.0  # inches: the text width of a page with two columns
ROW_HEIGHT = 2.45  # inches, with the title of a panel and the label of its axis
ONE_PANEL = (4.2, 3.0)
COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3}  # of so many panels; more stand three in a row
CELL = 3.0  # inches: the widest panel beside others


def arrange(n_panels: int) -> tuple[int, int]:
    """Return how many rows and columns of panels a figure of `n_panels` has."""
    columns = COLUMNS.get(n_panels, 3)
    return math.ceil(n_panels / columns), columns


def figure_size(n_panels: int) -> tuple[float, float]:
    """Return the width and height of a figure of `n_panels` in inches; no figure is wider than a page."""
    if n_panels == 1:
        return ONE_PANEL
    n_rows, n_columns = arrange(n_panels)
    return min(TEXT_WIDTH_INCHES, CELL * n_columns), ROW_HEIGHT * n_rows + 0.25


def finish(figure: Figure, axes: Sequence[Axes], unused: Sequence[Axes] = (), *, names: bool = False) -> None:
    """Break long labels, and explain curves: by `names` at their ends where these fit, else by legends.

    Legends are shown once and hide nothing (`place_legends`). The panels then keep their places: drawing the figure
    does not place them again, which would take longer than drawing itself.
    """
    FigureCanvasAgg(figure)  # knows how large letters are
    place(figure)
    if any([wrap_labels(axes), wrap_title(figure)]):
        place(figure)
    for cell in unused:
        cell.set_axis_off()
    if names:
        label_curves(figure, axes)
    place_legends(figure, axes, unused)
    figure.set_layout_engine("none")
