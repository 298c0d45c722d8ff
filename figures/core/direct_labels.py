"""Writes the names of curves at their ends, in their colors, in place of a legend, where at most four end apart."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from figures.core.aside import ASIDE
from figures.core.entries import Looks, entries_of, explained, fullness, legend_of, looks_of, show, shows_legend
from figures.core.names import write_name
from figures.core.occupied import Occupied, occupied
from figures.core.wrapping import broken, place

MAX_CURVES = 4  # with names at their ends; more names than that are looked up faster in a legend
GAP = 2.5  # typographic points between the end of a curve and its name
CLEARANCE = 3.5  # typographic points between a name and any other curve, so that it is not read as that one's
OWN_CLEARANCE = 1.5  # typographic points between a name and its own curve, whose markers may move aside
APART = 0.9  # of the height of a line of text, between the end of a curve that is named and any other curve
MAX_WIDTH_SHARE = 0.3  # of its panel that a name beside it may take, since the panel becomes narrower by it
RUN_WIDTH = 0.5  # typographic points: that of single runs, behind which their mean ends
OTHER_SIDE, ABOVE = 2.0, 1.0  # costs of a name at the left end, and of one above or below its curve


class _Name(NamedTuple):
    """One way to write the name of a curve: its text, box and anchor in pixels, and how the text is aligned there."""

    text: str
    box: Bbox
    anchor: tuple[float, float]
    offset: tuple[float, float]
    across: str
    along: str
    cost: float


def label_curves(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put names at the ends of curves in place of each legend where they fit, and leave the other legends.

    Panels must be in their places. Of panels that explain the same looks one has the names, the first where they fit.
    A name stands beside the end of its curve, above it or below it, where it covers nothing and keeps away from other
    curves; where one of the names has no such place the panel keeps its legend. Entries that are no curves stay in it,
    and all do where some curves are lines and others markers, which may show the same number.
    """
    for group in _groups([ax for ax in axes if shows_legend(ax)]):
        looks = looks_of(group[0])
        for ax in group:
            if len(looks_of(ax)) == len(looks) and _label(figure, ax):
                named = {label: look for label, look in looks.items() if label not in looks_of(ax)}
                for other in axes:
                    if shows_legend(other):
                        _forget(other, named)
                break


def _groups(axes: Sequence[Axes]) -> list[list[Axes]]:
    """Return the panels in groups whose first member explains all that its others explain, these in reading order."""
    groups: list[list[Axes]] = []
    for ax in sorted(axes, key=fullness, reverse=True):
        known = next((group for group in groups if explained(looks_of(ax), looks_of(group[0]))), None)
        if known is None:
            groups.append([ax])
        else:
            known.append(ax)
    return groups


def _forget(ax: Axes, named: Looks) -> None:
    """Leave out of the legend of a panel what has its name at a curve of another panel."""
    entries, looks = entries_of(ax), looks_of(ax)
    rest = {label: handle for label, handle in entries.items() if not explained({label: looks[label]}, named)}
    if len(rest) < len(entries):
        legend_of(ax).remove()
        if rest:
            show(ax, rest)


def _label(figure: Figure, ax: Axes) -> bool:
    """Write the names in this panel, and say whether all of them have a place."""
    entries = entries_of(ax)
    drawn_as = {label: _artists(ax, handle) for label, handle in entries.items()}
    curves = {label: own for label, own in drawn_as.items() if own}  # other entries only say what a mark means
    everything = occupied(ax)
    is_joined = {any(_is_joined(line) for line in own if isinstance(line, Line2D)) for own in curves.values()}
    if not 1 <= len(curves) <= MAX_CURVES or len(is_joined) > 1 or everything.is_filled:
        return False
    found = [_ways(ax, label, own) for label, own in curves.items()]
    chosen = _best(found)
    if chosen is None:
        return False
    drawn = [_write(ax, name, entries[label].get_color()) for name, label in zip(chosen, curves, strict=True)]
    if any(name.box.x1 > everything.area.x1 for name in chosen):  # its room is taken from the panel
        place(figure)
        if not _are_free(ax, drawn, list(curves.values())):
            for name in drawn:
                name.remove()
            place(figure)
            return False
    rest = {label: handle for label, handle in entries.items() if label not in curves}
    legend_of(ax).remove()
    if rest:
        show(ax, rest)
    return True


def _artists(ax: Axes, handle: Any) -> list[Any]:
    """Return what is drawn of an entry's curve: its line or markers, with bars and runs; nothing for one place.

    The parts of a curve have the identifier of its entry, or the entry shows its line itself. Lines of its color
    without an identifier are those that the experiment draws between markers.
    """
    if not isinstance(handle, Line2D):
        return []
    if np.size(handle.get_xdata()) > 1:
        return [handle]
    mark = handle.get_gid()
    parts = [line for line in ax.lines if mark is not None and line.get_gid() == mark and np.size(line.get_xdata()) > 1]
    color = to_rgb(handle.get_color())
    between = [line for line in ax.lines if line.get_gid() is None and to_rgb(line.get_color()) == color]
    parts += [
        line for line in between if parts and line.get_transform() == ax.transData and np.size(line.get_xdata()) > 1
    ]
    held = [one for one in ax.containers if isinstance(one, ErrorbarContainer) and one.lines[0] in parts]
    return [*parts, *(bar for one in held for bar in one.lines[2])]


