"""Arranges panels in rows and columns within the width of a page, and keeps legends off the data."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox, ScaledTranslation
from numpy.typing import NDArray

TEXT_WIDTH_INCHES = 7.0  # inches: the text width of a page with two columns
ROW_HEIGHT = 2.45  # inches, with the title of a panel and the label of its axis
ONE_PANEL = (4.2, 3.0)
COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3}  # of so many panels; more stand three in a row
CELL = 3.0  # inches: the widest panel beside others
LINE = 0.16  # inches, of one line of a legend below the panels
MARGIN = 0.03  # inches between a legend and what it must not hide
GAP = 0.05  # inches between the label of an axis and a legend below it
LETTERS = 3.6  # legend letters of 7 points fill so many points of width each


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


def finish(figure: Figure, axes: Sequence[Axes], unused: Sequence[Axes] = ()) -> None:
    """Break long labels, move legends where they hide nothing, and show none twice.

    A panel whose legend repeats a part of that of another panel loses it. A legend of several panels stands in an
    `unused` cell of the grid where there is one, or below all panels where it is the only one. Any other legend that
    hides a part of a line or a marker moves below its own panel, and the figure grows by its height. The panels then
    keep their places: drawing the figure does not place them again, which would take longer than drawing itself.
    """
    FigureCanvasAgg(figure)  # knows how large letters are
    if not _arranged(figure, axes, unused):
        _place(figure)
    figure.set_layout_engine("none")


def _arranged(figure: Figure, axes: Sequence[Axes], unused: Sequence[Axes]) -> bool:
    """Break long labels and moves legends, and says whether panels are in their final places."""
    _place(figure)
    wrapped = [_wrap_labels(axes), _wrap_title(figure)]
    n_legends = sum(map(_shows_legend, axes))
    with_legend = _without_repetitions([ax for ax in axes if _shows_legend(ax)])
    for cell in unused:
        cell.set_axis_off()
    common = [ax for ax in with_legend if len(axes) > 1 and _is_common(ax, axes)]
    if common and len(unused):
        entries = _entries(common[0])
        _legend(common[0]).remove()
        with_legend.remove(common[0])
        unused[0].legend(list(entries.values()), list(entries), loc="center left")
    if not with_legend:
        return False
    if len(axes) == 1 or (len(with_legend) == 1 and with_legend[0] in common):
        if any(wrapped):
            _place(figure)
        if len(axes) == 1 and not _hides_data(axes[0]):
            return True
        _below_all(figure, with_legend[0])
        return False
    placed = not any(wrapped) and len(with_legend) == n_legends  # a legend within its panel takes no room
    for _ in with_legend:  # a legend that moves makes its panel smaller, so that another one may hide data then
        if not placed:
            _place(figure)
        placed = False
        moved = [ax for ax in with_legend if _hides_data(ax)]
        if not moved:
            return True
        _below_each(figure, moved)
        with_legend = [ax for ax in with_legend if ax not in moved]
    return False


def _place(figure: Figure) -> None:
    """Place all panels, as drawing the figure does, at less than half its time."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _without_repetitions(axes: Sequence[Axes]) -> list[Axes]:
    """Remove every legend that says nothing more than that of another panel, and return the panels that keep theirs."""
    kept: list[Axes] = []
    for ax in sorted(axes, key=lambda ax: -len(_entries(ax))):  # stable: the first of equal legends stays
        if any(_looks(ax).items() <= _looks(fuller).items() for fuller in kept):
            _legend(ax).remove()
        else:
            kept.append(ax)
    return kept


def _is_common(owner: Axes, axes: Sequence[Axes]) -> bool:
    """Say whether the legend of one panel explains something in another one too."""
    looks = _looks(owner).items()
    drawn = [{label: _look(handle) for label, handle in _handles(ax).items()} for ax in axes]
    return sum(bool(own.items() & looks) for own in drawn) > 1


def _handles(ax: Axes) -> dict[str, Any]:
    """Return what is drawn in a panel and may stand in a legend, by its label."""
    handles, labels = ax.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


def _looks(ax: Axes) -> dict[str, tuple[str, ...]]:
    return {label: _look(handle) for label, handle in _entries(ax).items()}


def _entries(ax: Axes) -> dict[str, Any]:
    legend = ax.get_legend()
    labels = [text.get_text() for text in legend.get_texts()] if legend is not None else []
    by_label = _handles(ax)
    return {label: by_label[label] for label in labels if label in by_label}


def _look(handle: Any) -> tuple[str, ...]:
    """Return what tells one entry of a legend from another; its color alone where it is no line."""
    names = ("get_color", "get_linestyle", "get_marker", "get_facecolor")
    return tuple(str(getattr(handle, name)()) for name in names if hasattr(handle, name))


def _below_all(figure: Figure, owner: Axes) -> None:
    entries = _entries(owner)
    _legend(owner).remove()
    columns = _columns(list(entries), figure.get_figwidth())
    figure.set_figheight(figure.get_figheight() + LINE * math.ceil(len(entries) / columns))
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns)


