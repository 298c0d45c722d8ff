"""Says which places of a panel are taken by what is drawn in it, so that words can stand where nothing is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.lines import AxLine, Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray


@dataclass(frozen=True)
class Occupied:
    """The places of a panel that are taken, in pixels: chains of straight pieces, boxes, or all of its `area`."""

    area: Bbox  # nothing is drawn beyond it
    paths: list[NDArray[np.float64]]  # each (n, 2)
    boxes: list[Bbox]
    is_filled: bool = False  # by an image or a map

    def is_free(self, box: Bbox) -> bool:
        """Say whether nothing is drawn in this box."""
        seen = Bbox.intersection(box, self.area)
        if seen is None:
            return True
        if self.is_filled or any(seen.overlaps(other) for other in self.boxes):
            return False
        return not any(crosses(seen, points) for points in self.paths)


def occupied(ax: Axes, artists: Iterable[Any] | None = None, *, guides: bool = True) -> Occupied:
    """Find what is taken by these artists of a panel, or by all but its legend; `guides` are lines across it."""
    chosen = [*ax.lines, *ax.collections, *ax.texts] if artists is None else list(artists)
    paths: list[NDArray[np.float64]] = []
    inner = [child.get_tightbbox() for child in ax.child_axes] if artists is None else []
    boxes: list[Bbox] = [box for box in inner if box is not None]
    filled = artists is None and bool(ax.images)
    for artist in chosen:
        if not artist.get_visible():
            continue
        if isinstance(artist, Line2D):
            if guides or (artist.get_transform().contains_branch(ax.transData) and not isinstance(artist, AxLine)):
                points = _pixels(artist, artist.get_xydata())
                if artist.get_linestyle() not in ("None", "", " "):
                    paths.append(points)
                if artist.get_marker() not in ("None", "", None):
                    boxes += _around(points, (artist.get_markersize() + artist.get_markeredgewidth()) / 2, ax)
        elif isinstance(artist, LineCollection):
            paths += [_pixels(artist, segment) for segment in artist.get_segments()]
        elif isinstance(artist, PathCollection):
            radius = float(np.sqrt(artist.get_sizes().max(initial=1.0))) / 2
            boxes += _around(artist.get_offset_transform().transform(artist.get_offsets()), radius, ax)
        elif not isinstance(artist, Text):
            filled = True  # a map, contours, or a band
        elif artist.get_text() or getattr(artist, "arrow_patch", None) is not None:
            boxes.append(artist.get_window_extent())
    return Occupied(ax.get_window_extent(), [points for points in paths if len(points)], boxes, filled)


def _pixels(artist: Any, points: Any) -> NDArray[np.float64]:
    found = np.asarray(points, dtype=float).reshape(-1, 2)
    with np.errstate(all="ignore"):
        return np.asarray(artist.get_transform().transform(found), dtype=float)


def _around(points: Any, radius: float, ax: Axes) -> list[Bbox]:
    """Return a box around each point, which reaches `radius` typographic points to each side."""
    found = np.asarray(points, dtype=float)
    reach = radius * ax.figure.dpi / 72
    inside = found[np.isfinite(found).all(axis=1)]
    return [Bbox.from_extents(x - reach, y - reach, x + reach, y + reach) for x, y in inside]


def crosses(box: Bbox, points: NDArray[np.float64]) -> bool:
    """Say whether a chain of straight pieces through these points, (n, 2), enters the box.

    Each piece is cut with the box: along it, x and y are each between the sides of the box on one interval, and the
    piece enters where the two intervals and that of the piece itself have something in common.
    """
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:
        return bool(len(points)) and bool(box.contains(*points[0]))
    start, step = points[:-1], np.diff(points, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (box.min - start) / step, (box.max - start) / step
    enter = np.minimum(first, second).max(axis=1, initial=0.0)
    leave = np.maximum(first, second).min(axis=1, initial=1.0)
    return bool((enter <= leave).any())