def _ways(ax: Axes, label: str, artists: list[Any]) -> list[_Name]:
    """Return the ways in which the name of a curve can be written where it covers nothing."""
    ends = _ends(ax, artists)
    if ends is None:
        return []
    left, right, reach = ends
    scale = ax.figure.dpi / 72
    area = ax.get_window_extent()
    mine = occupied(ax, artists)
    others = occupied(ax, [one for one in (*ax.lines, *ax.collections, *ax.texts) if one not in artists])
    width, height = _extent(ax, label)
    gap, aside = GAP * scale, GAP * scale + reach
    found: list[_Name] = []
    for text in dict.fromkeys((label, broken(label))):
        w, h = (width, height) if text == label else _extent(ax, text)
        x, y = right
        up = max(area.y0 + gap + h / 2 - y, 0.0)  # not into the horizontal axis and its numbers
        box = Bbox.from_bounds(x + aside, y + up - h / 2, w, h)
        over = (box.x1 - area.x1) / area.width
        if over <= MAX_WIDTH_SHARE and (text == label or not found):
            found.append(_Name(text, box, right, (aside / scale, up / scale), "left", "center", max(over, 0.0)))
    for (x, y), across, start, cost in ((right, "right", right[0] - width, 0.0), (left, "left", left[0], OTHER_SIDE)):
        for along, low, shift in (("bottom", y + gap + reach, 1), ("top", y - gap - reach - height, -1)):
            box = Bbox.from_bounds(start, low, width, height)
            if box.x0 >= area.x0 and box.y0 >= area.y0 and box.x1 <= area.x1 + 1 and box.y1 <= area.y1:
                offset = (0.0, shift * (gap + reach) / scale)
                found.append(_Name(label, box, (x, y), offset, across, along, cost + ABOVE))
    return [way for way in found if _is_apart(way, others) and _is_free(way.box, mine, others, scale)]


def _is_apart(way: _Name, others: Occupied) -> bool:
    """Say whether no other curve is nearer to the end that is named than about the height of a line of text."""
    (x, y), apart = way.anchor, APART * way.box.height / (1 + way.text.count("\n"))
    return others.is_free(Bbox.from_extents(x - 1, y - apart, x + 1, y + apart))


def _is_free(box: Bbox, mine: Occupied, others: Occupied, scale: float) -> bool:
    return mine.is_free(box.padded(OWN_CLEARANCE * scale)) and others.is_free(box.padded(CLEARANCE * scale))


def _ends(ax: Axes, artists: list[Any]) -> tuple[tuple[float, float], tuple[float, float], float] | None:
    """Return the left and the right end of a curve where it is seen, in pixels, and how far markers reach beyond.

    Markers without a line, which may have to move aside, reach farther.
    """
    lines = [one for one in artists if isinstance(one, Line2D)]
    joined = [one for one in lines if _is_joined(one)]
    marks = [one for one in lines if one not in joined]
    thickest = max((one.get_linewidth() for one in joined), default=0.0)
    solid = [one for one in joined if one.get_linewidth() == thickest and (not marks or thickest > RUN_WIDTH)]
    own = solid or marks
    points = np.concatenate([_dense(one.get_transform().transform(one.get_xydata()), one in solid) for one in own])
    area = ax.get_window_extent().padded(1.0)
    x, y = points[np.isfinite(points).all(axis=1)].T
    seen = (x >= area.x0) & (x <= area.x1) & (y >= area.y0) & (y <= area.y1)
    if not seen.any() or (not solid and seen.sum() < 2):
        return None
    x, y = x[seen], y[seen]
    reach = max((one.get_markersize() / 2 for one in marks), default=0.0) * ax.figure.dpi / 72
    first, last = int(x.argmin()), int(x.argmax())
    return (
        (float(x[first]), float(y[first])),
        (float(x[last]), float(y[last])),
        reach if solid else reach + 1.5 * ASIDE * ax.figure.dpi / 72,
    )


def _is_joined(line: Line2D) -> bool:
    return line.get_linestyle() not in ("None", "", " ")


def _dense(points: Any, joined: bool) -> NDArray[np.float64]:
    """Return the points with others between them, where a line joins them, so that its end in the panel is found."""
    found = np.asarray(points, dtype=float).reshape(-1, 2)
    if not joined or len(found) < 2:
        return found
    found = found[np.isfinite(found).all(axis=1)]
    steps = np.linspace(0, 1, 9)[:, None, None]
    return np.concatenate([(found[:-1] + steps * np.diff(found, axis=0)).reshape(-1, 2), found[-1:]])


def _extent(ax: Axes, text: str) -> tuple[float, float]:
    written = ax.text(0.5, 0.5, text, fontsize=rcParams["legend.fontsize"], linespacing=1.0)
    box = written.get_window_extent()
    written.remove()
    return float(box.width), float(box.height)


def _best(found: Sequence[Sequence[_Name]]) -> tuple[_Name, ...] | None:
    """Return the way of each curve that together cost least, of those that do not overlap."""
    fitting = [
        ways
        for ways in itertools.product(*found)
        if not any(one.box.padded(1.0).overlaps(other.box) for one, other in itertools.combinations(ways, 2))
    ]
    return min(fitting, key=lambda ways: sum(way.cost for way in ways), default=None)


def _write(ax: Axes, name: _Name, color: Any) -> Annotation:
    x, y = ax.transData.inverted().transform(name.anchor)
    at = float(x), float(y)
    return write_name(ax, name.text, at, name.offset, color=color, across=name.across, along=name.along)


def _are_free(ax: Axes, names: Sequence[Annotation], curves: Sequence[list[Any]]) -> bool:
    """Say whether names still cover nothing after their panel became narrower."""
    scale = ax.figure.dpi / 72
    boxes = [name.get_window_extent() for name in names]
    if any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2)):
        return False
    rest = [one for one in (*ax.lines, *ax.collections, *ax.texts) if one not in names]
    return all(
        _is_free(box, occupied(ax, own), occupied(ax, [one for one in rest if one not in own]), scale)
        for box, own in zip(boxes, curves, strict=True)
    )
