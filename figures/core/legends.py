"""Puts legends where they hide nothing and take little room: into their panel, into an empty cell, or below panels."""

import itertools
import math
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox, ScaledTranslation

from figures.core.entries import (
    Looks,
    all_looks,
    entries_of,
    explained,
    fullness,
    handle_length,
    hidden_looks,
    legend_of,
    look_of,
    looks_of,
    show,
    shows_legend,
)
from figures.core.occupied import Occupied, occupied
from figures.core.wrapping import place

MAX_HEIGHT_SHARE = 1 / 6  # of the figure that one legend may take
ROOMY = 1.03  # what a legend takes as it is drawn, over what is reckoned beforehand
MARGIN = 0.03  # inches between a legend and what it must not hide
GAP = 0.05  # inches between the label of an axis and a legend below it
WIDTH_SHARE = 0.98  # of the figure or of a panel that a legend may fill
CORNERS = ((1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.5), (0.0, 0.5), (0.5, 0.5))
STEPS = 11  # places across and along a panel that are tried beside its corners


class Size(NamedTuple):
    """The inches that a legend takes with so many columns."""

    width: float
    height: float
    columns: int


def place_legends(figure: Figure, axes: Sequence[Axes], unused: Sequence[Axes] = ()) -> None:
    """Move legends where they hide nothing, and show none twice; panels must be in their places, and are afterwards.

    A panel whose legend repeats a part of that of another panel loses it. A legend of several panels stands in an
    `unused` cell of the grid where there is one, or below all panels where it is the only one. Any other legend stays
    in its panel where it takes at most MAX_HEIGHT_SHARE of the height of the figure and hides nothing, in as many
    columns as that needs; else it moves below its panel, or where it would be too high there into one legend below
    all panels, which says the letters of the panels that an entry belongs to. The figure grows by what stands below.
    """
    owners = _without_repetitions([ax for ax in axes if shows_legend(ax)])
    common = [ax for ax in owners if len(axes) > 1 and _is_common(ax, axes)]
    if common and len(unused):
        _into_cell(figure, common[0], unused[0])
        owners.remove(common[0])
    outside = owners if len(owners) == 1 and owners[0] in common else []  # one for several panels stands below all
    height, entries = figure.get_figheight(), {ax: entries_of(ax) for ax in owners}
    for _ in owners:  # a legend that moves changes its panel, so that another one may hide data then
        if not outside:
            outside = [ax for ax in owners if not _fits_inside(figure, ax)]
            if not outside:
                return
        _below(figure, axes, {ax: entries[ax] for ax in outside}, height)
        place(figure)
        late = [ax for ax in owners if ax not in outside and not _fits_inside(figure, ax)]
        if not late:
            return
        outside = [ax for ax in owners if ax in outside or ax in late]


def _without_repetitions(axes: Sequence[Axes]) -> list[Axes]:
    """Remove every legend that says nothing more than that of another panel, and return the panels that keep theirs."""
    kept: list[Axes] = []
    for ax in sorted(axes, key=fullness, reverse=True):  # stable: the first of equal legends stays
        if any(explained(looks_of(ax), looks_of(fuller)) for fuller in kept):
            legend_of(ax).remove()
        else:
            kept.append(ax)
    return [ax for ax in axes if ax in kept]


def _is_common(owner: Axes, axes: Sequence[Axes]) -> bool:
    """Say whether the legend of one panel explains something in another one too."""
    return _explains_others(looks_of(owner), axes)


def _explains_others(looks: Looks, axes: Sequence[Axes]) -> bool:
    return sum(any(explained({label: look}, looks) for label, look in all_looks(ax).items()) for ax in axes) > 1


