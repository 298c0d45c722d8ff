"""Reads what a legend says, compares what two of them say, and writes one."""

from collections.abc import Mapping
from typing import Any

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

MARKER_LENGTH = 1.0  # of the size of letters: the room in a legend of markers without lines
Looks = Mapping[str, tuple[str, ...]]  # of entries of a legend, by their labels


def shows_legend(ax: Axes) -> bool:
    """Say whether a panel has a legend that is seen."""
    legend = ax.get_legend()
    return legend is not None and legend.get_visible()


def legend_of(ax: Axes) -> Legend:
    """Return the legend of a panel that is known to have one."""
    legend = ax.get_legend()
    assert legend is not None
    return legend


def entries_of(ax: Axes) -> dict[str, Any]:
    """Return what the entries of a panel's legend show, by their labels."""
    legend = ax.get_legend()
    labels = [text.get_text() for text in legend.get_texts()] if legend is not None else []
    by_label = handles_of(ax)
    return {label: by_label[label] for label in labels if label in by_label}


def looks_of(ax: Axes) -> dict[str, tuple[str, ...]]:
    """Return what tells the entries of a panel's legend from each other, by their labels."""
    return {label: look_of(handle) for label, handle in entries_of(ax).items()}


def show(owner: Axes | Figure, entries: Mapping[str, Any], **placed: Any) -> None:
    """Give a panel or a figure a legend of these entries, in place of that of the panel."""
    owner.legend(list(entries.values()), list(entries), handlelength=handle_length(entries), **placed)


def handle_length(entries: Mapping[str, Any]) -> float:
    """Return how long the lines of a legend are, as a multiple of the size of its letters; markers alone are short."""
    lines = [handle for handle in entries.values() if getattr(handle, "get_linestyle", lambda: "-")() != "None"]
    return rcParams["legend.handlelength"] if lines else MARKER_LENGTH


def handles_of(ax: Axes) -> dict[str, Any]:
    """Return what is drawn in a panel and may stand in a legend, by its label."""
    handles, labels = ax.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


def look_of(handle: Any) -> tuple[str, ...]:
    """Return what tells one entry of a legend from another: color, line and marker; its color alone for no line."""
    names = ("get_color", "get_linestyle", "get_marker", "get_facecolor")
    return tuple(str(getattr(handle, name)()) for name in names if hasattr(handle, name))


def explained(looks: Looks, fuller: Looks) -> bool:
    """Say whether each of these looks is one of the `fuller` ones, by label and look.

    A marker without a line is explained by the same marker on a line, and a line by the same line with markers.
    """
    return all(label in fuller and _is_part(look, fuller[label]) for label, look in looks.items())


def fullness(ax: Axes) -> tuple[int, int]:
    """Return how many entries the legend of a panel has, and how many lines and markers these show."""
    looks = looks_of(ax)
    return len(looks), sum(part != "None" for look in looks.values() for part in look)


def _is_part(look: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return len(look) == len(whole) and all(
        one == other or one == "None" for one, other in zip(look, whole, strict=True)
    )


def all_looks(ax: Axes) -> dict[str, tuple[str, ...]]:
    """Return the looks of all that is drawn in a panel and may stand in a legend, by their labels."""
    return {label: look_of(handle) for label, handle in handles_of(ax).items()}


def hidden_looks(ax: Axes) -> dict[str, tuple[str, ...]]:
    """Return the looks of what is drawn in a panel under names that an underscore keeps out of its legend."""
    artists: list[Any] = [*ax.lines, *ax.containers]
    drawn = [(str(one.get_label()), one) for one in artists]
    return {label[1:]: look_of(one) for label, one in drawn if label.startswith("_") and label[1:6] != "child"}