def _below_each(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put the legend of each of these panels below its axis."""
    width = figure.get_figwidth() / figure.axes[0].get_gridspec().ncols  # type: ignore[union-attr]
    added: dict[int, float] = {}
    for ax in axes:
        entries = _entries(ax)
        columns = _columns(list(entries), width)
        _legend(ax).remove()
        below = (ax.get_window_extent().y0 - _bottom(ax)) / figure.dpi + GAP
        anchor = ax.transAxes + ScaledTranslation(0, -below, figure.dpi_scale_trans)
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": anchor}
        ax.legend(list(entries.values()), list(entries), **place, borderaxespad=0.0, ncols=columns)
        row = ax.get_subplotspec().rowspan.start  # type: ignore[union-attr]
        added[row] = max(added.get(row, 0.0), LINE * math.ceil(len(entries) / columns))
    figure.set_figheight(figure.get_figheight() + sum(added.values()))


def _bottom(ax: Axes) -> float:
    """Return where the label of the horizontal axis ends, in pixels."""
    box = ax.xaxis.get_tightbbox()
    return float(ax.get_window_extent().y0 if box is None else box.y0)


def _columns(labels: Sequence[str], width: float) -> int:
    """Return how many entries of a legend stand side by side on `width` inches."""
    widest = max(_letters(label) for label in labels) * LETTERS / 72 + 0.45
    return max(1, min(len(labels), int(0.95 * width / widest)))


def _letters(label: str) -> int:
    """Return about how many letters are seen of a label, in which a command of TeX shows one."""
    return len(re.sub(r"\\[A-Za-z]+|[${}]", "x", label))


def _wrap_labels(axes: Sequence[Axes]) -> bool:
    """Break titles and labels of axes that are longer than the axes, at the space nearest to their middle.

    Says whether any was.
    """
    broken = False
    for ax in axes:
        box = ax.get_window_extent()
        for text, room in ((ax.title, box.width), (ax.xaxis.label, box.width), (ax.yaxis.label, box.height)):
            extent = text.get_window_extent()
            if (extent.height if text is ax.yaxis.label else extent.width) > room:
                text.set_text(_broken(text.get_text()))
                broken = True
    return broken


def _wrap_title(figure: Figure) -> bool:
    """Break the title of the figure where it is wider than the figure, and say whether it was."""
    title = figure._suptitle  # type: ignore[attr-defined]  # matplotlib has no public way to the text itself
    if title is None or title.get_window_extent().width <= 0.98 * figure.bbox.width:
        return False
    title.set_text(_broken(title.get_text()))
    return True


def _broken(label: str) -> str:
    """Return the label in two lines; a formula between dollars stays in one piece."""
    spaces = [m.start() for m in re.finditer(" ", label) if label[: m.start()].count("$") % 2 == 0]
    if not spaces or "\n" in label:
        return label
    middle = min(spaces, key=lambda at: abs(_letters(label[:at]) - _letters(label[at:])))
    return f"{label[:middle]}\n{label[middle + 1 :]}"


def _shows_legend(ax: Axes) -> bool:
    legend = ax.get_legend()
    return legend is not None and legend.get_visible()


def _legend(ax: Axes) -> Legend:
    """Return the legend of a panel that is known to have one."""
    legend = ax.get_legend()
    assert legend is not None
    return legend


def _hides_data(ax: Axes) -> bool:
    """Say whether the legend of a panel covers a point of a line, of a marker or of an error bar."""
    box = _legend(ax).get_window_extent().padded(MARGIN * ax.figure.dpi)
    return any(_crosses(box, points) for points in _drawn_paths(ax))


def _drawn_paths(ax: Axes) -> list[NDArray[np.float64]]:
    """Return the vertices of all lines and bars of a panel, in pixels."""
    drawn = [line for line in ax.get_lines() if line.get_transform().contains_branch(ax.transData)]
    vertices = [np.asarray(line.get_xydata(), dtype=float).reshape(-1, 2) for line in drawn]
    for collection in ax.collections:
        segments = collection.get_segments() if hasattr(collection, "get_segments") else []
        vertices += [np.asarray(segment, dtype=float).reshape(-1, 2) for segment in segments]
    return [ax.transData.transform(points) for points in vertices if len(points)]


def _crosses(box: Bbox, points: NDArray[np.float64]) -> bool:
    """Say whether a chain of straight pieces through these points enters the box."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:
        return bool(len(points)) and bool(box.contains(*points[0]))
    steps = np.linspace(0, 1, 17)[:, None, None]
    dense = points[:-1] + steps * np.diff(points, axis=0)
    inside = (dense[..., 0] > box.x0) & (dense[..., 0] < box.x1) & (dense[..., 1] > box.y0) & (dense[..., 1] < box.y1)
    return bool(inside.any())
