"""Names at the ends of curves: in their color, off all that is drawn, and a legend where they do not fit."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from figures.core.layout import arrange, figure_size, finish
from figures.core.names import MIN_CONTRAST, NAME, _luminance, name_curve, readable, write_name
from figures.core.plot import cycle_colors

X = np.linspace(0, 1, 50)


def drawn(*panels, ylim=(0, 1)):
    """Draw panels of curves by their labels, each with a legend, and finish the figure with names."""
    figure = Figure(figsize=figure_size(len(panels)), layout="constrained")
    cells = figure.subplots(*arrange(len(panels)), squeeze=False).ravel().tolist()
    for ax, curves in zip(cells, panels, strict=False):
        for number, (label, y) in enumerate(curves.items()):
            ax.plot(X, np.broadcast_to(y, 50), color=f"C{number}", gid=label)
            ax.plot([], [], color=f"C{number}", label=label, gid=label)
        ax.set(xlim=(0, 1), ylim=ylim)
        ax.legend()
    finish(figure, cells[: len(panels)], cells[len(panels) :], names=True)
    return figure, cells


def names(ax):
    return {text.get_text().replace("\n", " "): text for text in ax.texts if text.get_gid() == NAME}


def test_names_stand_at_the_ends_of_curves_in_their_colors():
    figure, (ax,) = drawn({"low": 0.2, "high": X})
    assert ax.get_legend() is None
    assert not figure.legends
    for (label, text), (color, end) in zip(names(ax).items(), (("C0", 0.2), ("C1", 1.0)), strict=True):
        box, place = text.get_window_extent(), ax.transData.transform((1.0, end))
        assert label in ("low", "high")
        assert text.get_color() == readable(color)
        assert abs(box.x0 - place[0]) < 0.08 * figure.dpi
        assert box.y0 < place[1] < box.y1
        assert box.x1 < figure.bbox.width


def test_long_names_stand_above_or_below_their_curves():
    _, (ax,) = drawn({"a name that is much too long to stand beside": 0.3, "and another one that is too long": 0.6})
    assert ax.get_legend() is None
    for text, end in zip(names(ax).values(), (0.3, 0.6), strict=True):
        box = text.get_window_extent()
        line = ax.transData.transform((1.0, end))[1]
        assert box.x1 <= ax.get_window_extent().x1 + 1
        assert min(abs(box.y0 - line), abs(box.y1 - line)) < 0.06 * ax.figure.dpi


@pytest.mark.parametrize(
    "curves",
    [
        {f"curve {k}": k / 5 for k in range(5)},  # more than four
        {"one": 0.5, "two": 0.501, "three": 0.502},  # their ends are not apart
        {"one": 0.5 + 0.4 * np.sin(60 * X), "two": 0.5 + 0.4 * np.cos(60 * X), "x" * 40: 0.5},  # no room
    ],
)
def test_a_legend_stays_where_names_do_not_fit(curves):
    figure, (ax,) = drawn(curves)
    assert not names(ax)
    shown = figure.legends or [ax.get_legend()]
    assert [text.get_text() for text in shown[0].get_texts()] == list(curves)


def test_equal_curves_are_named_in_one_panel():
    figure, cells = drawn({"a": 0.2, "b": 0.8}, {"a": 0.3, "b": 0.7})
    assert [list(names(ax)) for ax in cells] == [["a", "b"], []]
    assert not figure.legends
    assert all(ax.get_legend() is None for ax in cells)


def test_what_is_no_curve_stays_in_the_legend():
    figure = Figure(figsize=figure_size(1), layout="constrained")
    ax = figure.subplots()
    ax.plot(X, 0.2 + 0 * X, label="line")
    ax.plot([], [], "*", label="optimum")
    ax.legend()
    finish(figure, [ax], names=True)
    assert list(names(ax)) == ["line"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["optimum"]


def test_names_can_be_read_on_white_paper():
    for color in (*cycle_colors(), "#cebc63", "yellow"):
        assert 1.05 / (_luminance(*readable(color)) + 0.05) >= MIN_CONTRAST
    assert readable("C0") == to_rgb("C0")  # dark enough as it is


def test_a_name_beside_what_it_names_is_dark_and_legends_keep_away_from_it():
    figure = Figure(figsize=figure_size(1), layout="constrained")
    ax = figure.subplots()
    ax.plot(X, 0 * X, color="#E69F00", label="zero")
    ax.plot(X, 0 * X, color="C0", label="the same")
    ax.set(xlim=(0, 1), ylim=(-1, 1))
    write_name(ax, "here", (1.0, 1.0), (-2.0, -2.0), color="#E69F00", across="right", along="top")
    ax.legend()
    finish(figure, [ax], names=True)
    text = names(ax)["here"]
    box, legend = text.get_window_extent(), ax.get_legend().get_window_extent()
    assert text.get_color() == readable("#E69F00") != to_rgb("#E69F00")
    assert np.allclose(box.max, ax.transAxes.transform((1, 1)) - 2 * figure.dpi / 72, atol=1.5)
    assert not box.overlaps(legend)


def test_a_name_stands_beside_the_point_of_its_curve_that_is_nearest():
    figure = Figure(figsize=figure_size(1), layout="constrained")
    ax = figure.subplots()
    ax.plot([1.0, 2.0, 3.0], [0.3, 0.1, 0.2], color="#009E73", gid="_curve")
    ax.plot([0.0, 4.0], [1.0, 1.0], color="black", gid="another")
    name_curve(ax, "_curve", "last")
    name_curve(ax, "_curve", "second", x=1.9)
    name_curve(ax, "_curve", "first", x=0.0)
    assert [text.xy for text in names(ax).values()] == [(3.0, 0.2), (2.0, 0.1), (1.0, 0.3)]
    assert {text.get_color() for text in names(ax).values()} == {readable("#009E73")}


def test_the_place_of_a_name_may_be_a_share_of_the_width():
    figure = Figure(dpi=72)
    ax = figure.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    write_name(ax, "a", (4.0, 5.0), (6.0, 0.0))
    write_name(ax, "b", (1.0, 5.0), along="bottom", x_is_share=True)
    one, other = ax.texts
    assert one.get_window_extent().x0 == pytest.approx(ax.transData.transform((4.0, 5.0))[0] + 6, abs=0.6)
    assert other.get_window_extent().x0 == pytest.approx(ax.get_window_extent().x1 + 3, abs=0.6)
    assert other.get_window_extent().y0 >= ax.transData.transform((0.0, 5.0))[1] - 0.6
