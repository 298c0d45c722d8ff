"""Gives the panels of a figure their letters, equal axes one scale, equal curves one color, and an order its shades."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.colors import to_hex

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from figures.core.experiment import Panel

MAX_SPAN_RATIO = 1.8  # of a common scale over that of each panel: data, from which axes stand off, fill half of it
DARKEST, LIGHTEST = 0.0, 0.82  # of the map of shades: the light end would vanish on paper
N_COLORS = 7  # of the style sheet
STAR = "_star, "  # begins the label of the stars of a curve


def add_letters(axes: Sequence["Axes"]) -> None:
    """Put the letter of each panel, in bold, before its title; one panel alone has none."""
    for letter, ax in zip(ascii_lowercase, axes, strict=False):
        if len(axes) > 1:
            ax.set_title(rf"$\mathbf{{{letter}}}$  {ax.get_title()}".rstrip())


def share_rows(axes: Sequence["Axes"], n_columns: int) -> None:
    """Give neighbors in a row that show the same number one vertical scale, with its label on the first of them.

    They show the same number where their labels and scales are equal. A panel that would fill less than half of the
    common scale, or leave a neighbor less than half of it, begins a new one.
    """
    for start in range(0, len(axes), n_columns):
        alike: list[Axes] = []
        for ax in axes[start : start + n_columns]:
            if alike and not _share([*alike, ax]):
                _give_one_scale(alike)
                alike = []
            alike.append(ax)
        _give_one_scale(alike)


def _share(axes: Sequence["Axes"]) -> bool:
    """Say whether panels show the same number on ranges of which one scale shows enough."""
    if len({(ax.get_ylabel(), ax.get_yscale()) for ax in axes}) > 1 or not axes[0].get_ylabel():
        return False
    ends = [ax.transScale.transform([(1, y) for y in ax.get_ylim()])[:, 1] for ax in axes]
    low, high = min(min(pair) for pair in ends), max(max(pair) for pair in ends)
    return bool(high - low <= MAX_SPAN_RATIO * min(abs(pair[1] - pair[0]) for pair in ends))


def _give_one_scale(axes: Sequence["Axes"]) -> None:
    if len(axes) > 1:
        limits = [y for ax in axes for y in ax.get_ylim()]
        for ax in axes:
            ax.set_ylim(min(limits), max(limits))
        for ax in axes[1:]:
            ax.set_ylabel("")
            ax.tick_params(labelleft=False)


def curve_places(panels: "Sequence[tuple[Panel, Sequence[str]]]", *, common: bool = True) -> list[dict[str, int]]:
    """Return for each panel, given with the labels of its curves, the place of each curve among colors and markers.

    A label has one place in the whole figure, and shares its color with no other label but with one that means the
    same (`_mean_the_same`), as long as there are colors enough; else it is the place in the panel. So it is
    in a panel that declares colors itself, in a figure whose shades show an order, and without `common`, which a figure
    needs that draws more by itself and names the colors of places.
    """
    own = [{label: place for place, label in enumerate(labels)} for _, labels in panels]
    free = [k for k, (panel, _) in enumerate(panels) if not _declares_colors(panel)]
    if not common or any(panel.ordered for panel, _ in panels):
        return own
    known: dict[str, int] = {}
    for k, (panel, labels) in enumerate(panels):
        curves = dict(panel.resolved_curves())
        if k not in free:
            colors = {label: None if (curve := curves.get(label)) is None else curve.color for label in labels}
            cycle = {label: color for label, color in colors.items() if not isinstance(color, str)}
            known |= {_named(label): own[k][label] if color is None else color for label, color in cycle.items()}
    for k in free:
        for label, place in own[k].items():
            if _named(label) not in known:
                beside = {known.get(_named(other)) for other in own[k]}
                choices = (at for at in (place, *range(len(known) + 2)) if at not in beside)
                known[_named(label)] = next(at for at in choices if _is_free(at, _named(label), known))
    if max(known.values(), default=0) >= N_COLORS:
        return own
    return [{label: known[_named(label)] for label in own[k]} if k in free else own[k] for k in range(len(own))]


def _is_free(place: int, name: str, known: Mapping[str, int]) -> bool:
    """Say whether no label has this place, or only labels that mean the same as this name."""
    return all(_mean_the_same(name, other) for other, taken in known.items() if taken == place)


def _mean_the_same(one: str, other: str) -> bool:
    """Say whether two labels of different panels name the same thing: up to a comma, or as a part between commas.

    >>> _mean_the_same("plain", "plain, group +"), _mean_the_same("single site, score", "single site, q = 3")
    (True, True)
    >>> _mean_the_same("encoder, no overlap", "no overlap"), _mean_the_same("logistic", "softmax")
    (True, False)
    """
    first, second = one.split(", "), other.split(", ")
    return first[0] == second[0] or one in second or other in first


def _declares_colors(panel: "Panel") -> bool:
    """Say whether a panel declares the color of one of its curves; that of a star follows from its curve."""
    return any(curve.color is not None for label, curve in panel.resolved_curves() if not label.startswith(STAR))


def _named(label: str) -> str:
    """Return what a label names: the curve of a star, and one with the underscore that keeps it out of the legend."""
    return label.removeprefix(STAR).removeprefix("_")


def shades(n: int) -> list[str]:
    """Return n colors from dark to light, as "#0072B2", for curves of an ordered parameter; in grey they stay ordered.

    >>> shades(2)
    ['#00224e', '#cebc63']
    """
    steps = [DARKEST + (LIGHTEST - DARKEST) * k / max(n - 1, 1) for k in range(n)]
    return [to_hex(matplotlib.colormaps["cividis"](step)) for step in steps]