def _into_cell(figure: Figure, owner: Axes, cell: Axes) -> None:
    """Put a legend into an empty cell, in as many columns as make it low enough and have room there."""
    entries = entries_of(owner)
    legend_of(owner).remove()
    room = cell.get_window_extent().width / figure.dpi
    sizes = [size for size in _sizes(owner, entries) if size.width <= room]
    low = [size for size in sizes if size.height <= MAX_HEIGHT_SHARE * figure.get_figheight()]
    columns = low[0].columns if low else sizes[-1].columns if sizes else 1
    show(cell, entries, loc="center left", ncols=columns, borderaxespad=0.0)


def _fits_inside(figure: Figure, ax: Axes) -> bool:
    """Say whether a legend has a place in its panel where it is low and hides nothing, and put it there.

    Where it stands already is the first place that is tried, then corners, then any other.
    """
    taken = occupied(ax)
    if taken.is_filled:
        return False
    highest, margin = MAX_HEIGHT_SHARE * figure.get_figheight(), MARGIN * figure.dpi
    box = legend_of(ax).get_window_extent()
    if box.height <= highest * figure.dpi and _is_within(box, taken.area) and taken.is_free(box.padded(margin)):
        return True
    entries = entries_of(ax)
    for size in _sizes(ax, entries):
        if size.height > highest or size.width > WIDTH_SHARE * taken.area.width / figure.dpi:
            continue
        corner = _free_place(taken, size.width * figure.dpi, size.height * figure.dpi, margin)
        if corner is not None:
            placed = {"loc": "lower left", "bbox_to_anchor": corner, "borderaxespad": 0.0}
            show(ax, entries, ncols=size.columns, **placed)
            return True
    return False


def _is_within(box: Bbox, area: Bbox) -> bool:
    return bool(box.x0 >= area.x0 - 1 and box.x1 <= area.x1 + 1 and box.y0 >= area.y0 - 1 and box.y1 <= area.y1 + 1)


def _free_place(taken: Occupied, width: float, height: float, margin: float) -> tuple[float, float] | None:
    """Return the lower left corner of a free box of this size in pixels, as shares of the panel, or None."""
    area = taken.area
    room = area.width - width - 2 * margin, area.height - height - 2 * margin
    if min(room) < 0:
        return None
    steps = [k / (STEPS - 1) for k in range(STEPS)]
    grid = sorted(itertools.product(steps, steps), key=lambda at: min(at[0], 1 - at[0]) + min(at[1], 1 - at[1]))
    for across, up in (*CORNERS, *grid):
        x, y = area.x0 + margin + across * room[0], area.y0 + margin + up * room[1]
        if taken.is_free(Bbox.from_bounds(x, y, width, height).padded(margin)):
            return (x - area.x0) / area.width, (y - area.y0) / area.height
    return None


def _below(figure: Figure, axes: Sequence[Axes], entries: Mapping[Axes, dict[str, Any]], height: float) -> None:
    """Put these legends below panels, in a figure whose panels alone have this height in inches."""
    for legend in list(figure.legends):
        legend.remove()
    for ax in entries:
        if ax.get_legend() is not None:
            legend_of(ax).remove()
    figure.set_figheight(height)
    columns = axes[0].get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]  # panels of one grid
    sizes = {ax: _lowest(ax, own, figure.get_figwidth() / columns) for ax, own in entries.items()}
    added: dict[int, float] = {}
    for ax, size in sizes.items():
        row = ax.get_subplotspec().rowspan.start  # type: ignore[union-attr]
        added[row] = max(added.get(row, 0.0), size.height)
    higher = height + sum(added.values())
    if len(axes) == 1 or len(entries) == 1 or max(size.height for size in sizes.values()) > MAX_HEIGHT_SHARE * higher:
        _below_all(figure, axes, entries)
        return
    for ax, own in entries.items():
        below = (ax.get_window_extent().y0 - _bottom(ax)) / figure.dpi + GAP
        anchor = ax.transAxes + ScaledTranslation(0, -below, figure.dpi_scale_trans)
        where: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": anchor}
        show(ax, own, **where, borderaxespad=0.0, ncols=sizes[ax].columns)
    figure.set_figheight(higher)


