"""Every figure as it is drawn: legends are low, and neither they nor names of curves cover what is drawn.

Ink is looked for in the pixels of the figure without its words, which shares no geometry with the code that places
them. The tables are those of figures/output, or of the folder that the variable TABLES names; a figure without a table
is skipped.
"""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import figures.core.plot
from figures.core.discover import OUTPUT, find_experiments, load
from figures.core.legends import MAX_HEIGHT_SHARE
from figures.core.names import NAME
from figures.core.table import read_csv

TABLES = Path(os.environ.get("TABLES", OUTPUT))
INK = 225  # gray levels: what is darker than this is not paper


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].min(axis=2)


def has_ink(picture, box):
    left, right = int(np.floor(box.x0)), int(np.ceil(box.x1))
    top, bottom = len(picture) - int(np.ceil(box.y1)), len(picture) - int(np.floor(box.y0))
    return bool((picture[max(top, 0) : bottom, max(left, 0) : right] < INK).any())


def examine(figure):
    """Return the boxes of legends and names by what they say, and the figure without them, as it would be saved."""
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend() is not None)]
    names = [text for ax in figure.axes for text in ax.texts if text.get_gid() == NAME]
    legends = [legend for legend in legends if legend.get_visible()]
    boxes = [(", ".join(text.get_text() for text in one.get_texts()), one.get_window_extent()) for one in legends]
    named = [(name.get_text(), name.get_window_extent()) for name in names]
    for one in (*legends, *names):
        one.set_visible(False)
    return boxes, named, pixels(figure), figure.bbox


@pytest.mark.slow
@pytest.mark.parametrize("path", find_experiments().values(), ids=lambda path: path.stem)
def test_words_take_little_room_and_cover_nothing(path, tmp_path, monkeypatch):
    table = TABLES / f"{path.stem}.csv"
    if not table.exists():
        pytest.skip(f"{table} was not computed (make figures)")
    found = []

    def save(figure, file, *_):
        found.append(examine(figure))
        file.touch()

    monkeypatch.setattr("figures.core.plot._save", save)
    figures.core.plot.draw_figure(load(path), read_csv(table), tmp_path / "f.png")
    legends, names, bare, page = found[0]
    assert [said for said, box in legends if box.height > MAX_HEIGHT_SHARE * page.height] == []
    assert [said for said, box in (*legends, *names) if has_ink(bare, box)] == []
    assert [said for said, box in (*legends, *names) if min(box.min) < -1 or (box.max > page.max + 1).any()] == []
    pairs = itertools.combinations([*legends, *names], 2)
    assert [(one[0], other[0]) for one, other in pairs if one[1].overlaps(other[1])] == []
