"""Gives the panels of a figure their letters, equal axes their one scale, and the curves of an order their shades."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_SPAN_RATIO = 2.5  # of the ranges of panels in a row that share one vertical scale
DARKEST, LIGHTEST = 0.0, 0.82  # of the map of shades: the light end would vanish on paper
DODGE_POINTS = 2.0  # typographic points between the markers of two curves at one place


def add_letters(axes: Sequence["Axes"]) -> None:
    """Put the letter of each panel, in bold, before its title; one panel alone has none."""
    for letter, ax in zip(ascii_lowercase, axes, strict=False):
        if len(axes) > 1:
            ax.set_title(rf"$\mathbf{{{letter}}}$  {ax.get_title()}".rstrip())


def share_rows(axes: Sequence["Axes"], n_columns: int) -> None:
    """Give panels in one row that show the same number one vertical scale, with its label on the first of them.

    They show the same number where their labels and scales are equal. Panels whose ranges differ by more than the
    factor MAX_SPAN_RATIO keep their own, since the smallest would show nothing.
    """
    for start in range(0, len(axes), n_columns):
        row = axes[start : start + n_columns]
        same = len({(ax.get_ylabel(), ax.get_yscale()) for ax in row}) == 1 and bool(row[0].get_ylabel())
        if len(row) < 2 or not same:
            continue
        ends = [ax.transScale.transform([(1, y) for y in ax.get_ylim()])[:, 1] for ax in row]
        low, high = min(min(pair) for pair in ends), max(max(pair) for pair in ends)
        if high - low > MAX_SPAN_RATIO * min(abs(pair[1] - pair[0]) for pair in ends):
            continue
        limits = [y for ax in row for y in ax.get_ylim()]
        for ax in row:
            ax.set_ylim(min(limits), max(limits))
        for ax in row[1:]:
            ax.set_ylabel("")
            ax.tick_params(labelleft=False)


def dodge(ax: "Axes") -> None:
    """Move markers a little aside whose bars would lie on those of another curve at the same place.

    All markers of a curve move by the same few points of the page, so that none hides another and each is still read
    at its own x.
    """
    drawn = [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
    ends = [_ends(one) for one in drawn]
    others = [ends[:k] + ends[k + 1 :] for k in range(len(ends))]
    hidden = [one for k, one in enumerate(drawn) if any(_overlap(ends[k], other) for other in others[k])]
    for rank, one in enumerate(hidden):
        points = DODGE_POINTS * (rank - (len(hidden) - 1) / 2)
        shift = ScaledTranslation(points / 72, 0, ax.figure.dpi_scale_trans)
        line, _, bars = one.lines
        for artist in (line, *bars):
            artist.set_transform(ax.transData + shift)


def _ends(drawn: ErrorbarContainer) -> NDArray[np.float64]:
    """Return x, the lower and the upper end of each bar, (n, 3)."""
    segments = [np.asarray(segment) for segment in drawn.lines[2][0].get_segments()]
    return np.array([(one[0, 0], one[:, 1].min(), one[:, 1].max()) for one in segments if len(one)]).reshape(-1, 3)


def _overlap(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Say whether two curves have bars at the same x that overlap."""
    gaps = one[:, None] - other[None]
    same = gaps[..., 0] == 0
    return bool((same & (one[:, None, 1] <= other[None, :, 2]) & (other[None, :, 1] <= one[:, None, 2])).any())


def shades(n: int) -> list[str]:
    """Return n colors from dark to light, as "#0072B2", for curves of an ordered parameter; in grey they stay ordered.

    >>> shades(2)
    ['#00224e', '#cebc63']
    """
    steps = [DARKEST + (LIGHTEST - DARKEST) * k / max(n - 1, 1) for k in range(n)]
    return [to_hex(matplotlib.colormaps["cividis"](step)) for step in steps]