def _below_all(figure: Figure, axes: Sequence[Axes], entries: Mapping[Axes, dict[str, Any]]) -> None:
    """Put these legends into one below all panels, with the letters of the panels where an entry is not in all.

    One legend alone has no letters where its looks mean nothing else in any panel.
    """
    found: dict[tuple[str, tuple[str, ...]], Any] = {}
    for own in entries.values():
        for label, handle in own.items():
            look, alike = look_of(handle), [known for name, known in found if name == label]
            if any(explained({label: look}, {label: known}) for known in alike):
                continue
            for known in alike:  # markers of another panel that have a line in this one
                if explained({label: known}, {label: look}):
                    del found[label, known]
            found[label, look] = handle
    drawn = [hidden_looks(ax) | all_looks(ax) for ax in axes]  # a name is hidden where another panel's legend has it
    looks = dict(found.keys())
    others = {look for ax in axes for label, look in all_looks(ax).items() if label not in looks}
    is_plain = len(entries) == 1 and _explains_others(looks, axes) and others.isdisjoint(looks.values())
    shown: dict[str, Any] = {}
    for (label, look), handle in found.items():
        meant = [label in own and explained({label: own[label]}, {label: look}) for own in drawn]
        letters = [letter for letter, is_meant in zip(ascii_lowercase, meant, strict=False) if is_meant]
        everywhere = is_plain or len(letters) in (0, len(axes))
        shown[label if everywhere else rf"$\mathbf{{{','.join(letters)}}}$  {label}"] = handle
    size = _lowest(axes[0], shown, figure.get_figwidth())
    # Panels become higher where a legend of many entries would take more than its share.
    figure.set_figheight(max(figure.get_figheight() + size.height, ROOMY * size.height / MAX_HEIGHT_SHARE))
    show(figure, shown, loc="outside lower center", ncols=size.columns)


def _bottom(ax: Axes) -> float:
    """Return where the label of the horizontal axis ends, in pixels."""
    box = ax.xaxis.get_tightbbox()
    return float(ax.get_window_extent().y0 if box is None else box.y0)


def _lowest(ax: Axes, entries: Mapping[str, Any], width: float) -> Size:
    """Return the lowest form of a legend within this width in inches, in as few columns as that takes."""
    fitting = [size for size in _sizes(ax, entries) if size.width <= WIDTH_SHARE * width] or _sizes(ax, entries)[:1]
    return min(fitting, key=lambda size: (round(size.height, 6), size.columns))


def _sizes(ax: Axes, entries: Mapping[str, Any]) -> list[Size]:
    """Return what a legend of these entries takes in 1, 2, ... columns."""
    points = FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points()
    widths, heights = np.array([_extent(ax, label) for label in entries]).T
    handle = (handle_length(entries) + rcParams["legend.handletextpad"]) * points / 72
    between, spacing = rcParams["legend.columnspacing"] * points / 72, rcParams["legend.labelspacing"] * points / 72
    border = 2 * rcParams["legend.borderpad"] * points / 72
    found = []
    for columns in range(1, len(widths) + 1):
        rows = math.ceil(len(widths) / columns)
        if math.ceil(len(widths) / rows) != columns:
            continue  # the last columns would be empty
        parts = np.array_split(widths, columns)  # as matplotlib fills them
        width = sum(part.max() + handle for part in parts) + (columns - 1) * between + border
        found.append(Size(float(width), float(rows * heights.max() + (rows - 1) * spacing + border), columns))
    return found


def _extent(ax: Axes, text: str) -> tuple[float, float]:
    """Return the width and height in inches of an entry's text."""
    written = ax.text(0.5, 0.5, text, fontsize=rcParams["legend.fontsize"])
    box = written.get_window_extent()
    written.remove()
    return float(box.width) / ax.figure.dpi, float(box.height) / ax.figure.dpi
