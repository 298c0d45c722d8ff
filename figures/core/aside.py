"""Moves markers that would hide each other a little aside, along the lines of their own curves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.container import ErrorbarContainer
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

ASIDE = 2.2  # typographic points along x between the markers of two curves at one place
HIGHEST = 0.8  # typographic points that a marker may move up or down: a fifth of its size, which shows no other value
SAME_PLACE = 0.3  # typographic points: markers that are nearer than this along x stand at one place
NEAR = 40.0  # typographic points to the line of another color which shows the theory of a marker without a line


def move_aside(ax: "Axes", drawn: Sequence[ErrorbarContainer]) -> None:
    """Move the markers of these curves, with their bars, where they lie on those of another curve at the same x.

    Only the markers that meet at a place move there. Each moves along the line of its own curve, that is, as far up or
    down as the line goes, so that its distance to the line, which is what a reader compares, stays the same; without a
    line it moves along x alone. The panel must be in its place, since these are distances on the page.
    """
    scale = ax.figure.dpi / 72
    curves = [_Moved(ax, one, scale) for one in drawn if one in ax.containers]
    places = [(x, k, j) for k, curve in enumerate(curves) for j, x in enumerate(curve.x) if np.isfinite(x)]
    for at in _together(sorted(places), SAME_PLACE * scale):
        for met in _meeting([(k, j, *curves[k].reach(j)) for _, k, j in at]):
            for rank, (k, j) in enumerate(sorted(met)):
                curves[k].move(j, ASIDE * scale * (rank - (len(met) - 1) / 2))
    for curve in curves:
        curve.write()


class _Moved:
    """The markers of one curve in pixels, and its line."""

    def __init__(self, ax: "Axes", held: ErrorbarContainer, scale: float) -> None:
        line, _, bars = held.lines
        self.marker, self.bars = line, bars[0] if bars else None
        self.to_page = ax.transData
        self.points = self.to_page.transform(np.asarray(line.get_xydata(), dtype=float))
        self.x, self.highest = self.points[:, 0], HIGHEST * scale
        self.radius = (line.get_markersize() + line.get_markeredgewidth()) / 2 * scale
        segments = [] if self.bars is None else self.bars.get_segments()
        self.ends = [self.to_page.transform(np.asarray(segment, dtype=float).reshape(-1, 2)) for segment in segments]
        self.line = _line(ax, held, self.points, NEAR * scale)
        self.moved: list[int] = []

    def reach(self, j: int) -> tuple[float, float]:
        """Return the lowest and the highest place that marker j and its bar take."""
        y = self.points[j, 1]
        ends = self.ends[j][:, 1] if j < len(self.ends) and len(self.ends[j]) else np.array([y])
        return min(y - self.radius, float(ends.min())), max(y + self.radius, float(ends.max()))

    def move(self, j: int, dx: float) -> None:
        """Move marker j by dx along x and along its line; less where the line is steep."""
        step = np.array([dx, _rise(self.line, self.x[j], dx)])
        if abs(step[1]) > self.highest:
            step *= self.highest / abs(step[1])
        self.points[j] = self.points[j] + step
        if j < len(self.ends):
            self.ends[j] = self.ends[j] + step
        self.moved.append(j)

    def write(self) -> None:
        """Give what moved its new place, and leave the other markers as they are, to the bit."""
        back = self.to_page.inverted()
        places = np.array(self.marker.get_xydata(), dtype=float)
        segments = [] if self.bars is None else self.bars.get_segments()
        for j in self.moved:
            places[j] = back.transform(self.points[j])
            if j < len(segments):
                segments[j] = back.transform(self.ends[j])
        self.marker.set_data(*places.T)
        if self.bars is not None and self.moved:
            self.bars.set_segments(segments)


def _line(ax: "Axes", held: ErrorbarContainer, points: NDArray[np.float64], near: float) -> NDArray[np.float64] | None:
    """Return the line in pixels, ordered along x, on which markers move: their own, or the one they lie nearest to.

    Their own line has the same identifier or else the same color; a line of another color shows their theory where it
    passes within the distance `near` of all of them.
    """
    lines = [
        line for line in ax.lines if line.get_linestyle() not in ("None", "", " ") and np.size(line.get_xdata()) > 1
    ]
    lines = [line for line in lines if line.get_transform() == ax.transData]
    color = held.lines[0].get_color()
    own = [line for line in lines if line.get_gid() is not None and line.get_gid() == held.lines[0].get_gid()]
    alike = own or [line for line in lines if line.get_color() == color]
    found = [(_distance(path, points), k, path) for k, path in enumerate(map(_path, alike or lines)) if len(path) > 1]
    if not found:
        return None
    distance, _, path = min(found, key=lambda one: one[:2])
    return path if alike or distance <= near else None


def _path(line: "Line2D") -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        points = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=float))
    points = points[np.isfinite(points).all(axis=1)]
    return np.asarray(points[np.argsort(points[:, 0], kind="stable")])


def _distance(path: NDArray[np.float64], points: NDArray[np.float64]) -> float:
    """Return the largest vertical distance of points from a line, infinite where it does not reach so far along x."""
    x, y = points[np.isfinite(points).all(axis=1)].T
    if not len(x) or x.min() < path[0, 0] - 1 or x.max() > path[-1, 0] + 1:
        return np.inf
    return float(np.abs(y - np.interp(x, *path.T)).max())


def _rise(path: NDArray[np.float64] | None, x: float, dx: float) -> float:
    """Return how far the line goes up from x to x + dx; beyond its ends it goes on straight."""
    if path is None:
        return 0.0
    inner = [min(max(at, path[0, 0]), path[-1, 0]) for at in (x - abs(dx), x, x + abs(dx))]
    if inner[2] <= inner[0]:
        return 0.0
    if inner[0] <= x + dx <= inner[2] and path[0, 0] <= x <= path[-1, 0]:
        low, high = np.interp([x, x + dx], *path.T)
        return float(high - low)
    low, high = np.interp([inner[0], inner[2]], *path.T)
    return float((high - low) / (inner[2] - inner[0]) * dx)


def _together(places: Sequence[tuple[float, int, int]], near: float) -> list[list[tuple[float, int, int]]]:
    """Split places that are sorted along x into those that stand at one place."""
    groups: list[list[tuple[float, int, int]]] = []
    for one in places:
        if groups and one[0] - groups[-1][0][0] <= near:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _meeting(reaches: Sequence[tuple[int, int, float, float]]) -> list[list[tuple[int, int]]]:
    """Return the groups of two and more markers at one place whose bars or shapes overlap, directly or in a chain."""
    groups: list[tuple[float, list[tuple[int, int]]]] = []  # the highest end so far, and the markers
    for k, j, low, high in sorted(reaches, key=lambda one: one[2]):
        if groups and low <= groups[-1][0]:
            highest, members = groups.pop()
            groups.append((max(highest, high), [*members, (k, j)]))
        else:
            groups.append((high, [(k, j)]))
    return [members for _, members in groups if len(members) > 1]
