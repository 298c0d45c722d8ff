"""Breaks titles and labels that are longer than what they name into two lines, and places the panels of a figure."""

import re
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def place(figure: Figure) -> None:
    """Place all panels, as drawing the figure does, at less than half its time."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def wrap_labels(axes: Sequence[Axes]) -> bool:
    """Break titles and labels of axes that are longer than the axes, at the space nearest to their middle.

    Says whether any was.
    """
    changed = False
    for ax in axes:
        box = ax.get_window_extent()
        for text, room in ((ax.title, box.width), (ax.xaxis.label, box.width), (ax.yaxis.label, box.height)):
            extent = text.get_window_extent()
            if (extent.height if text is ax.yaxis.label else extent.width) > room:
                text.set_text(broken(text.get_text()))
                changed = True
    return changed


def wrap_title(figure: Figure) -> bool:
    """Break the title of the figure where it is wider than the figure, and say whether it was."""
    title = figure._suptitle  # type: ignore[attr-defined]  # matplotlib has no public way to the text itself
    if title is None or title.get_window_extent().width <= 0.98 * figure.bbox.width:
        return False
    title.set_text(broken(title.get_text()))
    return True


def broken(label: str) -> str:
    r"""Return the label in two lines; a formula between dollars stays in one piece.

    >>> broken("samples per student feature")
    'samples per\nstudent feature'
    """
    spaces = [m.start() for m in re.finditer(" ", label) if label[: m.start()].count("$") % 2 == 0]
    if not spaces or "\n" in label:
        return label
    middle = min(spaces, key=lambda at: abs(_letters(label[:at]) - _letters(label[at:])))
    return f"{label[:middle]}\n{label[middle + 1 :]}"


def _letters(label: str) -> int:
    """Return about how many letters are seen of a label, in which a command of TeX shows one."""
    return len(re.sub(r"\\[A-Za-z]+|[${}]", "x", label))
