"""Names that an experiment writes itself stand where it says, in a color dark enough for letters."""

import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from figures.core.beside import write_beside
from figures.core.direct_labels import readable


def test_a_name_stands_points_from_its_place_in_a_readable_color():
    figure = Figure(dpi=72)
    ax = figure.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    write_beside(ax, "a", (4.0, 5.0), (6.0, 0.0), color="#cebc63")
    write_beside(ax, "b", (1.0, 5.0), along="bottom", x_is_share=True)
    one, other = ax.texts
    assert one.get_window_extent().x0 == pytest.approx(ax.transData.transform((4.0, 5.0))[0] + 6, abs=0.6)
    assert (one.get_ha(), one.get_va()) == ("left", "center")
    assert to_rgb(one.get_color()) == readable("#cebc63") != to_rgb("#cebc63")
    assert other.get_window_extent().x0 == pytest.approx(ax.get_window_extent().x1 + 3, abs=0.6)
    assert other.get_window_extent().y0 >= ax.transData.transform((0.0, 5.0))[1] - 0.6
